"""The notation of NESTFUL's references, `$label.path$`, read as references of the Framework.

Law: it knows spelling. A dollar that opens no reference is a dollar: prices stay prices. A reference is a label that
the plan declares, or one word, then a path, between two dollars; nothing is guessed, and what begins as a reference
to a declared label and cannot be read to its end is a `Broken`, with the reason.

| written | read |
|---|---|
| `$var1$` | the whole result of the call labelled `var1` |
| `$var1.Exchange Rate$` | a field; its name may hold spaces |
| `$var1.a.b[0].c$`, `$var1.a[*].c$` | fields, an index from 0, every element |
| `5 * $var1.rate$` | a reference inside longer text |
| `between $5 and $10` | text |
| `var1.id$`, `$var1.id` | broken: a dollar is missing |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from metnos.plan.references import Every, Index, Key, Segment

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_INDEX = 999_999_999
"""The Framework's own limit."""


class Found(msgspec.Struct, frozen=True):
    """A reference: the label it names (declared or not) and the path into that call's result."""

    label: str
    path: tuple[Segment, ...]


class Broken(Exception):
    """A reference that cannot be read."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(found)
        self.found = found
        self.expected = expected


class Notation:
    """The notation of one plan."""

    def __init__(self, labels: Iterable[str], fields: Iterable[str] = ()) -> None:
        """Take what a plan declares.

        Args:
            labels: Labels of its calls, without a leading dollar.
            fields: Names of fields; only those that hold a dot or a bracket matter, for a path alone cannot tell.
        """
        known = "|".join(map(re.escape, sorted(labels, key=len, reverse=True)))
        label = rf"(?:{known}|[A-Za-z_][A-Za-z0-9_]*)" if known else "[A-Za-z_][A-Za-z0-9_]*"
        odd = sorted(
            (name for name in fields if re.search(r"[.\[\]]", name) and "$" not in name), key=len, reverse=True
        )
        names = "|".join([*(rf"{re.escape(name)}(?=[.\[]|\Z)" for name in odd), r"[^.\[\]]+"])
        self._reference = re.compile(rf"\$(?P<label>{label})(?P<path>(?:[.\[][^$]*)?)\$")
        self._half = re.compile(rf"\$(?:{known})(?:[.\[][^$\s]*)?|(?:{known})(?:[.\[][^$\s]*)?\$") if known else None
        self._segment = re.compile(
            rf"\.(?P<key>{names})|\.?\[(?:(?P<index>[0-9]+)|(?P<every>\*)|(?P<quote>['\"])(?P<quoted>.+?)(?P=quote))\]"
        )

    def parse(self, text: str) -> tuple[str | Found, ...]:
        """The pieces of a string: text and references.

        Raises:
            Broken: A reference to a declared label lacks a dollar, or its path cannot be read.
        """
        if "$" not in text:
            return (text,)
        if self._half is not None and self._half.fullmatch(text):
            raise Broken(text, "`$label.path$`, a dollar at either end")
        pieces: list[str | Found] = []
        end = 0
        for match in self._reference.finditer(text):
            if match.start() > end:
                pieces.append(text[end : match.start()])
            pieces.append(Found(match["label"], self._path(match["path"])))
            end = match.end()
        if end < len(text) or not pieces:
            pieces.append(text[end:])
        return tuple(pieces)

    def _path(self, text: str) -> tuple[Segment, ...]:
        segments: list[Segment] = []
        at = 0
        while at < len(text):
            match = self._segment.match(text, at)
            if match is None or (match["index"] and int(match["index"]) > MAX_INDEX):
                raise Broken(text[at:], "`.field`, `[0]` counted from 0, or `[*]`")
            segments.append(_segment(match))
            at = match.end()
        return tuple(segments)


def _segment(match: re.Match[str]) -> Segment:
    if match["index"]:
        return Index(int(match["index"]))
    return Every() if match["every"] else Key(match["key"] or match["quoted"])
