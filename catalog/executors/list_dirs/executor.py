"""Lists the folders below a folder; on request with what each holds in all: files, folders, bytes.

Law: it looks, it never follows a symlink, and it says what it could not look into. Totals count all that lies
below a folder, however deep; hidden names only where they were asked for.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote_to_bytes

from metnos.sdk import Context, FileEntry, FilesError, Result

if TYPE_CHECKING:
    from collections.abc import Iterator

Within: TypeAlias = "tuple[dict[str, Any], ...]"
"""The listed folders that something lies in."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TOLD = 20
"""Folders named in warnings; further ones are only counted."""


class Walk:
    """Folders before their contents, each with its depth and the listed folders that it lies in."""

    def __init__(self, args: dict[str, Any], ctx: Context) -> None:
        """Nothing is looked at yet."""
        self.ctx = ctx
        self.here = datetime.fromisoformat(ctx.now)
        self.depth: int = args.get("depth", 1)
        self.hidden: bool = args.get("hidden", False)
        self.totals: bool = args.get("totals", False)
        self.limit: float = args.get("limit", math.inf)
        self.entries: list[dict[str, Any]] = []
        self.seen = 0
        self.truncated = False
        self.skipped: Counter[str] = Counter()
        self.warnings: list[str] = []

    def run(self, path: str) -> None:
        """Look into `path`."""
        stack: list[tuple[Iterator[FileEntry], int, Within]] = [(iter(self.listed(path)), 1, ())]
        while stack and not (self.truncated and not self.totals):
            contents, level, within = stack[-1]
            entry = next(contents, None)
            if entry is None:
                stack.pop()
                continue
            for record in within:
                record["dirs"] += entry.is_dir
                record["files"] += entry.is_file
                record["size"] += entry.size if entry.is_file else 0
            if entry.is_dir:
                within = self.note(entry, level, within)
                if level < self.depth or within:
                    stack.append((iter(self.below(entry)), level + 1, within))

    def note(self, entry: FileEntry, level: int, within: Within) -> Within:
        """List one folder, unless it lies too deep or the list is full; returns who counts its contents."""
        if level > self.depth:
            return within
        if len(self.entries) >= self.limit:
            self.truncated = True
            return within
        record = _record(entry, level, self.here)
        self.entries.append(record)
        if not self.totals:
            return within
        record |= {"files": 0, "dirs": 0, "size": 0}
        return (*within, record)

    def listed(self, path: str) -> list[FileEntry]:
        """What is in one folder."""
        found = list(self.ctx.files.scan(path, recursive=False, hidden=self.hidden))
        self.seen += len(found)
        self.ctx.progress(self.seen, None, path.encode("utf-8", "replace").decode())
        return found

    def below(self, entry: FileEntry) -> list[FileEntry]:
        """What is in a folder that was found; one that cannot be looked into is counted and named."""
        path = entry.path if entry.path_bytes is None else os.fsdecode(unquote_to_bytes(entry.path_bytes))
        try:
            return self.listed(path)
        except FilesError as fault:
            self.skipped["unreadable" if fault.code == "no-permission" else fault.code] += 1
            self.warnings += [f"{fault.code}: {entry.path}"] if len(self.warnings) < TOLD else []
            return []


def run(args: dict[str, Any], ctx: Context) -> Result:
    """List folders."""
    walk = Walk(args, ctx)
    walk.run(args.get("path", "."))
    data: dict[str, Any] = {"entries": walk.entries, "count": len(walk.entries)}
    if walk.truncated:
        data["truncated"] = True
    skipped: Counter[str] = Counter(ctx.files.skipped)
    counters = {"seen": walk.seen, **(skipped + walk.skipped)}
    warnings = (*ctx.files.warnings, *walk.warnings)
    return Result.done(data, counters=counters, truncated=walk.truncated, warnings=warnings)


def _record(entry: FileEntry, level: int, here: datetime) -> dict[str, Any]:
    record: dict[str, Any] = {
        "path": entry.path,
        "name": entry.name,
        "depth": level,
        "modified": _iso(entry.modified_ns, here),
    }
    if entry.path_bytes is not None:
        record["path_bytes"] = entry.path_bytes
    return record


def _iso(modified_ns: int, here: datetime) -> str:
    """In the offset of the turn's time, so that all times of one turn compare as text, too."""
    try:
        return (EPOCH + timedelta(microseconds=modified_ns // 1000)).astimezone(here.tzinfo).isoformat()
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC).isoformat() if modified_ns > 0 else "0001-01-01T00:00:00+00:00"
