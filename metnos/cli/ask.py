"""`metnos ask` and `metnos plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from metnos.cli.options import Desk, command
from metnos.cli.turnview import finish, progress_lines, show_plan

if TYPE_CHECKING:
    from metnos.drivers.results import Planned, Refused


@command()
@click.argument("words", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Allow what only creates; changing and deleting still ask.")
@click.option("--plan", "with_plan", is_flag=True, help="Show the plan beside the answer.")
def ask_command(desk: Desk, words: tuple[str, ...], yes: bool, with_plan: bool) -> int:
    r"""Do what one sentence says, and show the answer.

    \b
    metnos ask "the five largest files here, as a table"
    metnos ask "quanti file pdf ci sono in Documenti"
    """
    from metnos.cli.consent import TerminalConsent

    output = desk.output
    consent = TerminalConsent(desk.language) if output.interactive else None
    with (
        desk.engine(
            approve=consent and consent.approve, answer=consent and consent.answer, progress=progress_lines(output)
        ) as engine,
        engine.interruptible(),
    ):
        result = engine.run_sync(" ".join(words), assume_yes=yes)
        return finish(output, result, with_plan=with_plan)


@command()
@click.argument("words", nargs=-1, required=True)
def plan_command(desk: Desk, words: tuple[str, ...]) -> int:
    """Show the plan for a sentence, without running it."""
    with desk.engine() as engine:
        planned = engine.plan_sync(" ".join(words))
    return show_planned(desk, planned)


def show_planned(desk: Desk, planned: Planned | Refused | object) -> int:
    """The plan in line notation, what would be asked, or why there is none."""
    from metnos.cli import exits
    from metnos.drivers.results import NeedsInputs, Planned, Refused

    output = desk.output
    if output.json:
        output.data({type(planned).__name__.lower(): planned})
        return exits.OK if isinstance(planned, Planned) else exits.NOT_OK
    if isinstance(planned, Planned):
        show_plan(output.line, planned.plan)
        for need in planned.needs:
            output.note(f"{need.action}: {', '.join(need.targets) or need.step} ({need.reason})")
        return exits.OK
    if isinstance(planned, NeedsInputs):
        output.line(planned.question)
        for name, field in planned.form.items():
            output.line(f"{name}: {field.get('label') or field.get('schema')}")
        return exits.NEEDED
    assert isinstance(planned, Refused)
    output.line(planned.detail)
    output.diagnostics(planned.diagnostics)
    return exits.NOT_OK
