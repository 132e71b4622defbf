"""Reads records out of JSON files, or of files with one JSON value a line.

Law: strict JSON. A key given twice, NaN, a number beyond what JSON numbers hold, half a surrogate pair: each is an
error with its place, for a reader that took one of two values would have to choose.
"""

from __future__ import annotations

from typing import Any, cast

from metnos.sdk import Context, FilesError, Result

from .decoding import decoded, is_encoding, path_of, shown
from .strict import BadJSON, loads, steps_of, walk

MOST_TEXT = 16 * 1024 * 1024


def run(args: dict[str, Any], ctx: Context) -> Result:
    """Read every file given."""
    encoding = args.get("encoding", "utf-8")
    if not is_encoding(encoding):
        message = f"no text encoding is called {encoding}"
        return Result.failed("arguments", "unknown-encoding", message, where="/encoding")
    at = steps_of(args.get("at", ""))
    if at is None:
        hint = "write it as /items or /data/0/rows; empty is the whole"
        return Result.failed("arguments", "bad-pointer", "that is no JSON pointer", where="/at", hint=hint)
    limit, most = args.get("max_bytes", MOST_TEXT), args.get("max_rows", 100_000)
    wanted: list[tuple[str, Any]] = [(f"/files/{index}", file) for index, file in enumerate(args.get("files", []))]
    if "path" in args:
        wanted.append(("/path", args["path"]))
    rows: list[dict[str, Any]] = []
    total, truncated = 0, False
    for done, (where, file) in enumerate(wanted, 1):
        path = shown(file)
        try:
            data, size = ctx.files.read(path_of(file), limit=limit)
        except FilesError as fault:
            return Result.failed(fault.cls, fault.code, f"{path}: {fault.message}", where=where, hint=fault.hint)
        total += len(data)
        if size > len(data) or total > MOST_TEXT:
            message = f"{path} is larger than {limit} bytes" if size > len(data) else "the files are larger than 16 MiB"
            return Result.failed(
                "oversize", "too-large", message, where=where, hint="set max_bytes, or read fewer files"
            )
        text = decoded(data, encoding)
        if text is None:
            message, hint = f"{path} is no text in {encoding}", "name its encoding"
            return Result.failed("data", "not-text", message, where=where, hint=hint)
        try:
            rows += _rows(text, at, lines=_is_lines(args.get("format", "auto"), path))
        except BadJSON as fault:
            return Result.failed("data", fault.code, f"{path}{fault.message}", where=where, hint=fault.hint)
        ctx.progress(done, len(wanted), path)
        if len(rows) > most:
            truncated = True
            break
    rows = rows[:most]
    result = {"entries": rows, "count": len(rows)} | ({"truncated": True} if truncated else {})
    return Result.done(result, truncated=truncated)


def _is_lines(form: str, path: str) -> bool:
    return form == "lines" or (form == "auto" and path.lower().endswith((".jsonl", ".ndjson")))


def _rows(text: str, at: list[str], *, lines: bool) -> list[dict[str, Any]]:
    """The records at the pointer: of a list each element, of anything else itself."""
    found: list[Any] = []
    if not lines:
        value: Any = walk(loads(text, ""), at, "")
        found += cast("list[Any]", value) if isinstance(value, list) else [value]
    for number, line in enumerate(text.split("\n") if lines else [], 1):
        if line.strip(" \t\r"):
            place = f", line {number}"
            found.append(walk(loads(line, place), at, place))
    return [each if isinstance(each, dict) else {"value": each} for each in found]
