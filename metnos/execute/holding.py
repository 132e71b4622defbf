"""A file that is to be acted on, held by its open folder; and what is kept of it in the trash.

Law: a place is opened beneath its root (`places.py`) before anything is asked about it, and stays open while it is
acted on. Nothing is replaced before it is kept.
"""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from metnos.execute import filing, trash
from metnos.execute.filing import Spot, status_of
from metnos.execute.places import TRASH, Places, joined, place_of
from metnos.execute.writing import There, fingerprint
from metnos.sdk import FileChange, FilesError

if TYPE_CHECKING:
    from collections.abc import Generator

    from metnos.execute.beneath import OpenBeneath
    from metnos.execute.grant import Grant

_COARSE_S = 0.02
"""File systems take the time of the last tick."""
FOLDER = os.O_RDONLY | os.O_DIRECTORY
_NO_LINK = frozenset({errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOSYS, errno.EOPNOTSUPP})
"""The file system, or this one file, takes no second name: a copy is kept instead."""


class Held(NamedTuple):
    """A place whose folder is open."""

    spot: Spot
    path: str
    """As it was given, for messages."""
    root: str
    inner: str

    @property
    def absolute(self) -> str:
        """The place as it is reached from `/`."""
        return joined(self.root, self.inner)


class HoldingFiles(Places):
    """What is there, and what is kept."""

    def __init__(self, grant: Grant, opener: OpenBeneath | None = None) -> None:
        """Open nothing yet."""
        super().__init__(grant, opener)
        self._now = grant.now

    # --- what is there -------------------------------------------------------------------------------------------

    @contextmanager
    def _held(
        self, path: str, *, make: bool = False, missing_ok: bool = False, trash_ok: bool = False
    ) -> Generator[Held | None]:
        """The open folder that `path` is in; None if there is none and that is no fault."""
        root, inner = self._locate(path)
        if not inner:
            raise FilesError("arguments", "is-a-folder", path, "it is a folder")
        if not trash_ok:
            self._refuse_trash(path, inner)
        parent, name = os.path.split(inner)
        try:
            folder = self._folder_for(root, parent, make=make)
        except FileNotFoundError:
            if not missing_ok:
                raise
            yield None
            return
        try:
            yield Held(Spot(folder, name), path, root, inner)
        finally:
            os.close(folder)

    def _there(self, held: Held) -> os.stat_result | None:
        """The status of a regular file, None if nothing is there; anything else is refused."""
        found = status_of(held.spot)
        if found is not None:
            self._require_regular(held.path, found)
        return found

    def _is_fresh(self, found: os.stat_result) -> bool:
        """Whether a name was given or a file written in this turn: what a step that was cut off left is."""
        return found.st_ctime + _COARSE_S >= datetime.fromisoformat(self._now).timestamp()

    def _made(self, spot: Spot) -> There:
        """What is there after an act: that it cannot be read does not undo it."""
        with suppress(OSError):
            found = fingerprint(*spot)
            if found is not None:
                return found
        return There(os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False), None)

    def _known(self, held: Held) -> There:
        if self._there(held) is None:
            raise FilesError("missing", "not-found", held.path, "there is no such file")
        found = fingerprint(*held.spot)
        if found is None or found.digest is None:
            raise FilesError("denied", "no-permission", held.path, "the system does not permit reading it")
        return found

    def _replaceable(self, held: Held, source: os.stat_result) -> There | None:
        """What bears the target's name, if it is a regular file and not the source itself."""
        found = self._there(held)
        if found is None:
            return None
        if filing.same_file(found, source):
            raise FilesError("arguments", "same-file", held.path, "source and target are the same file")
        return fingerprint(*held.spot)

    def _is_copied(self, old: Held, found: os.stat_result, there: There) -> bool:
        """Whether a move between file systems was cut off after its copy was on disk."""
        if found.st_dev == there.status.st_dev or there.digest is None:
            return False
        source = fingerprint(*old.spot)
        return source is not None and source.digest == there.digest

    def _expect(self, held: Held, digest: str | None) -> None:
        if digest is None:
            return
        found = fingerprint(*held.spot)
        if found is None or found.digest != digest:
            raise changed(held.path)

    # --- keeping -------------------------------------------------------------------------------------------------

    @contextmanager
    def _drawer(self, held: Held, operation: str, *, make: bool) -> Generator[Spot | None]:
        """The file's spot in the operation's folder of the trash."""
        root = self._open_below(held.root, "", FOLDER)
        try:
            folder = trash.opened(root, operation, self._open, make=make)
            if make:
                trash.note(root, operation, held.absolute, self._now)
        finally:
            os.close(root)
        try:
            yield None if folder is None else Spot(folder, held.spot.name)
        finally:
            if folder is not None:
                os.close(folder)

    def _keep(self, held: Held, operation: str) -> dict[str, str]:
        """A second name in the trash for what is about to be replaced; a copy where there can be none."""
        with self._drawer(held, operation, make=True) as drawer:
            assert drawer is not None
            there, kept = fingerprint(*held.spot), fingerprint(*drawer)
            if kept is not None:
                if there is None or not (filing.same_file(there.status, kept.status) or there.digest == kept.digest):
                    raise changed(held.path)
                return self._place(held, operation)
            try:
                os.link(
                    held.spot.name, drawer.name, src_dir_fd=held.spot.folder, dst_dir_fd=drawer.folder,
                    follow_symlinks=False,
                )  # fmt: skip
            except OSError as fault:
                if fault.errno not in _NO_LINK:
                    raise
                with filing.filled(held.spot, drawer.folder) as copied:
                    filing.put(drawer, copied.name, replace=False)
            os.fsync(drawer.folder)
        return self._place(held, operation)

    def _place(self, held: Held, operation: str) -> dict[str, str]:
        return place_of(joined(held.root, trash.inner_place(operation, held.spot.name)))

    def _kept(self, held: Held, operation: str) -> tuple[dict[str, str], str | None] | None:
        """What the operation kept of this name before, and its digest."""
        with self._drawer(held, operation, make=False) as drawer:
            found = fingerprint(*drawer) if drawer is not None else None
        return None if found is None else (self._place(held, operation), found.digest)

    def _change(self, old: Held | None, new: Held, operation: str, there: There, *, before: str | None) -> FileChange:
        """What was done before under this operation id, as far as the trash tells."""
        kept = self._kept(new, operation)
        return FileChange(
            source=place_of(old.absolute) if old is not None else None, target=place_of(new.absolute),
            size=there.status.st_size, before=kept[1] if kept is not None else before, after=there.digest,
            kept=kept[0] if kept is not None else None,
        )  # fmt: skip

    def _trashed(self, held: Held, operation: str, there: There) -> FileChange:
        return FileChange(
            target=place_of(held.absolute), size=there.status.st_size, before=there.digest,
            kept=self._place(held, operation),
        )  # fmt: skip

    def _tidy(self, old: Held) -> None:
        above, _, below = f"/{old.inner}".partition(f"/{TRASH}/")
        with suppress(OSError):
            folder = self._open_below(old.root, above.removeprefix("/"), FOLDER)
            try:
                trash.tidy(folder, f"{TRASH}/{below}")
            finally:
                os.close(folder)


def changed(path: str) -> FilesError:
    """The refusal of what is not as it was."""
    return FilesError("conflict", "changed-since", path, "it has changed since")
