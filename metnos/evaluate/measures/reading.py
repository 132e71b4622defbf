"""The records of one turn, one after the other, into what they add up to.

Law: each handler reads the few fields that it needs and passes over the rest; what cannot be read counts as empty.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

import msgspec

if TYPE_CHECKING:
    from metnos.evaluate.measures.prices import Prices

Counts = dict[str, int]


class _Opened(msgspec.Struct, frozen=True, gc=False):
    request: str | None = None
    language: str | None = None
    plan: Any = None
    source: str = "author"


class _Plan(msgspec.Struct, frozen=True, gc=False):
    source: str = ""
    entry: str = ""
    reason: str = ""
    plan: _Tools | None = None
    body: _Tools | None = None
    usage: dict[str, int] = {}
    proposer: str = ""
    wording: str = ""


class _Tool(msgspec.Struct, frozen=True, gc=False):
    tool: str = ""


class _Tools(msgspec.Struct, frozen=True, gc=False):
    steps: list[_Tool] = []


class _Accepted(msgspec.Struct, frozen=True, gc=False):
    plan: int = 0
    body: _Tools | None = None


class _Rejected(msgspec.Struct, frozen=True, gc=False):
    by: str = ""
    guard: str = ""
    diagnostics: list[_Coded] = []


class _Coded(msgspec.Struct, frozen=True, gc=False):
    code: str = ""


class _Verdict(msgspec.Struct, frozen=True, gc=False):
    type: str = ""


class _Decided(msgspec.Struct, frozen=True, gc=False):
    step: str = ""
    verdict: _Verdict = _Verdict()
    forecast: bool = False
    digest: str = ""


class _Effect(msgspec.Struct, frozen=True, gc=False, rename={"cls": "class"}):
    cls: str = ""


class _Ended(msgspec.Struct, frozen=True, gc=False):
    step: str = ""
    error: _Coded = _Coded()
    effects: list[_Effect] = []
    outcome: str = ""
    code: str = ""
    command: str = ""
    usage: dict[str, int] = {}
    proposer: str = ""
    found: str = ""


T = TypeVar("T")


class _Partly(Generic[T]):
    """Decodes the fields that are needed and passes over the rest; a body that is none gives an empty one."""

    def __init__(self, kind: type[T]) -> None:
        self._decode = msgspec.json.Decoder(kind).decode
        self._kind = kind

    def __call__(self, body: bytes) -> T:
        try:
            return self._decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return self._kind()


class Tally:
    """What the records of one turn add up to, as they pass."""

    def __init__(self, prices: Prices | None) -> None:
        self._prices = prices
        self.opened = _Opened()
        self.source = self.entry = self.reason = self.outcome = self.code = ""
        self.brought: tuple[str, str] = ("", "")
        """Source and entry of the plan that is judged now."""
        self.written: tuple[str, ...] = ()
        self.plans = self.rejected = self.refused_proposals = self.proposals = 0
        self.rejection = ""
        self.tools: dict[int, tuple[str, ...]] = {}
        self.digests: dict[str, str] = {}
        self.seen: set[tuple[str, str]] = set()
        self.started: dict[str, str] = {}
        self.states: dict[str, str] = {}
        self.asked: set[str] = set()
        self.failure: tuple[str, str] = ("", "")
        """Code and tool of the first call that failed."""
        self.counts: dict[str, Counts] = {name: {} for name in ("verdicts", "guards", "rewritten", "effects", "errors")}
        self.repeated = self.given = self.refused = 0
        self.models: dict[str, None] = {}
        self.calls = self.tokens_in = self.tokens_out = self.cost = self.unpriced = 0

    # --- what handlers do -------------------------------------------------------------------------------------------

    def count(self, what: str, name: str) -> None:
        counts = self.counts[what]
        counts[name] = counts.get(name, 0) + 1

    def plan(self, source: str, entry: str, plan: _Tools | None) -> None:
        self.brought = (source, entry)
        self.written = () if plan is None else tuple(one.tool for one in plan.steps)

    def tool_of(self, step: str) -> str:
        parts = step.split(".")
        tools = self.tools.get(_number(parts[0]), ())
        number = _number(parts[1]) if len(parts) > 1 else 0
        return tools[number - 1] if 1 <= number <= len(tools) else ""

    def spend(self, usage: Counts, model: str) -> None:
        """Count what one answer of a model cost."""
        calls = _sum(usage, "calls")
        tokens_in, tokens_out = _sum(usage, "tokens_in"), _sum(usage, "tokens_out")
        if not (calls or tokens_in or tokens_out or model):
            return
        calls = calls or 1
        self.calls += calls
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        if model:
            self.models[model] = None
        prices = self._prices if self._prices is not None else _shipped()
        cost = prices.cost(model, tokens_in, tokens_out)
        if cost is None:
            self.unpriced += calls
        else:
            self.cost += cost

    def end(self, ended: _Ended, state: str) -> None:
        self.states[ended.step] = state
        for effect in ended.effects:
            self.count("effects", effect.cls)


_opened, _plan, _rejected = _Partly(_Opened), _Partly(_Plan), _Partly(_Rejected)
_decided, _ended = _Partly(_Decided), _Partly(_Ended)
_tools, _accept = _Partly(_Tools), _Partly(_Accepted)
"""The decoders, each made once."""


def _open(reader: Tally, body: bytes) -> None:
    reader.opened = opened = _opened(body)
    if opened.plan is not None:
        reader.plan(opened.source, "", _tools(msgspec.json.encode(opened.plan)))


def _found(reader: Tally, body: bytes) -> None:
    found = _plan(body)
    reader.plan(found.source, found.entry, found.plan)


def _missed(reader: Tally, body: bytes) -> None:
    reader.reason = _plan(body).reason


def _proposed(reader: Tally, body: bytes) -> None:
    proposed = _plan(body)
    reader.proposals += 1
    reader.plan("model", "", proposed.plan)
    reader.spend(proposed.usage, proposed.proposer)


def _answered(reader: Tally, body: bytes) -> None:
    """A filler, or an answer that was worded: who did it is told of a worded one only."""
    said = _plan(body)
    reader.spend(said.usage, said.wording.removeprefix("model: ") if said.wording.startswith("model: ") else "")


def _command_failed(reader: Tally, body: bytes) -> None:
    failed = _ended(body)
    if failed.command == "propose" and failed.error.code != "no-model":
        reader.proposals += 1
    reader.spend(failed.usage, failed.proposer)


def _rewritten(reader: Tally, body: bytes) -> None:
    reader.count("rewritten", _rejected(body).guard)


def _refuse(reader: Tally, body: bytes) -> None:
    rejected = _rejected(body)
    reader.rejected += 1
    reader.refused_proposals += reader.brought[0] == "model"
    reader.count("guards", rejected.by)
    if not reader.rejection:
        reader.rejection = rejected.diagnostics[0].code if rejected.diagnostics else rejected.by


def _accepted(reader: Tally, body: bytes) -> None:
    accepted = _accept(body)
    reader.plans += 1
    reader.source, reader.entry = reader.brought
    written = reader.written if accepted.body is None else tuple(one.tool for one in accepted.body.steps)
    reader.tools[accepted.plan] = written


def _policy(reader: Tally, body: bytes) -> None:
    decided = _decided(body)
    if decided.forecast and decided.verdict.type != "deny":
        return
    reader.count("verdicts", decided.verdict.type)
    reader.digests[decided.step] = decided.digest
    if decided.verdict.type == "ask":
        reader.asked.add(".".join(decided.step.split(".")[:2]))


def _start(reader: Tally, body: bytes) -> None:
    step = _ended(body).step
    if step in reader.started:
        return
    tool = reader.started[step] = reader.tool_of(step)
    call = (tool, reader.digests.get(step, ""))
    reader.repeated += bool(call[1]) and call in reader.seen
    reader.seen.add(call)


def _finish(reader: Tally, body: bytes) -> None:
    reader.end(_ended(body), "done")


def _fail(reader: Tally, body: bytes) -> None:
    failed = _ended(body)
    reader.end(failed, "failed")
    reader.count("errors", failed.error.code)
    if not reader.failure[0]:
        reader.failure = (failed.error.code, reader.tool_of(failed.step))


def _state(state: str) -> Callable[[Tally, bytes], None]:
    def handler(reader: Tally, body: bytes) -> None:
        reader.end(_ended(body), state)

    return handler


def _probed(reader: Tally, body: bytes) -> None:
    found = _ended(body)
    reader.end(found, {"done": "done", "absent": "failed"}.get(found.found, "unknown"))


def _given(reader: Tally, _body: bytes) -> None:
    reader.given += 1


def _refused(reader: Tally, _body: bytes) -> None:
    reader.refused += 1


def _closed(reader: Tally, body: bytes) -> None:
    closed = _ended(body)
    reader.outcome, reader.code = closed.outcome, closed.code


HANDLERS: Final[dict[str, Callable[[Tally, bytes], None]]] = {
    "turn_opened": _open,
    "plan_found": _found,
    "plan_missed": _missed,
    "plan_proposed": _proposed,
    "plan_rewritten": _rewritten,
    "plan_rejected": _refuse,
    "plan_accepted": _accepted,
    "policy_decided": _policy,
    "step_started": _start,
    "step_finished": _finish,
    "step_failed": _fail,
    "step_stopped": _state("stopped"),
    "step_skipped": _state("skipped"),
    "step_unknown": _state("unknown"),
    "effect_probed": _probed,
    "approval_given": _given,
    "approval_refused": _refused,
    "approval_expired": _refused,
    "filler_resolved": _answered,
    "answer_composed": _answered,
    "command_failed": _command_failed,
    "turn_closed": _closed,
}


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0


def _sum(usage: Counts, ending: Literal["calls", "tokens_in", "tokens_out"]) -> int:
    """Planning, fillers and answers, which are counted apart: `tokens_in`, `filler_tokens_in`, …"""
    return sum(number for name, number in usage.items() if name == ending or name.endswith(f"_{ending}"))


@lru_cache(maxsize=1)
def _shipped() -> Prices:
    from metnos.evaluate.measures.prices import Prices

    return Prices.shipped()
