"""What a collection hands out: turns, and faults where a turn could not be read. No I/O.

Law: one bad turn is a `Fault` with its place and is counted; it is never the end of the run, and never left out in
silence. A turn that can be read and does not *verify* is a turn: whoever looks at it says that it is broken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

import msgspec

from metnos.record.model import TurnLog

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from metnos.contracts.model import Contract


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded turn of a collection."""

    log: TurnLog
    where: str = ""
    """`FILE:LINE`, or the place and the turn's id."""
    labels: dict[str, str | int | float | bool] = {}
    """What is known of it beside the record: `task`, `trial`, `reward`, what a person judged. Not verified by anything."""


class Fault(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """Something in a collection that is no turn, or cannot be read."""

    where: str
    """`FILE:LINE`, or the place and the turn's id."""
    code: str
    """A key of `metnos.plan.codes.CODES`, or `environment`."""
    detail: str = ""


Item: TypeAlias = "Turn | Fault"


class Shard(Protocol):
    """A part of a collection that one worker reads on its own. It can be pickled, and read as often as one likes."""

    @property
    def name(self) -> str:
        """What it is called where it is reported."""
        ...

    @property
    def weight(self) -> int:
        """Its share of the collection's `weight`."""
        ...

    def read(self) -> Iterator[Item]:
        """Its turns in their order, one at a time.

        Raises:
            OSError: The place cannot be read at all.
            RecordFault: The same, of a journal.
        """
        ...


class Collection(Protocol):
    """Turns at one place."""

    @property
    def name(self) -> str:
        """As the person named it."""
        ...

    @property
    def folder(self) -> Path | None:
        """Where what belongs to all of them lies beside them; None: nowhere."""
        ...

    def weight(self) -> int:
        """How much there is to do, in a unit of its own (turns or bytes); 0: nobody can know (a stream)."""
        ...

    def shards(self) -> Iterator[Shard]:
        """Its parts, in order; made one at a time, so that a stream is never held whole."""
        ...

    def contracts(self) -> tuple[Contract, ...] | None:
        """What its plans are checked against; None: the catalog of this installation.

        Raises:
            RecordFault: `contracts-malformed`.
        """
        ...
