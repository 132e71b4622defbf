"""A folder of real files that requests speak of, and what puts it back as it was.

Law: the same names, bytes and times each time it is made. `put_back` leaves nothing that was not there and brings back
what is gone or changed, so a request finds what it names, however often it was asked before.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

from benchmarks.traffic.sentences import COLUMNS, NUMBER_COLUMNS, WORDS, Places

FOLDERS = ("src", "docs", "notes", "old", "backup", "My Docs", "src/lib", "docs/2026")
SPOKEN = ("src", "./src", "docs", "./docs", "notes", "old", "backup", "src/lib", "docs/2026", "~/Documents")
STEMS = ("report", "notes", "plan", "budget", "letter", "todo", "setup", "main", "README", "list")
ENDINGS = ("txt", "md", "csv", "py", "pdf", "jpg")
TEXT = "A plan for the summer: buy milk, write the report, pay the invoice.\nTODO: the budget of the garden.\n"
TEXT_IT = "Un piano per l'estate: comprare il latte, scrivere il rapporto, pagare la fattura. NOTE: il bilancio.\n"
DAY = 86_400
READABLE = ("txt", "md", "csv", "py")
ROWS = 12


def rows(rng: random.Random) -> list[dict[str, str | int]]:
    """Rows with every column that a request may name."""
    made: list[dict[str, str | int]] = []
    for number in range(ROWS):
        row: dict[str, str | int] = {"id": number, "Name": rng.choice(WORDS["en"]).capitalize()}
        for language, names in COLUMNS.items():
            row |= {name: rng.choice(WORDS[language]).capitalize() for name in names}
        row |= {name: rng.randrange(1000) for names in NUMBER_COLUMNS.values() for name in names}
        made.append(row)
    return made


def table(rng: random.Random) -> str:
    """`rows` as the text of a CSV file."""
    made = rows(rng)
    lines = [made[0].keys(), *(map(str, row.values()) for row in made)]
    return "".join(",".join(line) + "\n" for line in lines)


class Tree:
    """Files below `work`, where requests start from, and `Documents` of a home of their own."""

    def __init__(self, folder: Path, seed: int = 7, now: int = 1_764_500_000) -> None:
        """Make it; `now`: seconds since 1970, the newest file is an hour older."""
        self.work = folder / "work"
        self.home = folder / "people" / "anna"
        self.documents = self.home / "Documents"
        self._roots = (self.work, self.documents)
        self._files: dict[Path, tuple[bytes, int]] = {}
        rng = random.Random(seed)
        for place in (self.work, *(self.work / name for name in FOLDERS), self.documents):
            place.mkdir(parents=True)
            for number in range(8):
                name = f"{rng.choice(STEMS)}-{number}.{rng.choice(ENDINGS)}"
                self._make(place / name, (TEXT + TEXT_IT) * rng.choice((0, 1, 3, 50, 2000)), rng, now)
        for stem in STEMS:
            self._make(self.work / f"{stem}.{rng.choice(READABLE)}", TEXT + TEXT_IT, rng, now)
            self._make(self.work / f"{stem}-table.csv", table(rng), rng, now)
            self._make(self.work / f"{stem}-records.json", json.dumps(rows(rng)), rng, now)
        self._folders = {path for root in self._roots for path in root.rglob("*") if path.is_dir()}
        self.names = sorted(
            path.name for path in self._files if path.parent == self.work and path.suffix[1:] in READABLE
        )

    def _make(self, path: Path, text: str, rng: random.Random, now: int) -> None:
        at = now - 3600 - rng.randrange(60 * DAY)
        self._files[path] = (text.encode(), at * 1_000_000_000)
        self._write(path)

    def _write(self, path: Path) -> None:
        body, at = self._files[path]
        path.write_bytes(body)
        os.utime(path, ns=(at, at))

    def put_back(self) -> None:
        """As it was made."""
        for root in self._roots:
            for path in sorted(root.rglob("*"), reverse=True):
                if path.is_symlink() or (path.is_file() and path not in self._files):
                    path.unlink()
                elif path.is_dir() and path not in self._folders:
                    shutil.rmtree(path)
        for folder in self._folders:
            folder.mkdir(parents=True, exist_ok=True)
        for path, (body, at) in self._files.items():
            found = path.stat() if path.exists() else None
            if found is None or found.st_size != len(body) or found.st_mtime_ns != at:
                self._write(path)

    def places(self) -> Places:
        """Values that name what is there, and names that are free."""
        return Places(
            folder=lambda rng: rng.choice(SPOKEN),
            file=lambda rng: rng.choice(self.names),
            table=lambda rng: f"{rng.choice(STEMS)}-table.csv",
            records=lambda rng: f"{rng.choice(STEMS)}-records.json",
            new=lambda rng: f"new-{rng.randrange(300)}.{rng.choice(('md', 'txt', 'csv'))}",
            new_folder=lambda rng: f"{rng.choice(('old', 'docs', 'backup'))}/new-{rng.randrange(300)}",
        )
