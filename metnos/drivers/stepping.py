"""Commands about steps: started here or on the loop, stopped, probed.

Law: `announce` before the runner, always: the intent of an effect is on disk, and its anchor synced, before the runner
hears of it. A runner's outcome is reported exactly once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.drivers.ports import StepEvent, no_progress
from metnos.turn import commands as c
from metnos.turn import inputs as i

if TYPE_CHECKING:
    from metnos.drivers.state import TurnUnderWay
    from metnos.execute.runner import StepOutcome

STATES: dict[str, str] = {"finished": "done", "failed": "failed", "stopped": "stopped"}


def start(turn: TurnUnderWay, command: c.StartStep) -> None:
    """Run the step in this thread if it can and may be; else keep it for the loop."""
    if command.effect != "read":
        turn.effects.add(command.step)
    if turn.machine.state.cancelling:  # asked for before the stop that waits behind it
        turn.feed(i.StepStopped(at=turn.clock(), step=command.step))
    elif _runs_here(turn, command):
        announce(turn, command)
        report(turn, command, turn.runners.run_now(command, turn.contract(command.executor), turn.grant))
    else:
        turn.launch.append(command)


def _runs_here(turn: TurnUnderWay, command: c.StartStep) -> bool:
    """Inline transforms always; a host's function only while no other step could run beside it."""
    if command.placement == "inline":
        return True
    if command.placement != "host" or turn.on_loop or turn.tasks or turn.launch:
        return False
    if turn.queue and any(type(other) is c.StartStep for other in turn.queue):
        return False
    return turn.runners.is_synchronous(command, turn.contract(command.executor))


def announce(turn: TurnUnderWay, command: c.StartStep) -> None:
    """The intent: recorded, and for an effect on disk, before the runner is called."""
    effect = command.effect != "read"
    if effect:
        turn.ports.boundary("before-intent")
    turn.feed(i.StepStarted(at=turn.clock(), step=command.step, operation=command.operation, fence=turn.grant.fence))
    if effect:
        turn.ports.boundary("intent-committed")
    if turn.ports.progress is not no_progress:
        _tell(turn, command, "started")


def report(turn: TurnUnderWay, command: c.StartStep, outcome: StepOutcome) -> None:
    """What came of a step."""
    effect = command.effect != "read"
    if effect:
        turn.ports.boundary("effect-done")
    turn.feed(outcome.to_input(command.step, turn.clock()))
    if effect:
        turn.ports.boundary("outcome-recorded")
    if turn.ports.progress is not no_progress:
        _tell(turn, command, STATES[outcome.status])


def _tell(turn: TurnUnderWay, command: c.StartStep, state: str) -> None:
    turn.ports.progress(StepEvent(step=command.step, tool=command.executor.rpartition("@")[0], state=state))


def stop(turn: TurnUnderWay, command: c.StopStep) -> None:
    """Stop a step that runs, or that was to run; one that has ended meanwhile needs nothing."""
    if command.step in turn.tasks:
        turn.runners.stop(turn.grant.turn, command.step)
        return
    turn.launch[:] = [waiting for waiting in turn.launch if waiting.step != command.step]
    if command.step in turn.machine.state.calls:
        turn.feed(i.StepStopped(at=turn.clock(), step=command.step))


def set_timer(turn: TurnUnderWay, command: c.SetTimer) -> None:
    """Keep it for the loop."""
    turn.waits.append(command)


async def wait(turn: TurnUnderWay, command: c.SetTimer) -> None:
    """Until its time by the turn's clock; whoever was to be woken may be gone by then."""
    import asyncio

    await asyncio.sleep(max(0, command.at - turn.clock()) / 1_000_000)
    if command.timer in turn.machine.state.pausing:
        turn.feed(i.TimerFired(at=turn.clock(), timer=command.timer))


def probe(turn: TurnUnderWay, command: c.ProbeEffect) -> None:
    """Keep it for the loop, if what made the effect can be asked; else the honest answer is that nobody knows."""
    if turn.contract(command.executor).placement == "worker":
        turn.probes.append(command)
    else:
        turn.feed(i.EffectProbed(at=turn.clock(), step=command.step, found="unknown"))


async def look(turn: TurnUnderWay, command: c.ProbeEffect) -> None:
    """Whether the effect of an operation that was cut off is there."""
    found, outcome = await turn.runners.probe(command, turn.contract(command.executor), turn.grant)
    at = turn.clock()
    if outcome is None:
        turn.feed(i.EffectProbed(at=at, step=command.step, found=found))
    else:
        done = i.EffectProbed(at=at, step=command.step, found="done", data=outcome.data, effects=outcome.effects)
        turn.feed(done)
