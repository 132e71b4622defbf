"""Deletes one file: into the trash of its root, from where an undo takes it back.

Law: nothing is unlinked, so nothing is lost. The place in the trash comes from the operation id: a step that is
repeated after a crash finds its own work, even if a new file has the old name by then.
"""

from __future__ import annotations

from typing import Any

from metnos.sdk import Context, Effect, FilesError, Result, path_of


def run(args: dict[str, Any], ctx: Context) -> Result:
    """Put the file into the trash."""
    path = path_of(args["path"])
    shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    try:
        change = ctx.files.trash(path, operation=ctx.operation)
    except FilesError as fault:
        return Result.failed(fault.cls, fault.code, f"{shown}: {fault.message}", where="/path", hint=fault.hint)
    undo = None
    if change.before is not None:
        back = {"do": "restore", "from": change.kept, "path": change.target, "digest": change.before}
        undo = {"actions": [back]}
    effect = Effect(cls="delete", target=shown, before=change.before, undo=undo)
    kept = change.kept["path"] if change.kept is not None else ""
    return Result.done({"path": shown, "size": change.size, "trash": kept}, effects=(effect,))
