"""Recorded runs become turns: calls → plans → the inputs of a machine. The one place where that is done.

Law: the machine decides. It is fed what was recorded, under the rules over the inferred contracts; the facts and digests
of the turn are what it answered, so a replay under the same rules is identical and one under others shows what they
change. Nothing is called. Each plan is what an agent did in one go, its calls side by side (`on_error: continue`: what a
tool said of a failure is an observation), and goes on (`turn.logic`, flag `goes_on`).

| recorded | becomes |
|---|---|
| calls in one message | one plan with a step for each, without an end |
| what is said between calls | kept with the next plan (`PlanProposed.written`) |
| a text, and a person's answer | a plan that is an `ask`; `DialogAnswered` |
| calls, and then a person speaks | a plan that ends in an `ask` without words |
| the last text | `final_answer` |
| calls behind which the data set says that it is over | a plan that ends in `final_answer` without words |
| a call without a result | `StepFailed`, code `not-recorded` |
| an end that is not there | `CommandFailed`, code `not-recorded`: nobody knows how it went on |
| a whole plan (`Written`) | a turn in mode `plan`: checked, never run |
"""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from metnos.evaluate.importing.contracts import Inferred, argument_name
from metnos.evaluate.importing.model import Act, Call, Heard, Moment, Notes, Recorded, Written
from metnos.plan.jsondata import MAX_RESULT_BYTES, digest, is_list, is_object
from metnos.plan.spelling import format_parts, is_plain
from metnos.record.chain import as_records
from metnos.record.model import Head, TurnLog
from metnos.record.recorder import MAX_TURN_ID, Recorder
from metnos.sdk import Failure
from metnos.turn import inputs as i
from metnos.turn.commands import AnyCommand, AskApproval, Compose, OpenDialog, Propose, StartStep
from metnos.turn.logic import GOES_ON
from metnos.turn.people import ANSWER
from metnos.turn.rules import Rules
from metnos.turn.turn import Machine

NOT_RECORDED: Final = "not-recorded"
SOURCE: Final = "untrusted:import"
"""Provenance of every recorded result."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_MESSAGE: Final = 2_000
_MAX_WRITTEN: Final = 8_000
_ODD: Final = re.compile(r"[^A-Za-z0-9._-]+")
_OPENING: Final = re.compile(r"\$(?=[{<])")


class _Gone(msgspec.Struct, frozen=True):
    """One plan of a run, and what came of it."""

    plan: dict[str, Any]
    calls: tuple[Call, ...] = ()
    heard: Heard | None = None
    usage: dict[str, int] = {}
    model: str = ""
    written: str = ""
    at: int = 0


def turn_id(key: str) -> str:
    """A turn's id of a run's key: the key itself where it may be one, else as much of it as may, and a digest."""
    plain = _ODD.sub("-", key).lstrip(".-") or "run"
    if plain == key and len(key) <= MAX_TURN_ID:
        return key
    mark = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{plain[: MAX_TURN_ID - 11]}-{mark}"


def fold(run: Recorded, turn: str, inferred: Inferred, rules: Rules, versions: dict[str, str], notes: Notes) -> TurnLog:
    """Feed a run to a fresh machine; the log of its turn.

    Args:
        run: The run.
        turn: Its turn's id.
        inferred: Contracts of the collection; `rules` are over them.
        rules: Of the machine.
        versions: For `TurnOpened`.
        notes: Where is counted what is written in another way.

    Raises:
        JSONFault: An argument or a result is larger or deeper than a log can hold.
    """
    return _Fold(run, turn, inferred, rules, versions, notes).log()


class _Fold:
    def __init__(
        self, run: Recorded, turn: str, inferred: Inferred, rules: Rules, versions: dict[str, str], notes: Notes
    ) -> None:
        self.run = run
        self.turn = turn
        self.inferred = inferred
        self.versions = versions
        self.notes = notes
        self.machine = Machine(rules)
        self.recorder = Recorder(turn)
        self.at = run.at
        self.commands: list[AnyCommand] = []
        """Open ones that this obeys by itself."""

    def log(self) -> TurnLog:
        plans = _plans(self.run, self.notes)
        self._open(len(plans))
        for gone in plans:
            if not any(isinstance(one, Propose) and one.purpose != "repair" for one in self.commands):
                break  # the rules refused what came before: what was recorded behind it answers nothing
            self._go(gone)
        self._end()
        recorder = self.recorder
        return TurnLog(
            turn=self.turn,
            status="closed",
            seq=recorder.seq,
            records=as_records(recorder.rows),
            head=Head(turn=self.turn, seq=recorder.seq, hash=recorder.hash, status="closed"),
            blobs=dict(recorder.blobs),
            signed=False,
        )

    def _open(self, plans: int) -> None:
        run = self.run
        now = run.now or (_EPOCH + timedelta(microseconds=run.at)).isoformat()
        calls = sum(len(moment.calls) for moment in run.moments if isinstance(moment, Act))
        whole = any(isinstance(moment, Written) for moment in run.moments)
        self._send(
            i.TurnOpened(
                at=self.at,
                turn=self.turn,
                now=now,
                channel="import",
                mode="plan" if whole else "ask",
                request=run.request,
                budget=i.Budget(plans=plans + 1, steps=max(i.Budget().steps, calls + 1)),
                versions=self.versions,
                logic={GOES_ON: 1},
            )
        )
        self._send(i.PlanMissed(at=self.at, reason="imported"))

    def _send(self, item: i.AnyInput) -> None:
        """One input; what the machine asks for is added to the open commands."""
        reaction = self.machine.receive(item)
        self.recorder.add(item, reaction)
        self.commands += reaction.commands

    def _later(self, at: int) -> int:
        self.at = max(self.at, at)
        return self.at

    def _go(self, gone: _Gone) -> None:
        self.commands.clear()
        self._send(
            i.PlanProposed(
                at=self._later(gone.at),
                plan=gone.plan,
                usage=gone.usage,
                proposer=gone.model,
                written=gone.written[:_MAX_WRITTEN],
            )
        )
        self._run(gone.calls)
        for command in self.commands:
            if isinstance(command, OpenDialog) and gone.heard is not None:
                self.commands.clear()
                answers = {ANSWER: gone.heard.text}
                self._send(i.DialogAnswered(at=self._later(gone.heard.at), dialog=command.dialog, answers=answers))
                break

    def _run(self, calls: tuple[Call, ...]) -> None:
        """Steps start and end as the log says that they did; where it has no clock, all of them start first."""
        events: list[tuple[int, bool, StartStep, Call]] = []
        for command in self.commands:
            if isinstance(command, StartStep):
                call = calls[int(command.step.rpartition(".")[2]) - 1]
                events.append((call.started, False, command, call))
                events.append((max(call.started, call.ended), True, command, call))
        for at, over, command, call in sorted(events, key=lambda event: event[:2]):
            if over:
                self._send(self._ended(command.step, call))
            else:
                self._send(i.StepStarted(at=self._later(at), step=command.step, operation=command.operation))

    def _ended(self, step: str, call: Call) -> i.AnyInput:
        at = self._later(call.ended)
        if not call.recorded:
            told = Failure(cls="data", code=NOT_RECORDED, message="the log has no result of this call")
            return i.StepFailed(at=at, step=step, error=told)
        if call.error is not None:
            told = Failure(cls="data", code=call.code, message=call.error[:_MAX_MESSAGE])
            return i.StepFailed(at=at, step=step, error=told)
        data = self.inferred.seen[call.name].data_of(call)
        mark = digest(data, max_bytes=MAX_RESULT_BYTES)
        return i.StepFinished(at=at, step=step, data=data, digest=mark, sources=(SOURCE,))

    def _end(self) -> None:
        """Nothing is recorded any more: answer what is still open, so that the log ends."""
        for _ in range(4):
            if self.machine.state.closed:
                return
            command = self.commands[-1]
            self.commands.clear()
            if isinstance(command, Compose):
                self._send(i.AnswerComposed(at=self.at, text="", wording=f"none: {NOT_RECORDED}"))
            elif isinstance(command, OpenDialog):
                self._send(i.DialogExpired(at=self.at, dialog=command.dialog))
            elif isinstance(command, AskApproval):
                self._send(i.ApprovalExpired(at=self.at, approval=command.approval))
            else:
                told = Failure(cls="data", code=NOT_RECORDED, message="the log does not say how it went on")
                self._send(i.CommandFailed(at=self.at, command=command.kind, error=told))
        assert self.machine.state.closed, "an imported turn ends"


# --- plans -------------------------------------------------------------------------------------------------------


def _plans(run: Recorded, notes: Notes) -> list[_Gone]:
    plans: list[_Gone] = []
    said: list[str] = []
    moments = _acted(run.moments)
    for position, moment in enumerate(moments):
        following = moments[position + 1] if position + 1 < len(moments) else None
        if isinstance(moment, Written):
            plans.append(_Gone(moment.plan, usage=_counted(moment.usage), model=moment.model))
        elif isinstance(moment, Act):
            if not moment.calls and isinstance(following, Act):
                said.append(moment.text)  # it went on speaking: that is no answer, and nobody was asked
                continue
            if following is None and run.end != "answered" and not moment.calls:
                continue  # it had done nothing yet, and what it said last (a question, say) was no answer
            heard = following if isinstance(following, Heard) else None
            plans.append(_plan(run, moment, heard, said, notes, last=following is None))
            said = []
    return plans


def _acted(moments: tuple[Moment, ...]) -> list[Moment]:
    """Before a person speaks somebody has acted, if only by saying nothing."""
    found: list[Moment] = []
    for moment in moments:
        if isinstance(moment, Heard) and not (found and isinstance(found[-1], Act)):
            found.append(Act(at=moment.at))
        found.append(moment)
    return found


def _plan(run: Recorded, act: Act, heard: Heard | None, said: list[str], notes: Notes, *, last: bool) -> _Gone:
    steps: list[dict[str, Any]] = [_step(call) for call in act.calls]
    words = "" if act.calls else act.text
    if heard is not None:
        steps.append({"tool": "ask", "args": {"question": _question(words, notes)}})
    elif last and act.calls and run.end == "ended":
        steps.append({"tool": "final_answer", "args": {}})
    elif not act.calls:
        steps.append({"tool": "final_answer", "args": {"text": literal(words)}})
    beside = [*said, act.text] if act.calls else said
    return _Gone(
        {"steps": steps},
        calls=act.calls,
        heard=heard,
        usage=_counted(act.usage),
        model=act.model,
        written="\n".join(filter(None, beside)),
        at=act.at,
    )


def _counted(usage: dict[str, int]) -> dict[str, int]:
    return {"planning_calls": 1, **usage}


def _step(call: Call) -> dict[str, Any]:
    from metnos.contracts.aliases import alias

    args = {argument_name(name): literal(value) for name, value in call.arguments.items()}
    return {"tool": alias(call.name), "args": args, "on_error": "continue"}


def literal(value: Any) -> Any:
    """A value as a plan writes it, so that nothing in it is read as a reference."""
    if isinstance(value, str):
        return value if is_plain(value) else format_parts((value,))
    if is_object(value):
        return {name: literal(held) for name, held in value.items()}
    return [literal(held) for held in value] if is_list(value) else value


def _question(text: str, notes: Notes) -> str:
    """A question holds no reference, not even an escaped one: a word joiner keeps `$` and `{` apart."""
    if is_plain(text):
        return text
    notes.drop("`${` in a question: written with a word joiner in it")
    return _OPENING.sub("$\u2060", text)
