"""The contracts that a collection was recorded under, in a file beside it: `contracts.json`, `metnos.contracts/1`.

Law: one spelling (keys and names sorted), so that equal contracts are equal files, and exact: `60` and `60.0` stay what
they are, since a recorded command holds one of them. They are what the plans of the collection are checked against; no
code comes with them, and nothing here could run it. A collection without the file is replayed under the catalog of this
installation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from metnos import plainfile
from metnos.contracts.model import Contract
from metnos.record.codec import encode
from metnos.record.faults import RecordFault

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FORM: Final = "metnos.contracts/1"
NAME: Final = "contracts.json"
_MOST_BYTES = 256 * 1024 * 1024


class _Contracts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    form: str
    contracts: tuple[Contract, ...]


def encode_contracts(contracts: Iterable[Contract]) -> bytes:
    """The bytes of the file, contracts in the order of their names."""
    told = _Contracts(form=FORM, contracts=tuple(sorted(contracts, key=lambda one: one.name)))
    return encode(told) + b"\n"


def decode_contracts(data: bytes, where: str = NAME) -> tuple[Contract, ...]:
    """What the file holds.

    Raises:
        RecordFault: `contracts-malformed`.
    """
    try:
        read = msgspec.json.decode(data, type=_Contracts)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as fault:
        raise RecordFault("contracts-malformed", f"{where}: {fault}") from fault
    names = [one.name for one in read.contracts]
    if read.form != FORM or len(set(names)) != len(names):
        raise RecordFault("contracts-malformed", f"{where}: another form than {FORM}, or one name twice")
    return read.contracts


def contracts_beside(folder: Path) -> tuple[Contract, ...] | None:
    """The contracts in `folder`; None if it has none.

    Raises:
        RecordFault: `contracts-malformed`.
        OSError: The file cannot be read.
    """
    path = folder / NAME
    try:
        data = plainfile.read(path, _MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return decode_contracts(data, str(path))
