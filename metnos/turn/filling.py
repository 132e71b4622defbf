"""When a filler is asked for, and what whoever writes it may look at.

Law: a filler that a step uses is written when all that this step takes from others is there, and is shown that; one that
only the answer uses is written at the end, and is shown what every step gave. It never waits for a step that waits for
it. Where the turn was begun without `TurnOpened.fillers_see`, every filler is asked for at once and is shown nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.turn.answer import ask
from metnos.turn.commands import ResolveFiller
from metnos.turn.references import answer_fillers

if TYPE_CHECKING:
    from metnos.turn.state import PlanRun, TurnState

SETTLED: Final = frozenset({"done", "failed", "stopped", "skipped"})


def begin_fillers(turn: TurnState, plan: PlanRun) -> None:
    """Note for each filler that is used the steps that it waits for, and ask for those that wait for none."""
    turn.due.clear()
    fillers = plan.checked.plan.fillers
    wanted = plan.fillers.keys() | answer_fillers(plan.checked)
    for name in sorted(wanted & fillers.keys()):
        turn.due[name] = _looks_at(plan, name) if turn.opened.fillers_see else ()
    ask_due(turn)


def _looks_at(plan: PlanRun, name: str) -> tuple[int, ...]:
    users = plan.fillers.get(name, [])
    if not users:
        return tuple(run.number for run in plan.runs)
    first = min(run.number for run in users)
    return tuple(sorted({number for run in users for number in run.known.waits if number < first}))


def ask_due(turn: TurnState) -> None:
    """Ask for the fillers whose steps have all ended."""
    plan = turn.plan
    for name, numbers in list(turn.due.items()):
        runs = [plan.runs[number - 1] for number in numbers]
        if any(run.state not in SETTLED for run in runs):
            continue
        del turn.due[name]
        turn.open_fillers.add(name)
        filler = plan.checked.plan.fillers[name]
        sees = tuple(run.key for run in runs if run.value is not None)
        ask(turn, ResolveFiller(name=name, prompt=filler.prompt, schema=filler.schema, role=filler.role, sees=sees))


def sources_of(turn: TurnState, command: ResolveFiller) -> frozenset[str]:
    """Where what its writer was shown came from."""
    seen = (turn.find(key) for key in command.sees)
    return frozenset(
        source for run in seen if run is not None and run.value is not None for source in run.value.sources
    )
