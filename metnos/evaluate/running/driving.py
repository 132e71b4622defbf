"""One turn driven offline: the machine's commands are answered from a record, in the record's own time.

Law: there is no runner here. A call without an observation stays open, and so does everything else that nobody answers;
what does not depend on it goes on, and when nothing is left the turn ends there, with the first place (`unobserved`,
`unanswered`). The clock is that of the record: an answer comes as long after its question as it came then, so side by side
stays side by side; a proposer that is really asked takes the time that it takes.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import msgspec

from metnos.evaluate.running.recorded import Asked, Call, Recorded, Spy, Timed, plan_shown, shown_in
from metnos.policy.approval import approval_hash
from metnos.record.codec import KIND_OF, encode
from metnos.record.model import Record, Status, TurnLog
from metnos.turn import commands as c
from metnos.turn import inputs as i
from metnos.turn.table import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.turn.rules import Rules
    from metnos.turn.state import TurnState

LIMIT: Final = 200_000
"""Inputs of one turn: more than any budget of steps leads to."""


class LookUp(Protocol):
    """What was known for a request."""

    def look_up(self, state: TurnState, recorded: Recorded) -> Timed | None:
        """`PlanFound` or `PlanMissed`; None: the record does not say."""
        ...

    def learn(self, state: TurnState, usage: dict[str, int]) -> tuple[str, ...]:
        """Keep what the turn taught; references of the entries."""
        ...


class Proposing(Protocol):
    """Who writes plans."""

    def propose(self, state: TurnState, command: c.Propose, recorded: Recorded) -> Timed | None:
        """`PlanProposed` or `CommandFailed`; None: nobody says."""
        ...


class Driven(NamedTuple):
    """How the turn went now."""

    log: TurnLog
    """Unchained and unsigned, without the data of results: for figures."""
    spy: Spy
    unobserved: str
    """First step whose call was not recorded."""
    unobserved_call: str
    unanswered: str
    """First question that nobody answered, and what it is about."""


class Drive:
    """One turn. Call `run` once."""

    def __init__(self, rules: Rules, recorded: Recorded, known: LookUp, proposing: Proposing) -> None:
        self._recorded = recorded
        self._known = known
        self._proposing = proposing
        self._spy = Spy(rules)
        self._state = self._spy.machine.state
        self._now = recorded.opened.at
        self._due: list[tuple[int, int, i.AnyInput]] = []
        self._order = 0
        self._running: set[str] = set()
        """Steps whose end is due."""
        self._records: list[Record] = []
        self._usage: dict[str, int] = {}
        self._unobserved = self._unobserved_call = self._unanswered = ""

    def run(self) -> Driven:
        """Drive it to its end, or as far as the record goes.

        Raises:
            ProtocolError: The record answers what the machine cannot take.
        """
        self._feed(self._recorded.opened)
        if self._recorded.cancelled is not None:
            self._later(self._recorded.cancelled)
        for _ in range(LIMIT):
            if not self._due or self._spy.close is not None:
                break
            due, _, item = heappop(self._due)
            self._now = max(self._now, due)
            if self._is_wanted(item):
                self._feed(item)
        log = TurnLog(turn=self._recorded.log.turn, status=self._status, records=tuple(self._records), signed=False)
        return Driven(log, self._spy, self._unobserved, self._unobserved_call, self._unanswered)

    @property
    def _status(self) -> Status:
        if self._spy.close is not None:
            return "closed"
        return "suspended" if self._state.phase == "suspended" else "open"

    # --- in -----------------------------------------------------------------------------------------------------------

    def _feed(self, item: i.AnyInput) -> None:
        item = msgspec.structs.replace(item, at=self._now)
        if isinstance(item, i.StepFinished | i.StepFailed | i.StepStopped):
            self._running.discard(item.step)
        reaction = self._spy.receive(item)
        for made in (item, *reaction.facts):
            self._record(made)
        for command in reaction.commands:
            _OBEY[type(command)](self, command)

    def _record(self, made: Any) -> None:
        if isinstance(made, i.StepFinished | i.EffectProbed):
            made = msgspec.structs.replace(made, data=None)
        turn, seq = self._recorded.log.turn, len(self._records) + 1
        self._records.append(Record(turn, seq, KIND_OF[type(made)], self._now, encode(made), "", ""))

    def _later(self, timed: Timed) -> None:
        self._order += 1
        heappush(self._due, (self._now + timed.took, self._order, timed.item))

    def _is_wanted(self, item: i.AnyInput) -> bool:
        """Whether anybody still waits for it."""
        state = self._state
        match item:
            case i.StepStarted() | i.StepFinished() | i.StepFailed() | i.StepStopped():
                return item.step in state.calls and (item.step in self._running)
            case i.ApprovalGiven() | i.ApprovalRefused() | i.ApprovalExpired() | i.TargetsSeen():
                return item.approval in state.approvals
            case i.DialogAnswered() | i.DialogExpired():
                return state.dialog is not None and state.dialog.dialog == item.dialog
            case i.PlanProposed():
                return state.phase == "proposing"
            case _:
                return True

    # --- out ----------------------------------------------------------------------------------------------------------

    def _nobody(self, what: str) -> None:
        self._unanswered = self._unanswered or what

    def look_up_plan(self, _command: c.LookUpPlan) -> None:
        found = self._known.look_up(self._state, self._recorded)
        if found is None:
            self._nobody("look-up")
        else:
            self._later(found)

    def propose(self, command: c.Propose) -> None:
        found = self._proposing.propose(self._state, command, self._recorded)
        if found is None:
            self._nobody(f"propose {command.purpose}")
            return
        for name, number in found.item.usage.items():
            self._usage[name] = self._usage.get(name, 0) + number
        self._later(found)

    def start_step(self, command: c.StartStep) -> None:
        call = Call(command.executor.rpartition("@")[0], command.digest)
        found = self._recorded.take_call(call, read=command.effect == "read")
        if found is None:
            self._unobserved_call = self._unobserved_call or call.tool
            self._unobserved = self._unobserved or command.step
            return
        self._running.add(command.step)
        self._later(Timed(i.StepStarted(step=command.step, operation=command.operation), 0))
        if isinstance(found.item, i.CommandFailed):
            self._later(Timed(msgspec.structs.replace(found.item, ref=command.step), found.took))
        else:
            self._later(Timed(msgspec.structs.replace(found.item, step=command.step), found.took))

    def stop_step(self, command: c.StopStep) -> None:
        if command.step in self._running:
            self._later(Timed(i.StepStopped(step=command.step), 0))

    def probe_effect(self, command: c.ProbeEffect) -> None:
        found = self._recorded.probes.get(command.step)
        if found is None:
            self._unobserved = self._unobserved or command.step
            self._unobserved_call = self._unobserved_call or command.executor.rpartition("@")[0]
        else:
            self._later(found)

    def ask_approval(self, command: c.AskApproval) -> None:
        found = self._recorded.approvals.get(command.approval)
        item = None if found is None else self._same_consent(command, found.item)
        if found is None or item is None:
            if not self._recorded.was_left_open(command.digest):
                self._nobody(f"approval {command.executor.rpartition('@')[0]}")
            return
        seen = self._recorded.seen.get(command.approval)
        if seen is not None:
            self._later(Timed(seen, 0))
        self._later(Timed(item, found.took))

    def _same_consent(self, command: c.AskApproval, item: i.AnyInput) -> i.AnyInput | None:
        """The answer to what is asked, if it was given to just that; another policy may have asked for it then."""
        if not isinstance(item, i.ApprovalGiven) or item.digest == command.digest:
            return item
        opened, state = self._recorded.opened, self._state
        shown = approval_hash(
            owner=opened.owner,
            turn=opened.turn,
            plan_digest=state.plan.checked.digest,
            step=command.step,
            arguments=state.approvals[command.approval].digest,
            targets=command.targets,
            count=command.count,
            executor=command.executor,
            policy=opened.versions.get("policy", ""),
        )
        return msgspec.structs.replace(item, digest=command.digest) if shown == item.digest else None

    def open_dialog(self, command: c.OpenDialog) -> None:
        found = self._recorded.dialogs.get(command.dialog)
        shown = plan_shown(command)
        same = shown == self._recorded.guessed.get(command.dialog, "")  # what was said of one plan is said of no other
        if found is None or not same or not _fits(command, found.item):
            if not self._recorded.was_left_open(shown_in(command)):
                self._nobody("guess" if shown else "dialog")
            return
        self._later(found)

    def resolve_filler(self, command: c.ResolveFiller) -> None:
        waiting = self._recorded.fillers.get(command.name)
        if not waiting:
            self._nobody(f"filler {command.name}")
        else:
            self._later(waiting.popleft())

    def judge(self, command: c.Judge) -> None:
        found = self._recorded.judged.get(command.step)
        if found is None:
            self._nobody(f"judge {command.executor.rpartition('@')[0]}")
        else:
            self._later(found)

    def set_timer(self, command: c.SetTimer) -> None:
        self._later(Timed(i.TimerFired(timer=command.timer), max(0, command.at - self._now)))

    def compose(self, _command: c.Compose) -> None:
        """The words are those of the record; whether they would be the same is told by what they are made from."""
        self._later(self._recorded.composed or Timed(i.AnswerComposed(text=""), 0))

    def learn(self, _command: c.Learn) -> None:
        self._later(Timed(i.Learned(entries=self._known.learn(self._state, self._usage)), 0))

    def close(self, _command: c.Close) -> None:
        """The spy keeps it."""


def _fits(command: c.OpenDialog, item: Any) -> bool:
    """Whether recorded answers are answers to this dialog."""
    from metnos.turn.arguments import check
    from metnos.turn.people import answer_schemas

    if not isinstance(item, i.DialogAnswered):
        return True
    schemas = answer_schemas(command)
    return item.answers.keys() == schemas.keys() and all(
        check(schema, item.answers[name]) is None for name, schema in schemas.items()
    )


_OBEY: Final[dict[type[Any], Callable[[Drive, Any], None]]] = {
    c.LookUpPlan: Drive.look_up_plan,
    c.Propose: Drive.propose,
    c.ResolveFiller: Drive.resolve_filler,
    c.AskApproval: Drive.ask_approval,
    c.OpenDialog: Drive.open_dialog,
    c.StartStep: Drive.start_step,
    c.StopStep: Drive.stop_step,
    c.ProbeEffect: Drive.probe_effect,
    c.Judge: Drive.judge,
    c.SetTimer: Drive.set_timer,
    c.Compose: Drive.compose,
    c.Learn: Drive.learn,
    c.Close: Drive.close,
}
"""Kind of command → what answers it."""


class AsRecorded:
    """Nothing is swapped: what was found is found, what was proposed is proposed."""

    def look_up(self, state: TurnState, recorded: Recorded) -> Timed | None:
        """The recorded answer."""
        del state
        return recorded.looked_up.popleft() if recorded.looked_up else None

    def learn(self, state: TurnState, usage: dict[str, int]) -> tuple[str, ...]:
        """Nothing."""
        del state, usage
        return ()

    def propose(self, state: TurnState, command: c.Propose, recorded: Recorded) -> Timed | None:
        """The recorded proposal, if it was asked for in the same way."""
        del state
        return recorded.take_proposal(Asked.of(command))


__all__ = ["AsRecorded", "Drive", "Driven", "LookUp", "Proposing", "ProtocolError"]
