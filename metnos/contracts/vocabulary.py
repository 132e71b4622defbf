"""The vocabulary: which (verb, object) pairs exist. Families of contracts and request intents are drawn from it.

Law: names only, from `vocabulary.toml`; no word of a language and no effect (effects come from contracts).
"""

from __future__ import annotations

import tomllib
from pathlib import Path

PAIRS: frozenset[tuple[str, str]] = frozenset(
    (verb, thing)
    for verb, things in tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text("utf-8"))["pairs"].items()
    for thing in things
)
VERBS: frozenset[str] = frozenset(verb for verb, _ in PAIRS)
OBJECTS: frozenset[str] = frozenset(thing for _, thing in PAIRS)


def exists(verb: str, thing: str) -> bool:
    """Whether (verb, object) is a family of the vocabulary."""
    return (verb, thing) in PAIRS
