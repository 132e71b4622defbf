"""What a model of the home writes for a turn besides its plan: fillers, and an answer in words.

Law: the model is handed text and gives a value or a text back; what it is shown of a step is that step's data as a person
would see it. A call runs in a thread, so that steps go on meanwhile, and ends with the turn.

An answer in words is wanted where the setting says so (`[answer] wording = "model"`), the turn succeeded and a result is to be shown. The
composed answer always stands below it. It is said only if `drivers.held` finds nothing in it that the record lacks;
else the composed answer stands alone, and the log says why (`AnswerComposed.wording`).
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, cast

from metnos.drivers.asked import ask_host
from metnos.drivers.planning import NO_MODEL
from metnos.drivers.showing import show_data
from metnos.turn import inputs as i
from metnos.turn.answer import language_of

WORDING_S: Final = 60.0
"""Seconds that the words of an answer may take: the facts are there already."""

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from metnos.drivers.held import Held
    from metnos.drivers.state import TurnUnderWay
    from metnos.propose.fillers import Shown
    from metnos.turn import commands as c
    from metnos.turn.state import StepRun, TurnState


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


# --- an answer in words ------------------------------------------------------------------------------------------------


def compose(turn: TurnUnderWay, command: c.Compose) -> None:
    """Put the answer together; in words, too, where that is wanted."""
    state = turn.machine.state
    if state.phase != "composing":  # cancelled since it was asked for
        return
    facts = turn.compose(command, state)
    models = turn.ports.models
    if models is None or turn.ports.wording != "model" or command.outcome != "success" or not command.show:
        turn.feed(i.AnswerComposed(at=turn.clock(), text=facts))
        return
    held = held_of(state, facts, [run for key in command.show if (run := state.find(key)) is not None])
    stop = turn.stop(WORDING_S)
    ask_host(turn, command, lambda: turn.runners.aside(lambda: worded(models, held, command.language, stop)))


def worded(models: Callable[[], Any], held: Held, language: str, stop: Any) -> i.AnswerComposed:
    """The composed answer, below words that the record holds, if there are any."""
    from metnos.drivers.held import unheld
    from metnos.propose.models.ports import ModelFault
    from metnos.propose.saying import counted, say

    try:
        said = say(models(), request=held.request, facts=held.facts, language=language, stop=stop)
    except ModelFault as fault:
        return i.AnswerComposed(text=held.facts, usage=counted(fault.usage), wording=f"none: {fault.code}")
    except Exception as fault:  # noqa: BLE001 - whatever it is, the answer is there without it
        return i.AnswerComposed(text=held.facts, wording=f"none: {type(fault).__name__}")
    wrong = unheld(said.text, held)
    if wrong:
        return i.AnswerComposed(text=held.facts, usage=said.usage, wording=f"refused: {wrong}"[:200])
    return i.AnswerComposed(text=f"{said.text}\n\n{held.facts}", usage=said.usage, wording=f"model: {said.model}"[:200])


def held_of(state: TurnState, facts: str, shown_runs: list[StepRun]) -> Held:
    """What a text about this turn may say."""
    from metnos.drivers.held import Held

    effects: dict[Any, tuple[str, ...]] = {}
    for effect in state.effects:
        changed = effect.after is None or effect.before != effect.after or effect.undo is not None
        if effect.cls != "read" and changed:
            effects[effect.cls] = (*effects.get(effect.cls, ()), effect.target)
    counts = frozenset(count for run in shown_runs if run.value is not None for count in _counts(run.value.data))
    return Held(facts=facts, request=state.opened.request or "", numbers=counts, effects=effects)


def _counts(data: Any) -> Iterator[Decimal]:
    """How many entries there are, and the numbers beside them."""
    parts: list[Any] = [data, *(cast("dict[str, Any]", data).values() if isinstance(data, dict) else ())]
    for part in parts:
        if isinstance(part, list):
            yield Decimal(len(cast("list[Any]", part)))
        elif isinstance(part, int | float) and not isinstance(part, bool):
            yield Decimal(str(part))
