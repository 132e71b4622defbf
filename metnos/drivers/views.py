"""From a machine's state to what a caller gets: `TurnResult`, needs, steps. Nothing here decides or does I/O."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from metnos.drivers.choosing import choice_options, choice_question, chosen_lines
from metnos.drivers.compose import explain, idle, notes
from metnos.drivers.guessing import guess_options, guess_question
from metnos.drivers.results import Need, NeedsInputs, Planned, Refused, StepView, TurnResult
from metnos.plan.classes import class_of, class_of_turn
from metnos.plan.model import NeedsInputs as PlanNeedsInputs
from metnos.text import DEFAULT_LANGUAGE, message
from metnos.turn import commands as c
from metnos.turn.answer import language_of
from metnos.turn.choice import chosen_runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.drivers.live import LiveTurn
    from metnos.turn.state import StepRun, TurnState


def iso(at: int) -> str:
    """µs since 1970 UTC as ISO 8601, to the second."""
    return datetime.fromtimestamp(at / 1_000_000, UTC).isoformat(timespec="seconds") if at else ""


def need_of(asked: c.AskApproval | c.OpenDialog, language: str = DEFAULT_LANGUAGE) -> Need:
    """What one open question needs from a person, whose language it is."""
    if isinstance(asked, c.AskApproval):
        return Need(
            kind="approval",
            id=asked.approval,
            step=asked.step,
            action=asked.action,
            targets=asked.targets,
            count=asked.count,
            reason=asked.reason,
            digest=asked.digest,
            expires=iso(asked.expires),
        )
    if asked.offers:
        question = choice_question(asked, language)
        form = {name: {**field, "label": question} for name, field in asked.form.items()}
        options = choice_options(asked, language)
        step = asked.calls[0] if len(asked.calls) == 1 else asked.calls[0].rpartition(".")[0]
        return Need(kind="dialog", id=asked.dialog, step=step, question=question, form=form, options=options)
    if asked.guess is not UNSET:
        return Need(
            kind="dialog",
            id=asked.dialog,
            question=guess_question(asked.guess, language),
            form={name: {**field, "label": message("guess.question", language)} for name, field in asked.form.items()},
            options=guess_options(language),
            plan=asked.guess.plan,
            digest=asked.guess.digest,
        )
    return Need(kind="dialog", id=asked.dialog, question=asked.question, choices=asked.choices, form=asked.form)


def needs_of(live: LiveTurn) -> tuple[Need, ...]:
    """Every open question, in the order it was asked."""
    state = live.machine.state
    asked: list[c.AskApproval | c.OpenDialog] = list(state.asked)
    if state.dialog is not None:
        asked.append(state.dialog)
    language = language_of(state)
    return tuple(need_of(one, language) for one in asked)


def steps_of(state: TurnState) -> tuple[StepView, ...]:
    """Every step of every accepted plan."""
    return tuple(map(_step, state.steps))


def _step(run: StepRun) -> StepView:
    status: Any = run.state
    return StepView(
        step=run.key,
        tool=run.known.contract.name,
        status="waiting" if status in ("ready", "pausing") else status,
        items=len(run.calls) if run.lifted else 1,
        data=run.value.data if run.value is not None else None,
        reason=run.reason,
        error=run.error,
        error_class=class_of(run.error.code, run.error.cls) if run.error is not None else "",
    )


def _error_class(state: TurnState, outcome: str) -> str:
    """Of what kept the turn from success."""
    errors = {run.error.code: run.error.cls for run in reversed(state.standing) if run.error is not None}
    return class_of_turn(outcome, state.code, errors)


def _explained(live: LiveTurn, outcome: str) -> str:
    """In words how a turn ended that did not succeed; empty for one that did and while it waits."""
    state = live.machine.state
    if not outcome or outcome == "success":
        return ""
    return explain(state, outcome, language_of(state), live.miss, live.denied)


def _notes(state: TurnState) -> tuple[str, ...]:
    """Those that a composed answer would have told."""
    checked = state.plan.checked if state.plans else None
    if checked is None or (checked.answer_text is None and checked.answer_data is None):
        return ()
    language = language_of(state)
    told = [note for run in state.steps if run.has_notes for note in notes(run, language)]
    told += [line for run in chosen_runs(state) for line in chosen_lines(run, language)]
    return (*told, *idle(state, language))


def planned_of(live: LiveTurn) -> Planned | NeedsInputs | Refused:
    """What a turn that only planned says."""
    state = live.machine.state
    result = result_of(live)
    if result.outcome != "success" or result.plan is None:
        return Refused(
            outcome=result.outcome,
            diagnostics=state.rejected,
            detail=result.answer,
            error_class=result.error_class,
        )
    checked = state.plan.checked
    if isinstance(checked.plan.terminal, PlanNeedsInputs) and not checked.steps:
        form = {
            name: {"schema": field.schema, "label": field.label} for name, field in checked.plan.terminal.form.items()
        }
        return NeedsInputs(form=form)
    return Planned(
        plan=result.plan,
        digest=checked.digest,
        needs=tuple(_forecast(live)),
        source=result.source,
        entry=result.entry,
        request=state.opened.request,
        language=state.request.language if state.request is not None else state.opened.language,
        origins=live.origins or state.opened.origins,
        turn=result.turn,
        unsure=state.plan.unsure,
    )


def _forecast(live: LiveTurn) -> Iterator[Need]:
    state = live.machine.state
    for fact in live.forecast:
        run = state.find(fact.step)
        action = run.step.worst_effect if run is not None else ""
        reason = getattr(fact.verdict, "reason", "")
        yield Need(kind="approval", id="", step=fact.step, action=action, reason=reason)


def result_of(live: LiveTurn) -> TurnResult:
    """How the turn stands."""
    state = live.machine.state
    plan = state.plans[-1] if state.plans else None
    outcome = (state.outcome or "success") if state.closed else ""
    explained = _explained(live, outcome)
    return TurnResult(
        turn=state.opened.turn,
        status="closed" if state.closed else "suspended",
        outcome=outcome,
        answer=state.answer or ("" if state.data is not None else explained),
        explained=explained,
        notes=_notes(state),
        data=state.data,
        detail=state.detail,
        code=state.code,
        error_class=_error_class(state, outcome),
        steps=steps_of(state),
        effects=state.effects,
        needs=() if state.closed else needs_of(live),
        source=plan.source if plan is not None else "",
        entry=plan.entry if plan is not None else "",
        plan=plan.body if plan is not None else None,
        diagnostics=state.rejected if plan is None else (),
        usage=dict(live.usage),
        planning_s=round(live.planning_us / 1_000_000, 3),
        model=live.model,
        language=language_of(state),
        log_head=live.head.hash if live.head is not None else "",
    )
