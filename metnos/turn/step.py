"""The life of a step: waiting → ready → (asking) → started → done | failed | stopped | unknown, or skipped.

Law:

1. A step's inputs are final when it is looked at; resolving them is pure. Every call of a lifted step is resolved
   before the first of them starts, so that one question can show them all.
2. Policy is asked bindingly after the arguments are resolved and no earlier step is in the way, and before
   `StartStep`; nothing else returns `StartStep` for a new operation.
3. An effect whose end is not known (`UNSURE`) is never called a plain failure: it is probed, or it is unknown,
   unless its contract says that repeating it is harmless.
"""

from __future__ import annotations

from posixpath import dirname
from typing import TYPE_CHECKING, Any, Final

from msgspec import structs

from metnos.plan.digests import operation_id
from metnos.plan.jsondata import MAX_RESULT_BYTES, JSONFault, digest
from metnos.sdk import EFFECT_CLASSES, EffectClass, Failure
from metnos.turn.arguments import check_arguments
from metnos.turn.claims import as_list, as_object, claims_of, default_of, outside, targets_of
from metnos.turn.commands import ProbeEffect, StartStep
from metnos.turn.facts import StepSkipped, StepUnknown
from metnos.turn.schedule import halt, held_back, leave, settle
from metnos.turn.scope import Scope
from metnos.turn.state import Call
from metnos.values.quick import take
from metnos.values.resolve import Fault, resolve
from metnos.values.value import Value

if TYPE_CHECKING:
    from metnos.contracts.model import Contract
    from metnos.sdk import Effect
    from metnos.turn.state import StepRun, TurnState

MAX_ITEMS: Final = 1_000
CONFINED: Final = frozenset({"inline", "worker"})
"""Placements whose executors reach files only below the granted folders."""
UNSURE: Final = frozenset({"crashed", "timeout", "memory", "internal"})
"""Classes of failure after which an effect may or may not have been made; an executor that knows better returns a
failure of another class."""
RANK: Final[dict[EffectClass, int]] = {effect: rank for rank, effect in enumerate(EFFECT_CLASSES)}


# --- from waiting to ready -----------------------------------------------------------------------------------


def why_not(turn: TurnState, run: StepRun) -> str | None:
    """Why a step whose inputs are there will not run: `when`, or `blocked_by …`; None: it will."""
    runs = turn.plan.runs
    when = run.step.when
    looked_at = 0
    if when is not None:
        looked_at = when.step
        decides = runs[looked_at - 1]
        if decides.value is None and decides.reason != "when":
            return f"blocked_by {decides.key}"
        if bool(collection(decides)) != when.nonempty:
            return "when"
    for number in run.known.needs:
        if runs[number - 1].value is None and number != looked_at:
            return f"blocked_by {runs[number - 1].key}"
    for name in run.fillers:
        if name not in turn.fillers:
            return f"blocked_by FILLER:{name}"
    return None


def collection(run: StepRun) -> Any:
    """The collection that a step produced; a step skipped by `when` produced an empty one."""
    if run.value is None:
        return None
    data = run.value.data
    produces = run.step.contract.produces
    name = "entries" if run.lifted or produces is None else produces.field
    return as_object(data).get(name) if isinstance(data, dict) else data


def prepare(turn: TurnState, run: StepRun) -> Failure | None:
    """Resolve every call of `run`: arguments, digest, effect class, targets, claims."""
    run.state = "ready"
    if run.lifted:
        fault = _expand(turn, run)
        run.left = sum(call.state == "ready" for call in run.calls)
        return fault
    call = Call(run, 0, run.key, None)
    fault = _resolve(turn, call)
    if fault is None:
        run.calls.append(call)
        run.left = 1
    return fault


def _expand(turn: TurnState, run: StepRun) -> Failure | None:
    assert run.step.for_each is not None
    found = resolve(run.step.for_each, Scope(turn))
    if isinstance(found, Fault):
        return failure_of(found)
    items = as_list(found.data)
    if type(items) is not list:
        return Failure(cls="data", code="value-type", where="/for_each", message="for_each needs a list")
    if len(items) > MAX_ITEMS:
        return Failure(cls="oversize", code="too-many-items", message=f"{len(items)} items, at most {MAX_ITEMS}")
    run.sources = found.sources
    for number, item in enumerate(items, 1):
        call = Call(run, number, f"{run.key}.{number}", Value(item, found.sources))
        fault = _resolve(turn, call)
        if fault is None:
            run.calls.append(call)
        elif run.step.on_error == "stop":
            return fault
        else:
            call.state, call.error = "failed", fault
            run.calls.append(call)
    return None


def _resolve(turn: TurnState, call: Call) -> Failure | None:
    run = call.run
    known = run.known
    found = None if known.quick is None else take(known.quick, turn.plan.runs, call.item_value)
    if found is not None:
        args, call.sources = found
    else:
        whole = resolve(run.step.args, Scope(turn, call.item_value))
        if isinstance(whole, Fault):
            return failure_of(whole)
        args, call.sources = whole.data, whole.sources
    call.args = args
    if known.fits is not None and not known.fits(args):
        return check_arguments(known.contract, args)
    return settle_arguments(turn, call)


def settle_arguments(turn: TurnState, call: Call) -> Failure | None:
    """Digest, effect class, targets and claims of a call whose arguments fit its contract."""
    known, args = call.run.known, call.args
    contract = known.contract
    try:
        call.digest = digest(args, max_bytes=MAX_RESULT_BYTES)
    except JSONFault as fault:
        return Failure(cls="data", code=fault.code, where=fault.where, message=fault.message)
    call.effect = known.effect or effect_of(contract, args)
    if contract.targets:
        call.targets = targets_of(contract, args, turn.opened.folder)
    if turn.plan.board is not None:
        call.claims = claims_of(contract, args, turn.opened.folder)
        if call.effect != "read" and contract.placement in CONFINED:
            return not_granted(outside(call.claims, turn.opened.roots))
    return None


def not_granted(path: str | None) -> Failure | None:
    """An effect outside the granted folders is refused before anybody is asked to allow it."""
    if path is None:
        return None
    return Failure(
        cls="denied",
        code="outside-roots",
        where=path,
        message="the path is outside the granted folders",
        hint=f"grant it with --root {dirname(path)}" if dirname(path) != "/" else "",
    )


def effect_of(contract: Contract, args: dict[str, Any]) -> EffectClass:
    """The class of the first rule that fits; an argument that is not given counts as its schema's default."""
    for rule in contract.effects:
        if not rule.when:
            return rule.effect
        if all(args.get(name, default_of(contract, name)) == value for name, value in rule.when.items()):
            return rule.effect
    return "execute"


def worst(effects: list[EffectClass]) -> EffectClass:
    """The strongest of `effects`."""
    found = effects[0]
    for effect in effects:
        if RANK[effect] > RANK[found]:
            found = effect
    return found


def failure_of(fault: Fault) -> Failure:
    """A fault of resolution as a step's failure."""
    message = f"found {fault.found}, expected {fault.expected}"
    return Failure(cls="data", code=fault.code, where=fault.where, message=message, hint=fault.hint)


# --- start ---------------------------------------------------------------------------------------------------


def launch(turn: TurnState, call: Call) -> None:
    """Return `StartStep` for a call that policy has let through, unless an earlier item is in its way."""
    run = call.run
    if turn.halted or call.state not in ("ready", "asking"):
        return
    if run.lifted and turn.plan.board is not None and held_back(turn, call, call.order, (call,)):
        return
    if turn.started >= turn.opened.budget.steps:
        turn.mark("timeout_steps", "step-budget", call.key)
        halt(turn)
        return
    turn.started += 1
    contract = run.step.contract
    reference = run.reference
    call.operation = operation_id(
        turn.opened.turn, turn.plan.checked.digest, run.key, call.item, reference, call.digest
    )
    call.start = StartStep(
        step=call.key,
        operation=call.operation,
        executor=reference,
        args=call.args,
        digest=call.digest,
        effect=call.effect,
        placement=contract.placement,
        timeout_s=contract.limits.timeout_s,
        idempotent=contract.idempotent,
        expects=call.expects,
    )
    start_again(turn, call)


def start_again(turn: TurnState, call: Call) -> None:
    """Ask for `call`'s operation: for the first time, or under the same id after a crash."""
    assert call.start is not None
    if call.began and call.start.expects:  # what lies there may be its own work by now
        call.start = structs.replace(call.start, expects={})
    call.state = call.run.state = "started"
    call.announced = False
    turn.calls[call.key] = call
    turn.commands.append(call.start)


def repeat_of(turn: TurnState, call: Call) -> Call | None:
    """The call of an earlier plan of this turn that did the same effect with the same arguments."""
    if len(turn.plans) < 2 or call.effect == "read":
        return None
    found = turn.done.get((call.run.reference, call.digest))
    return None if found is None or found.run in turn.plan.runs else found


def take_over(turn: TurnState, call: Call, done: Call) -> None:
    """`call` repeats an effect that is done: its recorded result counts, nothing starts."""
    turn.facts.append(StepSkipped(step=call.key, reason=f"repeats {done.key}"))
    call.value = done.value
    call.run.reason = f"repeats {done.key}"
    end(turn, call, "done")


# --- end -----------------------------------------------------------------------------------------------------


def finish(turn: TurnState, call: Call, data: Any, sources: tuple[str, ...], effects: tuple[Effect, ...]) -> None:
    """A call came back with data."""
    call.value = Value(data, call.sources.union(sources))
    call.effects = effects
    if call.effect != "read":
        turn.done[call.run.reference, call.digest] = call
    end(turn, call, "done")


def fail(turn: TurnState, call: Call, error: Failure, effects: tuple[Effect, ...] = ()) -> None:
    """A call failed, and nothing is left open about what it did."""
    call.error = error
    call.effects = effects
    fail_step(turn, call.run, error)
    end(turn, call, "failed")


def fail_step(turn: TurnState, run: StepRun, error: Failure) -> None:
    """Note the failure of a step or item; without `on_error: continue` nothing new starts."""
    turn.failed = True
    if run.error is None:
        run.error = error
    if run.step.on_error == "stop":
        halt(turn)


def end(turn: TurnState, call: Call, state: Any) -> None:
    """`call` has ended in `state`; so has its step, if this was the last of its calls."""
    run = call.run
    call.state = state
    run.left -= 1
    turn.calls.pop(call.key, None)
    if not run.lifted:
        run.value = call.value
        settle(turn, run, state)
        return
    leave(turn, call.order)
    if run.left == 0:
        gather(turn, run)


def gather(turn: TurnState, run: StepRun) -> None:
    """A lifted step has ended: its result in the order of the items, or why there is none."""
    calls = run.calls
    states = {call.state for call in calls}
    errors = [call for call in calls if call.error is not None]
    run.error = errors[0].error if errors else None
    if "unknown" in states:
        settle(turn, run, "unknown")
    elif errors and (run.step.on_error == "stop" or "done" not in states):
        settle(turn, run, "failed")
    elif states & {"skipped", "stopped"}:
        settle(turn, run, "stopped")
    else:
        done = [call for call in calls if call.value is not None]
        entries = _entries(run, done)
        sources = run.sources.union(*(call.value.sources for call in done if call.value is not None))
        run.value = Value({"entries": entries, "count": len(entries)}, sources)
        run.left_out = tuple(f"{call.key}: {call.error.code}" for call in errors if call.error is not None)
        run.has_notes = run.has_notes or bool(errors)
        settle(turn, run, "done")


def _entries(run: StepRun, done: list[Call]) -> list[Any]:
    produces = run.step.contract.produces
    results = [call.value.data for call in done if call.value is not None]
    if produces is None or not produces.many:
        return results
    return [entry for data in results if isinstance(data, dict) for entry in as_object(data).get(produces.field) or ()]


# --- when nobody knows -----------------------------------------------------------------------------------------


def in_doubt(turn: TurnState, call: Call, error: Failure | None) -> None:
    """An effect may or may not have been made: probe it if its contract can, else it is unknown for good.

    Args:
        turn: The turn.
        call: The call whose end is not known.
        error: What the runner reported, if it reported anything; kept for the case that the effect is absent.
    """
    turn.facts.append(StepUnknown(step=call.key, operation=call.operation))
    call.error = error
    if call.run.step.contract.probe:
        call.state = call.run.state = "unknown"
        turn.probing[call.key] = error
        probe(turn, call)
    else:
        give_up(turn, call)


def probe(turn: TurnState, call: Call) -> None:
    """Ask whether `call`'s effect was made."""
    reference = call.run.reference
    turn.commands.append(ProbeEffect(step=call.key, operation=call.operation, executor=reference, args=call.args))


def give_up(turn: TurnState, call: Call) -> None:
    """Nobody can say whether the effect was made: stop and tell, never run it again silently."""
    turn.mark("effect_unknown", "effect-unknown", call.key)
    halt(turn)
    end(turn, call, "unknown")


def is_doubtful(call: Call) -> bool:
    """Whether a broken-off `call` leaves it open what happened outside."""
    return call.began and call.effect != "read" and not call.run.step.contract.idempotent
