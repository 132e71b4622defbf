"""What a model of the home writes for a turn besides its plan: the fillers.

Law: the model is handed text and gives a value back; what it is shown of a step is that step's data as a person would
see it. A call runs in a thread, so that steps go on meanwhile, and ends with the turn.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from metnos.drivers.asked import ask_host
from metnos.drivers.planning import NO_MODEL
from metnos.drivers.showing import show_data
from metnos.turn.answer import language_of

if TYPE_CHECKING:
    from metnos.drivers.state import TurnUnderWay
    from metnos.propose.fillers import Shown
    from metnos.turn import commands as c
    from metnos.turn.state import StepRun


def fill(turn: TurnUnderWay, command: c.ResolveFiller) -> None:
    """Have a gap filled."""
    if turn.machine.state.closed or f"resolve_filler {command.name}" not in turn.machine.state.open:
        return
    models = turn.ports.models
    if models is None:
        turn.command_failed(command, NO_MODEL)
        return
    from metnos.propose.fillers import Gap
    from metnos.propose.fillers import fill as fill_gap

    state = turn.machine.state
    runs = [run for key in command.sees if (run := state.find(key)) is not None and run.value is not None]
    gap = Gap(
        name=command.name,
        prompt=command.prompt,
        schema=command.schema,
        role=command.role,
        request=state.opened.request or "",
        language=language_of(state),
        shown=tuple(shown(run, language_of(state)) for run in runs),
    )
    stop = turn.stop()
    ask_host(turn, command, lambda: turn.runners.aside(lambda: fill_gap(models(), gap, stop=stop)))


def shown(run: StepRun, language: str) -> Shown:
    """What a step gave, and where it came from."""
    from metnos.propose.fillers import Shown

    assert run.value is not None
    ended = max((call.result.at for call in run.calls if call.result is not None), default=0)
    at = datetime.fromtimestamp(ended / 1_000_000, UTC).isoformat(timespec="seconds") if ended else ""
    source = ", ".join((run.step.contract.name, *sorted(run.value.sources)))
    return Shown(show_data(run.value.data, language), source, at)
