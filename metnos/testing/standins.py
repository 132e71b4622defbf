"""Tools that stand in for real ones: the same contracts, checked, asked about and recorded as those; nothing is touched.

    with Engine.open(memory=True) as real:
        world = StandIns(real.catalog)
    world.answer("find_files", {"entries": [], "count": 0, "total_size": 0})
    with Engine.open(memory=True, shipped=False, executors=world.executors()) as engine: ...

Law: it decides nothing. Arguments were checked against the contract before a stand-in sees them, and what it answers is
checked after; so an answer that the real tool could not give is a failure of the step here, too. Only the origin differs:
stand-ins are functions of the host, and policy treats `execute` of those as it does.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec

from metnos.contracts.host import HostExecutor
from metnos.sdk import Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.contracts.catalog import Catalog
    from metnos.contracts.model import Contract
    from metnos.sdk import Context


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a stand-in."""

    tool: str
    args: dict[str, Any]
    operation: str
    """Operation id; two calls with one are the same effect, run again."""


class StandIns:
    """Contracts of a catalog, with answers in place of code.

    Args:
        catalog: `Engine.catalog` of an engine that has the real tools; it is only read.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._answers: dict[str, deque[Any]] = {}
        self.calls: list[Call] = []
        """Every call, in order."""

    def answer(self, tool: str, *answers: Any) -> StandIns:
        """What `tool` answers, call after call; the last answer is given for ever. Returns itself.

        Args:
            tool: A name of the catalog.
            answers: `data`, a `Result` (with effects, or a failure), an exception to raise, or a callable from the
                arguments to one of these.

        Raises:
            KeyError: The catalog has no such tool.
            ValueError: No answer was given.
        """
        if self._catalog.get(tool) is None:
            raise KeyError(f"the catalog has no tool {tool!r}")
        if not answers:
            raise ValueError(f"an answer of {tool} is wanted")
        self._answers.setdefault(tool, deque()).extend(answers)
        return self

    def executors(self) -> tuple[HostExecutor, ...]:
        """For `Engine.open(shipped=False, executors=...)`: the tools that have an answer."""
        return tuple(self._stand_in(tool) for tool in self._answers)

    def _stand_in(self, tool: str) -> HostExecutor:
        real: Contract | None = self._catalog.get(tool)
        assert real is not None
        call = self._caller(tool)
        contract = msgspec.structs.replace(real, placement="host", origin="host", probe=False, digest=f"{real.digest}+")
        return HostExecutor(contract=contract, function=call, is_async=False, call=call)

    def _caller(self, tool: str) -> Callable[[dict[str, Any], Context], Any]:
        answers = self._answers[tool]

        def call(args: dict[str, Any], ctx: Context) -> Any:
            self.calls.append(Call(tool=tool, args=args, operation=ctx.operation))
            answer = answers.popleft() if len(answers) > 1 else answers[0]
            if callable(answer) and not isinstance(answer, type):
                answer = answer(args)
            if isinstance(answer, BaseException):
                raise answer
            return answer if isinstance(answer, Result) else Result.done(answer)

        return call
