"""Row 5: a disk that is full, at whichever write it fills up: no effect without a durable intent, and nothing lost.

A small tmpfs where root may mount one; a limit on the size of files, which fails in the middle of a write, everywhere.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from metnos import Engine
from tests.attack.table import Case, Seen, Stage, steps

if TYPE_CHECKING:
    from pathlib import Path

PAGE = 4096


@contextmanager
def small_disk(place: Path, size: int) -> Generator[None]:
    """A file system of `size` bytes at `place`."""
    place.mkdir(parents=True, exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.decode(errors='replace').strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def full_folder(tool: str, **args: Any) -> Callable[[Stage], Seen]:
    """The folder `full` has no space left."""

    def attack(stage: Stage) -> Seen:
        (stage.folder / "large.bin").write_bytes(b"l" * 40 * PAGE)
        with small_disk(stage.folder / "full", 16 * PAGE):
            (stage.folder / "full" / "old.txt").write_text("old\n")
            with (stage.folder / "full" / "ballast").open("wb", buffering=0) as file:
                try:
                    while file.write(b"b" * PAGE):
                        continue
                except OSError:
                    pass
            said = {name: stage.at(one[1:]) if str(one).startswith("@") else one for name, one in args.items()}
            return stage.run(steps((tool, said)))

    return attack


def full_home(stage: Stage) -> Seen:
    """The home fills up at every stage of a turn that writes a file: the file is there only if the log knows it."""
    ends: list[int] = []
    for pages in (1, 10, 14, 18, 23, 30, 60):
        stage.home = stage.shared.base / "full-homes" / f"{stage.name}-{pages}"
        with small_disk(stage.home, pages * PAGE):
            ends.append(_written(stage, f"new{pages}.txt"))
    assert ends[0] == 3
    assert ends[-1] == 0
    return Seen(status=0, document={})


def limited(limit: int) -> Callable[[Stage], Seen]:
    """No file may grow beyond `limit` bytes: neither the log nor what is written."""

    def attack(stage: Stage) -> Seen:
        stage.limits = {"RLIMIT_FSIZE": limit}
        stage.home = stage.shared.base / "limited-homes" / stage.name
        return Seen(
            status=_written(stage, "new.txt"), document={"error": {"code": "record-store", "where": "-", "hint": "-"}}
        )

    return attack


def _written(stage: Stage, name: str) -> int:
    """Let the command write a file; its exit code, after the promise was looked at."""
    stage.changed.update({f"work/{name}", "work/."})
    seen = stage.cli("ask", "--yes", f'write "{"x" * 9000}" to {name}')
    assert seen.status in (0, 3, 6), seen.text
    assert seen.status == 0 or seen.document.get("error") or seen.document["outcome"] != "success", seen.text
    there = stage.folder / name
    if there.exists():
        assert there.read_text() == "x" * 9000, "whole or not at all"
        stage.limits = {}
        with Engine.open(stage.home, folder=stage.folder, zone="UTC") as engine:
            (turn,) = engine.turns()
            kinds = [record.kind for record in engine.parts.journal.load(turn.turn).records]
        assert "step_started" in kinds, "an effect without its intent"
    else:
        assert seen.status != 0
    assert not [path for path in stage.folder.iterdir() if path.name.startswith(".metnos-")], "a draft is left"
    return seen.status


def _case(name: str, code: str, attack: Callable[[Stage], Seen], **more: Any) -> Case:
    return Case(row=5, kind="full disk", name=name, code=code, attack=attack, **more)


KEPT = ("work/large.bin", "work/.", "work/full/old.txt", "work/full/ballast", "work/full")
CASES: tuple[Case, ...] = (
    _case("a new file", "no-space", full_folder("write_files", path="@full/new.txt", content="x" * 9000), changes=KEPT, root=True),
    _case("a file is written over", "no-space", full_folder("write_files", path="@full/old.txt", content="x" * 9000, overwrite=True), changes=KEPT, root=True),
    _case("a copy", "no-space", full_folder("copy_files", path="@large.bin", to="@full/new.bin"), changes=KEPT, root=True),
    _case("a move from another disk", "no-space", full_folder("move_files", path="@large.bin", to="@full/new.bin"), changes=KEPT, root=True),
    _case("the home, at every write", "", full_home, status=0, root=True),
    _case("the home, in its first page", "record-store", limited(1500), status=3),
    _case("the home, while its tables are made", "record-store", limited(20_000), status=3),
)  # fmt: skip
