"""A second tree, of other people: a small practice and the family that runs it, for requests on files nobody tuned for.

    .venv/bin/python -m benchmarks.judged.office DIR

Law: made from `benchmarks/data/planning_fresh2_tree.json` alone, the same bytes and times each time. A file there is a
text, or a mark that is repeated up to a size; `days` is how long before `NOW` it was changed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.judged.tree import DAY, NOW, empty

SOURCE: Final = Path(__file__).resolve().parents[1] / "data" / "planning_fresh2_tree.json"


class Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of the tree."""

    days: float
    text: str = ""
    size: int | None = None
    """Bytes; None: as long as the text."""

    @property
    def data(self) -> bytes:
        """What it holds."""
        plain = self.text.encode()
        return plain if self.size is None else (plain * (self.size // len(plain) + 1))[: self.size]


class Tree(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of it."""

    files: dict[str, Written]
    folders: tuple[str, ...] = ()
    """Those that hold nothing."""


def build(folder: Path) -> None:
    """Make `folder` this tree, whatever it held."""
    tree = msgspec.json.decode(SOURCE.read_bytes(), type=Tree)
    empty(folder)
    for path in tree.folders:
        (folder / path).mkdir(parents=True)
    for path, written in tree.files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(written.data)
        at = NOW - written.days * DAY
        os.utime(target, (at, at))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("one folder: what it holds is replaced")
    build(Path(sys.argv[1]))
