"""The collector of a reader: every fault, in document order, each with its place.

Law: it never raises and never stops a reader; what a reader cannot use it replaces and goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import JSONFault, canonical, pointer

if TYPE_CHECKING:
    from collections.abc import Iterable

TYPES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    tuple: "a list",
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "a boolean",
    type(None): "null",
}
"""Python type → what a person reads."""


class Faults:
    """Diagnostics of one reading, and the fillers that its references named."""

    __slots__ = ("found", "perhaps_used", "used")

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []
        self.used: list[tuple[str, str]] = []
        """(name of a filler, JSON pointer of the string that refers to it)."""
        self.perhaps_used: set[str] = set()
        """Fillers named in strings that could not be read: not to be called unused."""

    def add(self, code: str, where: str, *, found: str = "", expected: str = "", hint: str = "") -> None:
        """Note one fault."""
        self.found.append(Diagnostic(code=code, where=where, found=found, expected=expected, hint=hint))

    def wrong_type(self, where: str, value: Any, expected: str) -> None:
        """Note that the value at `where` should be `expected` ("a string")."""
        self.add("wrong-type", where, found=describe(value), expected=expected)

    def unknown_fields(self, where: str, given: Iterable[str], known: tuple[str, ...]) -> None:
        """Note each field that is not known, with the one that was probably meant."""
        for name in given:
            if name not in known:
                self.add(
                    "unknown-field",
                    pointer(where, name),
                    found=name,
                    expected=", ".join(known),
                    hint=did_you_mean(name, known),
                )

    def string(self, where: str, record: dict[str, Any], name: str, *, default: str | None = None) -> str:
        """The string field `name` of `record`; a fault if it is missing (and has no default) or no string."""
        if name not in record:
            if default is None:
                self.add("missing-field", where, expected=f"{name}: a string")
            return default or ""
        value = record[name]
        if type(value) is not str:
            self.wrong_type(pointer(where, name), value, "a string")
            return default or ""
        return value


def describe(value: Any) -> str:
    """A value in a few words: its type, and the value itself where it is short."""
    python = value.__class__
    kind = TYPES.get(python, f"a {python.__name__}")
    if value is None or kind in ("an object", "a list"):
        return kind
    try:
        text = canonical(value).decode()
    except JSONFault:
        return kind
    return f"{kind}: {text}" if len(text) <= 60 else f"{kind}: {text[:57]}..."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint that names the closest known word, or nothing."""
    from difflib import get_close_matches

    words = {word.casefold(): word for word in known}
    close = get_close_matches(name.casefold(), list(words), n=1, cutoff=0.6)
    return f"did you mean `{words[close[0]]}`?" if close else ""
