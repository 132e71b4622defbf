"""`metnos log drift`: what has changed since turns were recorded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from metnos.cli import exits
from metnos.cli.options import Desk, command
from metnos.cli.output import Fault
from metnos.text import message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.contracts.catalog import Catalog
    from metnos.engine import Engine
    from metnos.evaluate.drifting.model import Drift, Group
    from metnos.evaluate.drifting.today import Today
    from metnos.record.model import TurnLog

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
SHOWN = 3
"""Places that a line names."""


@command()
@click.argument("where", required=False)
@click.option(
    "--catalog", type=FOLDER, help="A catalog folder to hold the turns against, instead of the installed one."
)
@click.option(
    "--before", type=FOLDER, help="The catalog that they were recorded under: changes are told field by field."
)
@click.option("--limit", default=10_000, show_default=True, type=click.IntRange(1), help="Latest turns to look at.")
def drift_command(desk: Desk, where: str | None, catalog: Path | None, before: Path | None, limit: int) -> int:
    """Say which tools, arguments, results, references and verdicts have changed since turns were recorded.

    WHERE is a turn (or its beginning, or `last`), or a home; left out, all turns of this home. Nothing is run. The exit
    code is 1 if anything has changed. Learned plans that depend on a changed tool are named.
    """
    from metnos.evaluate.drifting.cached import depending
    from metnos.evaluate.drifting.today import today

    now = None if catalog is None else read_catalog(catalog)
    with desk.engine() as engine:
        known = () if before is None else read_catalog(before).contracts().values()
        held_against = today(now or engine.catalog, known)
        if where is not None and Path(where).is_dir():
            from metnos.engine import Engine

            with Engine.open(where) as other:
                found = gathered(logs_of(other, limit), held_against)
        else:
            names = None if where is None else [engine.find_turn(where)]
            found = gathered(logs_of(engine, limit, names), held_against)
        if found.tools:
            found.cache = depending(engine.cache, found.tools, now)
    show(desk, found)
    return exits.OK if found.whole else exits.NOT_OK


def read_catalog(folder: Path) -> Catalog:
    """A signed catalog to look at; no version in it is remembered as seen.

    Raises:
        Fault: There is none that can be believed.
    """
    from metnos.contracts.load import load_catalog

    catalog = load_catalog(folder, home=None, remember=False)
    if not catalog.names():
        code = catalog.refused[0].diagnostic.code if catalog.refused else "catalog-missing"
        raise Fault(code, "no tool of this catalog can be believed", where=str(folder), status=exits.TRUST)
    return catalog


def logs_of(engine: Engine, limit: int, names: list[str] | None = None) -> Iterator[TurnLog]:
    """Logs of an engine's home, one at a time, newest first."""
    for name in names if names is not None else [one.turn for one in engine.turns(limit)]:
        yield engine.parts.journal.load(name)


def gathered(logs: Iterator[TurnLog], now: Today) -> Drift:
    """All of them against today."""
    from metnos.evaluate.drifting.finding import drift_of
    from metnos.evaluate.drifting.model import Gathering

    made = Gathering()
    for log in logs:
        made.add(*drift_of(log, now))
    return made.drift()


def show(desk: Desk, found: Drift) -> None:
    """As JSON, or a paragraph for each change."""
    output, language = desk.output, desk.language
    if output.json:
        output.data(found)
        return
    counted = {"turns": found.turns, "drifted": found.drifted, "steps": found.steps, "groups": len(found.groups)}
    output.line(message("drift.whole" if found.whole else "drift.some", language, **counted))
    for code, count in found.unread.items():
        output.line(message("drift.unread", language, count=count, code=code))
    for group in found.groups:
        _group(desk, group)
    if found.cache:
        output.line(message("drift.cache", language, count=len(found.cache)))
    for entry in found.cache:
        name = entry.entry.partition("@")[0] if entry.layer == "template" else entry.entry[:15]
        output.line(f"  {name}  {entry.layer}  {entry.state}  {', '.join(entry.tools)}  {entry.form}")


def _group(desk: Desk, group: Group) -> None:
    output, language = desk.output, desk.language
    output.line(f"{message(f'drift.{group.kind}', language)}: {group.what} {group.code}".rstrip())
    if group.candidates:
        output.line(f"  {message('drift.perhaps', language, names=', '.join(group.candidates))}")
    named = ", ".join(f"{turn} {step}".rstrip() for turn, step in group.places[:SHOWN])
    more = " …" if group.steps > SHOWN else ""
    told = message(
        "drift.in", language, turns=group.turns, steps=group.steps, count=group.count, places=f"{named}{more}"
    )
    output.line(f"  {told}")
