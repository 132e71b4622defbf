"""What one recorded turn knows: every observation, answer and consent in it, ready to be asked for.

Law: taken from the log alone, facts and inputs, so it holds even where today's rules decide otherwise; what only the
machine's commands tell (what a proposer was asked, which answer came out) is taken from a replay, as far as that is the
recorded turn. An observation belongs to (executor name, argument digest), never to a step: the same call in another
plan is the same observation.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec import UNSET

from metnos.plan.jsondata import MAX_RESULT_BYTES, digest
from metnos.record.codec import FACT_KINDS, INPUT_KINDS, decode_fact, decode_input, fetch_from
from metnos.record.faults import RecordFault
from metnos.record.replay import ReplayResult, replay
from metnos.turn import commands as c
from metnos.turn import facts as f
from metnos.turn import inputs as i
from metnos.turn.turn import Machine

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.record.model import TurnLog
    from metnos.turn.rules import Reaction, Rules

Ended = i.StepFinished | i.StepFailed | i.StepStopped
Proposed = i.PlanProposed | i.CommandFailed


class Timed(NamedTuple):
    """An input, and how long it was waited for (µs)."""

    item: Any
    took: int


class Asked(NamedTuple):
    """What a proposer was asked, beside the request."""

    purpose: str
    codes: tuple[str, ...]
    """Of the diagnostics."""

    @classmethod
    def of(cls, command: c.Propose) -> Asked:
        """The part of a command that an answer belongs to."""
        return cls(command.purpose, tuple(one.code for one in command.diagnostics))


class Call(NamedTuple):
    """What an observation belongs to."""

    tool: str
    digest: str


class Recorded:
    """One turn. `take_*` hands out answers in the order in which they were recorded; None: there is none (any more)."""

    def __init__(self, log: TurnLog, rules: Rules) -> None:
        """Read a log.

        Args:
            log: As a collection gives it.
            rules: As it was recorded under, as far as that is known: what is not swapped.

        Raises:
            RecordFault: A record cannot be read by this version, or there is none.
        """
        self.log = log
        self.opened = i.TurnOpened(turn="", now="")
        self.proposals: deque[tuple[Timed, Asked | None]] = deque()
        self.calls: dict[Call, deque[Timed]] = {}
        self.last: dict[Call, Timed] = {}
        self.approvals: dict[str, Timed] = {}
        """By the approval's id; what was allowed carries the digest that was shown."""
        self.seen: dict[str, i.TargetsSeen] = {}
        self.dialogs: dict[str, Timed] = {}
        self.guessed: dict[str, str] = {}
        """Dialog → digest of the plan that was shown in it before it began."""
        self.fillers: dict[str, deque[Timed]] = {}
        self.judged: dict[str, Timed] = {}
        self.probes: dict[str, Timed] = {}
        self.looked_up: deque[Timed] = deque()
        self.composed: Timed | None = None
        self.cancelled: Timed | None = None
        """`took`: since the turn was opened."""
        self.plans: list[dict[str, Any]] = []
        """Accepted plans in order, canonical."""
        self._spy = Spy(rules)
        self.replayed: ReplayResult = replay(log, rules, lambda _rules: self._spy)
        reading = _Reading(self)
        if self.replayed.status == "identical":
            reading.heard(self._spy.heard)
        else:
            reading.all()
        self._spy.heard.clear()
        self._ask()

    @property
    def plan(self) -> dict[str, Any] | None:
        """The last accepted plan; None: none was."""
        return self.plans[-1] if self.plans else None

    @property
    def answer(self) -> str | None:
        """What the turn came to, as `answer_of` tells it; None: a replay does not get there."""
        spy = self._spy
        return answer_of(spy) if self.replayed.status == "identical" and spy.close is not None else None

    def was_left_open(self, shown: str) -> bool:
        """Whether the recorded turn, too, asked just this of a person and had no answer."""
        return self.log.status != "closed" and shown in self._spy.shown_to_people

    def take_proposal(self, asked: Asked) -> Timed | None:
        """The next answer of a proposer, if it was asked the same."""
        if not self.proposals or self.proposals[0][1] not in (None, asked):
            return None
        return self.proposals.popleft()[0]

    def take_call(self, call: Call, *, read: bool) -> Timed | None:
        """What came of a call; the last time again and again, if it only read."""
        waiting = self.calls.get(call)
        if waiting:
            return waiting.popleft()
        return self.last.get(call) if read else None

    def _ask(self) -> None:
        """Put to each proposal what it was the answer to, as far as the replay is the recorded turn."""
        asked = deque(self._spy.asked)
        self.proposals = deque((timed, asked.popleft() if asked else None) for timed, _ in self.proposals)


class Spy:
    """A machine whose commands are kept."""

    def __init__(self, rules: Rules) -> None:
        self.machine = Machine(rules)
        self.heard: list[tuple[i.AnyInput, Reaction]] = []
        """What came and what was decided: of a turn that replays, its records, read."""
        self.asked: list[Asked] = []
        self.shown_to_people: set[str] = set()
        """Digests of approvals, ids of dialogs."""
        self.close: c.Close | None = None
        self.shown: tuple[str, ...] | None = None
        """Steps whose results the answer was composed from; None: it was not."""

    def receive(self, item: i.AnyInput) -> Reaction:
        """As the machine does."""
        reaction = self.machine.receive(item)
        self.heard.append((item, reaction))
        for command in reaction.commands:
            if isinstance(command, c.Propose):
                self.asked.append(Asked.of(command))
            elif isinstance(command, c.AskApproval):
                self.shown_to_people.add(command.digest)
            elif isinstance(command, c.OpenDialog):
                self.shown_to_people.add(shown_in(command))
            elif isinstance(command, c.Compose):
                self.shown = command.show
            elif isinstance(command, c.Close):
                self.close = command
        return reaction


def plan_shown(command: c.OpenDialog) -> str:
    """Digest of the plan that a dialog shows before it begins; empty: it shows none."""
    return "" if command.guess is UNSET else command.guess.digest


def shown_in(command: c.OpenDialog) -> str:
    """What a dialog is about: with another plan in it, it is another one."""
    return f"{command.dialog} {plan_shown(command)}".rstrip()


def answer_of(spy: Spy) -> str:
    """Digest of what a closed turn answers: outcome, text and data; for a composed answer the results that it shows."""
    close = spy.close
    assert close is not None
    if spy.shown is None:
        return digest(["said", close.outcome, close.answer, close.data], max_bytes=MAX_RESULT_BYTES)
    runs = {run.key: run for plan in spy.machine.state.plans for run in plan.runs}
    values = [None if (value := runs[key].value) is None else value.data for key in spy.shown]
    return digest(["composed", close.outcome, values, close.data], max_bytes=MAX_RESULT_BYTES)


class _Reading:
    """Goes over the records once."""

    def __init__(self, recorded: Recorded) -> None:
        self._to = recorded
        self._fetch = fetch_from(recorded.log.blobs)
        self._written: dict[str, Any] | None = None
        self._tools: dict[int, tuple[str, ...]] = {}
        self._digests: dict[str, str] = {}
        self._started: dict[str, int] = {}
        self._opened = 0
        self._unsure = False
        self._to_see = ""
        """Digest of the plan that a person is to see next."""

    def all(self) -> None:
        before = 0
        for record in self._to.log.records:
            if record.kind in INPUT_KINDS:
                self._input(decode_input(record.body, self._fetch), before or record.at)
            elif record.kind in FACT_KINDS:
                self._fact(decode_fact(record.body))
            before = record.at
        self._require_opened()

    def heard(self, heard: Iterable[tuple[i.AnyInput, Reaction]]) -> None:
        """The same of what a replay has read already."""
        before = 0
        for item, reaction in heard:
            self._input(item, before or item.at)
            for fact in reaction.facts:
                self._fact(fact)
            before = item.at
        self._require_opened()

    def _require_opened(self) -> None:
        if self._opened == 0:
            raise RecordFault("record-missing", "the turn has no first record", turn=self._to.log.turn)

    def _fact(self, fact: f.AnyFact) -> None:
        if isinstance(fact, f.PlanAccepted):
            self._to_see = fact.digest if self._unsure else ""
            plan = fact.body or self._written or {}
            self._to.plans.append(plan)
            self._tools[fact.plan] = tuple(str(step["tool"]) for step in plan.get("steps", ()) if _is_call(step))
        elif isinstance(fact, f.PolicyDecided) and not fact.forecast:
            self._digests[fact.step] = fact.digest

    def _input(self, item: i.AnyInput, before: int) -> None:
        keep = _KEEP.get(type(item))
        if keep is not None:
            keep(self, item, Timed(item, max(0, item.at - before)))

    def opened(self, item: i.TurnOpened, _timed: Timed) -> None:
        self._opened, self._written = item.at or 1, item.plan
        self._to.opened = item

    def looked_up(self, item: i.PlanFound | i.PlanMissed, timed: Timed) -> None:
        self._to.looked_up.append(timed)
        self._written = item.plan if isinstance(item, i.PlanFound) else None

    def proposed(self, item: i.PlanProposed, timed: Timed) -> None:
        self._written, self._unsure = item.plan, item.unsure is True
        self._to.proposals.append((timed, None))

    def started(self, item: i.StepStarted, _timed: Timed) -> None:
        self._started[item.step] = item.at

    def targets(self, item: i.TargetsSeen, _timed: Timed) -> None:
        self._to.seen[item.approval] = item

    def approval(self, item: i.ApprovalGiven | i.ApprovalRefused | i.ApprovalExpired, timed: Timed) -> None:
        self._to.approvals[item.approval] = timed

    def dialog(self, item: i.DialogAnswered | i.DialogExpired, timed: Timed) -> None:
        self._to.dialogs[item.dialog] = timed
        if self._to_see:
            self._to.guessed[item.dialog], self._to_see = self._to_see, ""

    def filler(self, item: i.FillerResolved, timed: Timed) -> None:
        self._to.fillers.setdefault(item.name, deque()).append(timed)

    def judged(self, item: i.Judged, timed: Timed) -> None:
        self._to.judged[item.step] = timed

    def composed(self, _item: i.AnswerComposed, timed: Timed) -> None:
        self._to.composed = timed

    def cancelled(self, item: i.Cancelled, _timed: Timed) -> None:
        self._to.cancelled = self._to.cancelled or Timed(item, max(0, item.at - self._opened))

    def failed(self, item: i.CommandFailed, timed: Timed) -> None:
        match item.command:
            case "propose":
                self._to.proposals.append((timed, None))
            case "resolve_filler":
                self._to.fillers.setdefault(item.ref, deque()).append(timed)
            case "look_up_plan":
                self._to.looked_up.append(timed)
            case "start_step":
                self._observe(item.ref, timed)
            case "compose":
                self._to.composed = timed
            case _:
                pass

    def ended(self, item: Ended, _timed: Timed) -> None:
        took = max(0, item.at - self._started.pop(item.step, item.at))
        self._observe(item.step, Timed(item, took))

    def probed(self, item: i.EffectProbed, timed: Timed) -> None:
        """What a probe found stands for the end of a call that was cut off; of one that failed it is another answer."""
        self._to.probes[item.step] = timed
        began = self._started.pop(item.step, None)
        if began is not None and item.found == "done":
            sha = digest(item.data, max_bytes=MAX_RESULT_BYTES)
            done = i.StepFinished(at=item.at, step=item.step, data=item.data, effects=item.effects, digest=sha)
            self._observe(item.step, Timed(done, max(0, item.at - began)))

    def _observe(self, step: str, timed: Timed) -> None:
        parts = step.split(".")
        tools = self._tools.get(int(parts[0]), ())
        number = int(parts[1])
        if step in self._digests and number <= len(tools):
            call = Call(tools[number - 1], self._digests[step])
            self._to.calls.setdefault(call, deque()).append(timed)
            self._to.last[call] = timed


def _is_call(step: dict[str, Any]) -> bool:
    return step.get("tool") not in ("final_answer", "ask", "needs_inputs")


_KEEP: Final[dict[type[Any], Any]] = {
    i.TurnOpened: _Reading.opened,
    i.PlanFound: _Reading.looked_up,
    i.PlanMissed: _Reading.looked_up,
    i.PlanProposed: _Reading.proposed,
    i.StepStarted: _Reading.started,
    i.StepFinished: _Reading.ended,
    i.StepFailed: _Reading.ended,
    i.StepStopped: _Reading.ended,
    i.EffectProbed: _Reading.probed,
    i.TargetsSeen: _Reading.targets,
    i.ApprovalGiven: _Reading.approval,
    i.ApprovalRefused: _Reading.approval,
    i.ApprovalExpired: _Reading.approval,
    i.DialogAnswered: _Reading.dialog,
    i.DialogExpired: _Reading.dialog,
    i.FillerResolved: _Reading.filler,
    i.Judged: _Reading.judged,
    i.AnswerComposed: _Reading.composed,
    i.Cancelled: _Reading.cancelled,
    i.CommandFailed: _Reading.failed,
}
"""Kind of input → what keeps it."""
