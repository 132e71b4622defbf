"""Files below the granted roots, acted on: folders made, files copied, moved, put into the trash and taken out again.

Law: every place is opened beneath its root first, then acted on by open folders and plain names (`holding.py`,
`filing.py`), so what changes meanwhile cannot lead out. Only regular files are acted on. Nothing that a person had is
unlinked: what is replaced or deleted goes into the trash, on disk before its name is given away.

Each method that takes an operation id finds its own work when it is run again under the same id.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import Literal

from metnos.execute import filing
from metnos.execute.filing import Spot, status_of
from metnos.execute.holding import FOLDER, HoldingFiles, changed
from metnos.execute.places import SCAN, TRASH, joined, place_of
from metnos.execute.writing import fingerprint
from metnos.sdk import FileChange, FilesError


class ActingFiles(HoldingFiles):
    """The part of `metnos.sdk.Files` that changes something, but for `write`."""

    # --- folders -------------------------------------------------------------------------------------------------

    def make_dir(self, path: str) -> tuple[dict[str, str], ...]:
        """Make a folder and those above it; the places of those that were made, outermost first.

        Raises:
            FilesError: it cannot be made; then none was.
        """
        root, inner = self._locate(path)
        self._refuse_trash(path, inner)
        place, made = root, list[str]()
        with self._translated(path):
            here = self._open_below(root, "", FOLDER)
            try:
                for name in filter(None, inner.split("/")):
                    place = joined(place, name)
                    here, is_new = _entered(here, name)
                    made += [place] if is_new else []
            except OSError:
                for one in reversed(made):
                    with suppress(FilesError):
                        self.remove_dir(one)
                raise
            finally:
                os.close(here)
        return tuple(map(place_of, made))

    def remove_dir(self, path: str) -> bool:
        """Remove an empty folder; False if there is none.

        Raises:
            FilesError: `not-empty`, or it is no folder, or may not be removed.
        """
        if not self._locate(path)[1]:
            raise FilesError("denied", "no-permission", path, "a granted folder is not removed")
        with self._translated(path), self._held(path, missing_ok=True) as held:
            if held is None:
                return False
            try:
                os.rmdir(held.spot.name, dir_fd=held.spot.folder)
            except FileNotFoundError:
                return False
            except OSError as fault:
                if fault.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                raise FilesError("conflict", "not-empty", path, "the folder is not empty") from fault
            os.fsync(held.spot.folder)
        return True

    # --- files ---------------------------------------------------------------------------------------------------

    def place(self, path: str) -> dict[str, str]:
        """Where `path` is, absolute: as a receipt names it."""
        return place_of(joined(*self._locate(path)))

    def is_fresh(self, path: str) -> bool:
        """Whether what is at `path` came there in this turn, by the time at which its name or content was changed."""
        with self._translated(path), self._held(path, missing_ok=True) as held:
            found = status_of(held.spot) if held is not None else None
        return found is not None and self._is_fresh(found)

    def keep(self, path: str, *, unless: str, operation: str) -> FileChange | None:
        """Keep what is at `path` in the trash too, before it is replaced by what has the digest `unless`.

        Raises:
            FilesError: it is no regular file, or the trash cannot be written.
        """
        with self._translated(path), self._held(path, missing_ok=True) as held:
            if held is None or self._there(held) is None:
                return None
            there = fingerprint(*held.spot)
            if there is None or there.digest == unless:
                kept = self._kept(held, operation)
            else:
                kept = (self._keep(held, operation), there.digest)
            if kept is None or kept[1] is None:
                return None
            return FileChange(target=place_of(held.absolute), before=kept[1], kept=kept[0])

    def copy(self, source: str, target: str, *, overwrite: bool, operation: str) -> FileChange:
        """A whole copy under another name, with time and permission bits; what is replaced is kept in the trash.

        Raises:
            FilesError: `exists`, `same-file`, or it cannot be read or written.
        """
        with self._translated(source), self._held(source, trash_ok=True) as old:
            assert old is not None
            found = self._known(old)
            with self._translated(target), self._held(target, make=True) as new:
                assert new is not None
                there = self._replaceable(new, found.status)
                if there is not None and there.digest is not None and there.digest == found.digest:
                    before = None if self._is_fresh(there.status) else there.digest
                    return self._change(old, new, operation, found, before=before)
                if there is not None and not overwrite:
                    raise _exists(target)
                with filing.filled(old.spot, new.spot.folder) as copied:
                    kept = self._keep(new, operation) if there is not None else None
                    filing.put(new.spot, copied.name, replace=there is not None)
                return FileChange(
                    source=place_of(old.absolute), target=place_of(new.absolute), size=copied.source.st_size,
                    before=there.digest if there is not None else None, after=copied.digest, kept=kept,
                )  # fmt: skip

    def move(
        self, source: str, target: str, *, overwrite: bool, operation: str, expected: str | None = None
    ) -> FileChange:
        """Another name, also on another file system; what is replaced is kept in the trash.

        Raises:
            FilesError: `exists`, `same-file`, `changed-since`, or it cannot be moved; then nothing was.
        """
        with self._translated(source), self._held(source, missing_ok=True) as old:
            found = self._there(old) if old is not None else None
            if old is None or found is None:
                return self._moved_already(source, target, expected)
            with self._translated(target), self._held(target, make=True) as new:
                assert new is not None
                there = self._replaceable(new, found)
                if there is not None and self._is_copied(old, found, there):
                    filing.take_away(old.spot, found)
                    return self._change(old, new, operation, there, before=None)
                if there is not None and not overwrite:
                    raise _exists(target)
                self._expect(old, expected)
                kept = self._keep(new, operation) if there is not None else None
                _rename(old.spot, new.spot, replace=there is not None)
                now = self._made(new.spot)
                return FileChange(
                    source=place_of(old.absolute), target=place_of(new.absolute), size=found.st_size,
                    before=there.digest if there is not None else None, after=now.digest,
                    kept=kept,
                )  # fmt: skip

    def _moved_already(self, source: str, target: str, expected: str | None) -> FileChange:
        """What a move says whose source is gone: a success if what was expected is at the target."""
        if expected is not None:
            with self._translated(target), self._held(target, missing_ok=True) as new:
                there = fingerprint(*new.spot) if new is not None else None
                if new is not None and there is not None and there.digest == expected:
                    return FileChange(target=place_of(new.absolute), size=there.status.st_size, after=expected)
        raise FilesError("missing", "not-found", source, "there is no such file")

    def find_moved(self, source: str, target: str, *, operation: str) -> FileChange | Literal["unknown"] | None:
        """Whether a `move` that was cut off was made; None: the source is there, so it may be run again.

        What is at the target is taken for what was moved if it came there in this turn: a rename sets the time at
        which a name was changed. Raises what looking raises.
        """
        with self._translated(source), self._held(source, missing_ok=True) as old:
            if old is not None and status_of(old.spot) is not None:
                return None
        with self._translated(target), self._held(target, missing_ok=True) as new:
            there = fingerprint(*new.spot) if new is not None else None
            if new is None or there is None or there.digest is None:
                return "unknown"
            kept = self._kept(new, operation)
            if kept is None and not self._is_fresh(there.status):
                return "unknown"
            root, inner = self._locate(source)
            return FileChange(
                source=place_of(joined(root, inner)), target=place_of(new.absolute), size=there.status.st_size,
                before=kept[1] if kept is not None else None, after=there.digest,
                kept=kept[0] if kept is not None else None,
            )  # fmt: skip

    # --- the trash -----------------------------------------------------------------------------------------------

    def trash(self, path: str, *, operation: str, expected: str | None = None) -> FileChange:
        """Into the trash of its root; nothing is unlinked.

        Raises:
            FilesError: it is missing, no regular file, in the trash already, or not what was `expected`.
        """
        with self._translated(path), self._held(path) as held:
            assert held is not None
            with self._drawer(held, operation, make=False) as drawer:
                done = fingerprint(*drawer) if drawer is not None else None
            there = status_of(held.spot)
            if done is not None:
                if there is not None and self._is_copied(held, there, done):
                    filing.take_away(held.spot, there)
                return self._trashed(held, operation, done)
            if there is None:
                raise FilesError("missing", "not-found", path, "there is no such file")
            self._require_regular(path, there)
            self._expect(held, expected)
            with self._drawer(held, operation, make=True) as drawer:
                assert drawer is not None
                _rename(held.spot, drawer, replace=False)
                done = self._made(drawer)
                if expected is not None and done.digest != expected:  # it changed between the look and the rename
                    filing.rename(drawer, held.spot, replace=False)
                    raise changed(path)
            return self._trashed(held, operation, done)

    def restore(self, place: str, target: str, *, digest: str, over: str | None, operation: str) -> FileChange:
        """Out of the trash; `over`: digest of what may be replaced, which is kept; None: nothing may be.

        Raises:
            FilesError: `exists`, `changed-since`, or it is not in the trash any more.
        """
        with self._translated(place), self._held(place, trash_ok=True, missing_ok=True) as old:
            lies = old is not None and self._there(old) is not None
            if old is not None and lies and TRASH not in old.inner.split("/"):
                raise FilesError("arguments", "bad-path", place, "it is not in the trash")
            with self._translated(target), self._held(target, make=lies and over is None, missing_ok=True) as new:
                there = fingerprint(*new.spot) if new is not None and self._there(new) is not None else None
                if old is None or new is None or not lies:
                    if new is None or there is None or there.digest != digest:
                        raise FilesError("missing", "not-found", place, "it is not in the trash any more")
                    return self._change(old, new, operation, there, before=None)
                if over is None and there is not None:
                    raise _exists(target)
                if over is not None and (there is None or there.digest != over):
                    raise changed(target)
                self._expect(old, digest)
                kept = self._keep(new, operation) if there is not None else None
                _rename(old.spot, new.spot, replace=there is not None)
                self._tidy(old)
                size = self._made(new.spot).status.st_size
                return FileChange(
                    source=place_of(old.absolute), target=place_of(new.absolute), before=over, after=digest, kept=kept,
                    size=size,
                )  # fmt: skip


def _entered(here: int, name: str) -> tuple[int, bool]:
    """The open folder `name` in `here`, which is then closed; made if there is none, and whether it was."""
    try:
        os.mkdir(name, dir_fd=here)
        os.fsync(here)
        is_new = True
    except FileExistsError:
        is_new = False
    deeper = os.open(name, SCAN, dir_fd=here)
    os.close(here)
    return deeper, is_new


def _rename(source: Spot, target: Spot, *, replace: bool) -> None:
    try:
        filing.rename(source, target, replace=replace)
    except OSError as fault:
        if fault.errno != errno.EXDEV:
            raise
        filing.across(source, target, replace=replace)


def _exists(path: str) -> FilesError:
    hint = "choose another name, or allow overwriting"
    return FilesError("conflict", "exists", path, "a file of this name is there already", hint)
