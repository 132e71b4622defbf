"""Reads text files: decoded strictly, a byte order mark wins over the encoding asked for.

Law: a file that is no text in that encoding is an error that names it; nothing is guessed.
"""

from __future__ import annotations

import codecs
import os
from typing import Any
from urllib.parse import unquote_to_bytes

from metnos.sdk import Context, FilesError, Result

MOST_TEXT = 16 * 1024 * 1024
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""UTF-32 first: its little-endian mark begins with that of UTF-16."""


def run(args: dict[str, Any], ctx: Context) -> Result:
    """Read every file given."""
    encoding, errors = args.get("encoding", "utf-8"), args.get("errors", "strict")
    if not _is_encoding(encoding):
        return Result.failed(
            "arguments", "unknown-encoding", f"no text encoding is called {encoding}", where="/encoding"
        )
    limit = args.get("max_bytes", 1024 * 1024)
    wanted: list[tuple[str, Any]] = [(f"/files/{at}", file) for at, file in enumerate(args.get("files", []))]
    if "path" in args:
        wanted.append(("/path", args["path"]))
    entries: list[dict[str, Any]] = []
    total = 0
    for where, file in wanted:
        shown = file if isinstance(file, str) else file["path"]
        try:
            data, size = ctx.files.read(_path(file), limit=limit)
        except FilesError as fault:
            message = f"{shown}: {fault.message}"
            return Result.failed(fault.cls, fault.code, message, where=where, hint=fault.hint)
        total += len(data)
        if total > MOST_TEXT:
            hint = "read fewer files, or set max_bytes"
            return Result.failed("oversize", "too-large", "the texts are larger than 16 MiB", where=where, hint=hint)
        text = decoded(data, encoding, errors, whole=size <= len(data))
        if text is None:
            hint = 'name its encoding, or set errors to "replace"'
            return Result.failed("data", "not-text", f"{shown} is no text in {encoding}", where=where, hint=hint)
        lines = text.count("\n") + (1 if text and not text.endswith("\n") else 0)
        cut = size > len(data)
        entries.append({"path": shown, "text": text, "size": size, "lines": lines, "truncated": cut})
        ctx.progress(len(entries), len(wanted), shown)
    truncated = any(entry["truncated"] for entry in entries)
    return Result.done({"entries": entries, "count": len(entries)}, truncated=truncated)


def _is_encoding(name: str) -> bool:
    try:
        b"x".decode(name)  # of no bytes at all, Python does not look the name up
    except UnicodeError:
        return True
    except (LookupError, ValueError):
        return False
    return True


def _path(file: str | dict[str, Any]) -> str:
    """What to act on: a path that is not UTF-8 is given by its bytes."""
    if isinstance(file, str):
        return file
    if "path_bytes" in file:
        return os.fsdecode(unquote_to_bytes(file["path_bytes"]))
    return file["path"]


def decoded(data: bytes, encoding: str, errors: str, *, whole: bool) -> str | None:
    """The text, or None if it is none; a character that the limit cut in two at the end is left out."""
    for mark, named in MARKS:
        if data.startswith(mark):
            data, encoding = data[len(mark) :], named
            break
    else:
        if errors == "strict" and b"\0" in data and not codecs.lookup(encoding).name.startswith(("utf-16", "utf-32")):
            return None
    try:
        text = codecs.getincrementaldecoder(encoding)(errors).decode(data, whole)
    except UnicodeError:
        return None
    # Some decoders let half a surrogate pair through; JSON does not.
    return text.encode("utf-8", "replace").decode("utf-8")
