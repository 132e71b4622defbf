"""The sentences of the starter catalog: each changed in meaning (`changes.py`), and each said in other ways.

Law: the library is the shipped one, verified as an engine does. A changed sentence that is served with the plan of the
sentence that it was made from is a false hit; one that is served with another plan was understood anew. A sentence said
in another way, or with another value, must give the plan that the library itself binds for it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from benchmarks.safety.calls import spelled
from benchmarks.safety.changes import changes
from metnos import Engine
from metnos.cache.model import Match
from metnos.request.understand import understand

if TYPE_CHECKING:
    from metnos.cache.templates.library import TemplateLibrary

POLITE: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (("please {}", "opening"), ("{} please", "closing"), ("{}!", "marks"), ("  {}  ", "spacing")),
    "it": (("per favore {}", "opening"), ("{} per favore", "closing"), ("{}!", "marks"), ("  {}  ", "spacing")),
}


def library() -> TemplateLibrary:
    """The shipped templates, verified."""
    with Engine.open(memory=True) as engine:
        return engine.parts.library


def measure() -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """(changed meanings, the same in other words, lines that say what was wrong or missed)."""
    templates = library()
    differ: Counter[str] = Counter()
    false: Counter[str] = Counter()
    same: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    lines: list[str] = []
    for example in templates.examples():
        plan = _plan(templates, example.text, example.language)
        assert plan is not None, example
        for change in changes(example.text, example.language):
            kind = f"changed.{change.kind}"
            differ[kind] += 1
            if _plan(templates, change.text, example.language) == plan:
                false[kind] += 1
                lines.append(f"FALSE {kind}: {change.text!r} was served as {example.text!r}")
        bare = example.text.rstrip(" .?!")
        for form, name in POLITE[example.language]:
            kind = f"said.{name}"
            same[kind] += 1
            served = _plan(templates, form.format(bare), example.language)
            if served == plan:
                hits[kind] += 1
            else:
                lines.append(f"missed {kind}: {form.format(bare)!r}")
    return _part(differ, false, "false_hits"), _part(same, hits, "hits"), lines


def _plan(templates: TemplateLibrary, text: str, language: str) -> str | None:
    found = templates.match(understand(text, language))
    return spelled(found.plan) if isinstance(found, Match) else None


def _part(asked: Counter[str], found: Counter[str], name: str) -> dict[str, Any]:
    kinds = {kind: {"pairs": asked[kind], name: found[kind]} for kind in sorted(asked)}
    return {"pairs": asked.total(), name: found.total(), "kinds": kinds}
