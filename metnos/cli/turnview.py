"""How a turn is shown: its progress, its plan, its answer, what it needs, and the exit code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from metnos.cli import exits
from metnos.cli.output import tell
from metnos.text import message

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.cli.output import Output
    from metnos.drivers.ports import StepEvent
    from metnos.drivers.results import TurnResult


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
    from metnos.plan.notation import show
    from metnos.plan.parse import read_plan

    parsed = read_plan(plan)
    if parsed.plan is None:
        return
    shown = show(parsed.plan)
    line(shown.rstrip("\n"))


def finish(output: Output, result: TurnResult, *, with_plan: bool = False) -> int:
    """Show a turn and choose the exit code."""
    if output.json:
        output.data(result)
        return exits.BY_OUTCOME[result.outcome]
    if with_plan and result.plan is not None:
        show_plan(output.note, result.plan)
        output.note("")
    if result.answer:
        output.text(result.answer)
    elif result.data is not None:
        from metnos.drivers.showing import show_data

        output.text(show_data(result.data, output.language or "en"))
    output.diagnostics(result.diagnostics if not result.ok else ())
    for need in result.needs:
        key = "hint.suspended" if need.kind == "approval" else "hint.suspended_dialog"
        what = ", ".join(need.targets) or need.question
        tell(f"{message(f'action.{need.action}', output.language) if need.action else ''} {what}".strip())
        tell(message(key, output.language, turn=result.turn, id=need.id))
    output.note(f"turn {result.turn}")
    return exits.BY_OUTCOME[result.outcome]
