"""How a turn is shown: its progress, its plan, its answer, what it needs, and the exit code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from metnos.cli import exits
from metnos.cli.output import on_one_line, tell
from metnos.text import message

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.cli.output import Output
    from metnos.drivers.ports import StepEvent
    from metnos.drivers.results import Need, TurnResult


def progress_lines(output: Output) -> Callable[[StepEvent], None] | None:
    """A line per started step on a terminal's stderr; None where nobody watches."""
    if output.json or not sys.stderr.isatty():
        return None

    def show(event: StepEvent) -> None:
        if event.state == "started":
            output.note(message("progress.step", output.language, step=event.step, tool=event.tool))

    return show


def show_plan(line: Callable[[str], None], plan: dict[str, Any]) -> None:
    """The plan in line notation; as JSON where the notation cannot hold it."""
    from metnos.plan.jsondata import canonical
    from metnos.plan.notation import NotationRefused, show
    from metnos.plan.parse import read_plan

    parsed = read_plan(plan)
    try:
        shown = show(parsed.plan) if parsed.plan is not None else canonical(plan).decode()
    except NotationRefused:
        shown = canonical(plan).decode()
    line(shown.rstrip("\n"))


def finish(output: Output, result: TurnResult, *, with_plan: bool = False) -> int:
    """Show a turn and choose the exit code."""
    if output.json:
        output.data(result)
        return exits.of_turn(result.outcome, result.code)
    language = output.language = output.language or result.language
    if with_plan and result.plan is not None:
        show_plan(output.note, result.plan)
        output.note("")
    if result.answer:
        output.text(output.typed(result.answer) if result.outcome == "not_understood" else result.answer)
    elif result.data is not None:
        from metnos.drivers.showing import show_data

        output.text(show_data(result.data, language or "en"))
    for note in (*result.notes, result.explained if result.explained != result.answer else ""):
        if note:
            tell(note)
    output.diagnostics(result.diagnostics if not result.ok else ())
    for need in result.needs:
        _tell_need(output, need, result.turn)
    if result.usage.get("planning_calls") and result.model:
        output.note(_cost(result, language))
    if result.turn:
        output.note(message("note.turn", language, turn=result.turn))
    return exits.of_turn(result.outcome, result.code)


def _cost(result: TurnResult, language: str | None) -> str:
    """What a plan cost that was written for this request."""
    return message(
        "note.model",
        language,
        model=on_one_line(result.model),
        seconds=f"{result.planning_s:.1f}",
        read=result.usage.get("tokens_in", 0),
        wrote=result.usage.get("tokens_out", 0),
    )


def _tell_need(output: Output, need: Need, turn: str) -> None:
    """What a turn waits for, and the command that answers it."""
    language = output.language
    if need.kind == "approval":
        tell(f"{message(f'action.{need.action}', language)} {', '.join(map(on_one_line, need.targets))}".strip())
        hint = message("hint.suspended", language, turn=turn, id=need.id.removeprefix(f"{turn}."))
        tell(output.typed(hint))
        return
    asked = {name: on_one_line(str(field.get("label", ""))) for name, field in need.form.items()} or {"answer": ""}
    tell(need.question or "\n".join(f"{name}: {label}" if label else name for name, label in asked.items()))
    if need.choices:
        tell(f"    {' | '.join(map(on_one_line, need.choices))}")
    for option in need.options:
        tell(f"    {option.name:10} {on_one_line(option.label)}")
    options = " ".join(f"--answer {name}=…" for name in asked)
    tell(output.typed(message("hint.suspended_dialog", language, turn=turn, options=options)))
