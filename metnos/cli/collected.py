"""Recorded turns that a command was given: those of this home, one of them, or a collection anywhere.

Law: one turn in memory at a time; what cannot be read is handed on as a fault and counted by whoever asked.
"""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metnos.cli import exits
from metnos.cli.output import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.contracts.catalog import Catalog
    from metnos.engine import Engine
    from metnos.evaluate.collections.model import Collection, Item

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


def collection_of(engine: Engine, where: str | None, limit: int | None = None) -> Collection:
    """What `where` means: a path or `-`, else a turn of this home; None: all of this home.

    Args:
        engine: On this home.
        where: As it was typed.
        limit: Of this home only so many turns, the latest.

    Raises:
        RecordFault: There is nothing of the kind.
    """
    from metnos.evaluate.collections.journal import JournalTurns
    from metnos.evaluate.collections.opening import open_collection

    home = engine.settings.home
    if where is None:
        named = None if limit is None else tuple(one.turn for one in reversed(engine.turns(limit)))
        return JournalTurns(home, named)
    if where == "-" or Path(where).exists():
        return open_collection(where, sys.stdin.buffer)
    return JournalTurns(home, (engine.find_turn(where),))


def items_of(collection: Collection, limit: int | None = None) -> Iterator[Item]:
    """Its turns and faults, one at a time."""
    return islice((item for shard in collection.shards() for item in shard.read()), limit)


def read_catalog(folder: Path) -> Catalog:
    """A catalog to look at, signed or the `contracts.json` of a collection; no version in it is remembered as seen.

    Raises:
        Fault: There is none that can be believed.
        RecordFault: `contracts-malformed`.
    """
    from metnos.contracts.catalog import Catalog
    from metnos.contracts.load import load_catalog
    from metnos.evaluate.collections.contracts import contracts_beside

    beside: Any = contracts_beside(folder)
    if beside is not None:
        return Catalog().with_contracts(beside)
    catalog = load_catalog(folder, home=None, remember=False)
    if not catalog.names():
        code = catalog.refused[0].diagnostic.code if catalog.refused else "catalog-missing"
        raise Fault(code, "no tool of this catalog can be believed", where=str(folder), status=exits.TRUST)
    return catalog
