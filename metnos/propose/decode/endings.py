"""Endings of file names: which words are one, and which names have one."""

from __future__ import annotations

import mimetypes
from functools import cache
from typing import Final

MORE_ENDINGS: Final = frozenset({"log", "tmp", "bak", "cfg", "ini", "yaml", "yml", "toml", "sql", "iso"})
"""Endings of files that no media type has."""


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
