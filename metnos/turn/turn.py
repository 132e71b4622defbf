"""The turn machine: `receive(input) -> Reaction(facts, commands)`, a pure fold over a turn's inputs.

Law: the tables of `turn.table` say what may come and where it leads; this module walks them. It reads no clock,
draws no number and awaits nothing. The same inputs give the same facts and the same commands, always.

    machine = Machine(rules)
    reaction = machine.receive(TurnOpened(turn="t1", now="2026-11-30T12:00:00+01:00", mode="run", plan=plan))
    for command in reaction.commands:
        ...  # obey it, and report what came of it

Where it is not said otherwise a handler changes nothing before it has checked the whole input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from metnos.plan.model import Ask
from metnos.sdk import Failure
from metnos.turn import inputs as i
from metnos.turn.answer import ask, close, conclude, finish, rest
from metnos.turn.arguments import check
from metnos.turn.commands import LookUpPlan, OpenDialog, ProbeEffect, ResolveFiller, StopStep
from metnos.turn.consent import clear, expired, given, refused
from metnos.turn.inputs import VirtualInput
from metnos.turn.planning import consider, nobody_proposes, propose
from metnos.turn.rules import Reaction, Rules
from metnos.turn.schedule import arrived, drop_unstarted, enter, halt, in_order, settle, skip
from metnos.turn.scope import MODEL
from metnos.turn.state import Approval, Call, StepRun, TurnState
from metnos.turn.step import (
    UNSURE,
    end,
    fail,
    fail_step,
    gather,
    give_up,
    in_doubt,
    is_doubtful,
    launch,
    prepare,
    start_again,
    why_not,
)
from metnos.turn.step import finish as finish_call
from metnos.turn.table import TURN, ProtocolError, ResumeRefused, row_for, tag_of
from metnos.values.value import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.turn.table import Phase

NOTHING = Reaction()
ANSWER = "answer"
"""Name of the input that the answer to an `ask` terminal becomes."""


class Machine:
    """One turn. `state` is for reading.

    Args:
        rules: The rules of the turn; evaluation swaps them.
    """

    __slots__ = ("state",)

    def __init__(self, rules: Rules) -> None:
        self.state = TurnState(rules)

    def receive(self, item: i.AnyInput) -> Reaction:
        """Take one input in.

        Returns:
            The facts decided, in order, and the commands to obey, sorted by (plan, step, item).

        Raises:
            ProtocolError: The input cannot come now; nothing has changed. The driver's fault.
            ResumeRefused: `TurnResumed` under other versions than the turn was begun with; nothing has changed.
        """
        turn = self.state
        handler = _HANDLERS[turn.phase].get(type(item))
        if handler is None:
            row_for(turn.phase, item)
            raise AssertionError("a row without a handler")
        turn.at, before = item.at, turn.at
        try:
            handler(self, item)
        except (ProtocolError, ResumeRefused):
            turn.at = before
            raise
        if not turn.facts and not turn.commands:
            return NOTHING
        reaction = Reaction(tuple(turn.facts), in_order(turn.commands))
        turn.facts.clear()
        turn.commands.clear()
        return reaction

    # --- planning ----------------------------------------------------------------------------------------------

    def turn_opened(self, item: i.TurnOpened) -> None:
        turn = self.state
        if item.plan is None and item.request is None:
            self._refuse(item, "a turn needs a request or a plan")
        turn.opened = item
        turn.inputs = dict(item.inputs)
        if item.request is not None:
            turn.request = turn.rules.normalise(item.request, item.language)
        if item.plan is not None:
            consider(turn, "given", item.plan, item.source, origins=item.origins)
            self._advance()
        else:
            assert turn.request is not None
            turn.phase = "looking_up"
            ask(turn, LookUpPlan(
                request=turn.request.text, language=turn.request.language, normal_form=turn.request.normal_form
            ))

    def plan_found(self, item: i.PlanFound) -> None:
        turn = self.state
        turn.open.pop("look_up_plan", None)
        consider(turn, "found", item.plan, item.source, item.entry, item.origins)
        self._advance()

    def plan_missed(self, _item: i.PlanMissed) -> None:
        turn = self.state
        turn.open.pop("look_up_plan", None)
        propose(turn, "first")

    def plan_proposed(self, item: i.PlanProposed) -> None:
        turn = self.state
        turn.open.pop("propose", None)
        consider(turn, turn.purpose, item.plan, "model")
        self._advance()

    # --- fillers, timers, judges ---------------------------------------------------------------------------------

    def filler_resolved(self, item: i.FillerResolved) -> None:
        turn = self.state
        command = self._take(item, f"resolve_filler {item.name}")
        assert isinstance(command, ResolveFiller)
        wrong = check(command.schema, item.value)
        if wrong is None:
            turn.fillers[item.name] = Value(item.value, MODEL)
        self._filler_is_there(item.name, wrong)

    def _filler_is_there(self, name: str, wrong: Failure | None) -> None:
        turn = self.state
        turn.open_fillers.discard(name)
        if turn.phase not in ("running", "suspended") or turn.halted:
            return
        if wrong is not None:
            turn.failed = True
            turn.code, turn.detail = wrong.code, name
        arrived(turn, turn.plan.fillers.get(name, ()))
        self._advance()

    def judged(self, item: i.Judged) -> None:
        self._refuse(item, f"no judge was asked about {item.step}")

    def timer_fired(self, item: i.TimerFired) -> None:
        self._refuse(item, f"no timer {item.timer} is set")

    # --- steps -----------------------------------------------------------------------------------------------------

    def step_started(self, item: i.StepStarted) -> None:
        call = self._call(item, item.step)
        if call.announced or call.key in self.state.probing:
            self._refuse(item, f"step {item.step} has been started already")
        if call.operation != item.operation:
            self._refuse(item, f"step {item.step} is operation {call.operation}")
        call.announced = call.began = True

    def step_finished(self, item: i.StepFinished) -> None:
        call = self._call(item, item.step)
        if not call.announced:
            self._refuse(item, f"step {item.step} has not been started")
        finish_call(self.state, call, item.data, item.sources, item.effects)
        self._advance()

    def step_failed(self, item: i.StepFailed) -> None:
        call = self._call(item, item.step)
        call.effects = item.effects
        if item.error.cls in UNSURE and is_doubtful(call):
            in_doubt(self.state, call, item.error)
        else:
            fail(self.state, call, item.error, item.effects)
        self._advance()

    def step_stopped(self, item: i.StepStopped) -> None:
        call = self._call(item, item.step)
        call.effects = item.effects
        if is_doubtful(call):
            in_doubt(self.state, call, None)
        else:
            end(self.state, call, "stopped")
        self._advance()

    def effect_probed(self, item: i.EffectProbed) -> None:
        turn = self.state
        call = turn.calls.get(item.step)
        if call is None or item.step not in turn.probing:
            self._refuse(item, f"step {item.step} is not being probed")
        error = turn.probing.pop(item.step)
        if item.found == "done":
            finish_call(turn, call, item.data, ("local",), item.effects)
        elif item.found == "unknown":
            give_up(turn, call)
        elif error is not None:
            fail(turn, call, error)
        elif turn.halted:
            end(turn, call, "stopped")
        else:
            start_again(turn, call)
        self._advance()

    def _call(self, item: i.StepStarted | i.StepFinished | i.StepFailed | i.StepStopped, key: str) -> Call:
        call = self.state.calls.get(key)
        if call is None or key in self.state.probing:
            self._refuse(item, f"step {key} is not running")
        return call

    # --- people ------------------------------------------------------------------------------------------------------

    def approval_given(self, item: i.ApprovalGiven) -> None:
        given(self.state, self._approval(item, item.approval), item)
        self._advance()

    def approval_refused(self, item: i.ApprovalRefused) -> None:
        refused(self.state, self._approval(item, item.approval))
        self._advance()

    def approval_expired(self, item: i.ApprovalExpired) -> None:
        expired(self.state, self._approval(item, item.approval))
        self._advance()

    def _approval(self, item: i.Input, name: str) -> Approval:
        approval = self.state.approvals.get(name)
        if approval is None:
            self._refuse(item, f"no approval {name} is open")
        return approval

    def dialog_answered(self, item: i.DialogAnswered) -> None:
        turn = self.state
        dialog = self._dialog(item, item.dialog)
        schemas = answer_schemas(dialog)
        missing = sorted(schemas.keys() - item.answers.keys())
        if missing or item.answers.keys() - schemas.keys():
            self._refuse(item, f"the dialog asks for {', '.join(sorted(schemas))}")
        for name, schema in schemas.items():
            wrong = check(schema, item.answers[name])
            if wrong is not None:
                self._refuse(item, f"the answer {name} does not fit: {wrong.message}")
        turn.open.pop("open_dialog", None)
        turn.dialog = None
        for name, schema in schemas.items():
            turn.inputs[name] = VirtualInput(data=item.answers[name], schema=schema, source="user")
        propose(turn, "continuation")

    def dialog_expired(self, item: i.DialogExpired) -> None:
        turn = self.state
        self._dialog(item, item.dialog)
        turn.open.pop("open_dialog", None)
        turn.dialog = None
        turn.mark("user_aborted", "dialog-expired")
        close(turn, "user_aborted")

    def _dialog(self, item: i.Input, name: str) -> OpenDialog:
        dialog = self.state.dialog
        if dialog is None or dialog.dialog != name:
            self._refuse(item, f"no dialog {name} is open")
        return dialog

    # --- the end -------------------------------------------------------------------------------------------------------

    def answer_composed(self, item: i.AnswerComposed) -> None:
        turn = self.state
        turn.open.pop("compose", None)
        turn.answer = item.text
        assert turn.outcome is not None
        close(turn, turn.outcome)

    def learned(self, _item: i.Learned) -> None:
        self.state.open.pop("learn", None)
        finish(self.state)

    def cancelled(self, item: i.Cancelled) -> None:
        turn = self.state
        if turn.cancelling:
            return
        if turn.phase == "learning":
            finish(turn)
            return
        turn.cancelling = True
        if turn.phase == "composing":
            turn.outcome = None
        turn.mark("cancelled", "cancelled", item.by)
        if turn.phase not in ("running", "suspended"):
            close(turn, "cancelled")
            return
        turn.dialog = None
        halt(turn)
        turn.commands.extend(StopStep(step=key) for key in turn.calls if key not in turn.probing)
        self._advance()

    # --- faults of commands ----------------------------------------------------------------------------------------------

    def command_failed(self, item: i.CommandFailed) -> None:
        handler = _ON_FAILURE.get(item.command)
        if handler is None:
            self._refuse(item, f"there is no command `{item.command}` to fail here")
        handler(self, item)

    def _look_up_failed(self, item: i.CommandFailed) -> None:
        self._take(item, "look_up_plan")
        propose(self.state, "first")

    def _propose_failed(self, item: i.CommandFailed) -> None:
        self._take(item, "propose")
        nobody_proposes(self.state, item.error)

    def _filler_failed(self, item: i.CommandFailed) -> None:
        self._take(item, f"resolve_filler {item.ref}")
        self._filler_is_there(item.ref, item.error)

    def _start_failed(self, item: i.CommandFailed) -> None:
        self.step_failed(i.StepFailed(at=item.at, step=item.ref, error=item.error))

    def _stop_failed(self, item: i.CommandFailed) -> None:
        """A step that cannot be stopped runs on; its own closing input ends the matter."""
        if item.ref not in self.state.calls:
            self._refuse(item, f"step {item.ref} is not running")

    def _probe_failed(self, item: i.CommandFailed) -> None:
        self.effect_probed(i.EffectProbed(at=item.at, step=item.ref, found="unknown"))

    def _approval_failed(self, item: i.CommandFailed) -> None:
        expired(self.state, self._approval(item, item.ref))
        self._advance()

    def _dialog_failed(self, item: i.CommandFailed) -> None:
        self.dialog_expired(i.DialogExpired(at=item.at, dialog=item.ref))

    def _compose_failed(self, item: i.CommandFailed) -> None:
        """What was done stands; only its wording is missing."""
        turn = self.state
        self._take(item, "compose")
        assert turn.outcome is not None
        turn.code, turn.detail = turn.code or item.error.code, turn.detail or item.error.message
        close(turn, turn.outcome)

    def _learn_failed(self, item: i.CommandFailed) -> None:
        self._take(item, "learn")
        finish(self.state)

    def _take(self, item: i.Input, key: str) -> object:
        """Close the open command `key`."""
        command = self.state.open.get(key)
        if command is None:
            self._refuse(item, f"no `{key}` is open")
        del self.state.open[key]
        return command

    # --- resume ------------------------------------------------------------------------------------------------------------

    def turn_resumed(self, item: i.TurnResumed) -> None:
        turn = self.state
        self._check_versions(item)
        for command in turn.open.values():
            turn.commands.append(command)
        for approval in turn.approvals.values():
            turn.commands.append(approval.command)
        for call in list(turn.calls.values()):
            self._resume_call(call)
        if turn.phase == "suspended":
            turn.waiting = ()
        if turn.phase in ("running", "suspended", "stopping"):
            self._advance()

    def _resume_call(self, call: Call) -> None:
        turn = self.state
        contract = call.run.step.contract
        if call.key in turn.probing:
            turn.commands.append(
                ProbeEffect(step=call.key, operation=call.operation, executor=contract.reference, args=call.args)
            )
        elif turn.cancelling or (turn.halted and not call.began):
            if is_doubtful(call):
                in_doubt(turn, call, None)
            else:
                end(turn, call, "stopped")
        elif not call.began:
            start_again(turn, call)
        elif is_doubtful(call):
            in_doubt(turn, call, None)
        else:
            from metnos.turn.facts import StepUnknown

            turn.facts.append(StepUnknown(step=call.key, operation=call.operation))
            start_again(turn, call)

    def _check_versions(self, item: i.TurnResumed) -> None:
        """Refuse by name if what the turn needs is another than it was begun with."""
        turn = self.state
        recorded = {name: turn.opened.versions.get(name, "") for name in ("rules", "policy")}
        for plan in turn.plans:
            recorded |= {run.step.contract.reference: run.step.contract.digest for run in plan.runs}
        for name, before in recorded.items():
            now = item.versions.get(name, "")
            if before and now and before != now:
                raise ResumeRefused(name, before, now)

    # --- going on ----------------------------------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Work off the queue; then wait, suspend or end."""
        turn = self.state
        if turn.phase not in ("running", "suspended", "stopping"):
            return
        queue = turn.queue
        while queue or turn.sweep:
            if turn.sweep:
                for run in drop_unstarted(turn):
                    gather(turn, run)
                continue
            waiting = queue.popleft()
            if isinstance(waiting, Call):
                launch(turn, waiting)
            elif waiting.state == "waiting":
                self._offer(waiting)
            elif waiting.state == "ready":
                clear(turn, waiting)
        rest(turn)

    def _offer(self, run: StepRun) -> None:
        """The inputs of `run` are there, or will never be."""
        turn = self.state
        reason = why_not(turn, run)
        if reason is not None:
            skip(turn, run, reason)
            return
        fault = prepare(turn, run)
        if fault is not None:
            fail_step(turn, run, fault)
            settle(turn, run, "failed")
            return
        enter(turn, run)
        if run.lifted and run.left == 0:
            gather(turn, run)
        else:
            clear(turn, run)

    def _refuse(self, item: i.Input, detail: str) -> NoReturn:
        raise ProtocolError(tag_of(item), self.state.phase, detail)


def answer_schemas(dialog: OpenDialog) -> dict[str, dict[str, object]]:
    """Name → JSON Schema of what a dialog must be answered with; one name, `answer`, for an `ask`."""
    if dialog.form:
        return {name: field["schema"] for name, field in dialog.form.items()}
    if dialog.choices:
        return {ANSWER: {"enum": list(dialog.choices)}}
    return {ANSWER: {"type": "string"}}


_HANDLERS: dict[Phase, dict[type[i.Input], Callable[..., None]]] = {
    phase: {kind: getattr(Machine, row.handler) for kind, row in rows.items()} for phase, rows in TURN.items()
}
_ON_FAILURE: dict[str, Callable[[Machine, i.CommandFailed], None]] = {
    "look_up_plan": Machine._look_up_failed,
    "propose": Machine._propose_failed,
    "resolve_filler": Machine._filler_failed,
    "start_step": Machine._start_failed,
    "stop_step": Machine._stop_failed,
    "probe_effect": Machine._probe_failed,
    "ask_approval": Machine._approval_failed,
    "open_dialog": Machine._dialog_failed,
    "compose": Machine._compose_failed,
    "learn": Machine._learn_failed,
}
"""Tag of a command → what its failure means."""

__all__ = ["Ask", "Machine", "ProtocolError", "ResumeRefused", "answer_schemas", "conclude"]
