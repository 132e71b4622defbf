"""The fixture tree: a small household of files, with known contents, sizes and times of change.

Law: the same bytes and times for every case. The clock of every turn stands at `NOW`; times of change count back from it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

NOW: Final = 1_796_040_000
"""2026-11-30 12:00 UTC, a Monday; seconds since 1970."""
DAY: Final = 86_400

TEXTS: Final[dict[str, tuple[str, float]]] = {
    "documents/annual-report.txt": ("Annual report\nRevenue grew in every quarter.\nTODO: check figures\n", 40),
    "documents/letter.md": ("Dear Bob,\nsee you soon.\nAnna\n", 1),
    "documents/notes.md": ("buy milk\nTODO call Anna\n", 3 / 24),
    "documents/old/draft.txt": ("first draft\n", 400),
    "data/sales.csv": (
        "region,month,amount\nNorth,2026-01,120\nSouth,2026-01,80\nNorth,2026-02,200\nEast,2026-02,50\nSouth,2026-02,90\n",
        3,
    ),
    "data/people.csv": ("name,city,age\nAnna,Rome,34\nBob,Milan,51\nCarla,Rome,29\nDino,Turin,62\n", 20),
    "data/stock.json": (
        '[{"item": "bolt", "count": 40}, {"item": "nut", "count": 15}, {"item": "screw", "count": 90}]\n',
        9,
    ),
    "logs/app.log": ("INFO start\nERROR disk full\nINFO retry\nERROR timeout\n", 1 / 24),
    "logs/error.log": ("ERROR timeout\n", 1),
    "logs/old.log": ("INFO nothing\n", 120),
    "downloads/notes-copy.md": ("buy milk\nTODO call Anna\n", 2 / 24),
    "todo.txt": ("TODO water plants\nTODO pay rent\n", 2),
    "readme.md": ("# Home\n", 300),
    "empty.txt": ("", 15),
}
"""Path → (content, days before `NOW` that it was changed)."""
BINARIES: Final[dict[str, tuple[int, float]]] = {
    "documents/contract.pdf": (48_213, 10),
    "documents/invoice.pdf": (20_480, 2),
    "documents/old/plan.pdf": (3_100, 380),
    "photos/beach.jpg": (310_400, 90),
    "photos/rome.jpg": (150_200, 30),
    "photos/cat.png": (88_100, 5),
    "photos/trips/lake.jpg": (99_900, 60),
    "music/song.mp3": (2_500_000, 200),
    "downloads/setup.zip": (2_097_152, 4),
    "downloads/photo.jpg": (5_120, 6),
}
"""Path → (bytes, days before `NOW`); what is inside is no text."""


def contents() -> dict[str, bytes]:
    """Every file of the tree."""
    found = {path: text.encode() for path, (text, _) in TEXTS.items()}
    for path, (size, _) in BINARIES.items():
        mark = b"\x00\xff" + path.encode() + b"\x00"
        found[path] = (mark * (size // len(mark) + 1))[:size]
    return found


def build(folder: Path) -> dict[str, bytes]:
    """Make `folder` the fixture tree, whatever it held; the folder itself stays the same one."""
    empty(folder)
    files = contents()
    ages = {path: age for path, (_, age) in (*TEXTS.items(), *BINARIES.items())}
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        at = NOW - ages[path] * DAY
        os.utime(target, (at, at))
    return files


def copy(source: Path, folder: Path) -> dict[str, bytes]:
    """Make `folder` a copy of another tree, times of change and all."""
    empty(folder)
    shutil.copytree(source, folder, dirs_exist_ok=True)
    return {path: (folder / path).read_bytes() for path in sorted(look(folder))}


def empty(folder: Path) -> None:
    """Nothing is left in it."""
    folder.mkdir(parents=True, exist_ok=True)
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def look(folder: Path) -> dict[str, Path]:
    """Files below `folder` by their path in it, the trash aside."""
    found: dict[str, Path] = {}
    for path in folder.rglob("*"):
        inside = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".metnos") for part in inside.parts):
            found[inside.as_posix()] = path
    return found


def folders(folder: Path) -> set[str]:
    """Folders below `folder`, the trash aside."""
    found = {path.relative_to(folder) for path in folder.rglob("*") if path.is_dir()}
    return {path.as_posix() for path in found if not any(part.startswith(".metnos") for part in path.parts)}
