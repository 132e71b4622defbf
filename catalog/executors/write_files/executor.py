"""Writes one text file, whole or not at all.

Law: an existing file is replaced only if asked, and then kept in the trash; the same content again is a success (a step that is repeated after
a crash finds its own work). Sealed secrets in the content are opened here and nowhere earlier.
"""

from __future__ import annotations

import hashlib
from typing import Any

from metnos.sdk import Context, Effect, Files, FilesError, Option, Result, beside


def ways_on(files: Files, path: str) -> tuple[Option, ...]:
    """What can be done about a file that is there already."""
    other = beside(files, path)
    return (Option(key="replace"), *((Option(key="beside", args={"path": other}),) if other else ()))


def run(args: dict[str, Any], ctx: Context) -> Result:
    """Write the file."""
    path, encoding = args["path"], args.get("encoding", "utf-8")
    overwrite = args.get("overwrite", False)
    try:
        data = ctx.open_secret(args["content"]).encode(encoding)
    except UnicodeError as fault:
        at = f"character {fault.start + 1}" if isinstance(fault, UnicodeEncodeError) else "the text"
        message = f"{at} cannot be written in {encoding}"
        return Result.failed("data", "not-encodable", message, where="/content", hint='use "utf-8"')
    except (LookupError, ValueError):
        return Result.failed(
            "arguments", "unknown-encoding", f"no text encoding is called {encoding}", where="/encoding"
        )
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    try:
        held = ctx.files.keep(path, unless=digest, operation=ctx.operation) if overwrite else None
        before, after = ctx.files.write(path, data, overwrite=overwrite)
        place = ctx.files.place(path)
        mine = before == after and ctx.files.is_fresh(path)  # run again after a crash: its own work
    except FilesError as fault:
        hint = fault.hint if fault.code != "exists" else "choose another name, or set overwrite"
        options = ways_on(ctx.files, path) if fault.code == "exists" else ()
        message = f"{path}: {fault.message}"
        return Result.failed(fault.cls, fault.code, message, where="/path", hint=hint, options=options)
    undo = None
    if held is not None:  # kept before it was replaced, by this operation
        before = held.before
        back = {"do": "restore", "from": held.kept, "path": place, "digest": before}
        undo = {"actions": [back | {"over": after}]}
    elif before is None or mine:
        before = None
        undo = {"actions": [{"do": "trash", "path": place, "digest": after}]}
    cls = "change" if overwrite and before is not None else "create"
    effect = Effect(cls=cls, target=path, before=before, after=after, undo=undo)
    return Result.done({"path": path, "bytes": len(data), "digest": after}, effects=(effect,))
