"""Lists files below a folder: by name, size and time of change; in byte order of their paths, folders first.

Law: it looks, it never follows a symlink, and it says what it could not look into.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any
from unicodedata import normalize

from metnos.sdk import Context, FileEntry, Result

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOST_ALTERNATIVES = 64


def run(args: dict[str, Any], ctx: Context) -> Result:
    """Find files."""
    here = datetime.fromisoformat(ctx.now)
    for name in ("modified_from", "modified_to"):
        try:
            _nanoseconds(args.get(name), here, 0)
        except ValueError:
            hint = "write it as 2026-11-30 or 2026-11-30T12:00:00+01:00"
            return Result.failed("arguments", "bad-time", f"{args[name]!r} is no time", where=f"/{name}", hint=hint)
    path, pattern, limit = args.get("path", "."), args.get("pattern", "*"), args.get("limit", math.inf)
    globs = alternatives(pattern)
    if globs is None:
        return Result.failed("arguments", "bad-pattern", "too many alternatives in braces", where="/pattern")
    fold = folded if args.get("ignore_case", False) else _as_it_is
    globs = [fold(glob) for glob in globs]
    sizes = args.get("min_size", 0), args.get("max_size", math.inf)
    times = (
        _nanoseconds(args.get("modified_from"), here, -math.inf),
        _nanoseconds(args.get("modified_to"), here, math.inf),
    )
    only_hidden = args.get("only_hidden", False)
    hidden = only_hidden or args.get("hidden", False)
    top = ctx.files.stat(path).path if "/" in pattern or only_hidden else "."
    base = "" if top == "." else top.rstrip("/") + "/"
    entries: list[dict[str, Any]] = []
    seen, truncated = 0, False
    for entry in ctx.files.scan(path, recursive=args.get("recursive", True), hidden=hidden):
        seen += 1
        if seen % 1000 == 0:
            ctx.progress(seen, None, entry.path)
        if not entry.is_file or not sizes[0] <= entry.size <= sizes[1] or not times[0] <= entry.modified_ns < times[1]:
            continue
        if only_hidden and not _is_hidden(entry.path.removeprefix(base)):
            continue
        subject = fold(entry.path.removeprefix(base) if "/" in pattern else entry.name)
        if not any(matches(glob, subject) for glob in globs):
            continue
        if len(entries) >= limit:
            truncated = True
            break
        entries.append(_record(entry, here))
    data = {"entries": entries, "count": len(entries)} | ({"truncated": True} if truncated else {})
    counters = {"seen": seen, **ctx.files.skipped}
    return Result.done(data, counters=counters, truncated=truncated, warnings=tuple(ctx.files.warnings))


def _record(entry: FileEntry, here: datetime) -> dict[str, Any]:
    stem, dot, ext = entry.name.rpartition(".")
    record: dict[str, Any] = {
        "path": entry.path,
        "name": entry.name,
        "ext": f".{ext.lower()}" if dot and stem else "",
        "size": entry.size,
        "modified": _iso(entry.modified_ns, here),
    }
    if entry.path_bytes is not None:
        record["path_bytes"] = entry.path_bytes
    return record


def folded(text: str) -> str:
    """`text` without the difference of upper and lower case, and of composed and decomposed accents."""
    return text.lower() if text.isascii() else normalize("NFC", normalize("NFC", text).casefold())


def _as_it_is(text: str) -> str:
    return text


def _is_hidden(below: str) -> bool:
    """The name, or one of the folders on the way to it, begins with a dot."""
    return below.startswith(".") or "/." in below


def _iso(modified_ns: int, here: datetime) -> str:
    """In the offset of the turn's time, so that all times of one turn compare as text, too."""
    try:
        return (EPOCH + timedelta(microseconds=modified_ns // 1000)).astimezone(here.tzinfo).isoformat()
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC).isoformat() if modified_ns > 0 else "0001-01-01T00:00:00+00:00"


def _nanoseconds(text: str | None, here: datetime, without: float) -> float:
    """Since 1970; a time without offset has that of the turn."""
    if text is None:
        return without
    when = datetime.fromisoformat(text)
    since = (when if when.tzinfo is not None else when.replace(tzinfo=here.tzinfo)) - EPOCH
    return (since.days * 86_400_000_000 + since.seconds * 1_000_000 + since.microseconds) * 1000


def alternatives(pattern: str) -> list[str] | None:
    """The patterns that `*.{png,jpg}` stands for; None if there are too many."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        if len(done) + len(waiting) > MOST_ALTERNATIVES:
            return None
        text = waiting.pop()
        start = text.find("{")
        end = text.find("}", start)
        if start < 0 or end < 0 or "," not in text[start:end]:
            done.append(text)
            continue
        waiting += [text[:start] + choice + text[end + 1 :] for choice in text[start + 1 : end].split(",")]
    return done


def matches(glob: str, text: str) -> bool:
    """`*` and `?` stay within a name, `**` crosses folders, `[a-z]` and `[!a-z]`; never worse than length × length."""
    reach = {0}
    at, size = 0, len(glob)
    while at < size and reach:
        if glob[at] == "*":
            crossing = glob.startswith("**", at)
            at += 2 if crossing else 1
            if crossing and glob.startswith("/", at):
                at += 1
                reach |= {end + 1 for end in range(min(reach), len(text)) if text[end] == "/"}
                continue
            reach = _star(reach, text, crossing=crossing)
            continue
        reach = {place + 1 for place in reach if place < len(text) and _fits(glob, at, text[place])[0]}
        at = _fits(glob, at, "")[1]
    return len(text) in reach


def _star(reach: set[int], text: str, *, crossing: bool) -> set[int]:
    found: set[int] = set()
    for start in sorted(reach):
        if start in found:
            continue
        found.add(start)
        while start < len(text) and (crossing or text[start] != "/"):
            start += 1
            found.add(start)
    return found


def _fits(glob: str, at: int, character: str) -> tuple[bool, int]:
    """Whether one character fits the element at `at`, and where the next element is."""
    if glob[at] == "?":
        return character != "/", at + 1
    end = glob.find("]", at + 2) if glob[at] == "[" else -1
    if end < 0:
        return character == glob[at], at + 1
    inside = glob[at + 1 : end]
    negated = inside[0] in "!^" and len(inside) > 1
    return character != "/" and _is_in(inside[negated:], character) != negated, end + 1


def _is_in(inside: str, character: str) -> bool:
    at = 0
    while at < len(inside):
        wide = inside[at + 1 : at + 2] == "-" and at + 2 < len(inside)
        if inside[at] <= character <= inside[at + 2 if wide else at]:
            return True
        at += 3 if wide else 1
    return False
