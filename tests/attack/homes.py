"""Odd things in the place of files that Metnos keeps for itself: each is refused by name at once, nothing is waited for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tests.attack.table import Case, Seen, Stage

COUNT = ("ask", "how many files are here")


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)
    path.chmod(0o600)


THINGS: dict[str, Callable[[Path], object]] = {
    "a pipe": lambda path: os.mkfifo(path, 0o600),
    "a folder": lambda path: path.mkdir(mode=0o700),
    "a terabyte": sparse,
    "/dev/zero": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "noise": lambda path: (path.write_bytes(bytes(range(256))), path.chmod(0o600)),
}
PLACES: dict[str, tuple[str, int, tuple[str, ...]]] = {
    "settings.toml": ("bad-settings", 2, COUNT),
    "keys/log.ed25519": ("key-unusable", 3, COUNT),
    "anchors.log": ("anchor-read|anchor-malformed|anchor-write|log-behind-anchor", 4, ("log", "last", "--verify")),
    "foreign/made.json": ("import-broken", 4, ("catalog",)),
}
"""Place → the code of its refusal, the exit code, and a command that needs it."""


def _attack(place: str, make: Callable[[Path], object]) -> Callable[[Stage], Seen]:
    def attack(stage: Stage) -> Seen:
        stage.home = stage.shared.base / "homes" / stage.name
        if place == "anchors.log":
            assert stage.cli(*COUNT).status == 0
        path = stage.home / place
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        make(path)
        return stage.cli(*PLACES[place][2])

    return attack


CASES: tuple[Case, ...] = tuple(
    Case(row=5, kind="home", name=f"{thing} for {place}", code=code, status=status, attack=_attack(place, make))
    for place, (code, status, _) in PLACES.items()
    for thing, make in THINGS.items()
)
