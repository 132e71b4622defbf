"""From a candidate plan to an accepted one: one path for every source.

Law:

1. Every candidate has a number, accepted or not; it is the `plan` of its facts and the first part of step ids.
2. Validator, then guards (rewriters are already in what they hand back), then policy's forecast. A forecast that
   allows is no decision and leaves no fact; a certain denial ends the turn before step 1.
3. A found plan that is rejected is a miss; one that a slash command stands for is a given one. A proposed one is repaired once in a turn; a guard's `Repropose` counts
   as that repair, its `Refuse` cannot be repaired. A reply that is no plan at all is a rejected plan, too (`reader`). A given one is not repaired: its author reads the diagnostics.
4. `tool_hallucination`: the repair names a tool that does not exist, as the first proposal did.
5. A given plan that lacks nothing but inputs is held while a person is asked for them (`turn.wanted`).
6. The plan of an author, host or template that ends in a question is whole: where nobody can propose how to go on, the
   answers are what it was for, and become the turn's `data`. A model's plan is not: its question was on the way.
7. Where nobody can propose, a turn without a rejected plan was `not_understood`; otherwise the rejection is the
   answer, because it is what the person can act on. A proposer that declines has the last word: `not_understood`.
8. Where a plan stands for one that failed (`turn.recovery`), that one's failures are no longer the turn's; where none
   does, they are. It is not repaired.
9. An accepted plan of which its proposer is not sure that it is what was meant is shown to a person before it begins
   (`turn.guess`); one that is to stand for a plan that failed is given up: a person who waits for an answer is not asked
   to judge a second attempt. In mode `plan` it is handed back like any other: whoever planned looks at it anyway.
10. What a model read in the request where its words ask for no effect (`request.acts`) is asked for from then on; every
   effect in such a turn is asked about, whatever was allowed beforehand, and the turn is no lesson: the words alone would
   not admit its plan again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metnos.checks.model import CheckContext, Checked, PlanSource
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.write import to_json
from metnos.policy.model import Allow, Deny
from metnos.request.acts import with_acts
from metnos.turn.advance import advance
from metnos.turn.answer import ask, close, conclude, succeeded
from metnos.turn.commands import LookUpPlan
from metnos.turn.consent import forecast
from metnos.turn.facts import PlanAccepted, PlanRejected, PlanRewritten, PolicyDecided
from metnos.turn.filling import begin_fillers
from metnos.turn.guess import PLAN_UNSURE, decline, is_yes, show
from metnos.turn.logic import unknown
from metnos.turn.proposals import propose
from metnos.turn.schedule import queue_ready, wire
from metnos.turn.state import Held, PlanRun
from metnos.turn.table import refuse
from metnos.turn.wanted import ask_to_fill, form_of, hold, may_fill

if TYPE_CHECKING:
    from metnos.request.model import Act
    from metnos.sdk import Failure
    from metnos.turn.commands import Guess
    from metnos.turn.inputs import PlanFound, PlanMissed, PlanProposed, TurnOpened
    from metnos.turn.state import Brought, TurnState

UNKNOWN_TOOL = "unknown-tool"
SAME_PLAN = "plan-repeated"
NO_MODEL = "no-model"
DECLINED = frozenset({"out-of-scope", "too-vague"})
"""Codes with which a proposer says that it will not guess."""


# --- inputs ------------------------------------------------------------------------------------------------------


def turn_opened(turn: TurnState, item: TurnOpened) -> None:
    """The first input: a request to find a plan for, or a plan."""
    if item.plan is None and item.request is None:
        refuse(turn.phase, item, "a turn needs a request or a plan")
    flag = unknown(item.logic)
    if flag:
        refuse(turn.phase, item, f"this version does not know the logic {flag!r} at that level")
    turn.opened = item
    turn.inputs = dict(item.inputs)
    if item.request is not None:
        turn.request = turn.rules.normalise(item.request, item.language)
    if item.plan is not None:
        consider(turn, "given", item.plan, item.source, origins=item.origins)
        advance(turn)
    elif turn.request is not None:
        turn.phase = "looking_up"
        request = turn.request
        ask(turn, LookUpPlan(request=request.text, language=request.language, normal_form=request.normal_form))


def plan_found(turn: TurnState, item: PlanFound) -> None:
    """A template or the cache has a plan, or a slash command stands for one: nobody is asked for another then."""
    turn.open.pop("look_up_plan", None)
    consider(turn, "given" if item.source == "command" else "found", item.plan, item.source, item.entry, item.origins)
    advance(turn)


def plan_missed(turn: TurnState, item: PlanMissed) -> None:
    """Nobody has seen such a request before."""
    turn.open.pop("look_up_plan", None)
    turn.wanted = item.wanted if turn.dialogs == 0 else None
    propose(turn, "first")


def plan_proposed(turn: TurnState, item: PlanProposed) -> None:
    """A model has written a plan."""
    turn.open.pop("propose", None)
    if item.acts:
        _read_as(turn, item.acts)
    if item.unreadable:
        turn.candidates += 1
        _reject(turn, turn.purpose, {}, "reader", item.unreadable, written=item.written)
    else:
        consider(turn, turn.purpose, item.plan, "model", unsure=item.unsure is True)
    advance(turn)


def _read_as(turn: TurnState, acts: tuple[Act, ...]) -> None:
    """From now on the request asks for what a model has read in it, where its words left that open."""
    request = turn.request
    assert request is not None
    turn.request = with_acts(request, acts)
    turn.inferred = turn.inferred or turn.request is not request


# --- candidates --------------------------------------------------------------------------------------------------


def consider(
    turn: TurnState,
    brought: Brought,
    plan: dict[str, Any],
    source: str,
    entry: str = "",
    origins: dict[str, str] | None = None,
    *,
    unsure: bool = False,
) -> None:
    """Judge a candidate plan and go on with it, or with what its rejection means."""
    turn.candidates += 1
    context = CheckContext(
        source=_SOURCES.get(source, "model"),
        origins=origins or {},
        home=turn.opened.home,
        request=None if source == "command" else turn.request,  # its word says nothing that a guard could read
        inputs={name: dict(given.schema) for name, given in turn.inputs.items()},
        goes_on=turn.goes_on,
        earlier_steps=earlier_steps(turn),
    )
    checked = turn.rules.validate(plan, context)
    if not checked.ok:
        form = form_of(turn, plan, checked, context) if brought == "given" and turn.opened.mode != "plan" else {}
        if form:
            turn.candidates -= 1
            hold(turn, Held(plan, source, origins or {}), form)
            return
        _reject(turn, brought, plan, "validator", checked.diagnostics)
        return
    guarded = turn.rules.guard(checked, context)
    turn.facts.extend(PlanRewritten(plan=turn.candidates, guard=name) for name in guarded.rewrites)
    if not guarded.checked.ok:
        _reject(turn, brought, plan, "validator", guarded.checked.diagnostics)
    elif guarded.refusals:
        refusal = guarded.refusals[0]
        _reject(turn, brought, plan, refusal.guard, refusal.diagnostics, final=True)
    elif guarded.reproposals:
        again = guarded.reproposals[0]
        _reject(turn, brought, plan, again.guard, again.diagnostics)
    else:
        _accept(turn, brought, guarded.checked, plan, source, entry, unsure=unsure)


_SOURCES: dict[str, PlanSource] = {
    "author": "author",
    "host": "host",
    "command": "author",
    "template": "template",
    "cache": "cache",
    "model": "model",
    "user": "user",
}
"""Who wrote a plan, as the turn is told it → as the checks name it; anybody else is no better than a model."""


def earlier_steps(turn: TurnState) -> dict[str, dict[str, object]]:
    """Result schemas of done steps, for a plan that continues the turn."""
    found: dict[str, dict[str, object]] = {}
    for plan in turn.plans:
        for run in plan.runs:
            if run.value is not None:
                found[f"plan{plan.number}.step{run.number}"] = result_schema(run.step.contract, lifted=run.lifted)
    return found


def result_schema(contract: Any, *, lifted: bool) -> dict[str, object]:
    """JSON Schema of a step's `data`; a lifted step's is the collection over its items."""
    if not lifted:
        return contract.result
    item: Any = contract.result
    if contract.produces is not None and contract.produces.many:
        collection = contract.result.get("properties", {}).get(contract.produces.field, {})
        item = collection.get("items", {})
    return {
        "type": "object",
        "properties": {"entries": {"type": "array", "items": item}, "count": {"type": "integer"}},
        "required": ["entries", "count"],
    }


# --- rejected ----------------------------------------------------------------------------------------------------


def _reject(
    turn: TurnState,
    brought: Brought,
    plan: dict[str, Any],
    by: str,
    diagnostics: tuple[Diagnostic, ...],
    *,
    final: bool = False,
    written: str = "",
) -> None:
    turn.facts.append(PlanRejected(plan=turn.candidates, by=by, diagnostics=diagnostics))
    before, turn.rejected = turn.rejected, diagnostics
    if brought == "found":
        propose(turn, "first")
    elif brought == "recovery":
        conclude(turn)
    elif brought == "given" or final or turn.repaired:
        twice = brought == "repair" and _names_no_tool(before) and _names_no_tool(diagnostics)
        _refuse(turn, "tool_hallucination" if twice else "plan_rejected")
    else:
        turn.repaired = True
        propose(turn, "repair", plan, written, diagnostics)


def _names_no_tool(diagnostics: tuple[Diagnostic, ...]) -> bool:
    return any(diagnostic.code == UNKNOWN_TOOL for diagnostic in diagnostics)


def _refuse(turn: TurnState, outcome: Any) -> None:
    first = turn.rejected[0] if turn.rejected else None
    turn.mark(outcome, first.code if first else "", first.where if first else "")
    close(turn, outcome)


def answered(turn: TurnState, answers: dict[str, Any]) -> None:
    """A dialog's answers are inputs of the turn now: judge the plan that waited for them, or ask for what is left to do."""
    turn.answers = answers
    held, turn.held = turn.held, None
    if held is None:
        propose(turn, "continuation")
    else:
        consider(turn, "given", held.plan, held.source, origins=held.origins)
        advance(turn)


def confirmed(turn: TurnState, guess: Guess, answers: dict[str, Any]) -> None:
    """A person has seen the plan: begin it, or nothing."""
    if is_yes(turn, guess, answers):
        _begin(turn, turn.plan)
        advance(turn)
    else:
        decline(turn)


def nobody_proposes(turn: TurnState, error: Failure) -> None:
    """A `Propose` failed: say the thing that the person can act on."""
    if turn.purpose == "recovery":
        conclude(turn)
    elif turn.purpose == "continuation" and error.code == NO_MODEL and turn.plan.source != "model":
        turn.data = turn.answers
        conclude(turn)
    elif turn.plans:
        outcome = "partial" if succeeded(turn) else "error"
        turn.mark(outcome, error.code, error.message)
        close(turn, outcome)
    elif turn.rejected and error.code not in DECLINED:
        _refuse(turn, "plan_rejected")
    elif may_fill(turn) and error.cls == "unavailable":
        ask_to_fill(turn)
    else:
        outcome = "not_understood" if error.cls == "unavailable" else "error"
        turn.mark(outcome, error.code, error.message)
        close(turn, outcome)


# --- accepted ----------------------------------------------------------------------------------------------------


def _accept(
    turn: TurnState,
    brought: Brought,
    checked: Checked,
    written: dict[str, Any],
    source: str,
    entry: str,
    *,
    unsure: bool,
) -> None:
    number = turn.candidates
    if brought == "recovery":
        same = checked.digest == turn.plan.checked.digest
        if same or unsure:
            no_way = Diagnostic(code=SAME_PLAN if same else PLAN_UNSURE, where="", found=f"plan {turn.plan.number}")
            _reject(turn, brought, written, "recovery", (no_way,))
            return
        turn.plan.replaced = True
        turn.failed = False
        turn.fillers.clear()
    body = to_json(checked.plan)
    plan = PlanRun(number, checked, source, entry, body)
    plan.unsure = unsure
    executors = plan.known.executors
    turn.facts.append(
        PlanAccepted(plan=number, digest=checked.digest, executors=executors, body={} if body == written else body)
    )
    turn.plans.append(plan)
    turn.plan = plan
    denied = _forecast_all(turn, plan)
    if denied is not None:
        turn.mark("policy_denied", "policy-denied", denied.reason)
        close(turn, "policy_denied")
    elif turn.opened.mode == "plan":
        close(turn, "success")
    else:
        turn.halted = turn.sweep = False
        (show if unsure else _begin)(turn, plan)


def _forecast_all(turn: TurnState, plan: PlanRun) -> Deny | None:
    if all(isinstance(forecast(turn, step), Allow) for step in plan.known.kinds):
        return None
    denied: Deny | None = None
    for run in plan.runs:
        verdict = forecast(turn, run.step)
        if not isinstance(verdict, Allow):
            turn.facts.append(PolicyDecided(step=run.key, verdict=verdict, forecast=True))
            if isinstance(verdict, Deny) and denied is None:
                denied = verdict
    return denied


def _begin(turn: TurnState, plan: PlanRun) -> None:
    turn.phase = "running"
    wire(plan, turn.opened.folder)
    if plan.checked.plan.fillers:
        begin_fillers(turn, plan)
    queue_ready(turn, plan)
