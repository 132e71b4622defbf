"""What the driver reports about steps and fillers.

Law: a closing input is taken once; anything about a call that is not open is the driver's fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from metnos.turn.advance import advance
from metnos.turn.answer import take
from metnos.turn.arguments import check
from metnos.turn.choice import admitted, may_choose, postpone
from metnos.turn.commands import ResolveFiller
from metnos.turn.filling import sources_of
from metnos.turn.retry import may_retry, pause
from metnos.turn.schedule import arrived
from metnos.turn.scope import MODEL
from metnos.turn.step import (
    UNSURE,
    end,
    fail,
    finish,
    give_up,
    in_doubt,
    is_doubtful,
    start_again,
)
from metnos.turn.table import refuse
from metnos.values.value import Value

if TYPE_CHECKING:
    from metnos.sdk import Failure
    from metnos.turn import inputs as i
    from metnos.turn.state import Call, TurnState


def step_started(turn: TurnState, item: i.StepStarted) -> None:
    """The intent: from now on the outside may change."""
    call = turn.calls.get(item.step)
    if call is None or turn.probing:
        call = _call(turn, item, item.step)
    if call.announced:
        refuse(turn.phase, item, f"step {item.step} has been started already")
    if call.operation != item.operation:
        refuse(turn.phase, item, f"step {item.step} is operation {call.operation}")
    call.announced = call.began = True


def step_finished(turn: TurnState, item: i.StepFinished) -> None:
    """A call came back with data."""
    call = turn.calls.get(item.step)
    if call is None or turn.probing:
        call = _call(turn, item, item.step)
    if not call.announced:
        refuse(turn.phase, item, f"step {item.step} has not been started")
    call.result = item
    if item.warnings or item.truncated or item.sealed:
        call.run.has_notes = True
    finish(turn, call, item.data, item.sources, item.effects)
    advance(turn)


def step_failed(turn: TurnState, item: i.StepFailed) -> None:
    """A call came back with a failure; whether an effect was made may be open."""
    call = _call(turn, item, item.step)
    call.effects = item.effects
    error = item.error
    if error.options:
        error = structs.replace(error, options=admitted(turn, call, error))
    if error.cls in UNSURE and is_doubtful(call):
        in_doubt(turn, call, error)
    elif error.options and may_choose(turn, call, item.effects):
        postpone(turn, call, error)
    elif may_retry(turn, call, item):
        pause(turn, call, error)
    else:
        fail(turn, call, error, item.effects)
    advance(turn)


def step_stopped(turn: TurnState, item: i.StepStopped) -> None:
    """A call was broken off because the machine asked for it."""
    call = _call(turn, item, item.step)
    call.effects = item.effects
    if is_doubtful(call):
        in_doubt(turn, call, None)
    else:
        end(turn, call, "stopped")
    advance(turn)


def effect_probed(turn: TurnState, item: i.EffectProbed) -> None:
    """The outside was looked at: the effect is there, is not there, or cannot be told."""
    call = turn.calls.get(item.step)
    if call is None or item.step not in turn.probing:
        refuse(turn.phase, item, f"step {item.step} is not being probed")
    error = turn.probing.pop(item.step)
    if item.found == "done":
        finish(turn, call, item.data, ("local",), item.effects)
    elif item.found == "unknown":
        give_up(turn, call)
    elif error is not None:
        fail(turn, call, error)
    elif turn.halted:
        end(turn, call, "stopped")
    else:
        start_again(turn, call)
    advance(turn)


def _call(turn: TurnState, item: i.Input, key: str) -> Call:
    call = turn.calls.get(key)
    if call is None or key in turn.probing:
        refuse(turn.phase, item, f"step {key} is not running")
    return call


# --- fillers -----------------------------------------------------------------------------------------------------


def filler_resolved(turn: TurnState, item: i.FillerResolved) -> None:
    """A model has filled a gap; what does not fit the filler's schema is a failed filler."""
    command = take(turn, item, f"resolve_filler {item.name}")
    assert isinstance(command, ResolveFiller)
    wrong = check(command.schema, item.value)
    if wrong is None:
        turn.fillers[item.name] = Value(item.value, MODEL | sources_of(turn, command))
    filler_came(turn, item.name, wrong)


def filler_came(turn: TurnState, name: str, wrong: Failure | None) -> None:
    """A filler is there, or never will be: the steps that wait for it move on, or are blocked."""
    turn.open_fillers.discard(name)
    if turn.phase not in ("running", "suspended"):
        return
    if turn.halted:
        advance(turn)  # who is to replace the plan waits for it
        return
    if wrong is not None:
        turn.failed = True
        turn.code, turn.detail = wrong.code, f"FILLER:{name}"
    arrived(turn, turn.plan.fillers.get(name, ()))
    advance(turn)


# --- not in the spine ----------------------------------------------------------------------------------------------


def judged(turn: TurnState, item: i.Judged) -> None:
    """No rule asks a judge yet."""
    refuse(turn.phase, item, f"no judge was asked about {item.step}")
