"""Patterns: how RE2 is asked, and a glob on a file's name as a pattern for it.

Law: pure. A glob has `*`, `?`, `[a-z]`, `[!a-z]`, `{one,other}`; what is made of it RE2 can always read.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

import re2 as untyped

re2: Any = untyped


def options(*, ignore_case: bool) -> Any:
    """How RE2 reads a pattern here: quietly."""
    made = re2.Options()
    made.log_errors = False
    made.case_sensitive = not ignore_case
    return made


def matches(compiled: Any, line: str, most: int) -> list[Any]:
    """Matches that hold something, `most` and one more at most; one that is empty (of `^$`) only where no other is."""
    found: list[Any] = list(islice(compiled.finditer(line), most + 1))
    return [match for match in found if match.end() > match.start()] or found[:1]


def pattern_of(glob: str) -> str:
    """The pattern of the names that the glob means, from beginning to end."""
    made: list[str] = []
    at, braces = 0, 0
    while at < len(glob):
        character = glob[at]
        at += 1
        end = glob.find("]", at + 1)
        if character == "[" and end > 0:
            made.append(_choice(glob[at:end]))
            at = end + 1
        elif character == "{" and glob.find("}", at) > 0:
            braces += 1
            made.append("(?:")
        elif character == "}" and braces:
            braces -= 1
            made.append(")")
        else:
            made.append(
                {"*": ".*", "?": "."}.get(character) or ("|" if character == "," and braces else _one(character))
            )
    return rf"(?s)\A(?:{''.join(made)}{')' * braces})\z"


def _choice(inside: str) -> str:
    negated = inside[0] in "!^" and len(inside) > 1
    ranges: list[str] = []
    at = 1 if negated else 0
    while at < len(inside):
        wide = inside[at + 1 : at + 2] == "-" and at + 2 < len(inside)
        first, last = inside[at], inside[at + 2 if wide else at]
        if first <= last:  # a range that runs backwards holds nothing
            ranges.append(f"{_one(first)}-{_one(last)}")
        at += 3 if wide else 1
    if not ranges:
        return "." if negated else r"[^\x{0}-\x{10FFFF}]"
    return f"[{'^' if negated else ''}{''.join(ranges)}]"


def _one(character: str) -> str:
    return character if re.fullmatch(r"\w", character) else f"\\x{{{ord(character):X}}}"
