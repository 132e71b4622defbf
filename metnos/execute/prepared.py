"""A contract made ready to be called: what is looked up once, so that a call looks nothing up.

Law: built from the contract and the catalog's verified bytes; it holds no state of a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from metnos.execute.code import load, modules_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from metnos.contracts.model import Contract
    from metnos.contracts.schemas import Validator

How = Literal["inline", "host", "async_host", "worker", "none"]


class Host(Protocol):
    """A registered function, as `contracts/` describes it."""

    @property
    def is_async(self) -> bool: ...
    @property
    def call(self) -> Callable[..., Any]:
        """`call(args, ctx)`."""
        ...


class Source(Protocol):
    """What the runners need of a catalog."""

    def code(self, name: str) -> Mapping[str, bytes]: ...
    def function(self, name: str) -> Host | None: ...


@runtime_checkable
class External(Protocol):
    """How a contract is called that brings neither code nor function: a client of another protocol."""

    @property
    def call(self) -> Callable[[dict[str, Any], Any], Any]:
        """`call(args, ctx)`; it may be a coroutine function."""
        ...

    @property
    def sources(self) -> tuple[str, ...]:
        """Where its results come from: `untrusted:<source>`."""
        ...

    @property
    def result(self) -> dict[str, Any]:
        """What its results are held against instead of the contract's looser promise; empty: nothing."""
        ...


class Prepared:
    """One executor, ready."""

    __slots__ = ("args", "call", "code", "contract", "how", "modules", "output_bytes", "sources", "validator")

    def __init__(self, contract: Contract, catalog: Source) -> None:
        self.contract = contract
        self.how: How = "none"
        self.call: Callable[[Any, Any], Any] | None = None
        self.code: Mapping[str, bytes] = {}
        self.modules: tuple[str, ...] = ()
        self.output_bytes = contract.limits.output_bytes
        self.sources: tuple[str, ...] = ("local",)
        self.validator = _validator(contract.result)
        function = catalog.function(contract.name)
        if function is not None:
            self.how = "async_host" if function.is_async else "host"
            self.call = function.call
            return
        if contract.placement not in ("inline", "worker"):
            return
        self.code = catalog.code(contract.name)
        modules = modules_of(contract.distributions)
        if contract.placement == "worker":
            self.how = "worker"
            self.modules = tuple(sorted(modules))
            return
        self.how = "inline"
        self.sources = ()  # a pure transform adds no source to those of its arguments
        self.call = load(contract.name, contract.digest or contract.reference, self.code, modules)

    def take(self, external: External | Callable[[dict[str, Any], Any], Any]) -> None:
        """Be called through `external`."""
        import inspect

        if isinstance(external, External):
            self.sources = external.sources
            self.validator = _validator(external.result)
            external = external.call
        self.call = external
        self.how = "async_host" if inspect.iscoroutinefunction(external) else "host"


def _validator(schema: dict[str, Any]) -> Validator | None:
    if not schema:
        return None
    from metnos.contracts.schemas import validator_for

    return validator_for(schema)
