"""Reads tables out of CSV files: one entry a row, its fields named by the header.

Law: a cell is the text that stands in the file, or a number: in the columns that were named so, or else in those that
are plainly numbers from top to bottom (`learning.py`). A row that does not fit its header, and a cell of a named column
that is no number, is an error with its line, or is counted if the call says so.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from metnos.sdk import Context, FilesError, Result

from .decoding import decoded, is_encoding, path_of, shown
from .learning import learn
from .tables import BadTable, Table, read_table

MOST_TEXT = 16 * 1024 * 1024


def run(args: dict[str, Any], ctx: Context) -> Result:
    """Read every file given."""
    encoding = args.get("encoding", "utf-8")
    if not is_encoding(encoding):
        message = f"no text encoding is called {encoding}"
        return Result.failed("arguments", "unknown-encoding", message, where="/encoding")
    limit, most = args.get("max_bytes", MOST_TEXT), args.get("max_rows", 100_000)
    wanted: list[tuple[str, Any]] = [(f"/files/{at}", file) for at, file in enumerate(args.get("files", []))]
    if "path" in args:
        wanted.append(("/path", args["path"]))
    rows: list[dict[str, Any]] = []
    files: list[dict[str, Any]] = []
    counters: Counter[str] = Counter()
    total, truncated = 0, False
    for where, file in wanted:
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
            table = read_table(text, args, most - len(rows))
        except BadTable as fault:
            message = f"{path}, {fault.message}"
            return Result.failed(fault.cls, fault.code, message, where=where, hint=fault.hint)
        rows += table.rows
        truncated = truncated or table.truncated
        counters += table.counters
        files.append(_summary(path, table))
        ctx.progress(len(files), len(wanted), path)
        if truncated:
            break
    if "numbers" not in args:
        learn(rows, (file["delimiter"] for file in files), args.get("decimal"))
    data = {"entries": rows, "count": len(rows), "files": files} | ({"truncated": True} if truncated else {})
    warnings = tuple(f"{reason}: {count} rows" for reason, count in sorted(counters.items()) if reason != "blank")
    return Result.done(data, counters=dict(counters), truncated=truncated, warnings=warnings)


def _summary(path: str, table: Table) -> dict[str, Any]:
    return {"path": path, "rows": len(table.rows), "columns": table.columns, "delimiter": table.delimiter}
