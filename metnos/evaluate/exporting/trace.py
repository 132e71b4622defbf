"""Turns as ExecutionTrace: `metnos.evaluate.trace`, one line a turn.

| of the turn | becomes |
|---|---|
| each plan | a thought; then a critic for each guard that rewrote it and for who rejected or accepted it |
| what a person said of a plan before it began | a critic |
| each verdict of policy that is no plain permission | a critic |
| each call | an action |
| a question | an ask |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from metnos.evaluate.trace import FORM, Action, Asked, Critic, ExecutionTrace, Step, Thought
from metnos.turn.guess import YES

if TYPE_CHECKING:
    from metnos.evaluate.exporting.view import PlanView, RunView


def trace_of(run: RunView) -> ExecutionTrace:
    """The trace of a turn."""
    return ExecutionTrace(
        form=FORM,
        turn=run.turn,
        message=run.request,
        session=run.conversation,
        channel=run.channel,
        outcome=run.outcome or run.status,
        code=run.code,
        detail=run.detail,
        answer=run.answer,
        data=run.data,
        steps=tuple(step for plan in run.plans for step in _steps(plan)),
        costs=dict(run.usage),
        opened=run.opened,
        closed=run.closed,
        labels=dict(run.labels),
    )


def _steps(plan: PlanView) -> list[Step]:
    thought = Thought(
        plan=plan.number,
        source=plan.source,
        model=plan.model,
        text=plan.said,
        usage=dict(plan.usage),
        asked=plan.asked,
        at=plan.at,
    )
    found: list[Step] = [thought]
    found += [Critic(plan=plan.number, by=name, verdict="rewritten") for name in plan.rewritten_by]
    by = plan.rejected_by or "validator"
    judged = "rejected" if plan.rejected_by else "accepted"
    found.append(Critic(plan=plan.number, by=by, verdict=judged, diagnostics=tuple(plan.diagnostics)))
    found += [
        Critic(plan=plan.number, by="policy", verdict=str(told["verdict"]), step=str(told["step"]))
        for told in plan.verdicts
        if told["verdict"] != "allow"
    ]
    if plan.seen:
        found.append(Critic(plan=plan.number, by="person", verdict="accepted" if plan.seen == YES else "rejected"))
    found += [
        Action(
            plan=plan.number,
            step=call.step,
            tool=call.tool,
            arguments=call.arguments,
            resolved=call.resolved,
            state=call.state,
            result=call.data,
            error=call.error,
            started=call.started,
            ended=call.ended,
        )
        for call in plan.calls
    ]
    if plan.question or plan.answers is not None:
        found.append(Asked(plan=plan.number, question=plan.question, answers=plan.answers, at=plan.answered))
    return found


def encode(run: RunView) -> bytes:
    """One line, without its end."""
    return msgspec.json.encode(trace_of(run))
