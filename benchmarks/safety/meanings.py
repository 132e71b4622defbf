"""The hand-written requests of `benchmarks/data/meanings_*.toml`, ready to be learned and asked.

Law: of each request the sentence itself is learned, and the first one with other values; every other one is asked.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.safety.calls import read_call

DATA = Path(__file__).resolve().parents[1] / "data"
LANGUAGES = ("en", "it")


class Learned(NamedTuple):
    """A request and the plan that a proposer gave for it."""

    language: str
    text: str
    plan: dict[str, Any]


class Asked(NamedTuple):
    """A request that is asked afterwards."""

    language: str
    kind: str
    """`same`, `bound.KIND` or `differs.KIND`."""
    text: str
    plan: dict[str, Any] | None
    """What a hit must give; None: any hit is a false one."""
    beside: str
    """The learned request that it is like."""


def read() -> tuple[list[Learned], list[Asked]]:
    """Every learned request, and every one that is asked."""
    learned: list[Learned] = []
    asked: list[Asked] = []
    for language in LANGUAGES:
        for one in tomllib.loads((DATA / f"meanings_{language}.toml").read_text("utf-8"))["request"]:
            text, plan = one["text"], read_call(one["plan"])
            learned.append(Learned(language, text, plan))
            asked += [Asked(language, "same", other, plan, text) for other in one.get("same", ())]
            bound = [(kind, t, read_call(p)) for kind, ps in one.get("bound", {}).items() for t, p in ps.items()]
            # A plan with a literal that nobody said is only general after a second success that agrees.
            learned += [Learned(language, t, p) for _, t, p in bound[:1]]
            asked += [Asked(language, f"bound.{kind}", t, p, text) for kind, t, p in bound[1:]]
            for kind, others in one.get("differs", {}).items():
                asked += [Asked(language, f"differs.{kind}", other, None, text) for other in others]
    return learned, asked
