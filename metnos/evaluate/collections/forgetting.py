"""Sealed turns taken out of their folder for good.

    forget(Path("sealed/"), ["20261129-150000-3f8a9c2e"])

Law: a part that holds one is written anew without it, read back and compared like any other, and `seal.json` names it in
place of the old one in a single step; only then are the old files removed. A process that is killed in between has lost
nothing that was to stay, and the next that writes there removes what was to go. What is forgotten is named by its id
alone and is not sealed here again. A part that is damaged is not written anew: that would hide what is missing. Where else
the turns are (a journal, an export, a copy) they still are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from metnos.drafts import drafted_beside
from metnos.evaluate.collections.beside import LABELS
from metnos.evaluate.collections.duck import duck_at
from metnos.evaluate.collections.model import Fault
from metnos.evaluate.collections.sealed import FORM, Seal, SealedPart, read_seal
from metnos.evaluate.collections.sealing import Sealing, claimed, sweep, write_seal
from metnos.record.faults import RecordFault
from metnos.record.verify import verify_log

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from metnos.evaluate.collections.sealed import SealedFiles


def forget(folder: Path, turns: Collection[str]) -> int:
    """Take turns out of a sealed folder; returns how many that were.

    Args:
        folder: A sealed one.
        turns: Their whole ids.

    Raises:
        RecordFault: `turn-missing`, one is not there, and nothing is done; `seal-unreadable`; `seal-busy`; `collection-missing`.
        OSError: The folder cannot be read or written.
    """
    wanted = frozenset(turns)
    with claimed(folder):
        seal = read_seal(folder)
        held = {part.number: _turns_of(folder, part) & wanted for part in seal.parts}
        for turn in sorted(wanted.difference(seal.forgotten, *held.values())):
            raise RecordFault("turn-missing", f"no turn {turn} is sealed in {folder}", turn=turn)
        forgotten = tuple(sorted({*seal.forgotten, *wanted}))
        for part in seal.parts:
            if held[part.number]:
                seal = _without(folder, seal, part, forgotten)
        write_seal(folder, msgspec.structs.replace(seal, forgotten=forgotten))
        _forget_labels(folder / LABELS, wanted)
        sweep(folder, read_seal(folder))
        return sum(map(len, held.values()))


def _turns_of(folder: Path, part: SealedFiles) -> set[str]:
    path = folder / part.file("turn")
    with duck_at(path) as connection:
        return {turn for (turn,) in connection.execute("SELECT turn FROM read_parquet(?)", [str(path)]).fetchall()}


def _without(folder: Path, seal: Seal, part: SealedFiles, forgotten: tuple[str, ...]) -> Seal:
    """The part written anew; `seal.json` names the new one in the same step in which it leaves the old one out."""
    others = tuple(one for one in seal.parts if one.number != part.number)
    sealing = Sealing(folder, Seal(form=FORM, parts=others, forgotten=forgotten), part.turns + 1)
    try:
        for item in SealedPart(folder=str(folder), files=part).read():
            if isinstance(item, Fault):
                raise RecordFault("seal-unreadable", f"{item.where}: {item.detail}")
            if not (found := verify_log(item.log)).ok:
                raise RecordFault("seal-unreadable", f"{item.where}: {found.detail}")
            sealing.take(item)
        if sealing.told.faults:
            raise RecordFault("seal-unreadable", f"{sealing.told.faults[0].where}: {sealing.told.faults[0].detail}")
        sealing.close()
    finally:
        sealing.clear()
    if sealing.told.sealed:
        return read_seal(folder)
    made = Seal(form=FORM, parts=others, forgotten=forgotten)
    write_seal(folder, made)
    return made


class _Said(msgspec.Struct, frozen=True):
    turn: str = ""


def _forget_labels(path: Path, turns: Collection[str]) -> None:
    if not path.is_file():
        return
    with drafted_beside(path, 0o644) as (draft, _), draft.open("wb") as file:
        with path.open("rb") as lines:
            file.writelines(line for line in lines if _said_of(line) not in turns)
        file.flush()
        draft.replace(path)


def _said_of(line: bytes) -> str:
    try:
        return msgspec.json.decode(line, type=_Said).turn
    except (msgspec.MsgspecError, UnicodeError):
        return ""
