"""The tables of `called.toml`: what the words of a request call for, by language."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def cues() -> dict[str, Any]:
    """All tables."""
    return tomllib.loads(Path(__file__).with_name("called.toml").read_text(encoding="utf-8"))


@cache
def table(name: str, language: str) -> tuple[tuple[str, ...], ...]:
    """The cues of a table, each as its words; none: that language has no such table."""
    return tuple(tuple(cue.split()) for cue in cues().get(name, {}).get(language, ()))


@cache
def words_of(name: str, language: str) -> frozenset[str]:
    """The first words of the cues of a table."""
    return frozenset(cue[0] for cue in table(name, language))
