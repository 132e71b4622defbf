"""Proposers by rule: whatever conversions a rule uses, the plan learned from one request is the rule's, or refused.

A rule is drawn: which arguments, which conversion of which slot in each, constants that no slot can be. This holds for
every rule, so it is tried with many; what a rule of another kind would do (reverse a value, count its letters) no
learning from one plan could tell, and is what the second proposal is for.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from metnos.cache.generalise.agree import agree
from metnos.cache.generalise.conversions import CONVERSIONS, REFERENCES, convert
from metnos.cache.generalise.general import bind_general, generalise
from metnos.cache.generalise.uses import General
from metnos.cache.templates.template import Refusal, escape
from metnos.contracts.catalog import Catalog
from metnos.plan.jsondata import canonical
from metnos.request.model import Request, Slot
from metnos.request.understand import understand

VALUES = {
    "path": ("src", "~/Docs", "a/b.txt", "notes.txt", "list.csv", "/tmp/x", "lib/", "data.json", "README.md", ".git"),
    "glob": ("*.pdf", "pdf files", "*.csv", "PDF files", "txt files", "report*", "*.tar"),
    "integer": ("5", "seven", "10", "1", "2", "100", "12"),
    "size": ("1 MB", "5 KB", "512 bytes", "10 MB", "2.5 GiB", "1 KiB", "1000 bytes"),
    "quoted": ('"TODO"', '"buy milk"', "«x»", "'a.b'", '"files"', '"src"', '"5"', '"it costs 5$"', '"Report of 2024"'),
    "period": ("yesterday", "today", "last week", "this month", "in the last 7 days"),
    "date": ("2026-11-30", "2024-01-05", "30/11/2026"),
}
FORMS = (
    "list the {glob} in {path} over {size}",
    "the {integer} largest files in {path}",
    "files containing {quoted} in {path}",
    "files modified {period} in {path} over {size}",
    "read {path} and copy it to {path}",
    "the {integer} files over {size} containing {quoted}",
    "files modified on {date} in {path}",
    "files between {size} and {size} modified {period}",
)
# Case and parts of paths are readings of last resort: a rule that always lowers is met by the second proposal.
NAMES = [name for name, row in CONVERSIONS.items() if row.whole in {1, 2} and not row.patterns]
PROSE = ("Zuv {}", "{}", "({}) qox", "{}, zuv", "Zuv {} qox {}")
Rule = Callable[[Sequence[Slot]], Any]


def rule(chance: random.Random, kinds: Sequence[str], *, number: bool) -> Rule:
    """One conversion of one slot, or a constant."""
    index = chance.randrange(len(kinds))
    fitting = [name for name in NAMES if kinds[index] in CONVERSIONS[name].kinds]
    name = chance.choice(fitting) if fitting else "text"
    constant: Any = chance.choice((77, 7777)) if number else chance.choice(("zuv", "qox"))
    if chance.random() < 0.15:
        return lambda _: constant
    return lambda slots: convert(name, slots[index], "en")


def prose(chance: random.Random, kinds: Sequence[str]) -> Rule:
    pattern = chance.choice(PROSE)
    parts = [rule(chance, kinds, number=False) for _ in range(pattern.count("{}"))]

    def make(slots: Sequence[Slot]) -> str | None:
        values = [part(slots) for part in parts]
        return pattern.format(*values) if all(isinstance(value, str) for value in values) else None

    return make


def runtime(chance: random.Random, kinds: Sequence[str]) -> Rule:
    if "period" not in kinds:
        return lambda _: "${RUNTIME:now}"
    name = chance.choice([name for name in REFERENCES if name != "as-date"])
    return lambda slots: Reference(convert(name, slots[kinds.index("period")], "en"))


class Reference(str):
    """Not text: it is not escaped."""

    __slots__ = ()


def proposer(chance: random.Random, kinds: Sequence[str]) -> Callable[[Request], dict[str, Any] | None]:
    """A plan for every request of one form, None where the rule has none."""
    makers: dict[str, Callable[[], Rule]] = {
        "path": lambda: rule(chance, kinds, number=False),
        "pattern": lambda: rule(chance, kinds, number=False),
        "min_size": lambda: rule(chance, kinds, number=True),
        "limit": lambda: rule(chance, kinds, number=True),
        "modified_from": lambda: runtime(chance, kinds),
    }
    found = {name: makers[name]() for name in chance.sample(sorted(makers), chance.randint(1, 4))}
    title = prose(chance, kinds) if chance.random() < 0.4 else None

    def propose(request: Request) -> dict[str, Any] | None:
        args = {name: make(request.slots) for name, make in found.items()}
        numbers = ("min_size", "limit")
        if any(isinstance(value, str) == (name in numbers) or value is None for name, value in args.items()):
            return None
        args = {
            name: escape(value) if isinstance(value, str) and not isinstance(value, Reference) else value
            for name, value in args.items()
        }
        text = "" if title is None else title(request.slots)
        end = {} if title is None or text is None else {"text": escape(text)}
        return {"steps": [{"tool": "find_files", "args": args}, {"tool": "final_answer", "args": end}]}

    return propose


def pairs(chance: random.Random) -> list[tuple[Request, dict[str, Any]]]:
    """Requests of one form with the plans of one rule."""
    form = chance.choice(FORMS)
    texts = [re.sub(r"\{(\w+)\}", lambda kind: chance.choice(VALUES[kind[1]]), form) for _ in range(16)]
    requests = [understand(text, "en") for text in texts]
    most = Counter(request.normal_form for request in requests).most_common(1)[0][0]
    alike = [request for request in requests if request.normal_form == most]
    propose = proposer(chance, [slot.kind for slot in alike[0].slots])
    return [(request, plan) for request in alike if (plan := propose(request)) is not None]


@pytest.mark.parametrize("seed", range(6))
def test_a_rule_is_learned_right_or_not_at_all(seed: int, catalog: Catalog) -> None:
    chance = random.Random(seed)
    counted: Counter[str] = Counter()
    for _ in range(120):
        known = pairs(chance)
        if len(known) < 3:
            continue
        alone = generalise(*known[0], catalog)
        both = agree(known[0], known[1], catalog)
        # What rests on one plan is used only where nothing in it is unexplained.
        for general in (alone if isinstance(alone, General) and not alone.free_literals else None, both):
            for request, expected in known if isinstance(general, General) else ():
                assert isinstance(general, General)
                found = bind_general(general, request.slots)
                if isinstance(found, Refusal):
                    counted["refused"] += 1
                    continue
                assert canonical(found.plan) == canonical(expected), (known[0], request.text)
                counted["right"] += 1
    assert counted["right"] > 5, counted
