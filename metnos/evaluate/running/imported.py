"""A run over a data set of somebody else's: it is imported first, and the run is about the collection that it became.

Law: whoever opens a run (the command, a test of pytest) opens its data set in this way, so a run file means the same to all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

    from metnos.evaluate.importing import ImportReport
    from metnos.evaluate.running.runfile import Run


def imported(run: Run, to: Path, form: str = "") -> tuple[Run, ImportReport | None]:
    """The run over its collection, and what the import says; where nothing is to be imported, the run itself.

    Args:
        run: What is wanted.
        to: A new folder.
        form: Of the data set, in place of the one that the run names.

    Raises:
        ImportFault: There is no such form, or nothing of it.
        OSError: It cannot be read, or the folder not be written.
    """
    turns = run.file.turns
    wanted = form or turns.import_
    if not wanted:
        return run, None
    from metnos.evaluate.importing import import_collection

    report = import_collection(wanted, run.path(turns.path), to)
    turns = msgspec.structs.replace(turns, path=str(to), import_="")
    return msgspec.structs.replace(run, file=msgspec.structs.replace(run.file, turns=turns)), report
