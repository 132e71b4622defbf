"""Adds text at the end of one text file, and keeps what is there; a file that is missing is made.

Law: what was there is kept in the trash first, under the operation, and what is written is always that and the text: so
a step that is repeated after a crash adds nothing twice. A file that is no text in its encoding is not touched. The line
ends of a file stay what they are. Sealed secrets in the content are opened here and nowhere earlier.
"""

from __future__ import annotations

import codecs
import hashlib
from typing import Any

from metnos.sdk import Context, Effect, FileChange, FilesError, Result, path_of

MOST = 16 * 1024 * 1024
"""The largest file that is added to, in bytes."""
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""UTF-32 first: its little-endian mark begins with that of UTF-16."""


def run(args: dict[str, Any], ctx: Context) -> Result:
    """Add the text."""
    path, encoding = args["path"], args.get("encoding", "utf-8")
    try:
        return _add(path, ctx.open_secret(args["content"]), encoding, ctx)
    except FilesError as fault:
        message = f"{path}: {fault.message}"
        return Result.failed(fault.cls, fault.code, message, where="/path", hint=fault.hint)
    except UnicodeDecodeError:
        message = f"{path} is no text in {encoding}"
        return Result.failed("data", "not-text", message, where="/path", hint="name its encoding")
    except UnicodeError as fault:
        at = f"character {fault.start + 1}" if isinstance(fault, UnicodeEncodeError) else "the text"
        message = f"{at} cannot be written in {encoding}"
        return Result.failed("data", "not-encodable", message, where="/content", hint='use "utf-8"')
    except (LookupError, ValueError):
        return Result.failed(
            "arguments", "unknown-encoding", f"no text encoding is called {encoding}", where="/encoding"
        )


def _add(path: str, text: str, encoding: str, ctx: Context) -> Result:
    """Raises what reading, decoding and writing raise."""
    found = _read(ctx, path)
    data = joined(found or b"", text, encoding)  # first: what cannot be done leaves nothing behind
    if found is None:
        ctx.files.write(path, b"", overwrite=False)
    held, made = _kept(ctx, path, found or b"")
    old = _read(ctx, path_of(held.kept)) if held is not None and held.kept is not None else found
    old = old or b""
    if old != (found or b""):  # kept before a crash, by this operation
        data = joined(old, text, encoding)
        if found != data:
            raise FilesError("conflict", "changed-since", path, "it has changed since")
    _, after = ctx.files.write(path, data, overwrite=True)
    before, place, undo = None if made else digest_of(old), ctx.files.place(path), None
    if made:
        undo = {"actions": [{"do": "trash", "path": place, "digest": after}]}
    elif held is not None and before != after:
        back = {"do": "restore", "from": held.kept, "path": place, "digest": before}
        undo = {"actions": [back | {"over": after}]}
    effect = Effect(cls="create" if made else "change", target=path, before=before, after=after, undo=undo)
    data_told = {"path": path, "bytes": len(data), "added": len(data) - len(old), "digest": after}
    return Result.done(data_told, effects=(effect,))


def _kept(ctx: Context, path: str, found: bytes) -> tuple[FileChange | None, bool]:
    """What this operation keeps of the file, and whether it made the file itself.

    A file that it made is kept, empty, under a name of its own: that says so when the operation is run again.
    """
    drawers = {True: f"{ctx.operation}.made", False: ctx.operation}
    for made, operation in drawers.items():
        held = ctx.files.keep(path, unless=digest_of(found), operation=operation)
        if held is not None:
            return held, made
    made = not found and ctx.files.is_fresh(path)
    return ctx.files.keep(path, unless="", operation=drawers[made]), made


def _read(ctx: Context, path: str) -> bytes | None:
    """All of a file; None if there is none."""
    try:
        data, size = ctx.files.read(path, limit=MOST)
    except FilesError as fault:
        if fault.code == "not-found":
            return None
        raise
    if size > MOST:
        raise FilesError("oversize", "too-large", path, "it is larger than 16 MiB")
    return data


def joined(old: bytes, text: str, encoding: str) -> bytes:
    """What a file is with a text behind it, on lines of its own; a byte order mark wins over the encoding asked for.

    Raises:
        UnicodeError: the file is no text in the encoding, or the text cannot be written in it.
        LookupError: there is no such encoding.
    """
    b"x".decode(encoding, "replace")  # of no bytes at all, Python does not look the name up
    mark, encoding = next(((mark, name) for mark, name in MARKS if old.startswith(mark)), (b"", encoding))
    there = old[len(mark) :].decode(encoding)
    if not text:
        return old
    ends = "\r\n" if there.endswith("\r\n") or "\r\n" in there[there.rfind("\n") - 1 :] else "\n"
    lines = text.replace("\r\n", "\n") + ("" if text.endswith("\n") else "\n")
    added = ("\n" if there and not there.endswith(("\n", "\r")) else "") + lines
    told = added.replace("\n", ends).encode(encoding)
    return old + (told[len("".encode(encoding)) :] if old else told)


def digest_of(data: bytes) -> str:
    """As receipts give it."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
