"""The catalog: every admitted contract with the very bytes of its code, and every refusal with its reason.

Law: immutable, and it never touches the disk. `code(name)` returns the bytes that were hashed at admission; nobody
reads them a second time. Adding functions or foreign contracts makes a new catalog with a new digest.

    catalog = load_catalog(directory, home=home)        # see load.py
    catalog.get("find_files").reference                 # "find_files@1.0.0"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

from metnos.contracts.host import HostExecutor
from metnos.contracts.model import Contract
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metnos.plan.jsondata import JSON

__all__ = ["Admitted", "Catalog", "HostExecutor", "NameTaken", "Named", "Refused"]


class Named(Protocol):
    """A family or a request intent: (verb, object)."""

    @property
    def verb(self) -> str: ...
    @property
    def object(self) -> str: ...


class Admitted(msgspec.Struct, frozen=True, kw_only=True, tag="admitted"):
    """A contract that may be planned with, and its code by file name (empty unless from a catalog folder)."""

    contract: Contract
    code: dict[str, bytes] = {}
    development: bool = False
    """It was signed with a development key; its version is not remembered."""


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag="refused"):
    """A manifest (or template) that stays out; `name` is what its file is called, nothing in it being trusted."""

    name: str
    diagnostic: Diagnostic
    more: tuple[Diagnostic, ...] = ()
    """Further faults of the same manifest."""


class NameTaken(ValueError):
    """Two executors of one name were registered: the caller's fault, at registration."""


class Catalog:
    """Contracts by name, in name order."""

    def __init__(
        self,
        admitted: Iterable[Admitted] = (),
        *,
        refused: Iterable[Refused] = (),
        functions: Iterable[HostExecutor] = (),
    ) -> None:
        """Build a catalog.

        Raises:
            NameTaken: Two contracts have one name.
        """
        self._contracts: dict[str, Contract] = {}
        self._code: dict[str, dict[str, bytes]] = {}
        found = [(entry.contract, entry.code) for entry in admitted]
        hosts = list(functions)
        found.extend((host.contract, {}) for host in hosts)
        for contract, code in sorted(found, key=lambda pair: pair[0].name):
            if contract.name in self._contracts:
                raise NameTaken(f"two executors are called {contract.name}")
            self._contracts[contract.name] = contract
            self._code[contract.name] = code
        self._functions: dict[str, HostExecutor] = {host.contract.name: host for host in hosts}
        self._names = tuple(self._contracts)
        self._families: dict[tuple[str, str], tuple[Contract, ...]] = {}
        for contract in self._contracts.values():
            for intent in contract.families:
                key = (intent.verb, intent.object)
                self._families[key] = (*self._families.get(key, ()), contract)
        self._digest: str | None = None
        self.refused: tuple[Refused, ...] = tuple(refused)

    def get(self, name: str) -> Contract | None:
        """The contract called `name`, or None."""
        return self._contracts.get(name)

    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return self._names

    def contracts(self) -> Mapping[str, Contract]:
        """All contracts by name, sorted by name; do not change it."""
        return self._contracts

    def in_family(self, intent: Named) -> tuple[Contract, ...]:
        """All executors of the family (verb, object), sorted by name."""
        return self._families.get((intent.verb, intent.object), ())

    def code(self, name: str) -> dict[str, bytes]:
        """File name → the bytes that were hashed at admission; empty for functions and foreign contracts.

        Raises:
            KeyError: No such executor.
        """
        return self._code[name]

    def function(self, name: str) -> HostExecutor | None:
        """The registered function called `name`, or None."""
        return self._functions.get(name)

    @property
    def functions(self) -> Mapping[str, HostExecutor]:
        """All registered functions by name."""
        return self._functions

    @property
    def digest(self) -> str:
        """`sha256:…` over every contract's name, digest and placement, sorted by name."""
        if self._digest is None:
            rows: list[JSON] = [[c.name, c.digest, c.placement] for c in self._contracts.values()]
            self._digest = digest(["metnos.catalog/1", rows])
        return self._digest

    def with_functions(self, functions: Iterable[HostExecutor]) -> Catalog:
        """A new catalog with these functions too.

        Raises:
            NameTaken: One of the names is taken.
        """
        return Catalog(self._admitted(), refused=self.refused, functions=(*self._functions.values(), *functions))

    def with_contracts(self, contracts: Iterable[Contract], *, refused: Iterable[Refused] = ()) -> Catalog:
        """A new catalog with these contracts too (stand-ins, foreign tools), and these refusals; they bring no code.

        Raises:
            NameTaken: One of the names is taken.
        """
        added = [Admitted(contract=contract) for contract in contracts]
        return Catalog(
            [*self._admitted(), *added], refused=(*self.refused, *refused), functions=self._functions.values()
        )

    def _admitted(self) -> list[Admitted]:
        return [
            Admitted(contract=contract, code=self._code[name])
            for name, contract in self._contracts.items()
            if name not in self._functions
        ]
