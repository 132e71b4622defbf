"""`metnos ask` and `metnos plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from metnos.cli.catalog import tell_refused
from metnos.cli.options import Desk, cache_options, command, format_option, model_options, said, show_drawing
from metnos.cli.output import on_one_line
from metnos.cli.turnview import finish, progress_lines, show_plan
from metnos.text import message

if TYPE_CHECKING:
    from metnos.drivers.learning import Caching
    from metnos.drivers.results import Planned, Refused


@command()
@click.argument("words", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Allow what only creates; changing and deleting still ask.")
@click.option("--plan", "with_plan", is_flag=True, help="Show the plan beside the answer.")
@cache_options
@model_options
def ask_command(
    desk: Desk, words: tuple[str, ...], yes: bool, with_plan: bool, cache: Caching, model: str | Literal[False] | None
) -> int:
    """Do what one sentence says, and show the answer.

    \b
    metnos ask "the five largest files here, as a table"
    metnos ask "quanti file pdf ci sono in Documenti"
    """  # noqa: D301 - click reads the mark
    from metnos.cli.consent import TerminalConsent

    sentence = said(" ".join(words))
    output = desk.output
    consent = TerminalConsent(output) if output.interactive else None
    with (
        desk.engine(
            approve=consent and consent.approve,
            answer=consent and consent.answer,
            progress=progress_lines(output),
            model=model,
        ) as engine,
        engine.interruptible(),
    ):
        desk.speak(engine.language_of(sentence))
        result = engine.run_sync(sentence, assume_yes=yes, cache=cache)
        status = finish(output, result, with_plan=with_plan)
        if not result.ok:
            tell_refused(desk, engine.refused)
        return status


@command()
@click.argument("words", nargs=-1, required=True)
@format_option
@cache_options
@model_options
def plan_command(
    desk: Desk, words: tuple[str, ...], form: str, cache: Caching, model: str | Literal[False] | None
) -> int:
    """Show the plan for a sentence, without running it."""
    from metnos.cli import exits
    from metnos.drivers.results import Planned

    sentence = said(" ".join(words))
    with desk.engine(model=model) as engine, engine.interruptible():
        desk.speak(engine.language_of(sentence))
        planned = engine.plan_sync(sentence, cache=cache)
        drawing = engine.draw(planned.plan) if form == "mermaid" and isinstance(planned, Planned) else ""
    if drawing:
        show_drawing(desk.output, drawing)
        return exits.OK
    return show_planned(desk, planned)


def show_planned(desk: Desk, planned: Planned | Refused | object) -> int:
    """The plan in line notation, what would be asked, or why there is none."""
    from metnos.cli import exits
    from metnos.drivers.results import NeedsInputs, Planned, Refused

    output = desk.output
    if output.json:
        output.data({type(planned).__name__.lower(): planned})
        if isinstance(planned, NeedsInputs):
            return exits.NEEDED
        return exits.OK if isinstance(planned, Planned) else exits.NOT_OK
    if isinstance(planned, Planned):
        show_plan(output.line, planned.plan)
        if planned.unsure:
            output.note(message("plan.unsure", desk.language))
        for need in planned.needs:
            output.note(
                message(
                    "plan.asks", desk.language, step=need.step, action=message(f"action.{need.action}", desk.language)
                )
            )
        return exits.OK
    if isinstance(planned, NeedsInputs):
        output.line(planned.question)
        for name, field in planned.form.items():
            output.line(f"{name}: {on_one_line(str(field.get('label') or field.get('schema')))}")
        return exits.NEEDED
    assert isinstance(planned, Refused)
    output.line(planned.detail)
    output.diagnostics(planned.diagnostics)
    return exits.NOT_OK
