"""Moves or renames one file, also to another file system; what it replaces is kept in the trash.

Law: an existing file is replaced only if asked. Within a file system it is one rename; between two the source goes
last. `probe` looks at both places: while the source is there the move was not made, and may be run again.
"""

from __future__ import annotations

from posixpath import join, normpath
from typing import TYPE_CHECKING, Any, cast

from metnos.sdk import Context, Effect, Files, FilesError, Option, Result, beside, path_of

if TYPE_CHECKING:
    from metnos.sdk import FileChange


def run(args: dict[str, Any], ctx: Context) -> Result:
    """Move the file."""
    source = path_of(args["path"])
    target, where = target_of(args, source)
    try:
        change = ctx.files.move(source, target, overwrite=args.get("overwrite", False), operation=ctx.operation)
    except FilesError as fault:
        hint = "choose another name, or set overwrite" if fault.code == "exists" else fault.hint
        hint = "name a folder as `folder`" if fault.code == "is-a-folder" and fault.path == target else hint
        place = "/path" if fault.path == source else where
        options = ways_on(ctx.files, target) if fault.code == "exists" else ()
        message = f"{fault.path}: {fault.message}"
        return Result.failed(fault.cls, fault.code, message, where=place, hint=hint, options=options)
    return told(source, target, change)


def probe(args: dict[str, Any], ctx: Context) -> Result | str:
    """Whether a move that was cut off was made: its result, `absent` or `unknown`."""
    source = path_of(args["path"])
    target, _ = target_of(args, source)
    try:
        found = ctx.files.find_moved(source, target, operation=ctx.operation)
    except FilesError:
        return "unknown"
    if found is None:
        return "absent"
    if isinstance(found, str):
        return "unknown"
    said: Any = args["path"]
    size = cast("dict[str, Any]", said).get("size", found.size) if isinstance(said, dict) else found.size
    return "unknown" if size != found.size else told(source, target, found)


def told(source: str, target: str, change: FileChange) -> Result:
    """The result, with the receipt that an undo needs."""
    undo = None
    if change.after is not None and change.source is not None:
        actions: list[dict[str, Any]] = [
            {"do": "move", "from": change.target, "path": change.source, "digest": change.after}
        ]
        if change.kept is not None:
            back = {"do": "restore", "from": change.kept, "path": change.target}
            actions.append(back | {"digest": change.before})
        undo = {"actions": actions}
    shown = text(target)
    effect = Effect(
        cls="change", target=f"{text(source)} → {shown}", before=change.before, after=change.after, undo=undo
    )
    data = {"path": shown, "name": shown.rpartition("/")[2], "from": text(source), "size": change.size}
    digest = {"digest": change.after} if change.after is not None else {}
    odd = {"path_bytes": change.target["path_bytes"]} if "path_bytes" in change.target else {}
    return Result.done(data | digest | odd, effects=(effect,))


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
