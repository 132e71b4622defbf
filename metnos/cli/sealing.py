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
def seal_command(desk: Desk, folder: Path, place: str | None) -> int:
    """Write closed turns that verify into FOLDER, as Parquet; again: only those that it has not.

    `metnos replay FOLDER` replays them; DuckDB queries them. Each file is read back and compared before it counts, and
    nothing is removed from the journal.
    """
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
            | {"left_out": told.faults}
        )
    else:
        counts = {"sealed": told.sealed, "already": told.already, "open": told.open, "faults": len(told.faults)}
        output.line(message("seal.told", desk.language, folder=folder, **counts))
        for line in unread_lines(len(told.faults), told.faults, desk.language, heading=""):
            output.line(line)
    return exits.NOT_OK if told.faults else exits.OK
