"""The imported tools of a home as an engine has them: contracts in its catalog, clients in its runners.

Law: reads the imports once. An import that does not hold, and a tool whose name is taken, is refused by name; nothing
else suffers. No server is contacted here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from metnos.contracts.catalog import Refused
from metnos.foreign import store
from metnos.foreign.describing import contract_of, reason_against
from metnos.plan.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from metnos.contracts.catalog import Catalog
    from metnos.contracts.model import Contract
    from metnos.foreign.clients import Call, Clients
    from metnos.foreign.model import Import


class Imports:
    """Of one engine."""

    def __init__(self, home: Path) -> None:
        """Read every import of `home`."""
        self._contracts: list[Contract] = []
        self._refused: list[Refused] = []
        held: dict[str, Import] = {}
        for found in store.load(home):
            if isinstance(found, tuple):
                name, fault = found
                self._refuse(name, fault.code, fault.message, fault.where, fault.hint)
                continue
            held[found.name] = found
            self._take(found)
        self._held = held
        self._clients: Clients | None = None

    def join(self, catalog: Catalog) -> Catalog:
        """`catalog` with the imported tools, but those whose name is taken."""
        free: list[Contract] = []
        refused = list(self._refused)
        for contract in self._contracts:
            if catalog.get(contract.name) is None:
                free.append(contract)
            else:
                refused.append(_refused(contract.name, "import-name", "another executor has this name", "", ""))
        return catalog.with_contracts(free, refused=refused)

    def externals(self) -> Mapping[str, Call]:
        """Contract name → how it is called."""
        if self._clients is None:
            from metnos.foreign.clients import Clients

            self._clients = Clients(self._held, os.environ)
        return dict(self._clients.calls())

    def close(self) -> None:
        """End every connection."""
        if self._clients is not None:
            self._clients.close()

    def _take(self, imported: Import) -> None:
        for tool in imported.tools:
            reason = reason_against(imported, tool)
            if reason:
                self._refuse(f"{imported.name}.{tool.name}", "import-broken", reason, "", "")
            else:
                self._contracts.append(contract_of(imported, tool))

    def _refuse(self, name: str, code: str, found: str, where: str, hint: str) -> None:
        self._refused.append(_refused(name, code, found, where, hint))


def _refused(name: str, code: str, found: str, where: str, hint: str) -> Refused:
    return Refused(name=name, diagnostic=Diagnostic(code=code, where=where, found=found, expected="", hint=hint))
