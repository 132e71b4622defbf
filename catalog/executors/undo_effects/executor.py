"""Undoes one action of an earlier turn, as its receipt says; `metnos undo TURN` hands the actions over.

Law: a file that is not what the receipt says (by digest) is not touched. Each action is its own undo's receipt, so an
undo can be undone; and each finds its own work when it is run again.
"""

from __future__ import annotations

from typing import Any

from metnos.sdk import Context, Effect, FileChange, FilesError, Result, path_of


def run(args: dict[str, Any], ctx: Context) -> Result:
    """Do what the receipt says."""
    do, shown = args["do"], args["path"]["path"]
    if do in NEEDS_DIGEST and args.get("digest") is None:
        return Result.failed("arguments", "bad-value", "the receipt has no digest", where="/digest")
    if do in NEEDS_FROM and args.get("from") is None:
        return Result.failed("arguments", "bad-value", "the receipt has no place to take it from", where="/from")
    try:
        effect = ACTIONS[do](args, ctx, path_of(args["path"]))
    except FilesError as fault:
        return Result.failed(fault.cls, fault.code, f"{fault.path}: {fault.message}", where="/path", hint=fault.hint)
    return Result.done({"path": shown, "done": do}, effects=(effect,) if effect is not None else ())


def trash(args: dict[str, Any], ctx: Context, path: str) -> Effect | None:
    """What was made goes into the trash; if it is gone already there is nothing to do."""
    try:
        change = ctx.files.trash(path, operation=ctx.operation, expected=args["digest"])
    except FilesError as fault:
        if fault.code == "not-found":
            return None
        raise
    back = {"do": "restore", "from": change.kept, "path": change.target, "digest": args["digest"]}
    return _effect("delete", args, change.before, None, [back])


def move(args: dict[str, Any], ctx: Context, path: str) -> Effect:
    """What was moved goes back."""
    source = path_of(args["from"])
    ctx.files.move(source, path, overwrite=False, operation=ctx.operation, expected=args["digest"])
    back = {"do": "move", "from": args["path"], "path": args["from"], "digest": args["digest"]}
    return _effect("change", args, None, args["digest"], [back])


def restore(args: dict[str, Any], ctx: Context, path: str) -> Effect:
    """What was deleted or replaced comes out of the trash."""
    digest, over = args["digest"], args.get("over")
    change = ctx.files.restore(path_of(args["from"]), path, digest=digest, over=over, operation=ctx.operation)
    return _effect("create" if over is None else "change", args, over, digest, _back(args, change))


def _back(args: dict[str, Any], change: FileChange) -> list[dict[str, Any]]:
    if change.kept is None:
        return [{"do": "trash", "path": args["path"], "digest": args["digest"]}]
    back = {"do": "restore", "from": change.kept, "path": args["path"], "digest": args["over"]}
    return [back | {"over": args["digest"]}]


def remove_dir(args: dict[str, Any], ctx: Context, path: str) -> Effect | None:
    """A folder that was made goes, if it is empty."""
    if not ctx.files.remove_dir(path):
        return None
    return _effect("delete", args, None, None, [{"do": "make_dir", "path": args["path"]}])


def make_dir(args: dict[str, Any], ctx: Context, path: str) -> Effect | None:
    """A folder that was removed is made again."""
    made = ctx.files.make_dir(path)
    back = [{"do": "remove_dir", "path": place} for place in reversed(made)]
    return _effect("create", args, None, None, back) if made else None


def _effect(cls: Any, args: dict[str, Any], before: str | None, after: str | None, back: list[Any]) -> Effect:
    return Effect(cls=cls, target=args["path"]["path"], before=before, after=after, undo={"actions": back})


NEEDS_DIGEST = ("trash", "move", "restore")
NEEDS_FROM = ("move", "restore")
ACTIONS: dict[str, Any] = {
    "trash": trash, "move": move, "restore": restore, "remove_dir": remove_dir, "make_dir": make_dir,
}  # fmt: skip
