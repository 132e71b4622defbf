"""Computes checksums of files, of their bytes as they are.

Law: every byte is read, in blocks; a file that changed while it was read has no checksum, and that is said.
"""

from __future__ import annotations

import hashlib
import os
from typing import Any
from urllib.parse import unquote_to_bytes

from metnos.sdk import Context, FilesError, Result

TOLD = 20


def run(args: dict[str, Any], ctx: Context) -> Result:
    """Read and digest every file given."""
    algorithm, skip = args.get("algorithm", "sha256"), args.get("unreadable", "error") == "skip"
    wanted: list[tuple[str, Any]] = [(f"/files/{at}", file) for at, file in enumerate(args.get("files", []))]
    if "path" in args:
        wanted.append(("/path", args["path"]))
    entries: list[dict[str, Any]] = []
    warnings: list[str] = []
    skipped = total = 0
    for where, file in wanted:
        shown = file if isinstance(file, str) else file["path"]
        try:
            size, digest = _digested(ctx, _path(file), algorithm)
        except FilesError as fault:
            if skip and where != "/path" and fault.code in ("not-found", "not-a-folder", "no-permission", "changed"):
                skipped += 1
                warnings += [f"{fault.code}: {shown}"] if len(warnings) < TOLD else []
                continue
            message = f"{shown}: {fault.message}"
            return Result.failed(fault.cls, fault.code, message, where=where, hint=fault.hint)
        entry = {"path": shown, "name": shown.rpartition("/")[2], "size": size, "digest": f"{algorithm}:{digest}"}
        if isinstance(file, dict) and "path_bytes" in file:
            entry["path_bytes"] = file["path_bytes"]
        entries.append(entry)
        total += size
        ctx.progress(len(entries) + skipped, len(wanted), shown)
    counters = {"bytes": total, "skipped": skipped}
    return Result.done({"entries": entries, "count": len(entries)}, counters=counters, warnings=tuple(warnings))


def _digested(ctx: Context, path: str, algorithm: str) -> tuple[int, str]:
    size, made = 0, hashlib.new(algorithm, usedforsecurity=False)
    for block in ctx.files.blocks(path):
        made.update(block)
        size += len(block)
    return size, made.hexdigest()


def _path(file: str | dict[str, Any]) -> str:
    """What to act on: a path that is not UTF-8 is given by its bytes."""
    if isinstance(file, str):
        return file
    if "path_bytes" in file:
        return os.fsdecode(unquote_to_bytes(file["path_bytes"]))
    return file["path"]
