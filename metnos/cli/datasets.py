"""`metnos log import` and `metnos log export`: recorded turns from the forms of others, and into them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from metnos.cli import exits
from metnos.cli.collected import collection_of, items_of
from metnos.cli.options import Desk, command
from metnos.text import message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.engine import Engine
    from metnos.evaluate.collections.model import Collection, Item
    from metnos.evaluate.exporting.writing import ExportReport
    from metnos.evaluate.importing import ImportReport
    from metnos.turn.rules import Rules

IMPORTED = ("tau", "tau2", "nestful", "bfcl", "agentdojo", "openai", "otel", "trace")
EXPORTED = ("jsonl", "parquet", "inspect", "otel", "trace")
SHOWN = 5
"""Faults that are shown."""
COUNTED = ("outcomes", "causes", "failures", "rejected", "rewards", "dropped")


@command()
@click.argument("form", type=click.Choice(IMPORTED))
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--to", required=True, type=click.Path(path_type=Path), help="A new folder for the collection.")
def import_command(desk: Desk, form: str, source: Path, to: Path) -> int:
    """Make a collection of turns from a data set or log of others, without any of its tools.

    SOURCE is a file or folder in that FORM. The collection holds the turns, the contracts inferred from what was called,
    and what the source said of each run. What is left out is counted by its reason; a record that cannot be read is
    named, and the exit code is then 1.
    """
    from metnos.evaluate.importing import import_collection

    desk.settings()
    report = import_collection(form, source, to)
    if desk.output.json:
        desk.output.data(report)
    else:
        _tell_import(desk, report)
    return exits.NOT_OK if report.unread else exits.OK


def _tell_import(desk: Desk, report: ImportReport) -> None:
    output, language = desk.output, desk.language
    numbers = {name: getattr(report, name) for name in ("turns", "plans", "calls", "repeated_calls", "tools")}
    output.line(message("import.done", language, to=report.to, **numbers))
    for name in COUNTED:
        counted: dict[str, int] = getattr(report, name)
        if counted:
            told = ", ".join(f"{what} {count}" for what, count in counted.items())
            output.line(f"{message(f'import.{name}', language)}: {told}")
    if report.unread:
        output.line(message("import.unread", language, count=report.unread))
    for fault in report.faults[:SHOWN]:
        found = message("import.fault", language, found=fault["found"], expected=fault["expected"])
        output.line(f"  {fault['where']}: {fault['code']}: {found} {fault['hint']}".rstrip())


@command()
@click.argument("form", type=click.Choice(EXPORTED))
@click.argument("where", nargs=-1)
@click.option(
    "--to",
    required=True,
    type=click.Path(path_type=Path),
    help="A new file; a new folder for parquet, and for jsonl unless it ends in .jsonl.",
)
@click.option("--limit", default=10_000, show_default=True, type=click.IntRange(1), help="Latest turns of this home.")
def export_command(desk: Desk, form: str, where: tuple[str, ...], to: Path, limit: int) -> int:
    """Write recorded turns in another form.

    WHERE is a turn (or its beginning, or `last`), or a collection: a folder or file of turns, a home; repeatable. Left
    out, all turns of this home. Content is written as it was recorded: look at what leaves the house.
    """
    from metnos.evaluate.exporting.writing import export_collection, export_folder

    folder = form == "parquet" or (form == "jsonl" and to.suffix != ".jsonl")
    if folder and len(where) > 1:
        raise click.UsageError("a folder is of one collection: name one WHERE")
    with desk.engine() as engine:
        if folder:
            report = export_folder(form, _with_contracts(engine, where[0] if where else None, limit), to)
        else:
            report = export_collection(form, _found(engine, where, limit), to)
    if desk.output.json:
        desk.output.data(report)
    else:
        _tell_export(desk, report)
    return exits.NOT_OK if report.unread else exits.OK


def _with_contracts(engine: Engine, where: str | None, limit: int) -> Collection:
    """What `where` means; turns of a home leave it with the contracts of this installation, which they are held to here."""
    from metnos.evaluate.collections.journal import JournalTurns

    turns = collection_of(engine, where, limit)
    return turns.under(tuple(engine.catalog.contracts().values())) if isinstance(turns, JournalTurns) else turns


def _tell_export(desk: Desk, report: ExportReport) -> None:
    output, language = desk.output, desk.language
    output.line(message("export.done", language, turns=report.turns, to=report.to))
    if report.unresolved:
        output.line(message("export.unresolved", language, count=report.unresolved))
    if report.unread:
        output.line(message("import.unread", language, count=report.unread))
    for fault in report.faults[:SHOWN]:
        output.line(f"  {fault['where']}: {fault['code']}: {fault['detail']}")


def _found(engine: Engine, where: tuple[str, ...], limit: int) -> Iterator[tuple[Item, Rules]]:
    """The turns, each with the rules that its arguments are resolved by."""
    for place in where or (None,):
        collection = collection_of(engine, place, limit)
        rules = _rules_of(collection, engine.parts.rules)
        yield from ((item, rules) for item in items_of(collection))


def _rules_of(collection: Collection, own: Rules) -> Rules:
    from metnos.contracts.catalog import Catalog
    from metnos.drivers.rules import make_rules

    contracts = collection.contracts()
    return own if contracts is None else make_rules(Catalog().with_contracts(contracts))
