"""`metnos log drift`: what has changed since turns were recorded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from metnos.cli import exits
from metnos.cli.advancing import Advancing
from metnos.cli.collected import FOLDER, collection_of, read_catalog
from metnos.cli.options import Desk, command
from metnos.text import message

if TYPE_CHECKING:
    from metnos.evaluate.drifting.model import Drift, Group
    from metnos.evaluate.mapping.model import Faults

SHOWN = 3
"""Places that a line names."""


@command()
@click.argument("where", required=False)
@click.option("--catalog", type=FOLDER, help="A catalog folder to hold the turns against, instead of their own.")
@click.option(
    "--before", type=FOLDER, help="The catalog that they were recorded under: changes are told field by field."
)
@click.option("--limit", type=click.IntRange(1), help="Of this home only so many turns, the latest.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(0, 256), help="Processes; 0: one a core.")
def drift_command(
    desk: Desk, where: str | None, catalog: Path | None, before: Path | None, limit: int | None, workers: int
) -> int:
    """Say which tools, arguments, results, references and verdicts have changed since turns were recorded.

    WHERE is a turn (or its beginning, or `last`), a home, or a collection (a file or folder of `*.jsonl`, `-`); left out,
    all turns of this home. They are held against the tools that are installed, or those that lie beside the collection.
    Nothing is run. The exit code is 1 if anything has changed, or no turn is there. Learned plans that depend on a changed tool are named.
    """
    from metnos.evaluate.drifting.cached import depending
    from metnos.evaluate.drifting.many import Drifts
    from metnos.evaluate.mapping.shards import map_shards
    from metnos.evaluate.replaying.ground import Ground

    now = None if catalog is None else read_catalog(catalog)
    with desk.engine() as engine:
        turns = collection_of(engine, where, limit)
        own = turns.contracts()
        known = (own or ()) if before is None else tuple(read_catalog(before).contracts().values())
        held_against = (now or engine.catalog).contracts().values() if now is not None or own is None else own
        job = Drifts(Ground(held_against, engine.settings.lexicon), known)
        with Advancing(desk.output) as progress:
            mapped = map_shards(job, turns, workers=workers, progress=progress)
        found = mapped.partial.drift()
        found.unread = mapped.faults.counts
        if found.tools and own is None:
            found.cache = depending(engine.cache, found.tools, now)
    show(desk, found, mapped.faults)
    return exits.OK if found.turns and found.whole else exits.NOT_OK


def show(desk: Desk, found: Drift, unread: Faults) -> None:
    """As JSON, or a paragraph for each change."""
    from metnos.evaluate.unread import unread_lines

    output, language = desk.output, desk.language
    if output.json:
        output.data(found)
        return
    counted = {"turns": found.turns, "drifted": found.drifted, "steps": found.steps, "groups": len(found.groups)}
    if found.turns:
        output.line(message("drift.whole" if found.whole else "drift.some", language, **counted))
    else:
        output.line(message("eval.none", language))
    for line in unread_lines(unread.total, unread.named, language):
        output.line(line)
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
