"""A call that failed for a passing reason is run again after a while, where repeating it is harmless.

Law:

1. Only what `PASSING` says, where whoever failed says that the same again may succeed (`Failure.retryable`), and the
   contract that repeating is harmless: it reads, or it is idempotent. It is the same operation, with the same arguments
   under the same id; another executor is never tried in its place.
2. `Budget.tries` bounds one call, `Budget.retries` all of the turn. Logs that were begun without them repeat nothing.
3. Each try is on record: its `StepFailed`, the `SetTimer`, its `StepStarted`. The last failure is the step's.
4. The wait doubles, and is spread by a digest of turn, call and try: many turns that met the same outage do not come
   back at the same moment, and a replay waits for the same time.
5. What waits when the turn stops has failed.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

from metnos.plan.classes import class_of
from metnos.turn.answer import ask
from metnos.turn.commands import SetTimer
from metnos.turn.step import UNSURE, fail, start_again
from metnos.turn.table import refuse

if TYPE_CHECKING:
    from metnos.sdk import ErrorClass, Failure
    from metnos.turn.inputs import CommandFailed, StepFailed, TimerFired
    from metnos.turn.state import Call, TurnState

PASSING: Final[dict[ErrorClass, int]] = {"unavailable": 1_000, "operational": 1_000, "timeout": 2}
"""Class of a failure → how often a call is run in all, at most: what took its whole time once is tried once more."""
FIRST_US: Final = 500_000
LONGEST_US: Final = 30_000_000
SPREAD: Final = 4
"""The wait is its value plus or minus one part in so many."""


def may_retry(turn: TurnState, call: Call, item: StepFailed) -> bool:
    """Whether the same call is worth another try, and may have one."""
    budget, error = turn.opened.budget, item.error
    return (
        error.retryable
        and not any(effect.cls != "read" for effect in item.effects)
        and not turn.halted
        and class_of(error.code, error.cls) == "operational"
        and call.tries < min(budget.tries, PASSING.get(error.cls, 0))
        and turn.retries < budget.retries
        and turn.started < budget.steps
        and (call.effect == "read" or call.run.known.contract.idempotent)
    )


def pause(turn: TurnState, call: Call, error: Failure) -> None:
    """`call` failed and is not at its end: it waits for its timer, and what comes after it waits on."""
    turn.calls.pop(call.key, None)
    wait = wait_us(turn.opened.turn, call.key, call.tries)
    timer = f"{call.key}.try{call.tries + 1}"
    call.tries += 1
    turn.retries += 1
    call.error = error
    call.state = "pausing"
    if not call.run.lifted:
        call.run.state = "pausing"
    turn.pausing[timer] = call
    ask(turn, SetTimer(timer=timer, at=turn.at + wait))


def wait_us(turn: str, call: str, tries: int) -> int:
    """µs to wait after `tries` failures of a call."""
    whole = min(FIRST_US << min(tries - 1, 10), LONGEST_US)
    spread = int.from_bytes(sha256(f"metnos.retry/1 {turn} {call} {tries}".encode()).digest()[:4], "big")
    return whole - whole // SPREAD + (2 * (whole // SPREAD) * spread >> 32)


def timer_fired(turn: TurnState, item: TimerFired) -> None:
    """The time is over: run the same operation again, unless nobody waits for it any more."""
    if item.timer in turn.lapsed:
        turn.lapsed.discard(item.timer)
        return
    call = turn.pausing.get(item.timer)
    if call is None:
        refuse(turn.phase, item, f"no timer {item.timer} is set")
    del turn.pausing[item.timer]
    turn.open.pop(f"set_timer {item.timer}", None)
    turn.started += 1
    failed, call.error = call.error, None
    if failed is not None and failed.cls not in UNSURE:
        call.began = False  # it did nothing: what a person saw must still lie there
    start_again(turn, call)


def timer_failed(turn: TurnState, item: CommandFailed) -> None:
    """Nobody can wait for that time: what the call failed of stands."""
    if item.ref in turn.lapsed:
        turn.lapsed.discard(item.ref)
        return
    call = turn.pausing.pop(item.ref, None)
    if call is None or call.error is None:
        refuse(turn.phase, item, f"no timer {item.ref} is set")
    turn.open.pop(f"set_timer {item.ref}", None)
    fail(turn, call, call.error)


def leave_pausing(turn: TurnState) -> None:
    """The turn stops: what waits for another try has failed."""
    waiting, turn.pausing = turn.pausing, {}
    for timer, call in waiting.items():
        turn.open.pop(f"set_timer {timer}", None)
        turn.lapsed.add(timer)
        assert call.error is not None
        fail(turn, call, call.error)
