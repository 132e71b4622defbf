"""What people say of recorded turns: `judge = "good"`, `task = 12`. Kept beside the logs, never in them.

Law: a label proves nothing and changes nothing of a turn: its log stays the bytes that were signed. One small file for
each labelled turn (`METNOS_HOME/labels/TURN.json`, form `metnos.labels/1`); whoever changes one holds the lock of the
folder, so two who label at once both count. A file that is damaged is a fault when it is changed and no labels when it
is listed.
"""

from __future__ import annotations

import fcntl
import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from metnos import plainfile
from metnos.drafts import drafted_beside
from metnos.record.faults import RecordFault
from metnos.record.recorder import check_turn_id

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping
    from pathlib import Path

Label: TypeAlias = str | int | float | bool
FORM: Final = "metnos.labels/1"
NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}", re.ASCII)
MOST: Final = 64
"""Labels of one turn."""
LONGEST: Final = 1_000
"""Characters of a value."""
_BYTES: Final = 512 * 1024


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    form: str
    turn: str
    labels: dict[str, Label]


_decoder = msgspec.json.Decoder(_File)
_encode = msgspec.json.Encoder(order="sorted").encode


def check_labels(labels: Mapping[str, Label]) -> None:
    """Refuse what is no label.

    Raises:
        RecordFault: `label-invalid`.
    """
    for name, value in labels.items():
        if NAME.fullmatch(name) is None:
            raise RecordFault("label-invalid", f"{name[:40]!r} is no name of a label")
        if isinstance(value, str) and len(value) > LONGEST:
            raise RecordFault("label-invalid", f"{name} has {len(value)} characters, at most {LONGEST}")
        if isinstance(value, float) and value - value != 0:
            raise RecordFault("label-invalid", f"{name} is no finite number")
    if len(labels) > MOST:
        raise RecordFault("label-invalid", f"{len(labels)} labels, at most {MOST}")


class Labels:
    """Those of one home. Nothing is made on the disk before something is labelled."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "labels"

    def of(self, turn: str) -> dict[str, Label]:
        """Labels of a turn; none if there are none, or what is there cannot be read."""
        try:
            return self._read(turn)
        except RecordFault:
            return {}

    def change(self, turn: str, put: Mapping[str, Label], remove: Iterable[str] = ()) -> dict[str, Label]:
        """Put some, take some away.

        Returns:
            What the turn has now.

        Raises:
            RecordFault: `label-invalid`, `labels-damaged`, `turn-id`; `record-write`, the disk.
        """
        check_turn_id(turn)
        check_labels(put)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _locked(self._folder):
                after = {**self._read(turn), **put}
                for name in remove:
                    after.pop(name, None)
                check_labels(after)
                self._write(turn, after)
        except OSError as fault:
            raise RecordFault("record-write", f"{self._folder}: {fault}", turn=turn) from fault
        return dict(sorted(after.items()))

    def _read(self, turn: str) -> dict[str, Label]:
        check_turn_id(turn)
        try:
            read = _decoder.decode(plainfile.read(self._path(turn), _BYTES, links=False))
            if read.form == FORM and read.turn == turn:
                check_labels(read.labels)
                return dict(sorted(read.labels.items()))
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (OSError, msgspec.MsgspecError, UnicodeError, RecursionError) as fault:
            raise RecordFault("labels-damaged", f"{self._path(turn)}: {fault}", turn=turn) from fault
        raise RecordFault("labels-damaged", f"{self._path(turn)}: of another form or turn", turn=turn)

    def _write(self, turn: str, labels: dict[str, Label]) -> None:
        path = self._path(turn)
        if not labels:
            path.unlink(missing_ok=True)
            return
        data = _encode(_File(form=FORM, turn=turn, labels=labels)) + b"\n"
        with drafted_beside(path) as (draft, handle):
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(handle, rest) :]
            os.fsync(handle)
            draft.replace(path)

    def _path(self, turn: str) -> Path:
        return self._folder / f"{turn}.json"


class MemoryLabels:
    """Those of turns that are recorded in memory: gone with the process."""

    def __init__(self) -> None:
        self._labels: dict[str, dict[str, Label]] = {}

    def of(self, turn: str) -> dict[str, Label]:
        """Labels of a turn."""
        return dict(self._labels.get(turn, {}))

    def change(self, turn: str, put: Mapping[str, Label], remove: Iterable[str] = ()) -> dict[str, Label]:
        """As `Labels.change`."""
        check_turn_id(turn)
        after = {**self.of(turn), **put}
        for name in remove:
            after.pop(name, None)
        check_labels(after)
        self._labels[turn] = dict(sorted(after.items()))
        return self.of(turn)


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
