"""What lies beside turns goes with them into another folder: their contracts, and what is said of each run.

    keep_contracts(turns, folder, anew=True); keep_labels(turns, folder)

Law: turns are never in a folder without the contracts that they were recorded under: these are written before any turn
counts there. One folder is of one set of contracts, since all its turns are checked against it; turns of another set, or of
this installation's catalog, are refused there. `labels.ndjson` gets the lines that it has not; nothing is taken out of it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from metnos.drafts import drafted_beside
from metnos.evaluate.collections.contracts import NAME, contracts_beside, encode_contracts
from metnos.record.faults import RecordFault

if TYPE_CHECKING:
    from pathlib import Path

    from metnos.evaluate.collections.model import Collection

LABELS: Final = "labels.ndjson"
_MODE: Final = 0o644


def keep_contracts(turns: Collection, folder: Path, *, anew: bool) -> None:
    """Write the contracts of `turns`, if it has any, beside the turns that come into `folder`.

    Args:
        turns: The collection.
        folder: It is there.
        anew: No turn is in it yet.

    Raises:
        RecordFault: `contracts-differ`; `contracts-malformed`.
        OSError: The file cannot be read or written.
    """
    own, there = turns.contracts(), contracts_beside(folder)
    wanted = None if own is None else encode_contracts(own)
    if wanted == (None if there is None else encode_contracts(there)):
        return
    if there is not None or not anew or wanted is None:
        raise RecordFault("contracts-differ", f"{folder} holds turns of other contracts than {turns.name}")
    with drafted_beside(folder / NAME, _MODE) as (draft, _):
        draft.write_bytes(wanted)
        draft.replace(folder / NAME)


def keep_labels(turns: Collection, folder: Path) -> None:
    """Add the lines of `labels.ndjson` beside `turns` that are not in that of `folder` yet.

    Raises:
        OSError: A file cannot be read or written.
    """
    source = None if turns.folder is None else turns.folder / LABELS
    if source is None or not source.is_file():
        return
    there, to = set[bytes](), folder / LABELS
    with drafted_beside(to, _MODE) as (draft, _), draft.open("wb") as file:
        for path in (to, source):
            if not path.is_file():
                continue
            with path.open("rb") as lines:
                for line in lines:
                    name = hashlib.sha256(line.rstrip(b"\n")).digest()
                    if line.strip() and name not in there:
                        there.add(name)
                        file.write(line.rstrip(b"\n") + b"\n")
        file.flush()
        draft.replace(to)
