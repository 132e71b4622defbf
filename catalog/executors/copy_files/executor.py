"""Copies one file: whole, with its time and permission bits; what it replaces is kept in the trash.

Law: an existing file is replaced only if asked; a target with the same content already is a success without a write
(a step that is repeated after a crash finds its own work).
"""

from __future__ import annotations

from posixpath import join, normpath
from typing import Any

from metnos.sdk import Context, Effect, Files, FilesError, Option, Result, beside, path_of


def run(args: dict[str, Any], ctx: Context) -> Result:
    """Copy the file."""
    source = path_of(args["path"])
    target, where = target_of(args, source)
    try:
        change = ctx.files.copy(source, target, overwrite=args.get("overwrite", False), operation=ctx.operation)
    except FilesError as fault:
        hint = "choose another name, or set overwrite" if fault.code == "exists" else fault.hint
        hint = "name a folder as `folder`" if fault.code == "is-a-folder" and fault.path == target else hint
        place = "/path" if fault.path == source else where
        options = ways_on(ctx.files, target) if fault.code == "exists" else ()
        message = f"{fault.path}: {fault.message}"
        return Result.failed(fault.cls, fault.code, message, where=place, hint=hint, options=options)
    undo = None
    if change.kept is not None:
        back = {"do": "restore", "from": change.kept, "path": change.target, "digest": change.before}
        undo = {"actions": [back | {"over": change.after}]}
    elif change.before is None:
        undo = {"actions": [{"do": "trash", "path": change.target, "digest": change.after}]}
    shown = text(target)
    effect = Effect(
        cls="create" if change.before is None else "change",
        target=shown,
        before=change.before,
        after=change.after,
        undo=undo,
    )
    data = {"path": shown, "name": shown.rpartition("/")[2], "from": text(source), "size": change.size}
    odd = {"path_bytes": change.target["path_bytes"]} if "path_bytes" in change.target else {}
    return Result.done(data | {"digest": change.after} | odd, effects=(effect,))


def ways_on(files: Files, target: str) -> tuple[Option, ...]:
    """What can be done about a file that is there already."""
    other = beside(files, target)
    return (Option(key="replace"), *((Option(key="beside", args={"to": other}),) if other else ()))


def target_of(args: dict[str, Any], source: str) -> tuple[str, str]:
    """The new path and the argument it comes from: `to` itself, or the file's own name in `folder`."""
    if "to" in args:
        return args["to"], "/to"
    return normpath(join(args["folder"], normpath(source).rpartition("/")[2])), "/folder"


def text(path: str) -> str:
    """A path to show: bytes that are not UTF-8 become U+FFFD."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
