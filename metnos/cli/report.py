"""`metnos log report`: what recorded turns came to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metnos.cli import exits
from metnos.cli.collected import collection_of, items_of
from metnos.cli.options import Desk, command
from metnos.cli.output import Fault
from metnos.text import message

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.contracts.model import Contract
    from metnos.engine import Engine
    from metnos.evaluate.mapping.model import Faults
    from metnos.evaluate.reporting.model import Report
    from metnos.settings import Settings

PAGE = click.Path(dir_okay=False, path_type=Path)


@command()
@click.argument("where", required=False)
@click.option("--to", type=PAGE, metavar="FILE.html", help="Write a page of HTML that holds everything it shows.")
@click.option("--limit", type=click.IntRange(1), help="So many turns; of this home the latest.")
@click.option("--title", default="", help="Of the page; left out, where the turns lie.")
def report_command(desk: Desk, where: str | None, to: Path | None, limit: int | None, title: str) -> int:
    """Show what recorded turns came to: outcomes, causes, latency, tokens, known plans, tools.

    WHERE is a turn (or its beginning, or `last`), a home, or a collection (a file or folder of `*.jsonl`, `-`); left out,
    all turns of this home. On the terminal a table, with --json all of it, with --to a page for a browser. What cannot
    be read is named, and the exit code is then 1; so it is if a log does
    not hold, or no turn is there.
    """
    with desk.engine() as engine:
        report, unread = gathered(engine, where, limit, title)
    if to is not None:
        write_page(desk, report, to)
    elif desk.output.json:
        desk.output.data(report)
    else:
        from metnos.evaluate.reporting.table import lines_of
        from metnos.evaluate.unread import unread_lines

        for line in lines_of(report, desk.language):
            desk.output.line(line)
        for line in unread_lines(unread.total, unread.named, desk.language, heading=""):
            desk.output.line(line)
    if not report.turns:
        desk.output.note(message("eval.none", desk.language))
    if report.broken:
        codes = ", ".join(f"{count} × {code}" for code, count in report.broken.items())
        desk.output.note(message("report.not_believed", desk.language, count=sum(report.broken.values()), codes=codes))
    return exits.OK if report.turns and not (unread.total or report.broken) else exits.NOT_OK


def gathered(engine: Engine, where: str | None, limit: int | None, title: str) -> tuple[Report, Faults]:
    """The report of what `where` means, and what of it could not be read."""
    from metnos import __version__
    from metnos.evaluate.collections.model import Turn
    from metnos.evaluate.mapping.model import Faults
    from metnos.evaluate.reporting.gathering import Gathering, Seen
    from metnos.record.verify import verify_log

    turns, unread = collection_of(engine, where, limit), Faults()
    own = turns.contracts()
    known = {one.name: one for one in own} if own is not None else engine.catalog.contracts()
    made = Gathering(
        title=title or turns.name, facts={"metnos": __version__, "turns": turns.name}, effect_of=worst_of(known)
    )
    for item in items_of(turns, limit):
        if isinstance(item, Turn):
            made.add(Seen.of(item.log, item.labels))
            held = verify_log(item.log)
            if not held.ok:
                made.broken(held.code)
        else:
            made.unread(item.code)
            unread.add(item)
    return made.report(), unread


def worst_of(contracts: Any) -> Callable[[str], str]:
    """Tool → the worst effect class that its contract declares."""
    from metnos.turn.step import worst

    def effect(tool: str) -> str:
        contract: Contract | None = contracts.get(tool)
        return "" if contract is None else worst([rule.effect for rule in contract.effects])

    return effect


def effects_by_catalog(settings: Settings) -> Callable[[str], str]:
    """`worst_of` the tools that are installed; nothing is remembered of them."""
    from metnos.contracts.load import load_catalog

    return worst_of(load_catalog(settings.catalog, home=None, remember=False).contracts())


def write_page(desk: Desk, report: Report, to: Path) -> None:
    """Write the page, and say so."""
    size = save_page(report, to, desk.language)
    if desk.output.json:
        desk.output.data({"page": str(to), "bytes": size, "turns": report.turns, "named": len(report.rows)})
    else:
        desk.output.line(message("report.written", desk.language, path=to, bytes=size))


def save_page(report: Report, to: Path, language: str | None) -> int:
    """Write the page, whole or not at all; its size in bytes.

    Raises:
        Fault: `extra-missing`.
        OSError: It cannot be written.
    """
    from metnos.drafts import drafted_beside
    from metnos.evaluate.reporting.page import html_of

    try:
        page = html_of(report, language).encode("utf-8", "replace")
    except ImportError as fault:
        hint = "pip install 'metnos[evaluate]'"
        raise Fault("extra-missing", f"a page needs jinja2 ({fault})", hint=hint, status=exits.ENVIRONMENT) from fault
    with drafted_beside(to, 0o644) as (draft, handle):
        with open(handle, "wb", closefd=False) as out:
            out.write(page)
        draft.replace(to)
    return len(page)
