"""Endings of file names: which words are one, which names have one, and which are those of a format."""

from __future__ import annotations

import mimetypes
from functools import cache
from typing import Final

MORE_ENDINGS: Final = frozenset({"log", "tmp", "bak", "cfg", "ini", "yaml", "yml", "toml", "sql", "iso"})
"""Endings of files that no media type has."""
MORE: Final[dict[str, frozenset[str]]] = {
    "csv": frozenset({"csv", "tsv", "tab"}),
    "json": frozenset({"json", "jsonl", "ndjson"}),
}
"""Provider → the endings of its files, where these are not just its own name."""


@cache
def _endings() -> frozenset[str]:
    return frozenset(ending.removeprefix(".") for ending in mimetypes.MimeTypes().types_map[True]) | MORE_ENDINGS


def is_ending(word: str) -> bool:
    """Whether a word is the ending of a common kind of files ("png", "log")."""
    return word.casefold() in _endings()


def is_file_name(name: str) -> bool:
    """Whether a name has an extension, and is no pattern of folders."""
    last = name.rstrip().rsplit("/", 1)[-1]
    return "." in last.strip(".") and "://" not in name


def endings_of(provider: str) -> frozenset[str]:
    """The endings of the files that a provider is for; none: it is no format."""
    return MORE.get(provider, frozenset({provider} if is_ending(provider) else ()))


def ending_of(name: str) -> str:
    """Of a file's name, folded; one without a dot is all ending, and no format's."""
    return name.rsplit(".", 1)[-1].casefold()


def is_table(name: object) -> bool:
    """Whether a name's ending is that of rows or records."""
    return isinstance(name, str) and "." in name and any(ending_of(name) in each for each in MORE.values())
