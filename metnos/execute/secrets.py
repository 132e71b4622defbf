"""Secrets are recognised once, at the border: each span becomes a sealed handle before a result is an input.

Law: patterns are data (`secrets.toml`) and run on RE2, in linear time. First one cheap question over the canonical
bytes of the whole result; only if something there may be a secret are its strings looked at, one by one, and only
for the patterns that may be in it. What is sealed is the secret's own span, never the text around it.

A handle in a result that neither the call's arguments held nor this border made is a forgery (text from outside
that names somebody's secret): it is broken, so that nothing opens it later.

Known limits: a secret cut in two by a reader's limit or split over several strings is not recognised.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from metnos.values.sealed import HANDLE, OPENING, find_handles, handle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from metnos.execute.vault import Vault

_OPENING_BYTES = OPENING.encode()
_WORDS = (b"pass", b"pwd", b"secret", b"token", b"key", b"cred")
"""A bare name that holds one of these is a variable's."""
_BROKEN = "⟦not-sealed:"
_LEAST_BITS = 2.0
"""Entropy of a long span below which it is filling (`ghp_xxxxxxxx…`), bits a character."""


class _Pattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    regex: str
    needle: str = ""
    digit: bool = False
    mixed: bool = False
    bits: float = 0.0
    literal: bool = False
    decodes: bool = False
    spare: bool = False


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    placeholder: str
    fields: str
    fields_needle: str
    pattern: tuple[_Pattern, ...]


class Recogniser:
    """The patterns, compiled. One per process is enough (`recogniser()`)."""

    def __init__(self, data: bytes) -> None:
        """Compile a pattern file.

        Raises:
            ValueError: the file is not of the declared form, or a regex does not compile.
        """
        import tomllib
        from importlib import import_module

        re2: Any = import_module("re2")  # it is not typed
        file = msgspec.convert(tomllib.loads(data.decode()), _File)
        self._patterns = [(pattern, re2.compile(pattern.regex.encode())) for pattern in file.pattern]
        self._placeholder = re2.compile(file.placeholder.encode())
        self._field = re2.compile(file.fields.encode())
        self._set = re2.Set.SearchSet()
        for pattern in file.pattern:
            # In JSON text a line end is `\\n`: before a word stands a letter, so a word boundary may be hidden.
            self._set.Add((pattern.needle or pattern.regex).replace(r"\b", "").encode())
        self._set.Add(file.fields_needle.encode())
        self._set.Compile()
        self._by_field = len(file.pattern)
        self.match: Callable[[bytes], list[int] | None] = self._set.Match
        """`match(bytes)` → indices of the patterns that may be in the bytes; none or empty: no secret is."""

    def spans(self, text: bytes, among: Iterable[int]) -> list[tuple[int, int]]:
        """Secret spans of one string (UTF-8), in order, merged where they overlap."""
        found: list[tuple[int, int]] = []
        for index in among:
            if index != self._by_field:
                pattern, regex = self._patterns[index]
                found += self._spans_of(pattern, regex, text)
        if len(found) < 2:
            return found
        found.sort()
        merged = [found[0]]
        for start, end in found[1:]:
            if start < merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return merged

    def _spans_of(self, pattern: _Pattern, regex: Any, text: bytes) -> Iterable[tuple[int, int]]:
        for match in regex.finditer(text):
            spans = [match.span(group) for group in range(1, len(match.groups()) + 1)] or [match.span(0)]
            start, end = next(span for span in spans if span[0] >= 0)
            if self._is_secret(pattern, text[start:end], text[end : end + 1]):
                yield start, end

    def _is_secret(self, pattern: _Pattern, span: bytes, following: bytes) -> bool:
        has_digit = any(48 <= byte <= 57 for byte in span)
        if pattern.digit and not has_digit:
            return False
        if pattern.mixed and span.isalpha() and (span.islower() or span.isupper()):
            return False
        if pattern.literal and _is_expression(span, following):
            return False
        if (pattern.bits or len(span) >= 16) and _entropy(span) < (pattern.bits or _LEAST_BITS):
            return False
        if pattern.decodes and not _is_user_and_password(span):
            return False
        return not (pattern.spare and self._placeholder.search(span) is not None)

    def names_secret(self, key: str, value: str) -> bool:
        """Whether a field called `key` with this text is a secret by its name."""
        return (
            len(value) >= 4
            and self._field.search(key.encode()) is not None
            and self._placeholder.search(value.encode()) is None
            and not any(character.isspace() for character in value)
        )

    def looks_at_fields(self, among: Iterable[int]) -> bool:
        """Whether the cheap test saw a field whose name tells."""
        return self._by_field in among


def _is_expression(span: bytes, following: bytes) -> bool:
    """An unquoted right-hand side that is code: a call, a dotted name, a variable."""
    if following in (b"(", b"[", b"{", b"<"):
        return True
    parts = span.decode("utf-8", "replace").split(".")
    if not all(part.isidentifier() for part in parts):
        return False
    return len(parts) > 1 or span.isalpha() or any(word in span.lower() for word in _WORDS)


def _entropy(span: bytes) -> float:
    size = len(span)
    return -sum(count / size * math.log2(count / size) for count in Counter(span).values())


def _is_user_and_password(span: bytes) -> bool:
    try:
        decoded = base64.b64decode(span, validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode().isprintable()


@cache
def recogniser() -> Recogniser:
    """The shipped patterns, compiled on first use."""
    return Recogniser(Path(__file__).with_name("secrets.toml").read_bytes())


class Sealer:
    """Seals what a result holds, opens what a contract lets a worker have."""

    def __init__(self, vault: Vault, patterns: Recogniser | None = None) -> None:
        self._vault = vault
        self._patterns = patterns or recogniser()
        self._match = self._patterns.match

    def may_hold(self, raw: bytes) -> bool:
        """The cheap test over JSON bytes: False means that there is neither a secret nor a handle."""
        return bool(self._match(raw)) or _OPENING_BYTES in raw

    def seal(self, data: Any, raw: bytes, args: Mapping[str, Any]) -> tuple[Any, int]:
        """`data` with every secret sealed, and how many spans were.

        Args:
            data: plain JSON.
            raw: its JSON bytes.
            args: the call's arguments: a handle in them may come back, any other is broken.
        """
        among = tuple(self._match(raw) or ())  # None where nothing matched
        known = set(find_handles(args)) if _OPENING_BYTES in raw else set[str]()
        sealing = _Sealing(self._vault, self._patterns, among, known)
        return sealing.walk(data), sealing.count

    def opened_for(self, args: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
        """Handle text → secret, for the handles in those arguments that the contract names.

        An unknown handle is left out: opening it fails in the executor, by name.
        """
        opened: dict[str, str] = {}
        for name in names:
            for identity in find_handles(args.get(name)):
                secret = self._vault.get(identity)
                if secret is not None:
                    opened[handle(identity)] = secret
        return opened


class _Sealing:
    """One result being sealed."""

    def __init__(self, vault: Vault, patterns: Recogniser, among: tuple[int, ...], known: set[str]) -> None:
        self.count = 0
        self._vault = vault
        self._patterns = patterns
        self._among = among
        self._known = known
        self._fields = patterns.looks_at_fields(among)

    def walk(self, value: Any) -> Any:
        if type(value) is str:
            return self._text(value)
        if type(value) is list:
            return [self.walk(item) for item in cast("list[Any]", value)]
        if type(value) is dict:
            fields = cast("dict[str, Any]", value)
            return {self._text(key): self._field(key, item) for key, item in fields.items()}
        return value

    def _field(self, key: str, value: Any) -> Any:
        if self._fields and type(value) is str and OPENING not in value and self._patterns.names_secret(key, value):
            return self._put(value)
        return self.walk(value)

    def _put(self, secret: str) -> str:
        self.count += 1
        identity = self._vault.put(secret)
        self._known.add(identity)
        return handle(identity)

    def _text(self, text: str) -> str:
        if OPENING in text:
            text = HANDLE.sub(lambda found: found[0] if found[1] in self._known else _BROKEN + found[0][8:], text)
        if len(text) < 4 or not self._among:
            return text
        raw = text.encode()
        spans = self._patterns.spans(raw, self._among)
        if not spans:
            return text
        parts: list[str] = []
        last = 0
        for start, end in spans:
            parts += (raw[last:start].decode(), self._put(raw[start:end].decode()))
            last = end
        return "".join((*parts, raw[last:].decode()))
