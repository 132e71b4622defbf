"""How a turn ends: which outcome, which answer, and when.

Law:

1. A turn ends when nothing runs. While only people can go on it is suspended, which is a status, not an outcome.
2. The strongest verdict wins (`OUTCOMES`); without one: `success`, or where something failed `partial` if any step
   or item succeeded, else `error`.
3. The answer comes from what was recorded: the terminal's own `text` and `data`, resolved here; else `Compose`, told
   which results nothing else consumed. A sentence that refers, by a fallback, to a step that failed is not said: it would
   tell "none" where nobody could look. A turn that was stopped for a reason (denied, cancelled, unknown…) closes at
   once and says the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.plan.jsondata import canonical
from metnos.plan.references import StepTarget
from metnos.turn.commands import Close, Compose, Learn, ResolveFiller, SetTimer
from metnos.turn.facts import TurnClosed, TurnSuspended
from metnos.turn.references import consumed_by, references_in
from metnos.turn.scope import Scope
from metnos.turn.table import refuse, tag_of
from metnos.values.resolve import Fault, resolve

if TYPE_CHECKING:
    from metnos.turn.commands import AnyCommand
    from metnos.turn.facts import Outcome
    from metnos.turn.inputs import AnswerComposed, Input, Learned
    from metnos.turn.state import PlanRun, TurnState
    from metnos.values.expressions import Expression


def ask(turn: TurnState, command: AnyCommand) -> None:
    """Return a command that is not about a step; it stays open until its one closing input."""
    turn.open[open_key(command)] = command
    turn.commands.append(command)


def open_key(command: AnyCommand) -> str:
    """Tag of the command, and its name where several of a kind may be open."""
    if isinstance(command, ResolveFiller):
        return f"resolve_filler {command.name}"
    return f"set_timer {command.timer}" if isinstance(command, SetTimer) else tag_of(command)


def take(turn: TurnState, item: Input, key: str) -> AnyCommand:
    """Close the open command `key`, which `item` answers."""
    command = turn.open.pop(key, None)
    if command is None:
        refuse(turn.phase, item, f"no `{key}` is open")
    return command


def suspend(turn: TurnState) -> None:
    """Only people can go on: say for what the turn waits."""
    waiting = tuple(sorted((*turn.approvals, *((turn.dialog.dialog,) if turn.dialog else ()))))
    if turn.phase == "suspended" and waiting == turn.waiting:
        return
    turn.phase = "suspended"
    turn.waiting = waiting
    turn.suspensions += 1
    turn.facts.append(TurnSuspended(waiting=waiting, ticket=f"{turn.opened.turn}.{turn.suspensions}"))


def succeeded(turn: TurnState) -> bool:
    """Whether any step, or any item of one, is done."""
    return any(call.state == "done" for run in turn.standing for call in run.calls) or any(
        run.state == "done" for run in turn.standing
    )


def conclude(turn: TurnState) -> None:
    """Nothing runs and nobody is asked: find the outcome and the answer."""
    if turn.outcome is not None:
        close(turn, turn.outcome)
        return
    outcome: Outcome = "success"
    if turn.failed:
        outcome = "partial" if succeeded(turn) else "error"
        error = next((run.error for run in turn.standing if run.error is not None), None)
        if error is not None:
            turn.code, turn.detail = error.code, error.where
    _answer(turn, outcome)


def _answer(turn: TurnState, outcome: Outcome) -> None:
    checked = turn.plan.checked
    text = checked.answer_text
    if text is not None and outcome != "success" and _speaks_of_failure(turn, text):
        text = None  # a fallback says "none" where nobody could look: the failure is told instead
    fault = _resolve_answer(turn, text)
    if fault is not None and outcome == "success":
        turn.code, turn.detail = fault.code, fault.where
        _compose(turn, "partial" if succeeded(turn) else "error")
        return
    has_data = checked.answer_data is not None or (turn.data is not None and not turn.plan.runs)
    has_answer = text is not None or (checked.answer_text is None and has_data)
    if outcome == "error" or (has_answer and fault is None):
        close(turn, outcome)
    else:
        _compose(turn, outcome)


def _speaks_of_failure(turn: TurnState, text: Expression) -> bool:
    """Whether a sentence refers, by a fallback, to a step that failed or was never reached."""
    runs = turn.plan.runs
    targets = (reference.target for reference in references_in(text))
    named = {target.step for target in targets if isinstance(target, StepTarget) and target.plan is None}
    return any(run.number in named and run.value is None and run.reason != "when" for run in runs)


def _resolve_answer(turn: TurnState, answer_text: Expression | None) -> Fault | None:
    scope = Scope(turn)
    text, data = "", turn.data
    if answer_text is not None:
        found = resolve(answer_text, scope)
        if isinstance(found, Fault):
            return found
        text = found.data if isinstance(found.data, str) else canonical(found.data).decode()
    answer_data = turn.plan.checked.answer_data
    if answer_data is not None:
        found = resolve(answer_data, scope)
        if isinstance(found, Fault):
            return found
        data = found.data
    turn.answer, turn.data = text, data
    return None


def _compose(turn: TurnState, outcome: Outcome) -> None:
    turn.outcome = outcome
    turn.phase = "composing"
    ask(turn, Compose(outcome=outcome, language=language_of(turn), show=to_show(turn.plan)))


def to_show(plan: PlanRun) -> tuple[str, ...]:
    """Done steps of `plan` whose data no done step consumed, in order."""
    consumed: set[int] = set()
    for run in plan.runs:
        if run.state == "done":
            consumed |= consumed_by(run.step)
    return tuple(run.key for run in plan.runs if run.state == "done" and run.number not in consumed)


def language_of(turn: TurnState) -> str:
    """The language asked for, or the one that the request was understood in."""
    return turn.opened.language or (turn.request.language if turn.request is not None else "en")


def close(turn: TurnState, outcome: Outcome) -> None:
    """Decide the outcome; what can be learnt from the turn is learnt before the log ends."""
    turn.outcome = outcome
    turn.facts.append(TurnClosed(outcome=outcome, detail=turn.detail, code=turn.code))
    learns = None if turn.goes_on else turn.rules.learn  # no single plan answers the request then
    if learns is not None and turn.opened.mode != "plan" and turn.plans and learns(turn.plan.source, outcome):
        turn.phase = "learning"
        ask(turn, Learn(plan_digest=turn.plan.checked.digest))
    else:
        end_log(turn)


def answer_composed(turn: TurnState, item: AnswerComposed) -> None:
    """The driver has put the answer into words."""
    turn.open.pop("compose", None)
    turn.answer = item.text
    assert turn.outcome is not None
    close(turn, turn.outcome)


def learned(turn: TurnState, _item: Learned) -> None:
    """What could be learnt is kept; nothing else was waited for."""
    turn.open.pop("learn", None)
    end_log(turn)


def end_log(turn: TurnState) -> None:
    """Return `Close`, after which nothing may come."""
    assert turn.outcome is not None
    turn.phase = "closed"
    turn.commands.append(Close(outcome=turn.outcome, answer=turn.answer, data=turn.data))
