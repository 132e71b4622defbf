"""`metnos log seal`: closed turns out of a journal (or any collection) into Parquet files.

Law: nothing is removed from where it came; what does not verify is named and left out.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from metnos.cli import exits
from metnos.cli.options import Desk, command
from metnos.text import message


@command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--from", "place", metavar="PATH", help="Turns elsewhere than in this home: a file, a folder, `-`.")
@click.option(
    "--forget", multiple=True, metavar="TURN", help="Take this turn out of FOLDER; repeatable. Seals nothing."
)
def seal_command(desk: Desk, folder: Path, place: str | None, forget: tuple[str, ...]) -> int:
    """Write closed turns that verify into FOLDER, as Parquet; again: only those that it has not.

    `metnos replay FOLDER` replays them; DuckDB queries them. Each file is read back and compared before it counts, and
    nothing is removed from the journal. A turn that is taken out with --forget is not sealed into FOLDER again; where else
    it is (the journal, exports, copies) it stays.
    """
    if forget:
        if place is not None:
            raise click.UsageError("--forget takes turns out of FOLDER: leave --from out")
        return _forget(desk, folder, forget)
    from metnos.cli.advancing import Advancing
    from metnos.evaluate.collections.opening import open_collection
    from metnos.evaluate.collections.sealing import seal
    from metnos.evaluate.unread import unread_lines

    turns = open_collection(place or desk.settings().home, sys.stdin.buffer)
    with Advancing(desk.output) as progress:
        progress.begin(turns.weight())
        told = seal(turns, folder, told=lambda weight: progress.advance(weight, 0))
    output = desk.output
    if output.json:
        output.data(
            {"folder": str(folder), "sealed": told.sealed, "already": told.already, "open": told.open}
            | {"left_out": told.faults, "forgotten": told.forgotten}
        )
    else:
        counts = {"sealed": told.sealed, "already": told.already, "open": told.open, "faults": len(told.faults)}
        output.line(message("seal.told", desk.language, folder=folder, **counts))
        for line in unread_lines(len(told.faults), told.faults, desk.language, heading=""):
            output.line(line)
    return exits.NOT_OK if told.faults else exits.OK


def _forget(desk: Desk, folder: Path, turns: tuple[str, ...]) -> int:
    from metnos.evaluate.collections.forgetting import forget

    count = forget(folder, turns)
    if desk.output.json:
        desk.output.data({"folder": str(folder), "forgotten": count})
    else:
        desk.output.line(message("seal.forgotten", desk.language, folder=folder, count=count))
    return exits.OK
