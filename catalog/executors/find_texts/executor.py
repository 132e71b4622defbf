"""Finds a text, or a pattern, in files: every place, line by line, with line and column.

Law: patterns run on RE2, which cannot be made slow. A file that is no text, too large or gone is counted and named,
never passed over in silence.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import re2 as untyped

from metnos.sdk import Context, FileEntry, FilesError, Result

from .decoding import decoded, is_encoding, path_of, shown
from .patterns import matches, options, pattern_of

if TYPE_CHECKING:
    from collections.abc import Iterator

re2: Any = untyped
MOST_TEXT = 8 * 1024 * 1024
"""Characters of all lines that are returned."""
WIDEST = 500
"""Characters of one line that are returned; around the match."""
TOLD = 20
PASSED_OVER = ("not-found", "not-a-folder", "no-permission", "symlink")
"""Of a file that was found: it may vanish, or not be ours to read."""


class Search:
    """One search, and what it has found so far."""

    def __init__(self, args: dict[str, Any], ctx: Context, compiled: Any) -> None:
        """Nothing is read yet."""
        self.args = args
        self.ctx = ctx
        self.compiled = compiled
        exact = args.get("syntax", "text") == "text" and not args.get("ignore_case", False)
        self.literal: str = args["pattern"] if exact else ""
        """Text without which a file need not be looked at line by line."""
        self.most: int = args.get("max_matches", 10_000)
        self.largest: int = args.get("max_bytes", 16 * 1024 * 1024)
        self.entries: list[dict[str, Any]] = []
        self.length = self.files = 0
        self.truncated = False
        self.skipped: Counter[str] = Counter()
        self.warnings: list[str] = []

    def look_into(self, file: Any, *, named: bool) -> None:
        """Search one file; `named`: the user gave it, so that a failure is one of the call."""
        path = shown(file)
        try:
            data, size = self.ctx.files.read(path_of(file), limit=self.largest)
        except FilesError as fault:
            if named or fault.code not in PASSED_OVER:
                raise
            return self.skip(fault.code, path)
        if size > len(data):
            return self.skip("too-large", path)
        text = decoded(data, self.args.get("encoding", "utf-8"))
        if text is None:
            return self.skip("not-text", path)
        self.files += 1
        self.ctx.progress(self.files, None, path)
        if self.literal and self.literal not in text:
            return None
        for number, line in enumerate(text.split("\n"), 1):
            for match in matches(self.compiled, line.removesuffix("\r"), self.most):
                if len(self.entries) >= self.most or self.length > MOST_TEXT:
                    self.truncated = True
                    return None
                self.add(file, number, line.removesuffix("\r"), match)
        return None

    def add(self, file: Any, number: int, line: str, match: Any) -> None:
        """One more place."""
        start, end = match.span()
        first = max(0, min(start - WIDEST // 4, len(line) - WIDEST))
        cut = line[first : first + WIDEST]
        match_text = line[start : min(end, start + WIDEST)]
        found: dict[str, Any] = {"path": shown(file), "line": number, "column": start + 1}
        found |= {"match": match_text, "text": cut}
        if isinstance(file, dict) and "path_bytes" in file:
            found["path_bytes"] = file["path_bytes"]
        self.entries.append(found)
        self.length += len(cut) + len(match_text)

    def skip(self, reason: str, path: str) -> None:
        """Count a file that was not searched."""
        self.skipped[reason] += 1
        self.warnings += [f"{reason}: {path}"] if len(self.warnings) < TOLD else []


def run(args: dict[str, Any], ctx: Context) -> Result:
    """Search."""
    pattern, encoding = args["pattern"], args.get("encoding", "utf-8")
    if not is_encoding(encoding):
        message = f"no text encoding is called {encoding}"
        return Result.failed("arguments", "unknown-encoding", message, where="/encoding")
    if args.get("syntax", "text") == "text":
        pattern = re2.escape(pattern)
    try:
        compiled = re2.compile(pattern, options(ignore_case=args.get("ignore_case", False)))
        names = re2.compile(pattern_of(args.get("glob", "*")), options(ignore_case=False))
    except re2.error as fault:
        return Result.failed("arguments", "bad-pattern", f"the pattern cannot be read: {fault}", where="/pattern")
    search = Search(args, ctx, compiled)
    try:
        for where, file, named in _files(args, ctx, names):
            try:
                search.look_into(file, named=named)
            except FilesError as fault:
                message = f"{shown(file)}: {fault.message}"
                return Result.failed(fault.cls, fault.code, message, where=where, hint=fault.hint)
            if search.truncated:
                break
    except FilesError as fault:
        return Result.failed(fault.cls, fault.code, f"{args['path']}: {fault.message}", where="/path", hint=fault.hint)
    unseen: Counter[str] = Counter(ctx.files.skipped)
    skipped = unseen + search.skipped
    data: dict[str, Any] = {"entries": search.entries, "count": len(search.entries), "files": search.files}
    data |= {"skipped": sum(skipped.values())} | ({"truncated": True} if search.truncated else {})
    warnings = (*ctx.files.warnings, *search.warnings)
    return Result.done(data, counters=dict(skipped), truncated=search.truncated, warnings=warnings)


def _files(args: dict[str, Any], ctx: Context, names: Any) -> Iterator[tuple[str, Any, bool]]:
    """Where it was given, the file, and whether it was named in words."""
    for at, file in enumerate(args.get("files", [])):
        yield f"/files/{at}", file, False
    if "path" not in args:
        return
    top: FileEntry = ctx.files.stat(args["path"])
    if not top.is_dir:
        yield "/path", args["path"], True
        return
    for entry in ctx.files.scan(args["path"], recursive=True, hidden=args.get("hidden", False)):
        if entry.is_file and names.search(entry.name):
            found = {"path": entry.path}
            yield "/path", found if entry.path_bytes is None else found | {"path_bytes": entry.path_bytes}, False
