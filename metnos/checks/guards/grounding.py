"""Grounding: every target of an effect comes from the request, an earlier step, the runtime or the user's answer.

Law: an argument is judged by where its parts come from. What a person or a publisher wrote passes by its source; a
model's literal must be one of the request's values; what a model will write later (`${FILLER:…}`) is never a target.
"""

from __future__ import annotations

import posixpath
import unicodedata
from typing import TYPE_CHECKING, Any

from metnos.checks.guards.model import Checker, Finding, verdict
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import pointer
from metnos.plan.references import FillerTarget, Reference
from metnos.values.expressions import Concat, DictOf, Expression, ListOf, Literal_, Ref, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.checks.model import CheckContext, Checked
    from metnos.request.model import Request

GROUNDED_SOURCES = frozenset({"user", "author", "host", "template"})
"""Who may write a target. `model` and `cache` may only copy one."""
_QUOTES = "\"'`“”‘’«»„"


def grounding(checked: Checked, context: CheckContext) -> Finding:
    """Every target argument of a step with an effect, part by part."""
    known = _values(context.request)
    found: list[Diagnostic] = []
    for step in checked.steps:
        if step.worst_effect == "read":
            continue
        values = dict(step.args.items) if isinstance(step.args, DictOf) else {}
        for target in step.contract.targets:
            if target not in values:
                continue  # a contract default
            where = pointer(f"/steps/{step.number - 1}/args", target)
            for bad in _ungrounded(values[target], known):
                found.append(Diagnostic(code="ungrounded-target", where=where, found=bad, expected=_expected(known)))
            if step.for_each is not None and isinstance(step.for_each, Literal_ | ListOf):
                found += [
                    Diagnostic(code="ungrounded-target", where=f"/steps/{step.number - 1}/for_each", found=bad,
                               expected=_expected(known))
                    for bad in _ungrounded(step.for_each, known)
                ]
    return verdict("grounding", context, found)


def _expected(known: frozenset[str]) -> str:
    return f"one of {', '.join(sorted(known)[:8])}" if known else "a target that the request names"


def _ungrounded(value: Expression, known: frozenset[str]) -> Iterator[str]:
    """The parts of a target that nobody said."""
    if isinstance(value, Literal_):
        yield from _literal(value.data, value.source, known)
    elif isinstance(value, Ref):
        yield from _reference(value.reference, value.source, known)
    elif isinstance(value, Text):
        for part in value.parts:
            yield from _literal(part, value.source, known) if isinstance(part, str) else _reference(part, value.source, known)
    elif isinstance(value, DictOf):
        for _, item in value.items:
            yield from _ungrounded(item, known)
    elif isinstance(value, ListOf):
        for item in value.items:
            yield from _ungrounded(item, known)
    elif isinstance(value, Concat):
        for reference in value.items:
            yield from _reference(reference, "author", known)


def _reference(reference: Reference, source: str, known: frozenset[str]) -> Iterator[str]:
    if isinstance(reference.target, FillerTarget):
        yield f"the filler `{reference.target.name}`, which a model writes"
    if reference.has_fallback:
        yield from _literal(reference.fallback, source, known)


def _literal(data: Any, source: str, known: frozenset[str]) -> Iterator[str]:
    if source in GROUNDED_SOURCES:
        return
    if isinstance(data, dict):
        for value in data.values():
            yield from _literal(value, source, known)
    elif isinstance(data, list):
        for value in data:
            yield from _literal(value, source, known)
    elif isinstance(data, str) and normalised(data) not in known:
        yield data
    elif isinstance(data, int | float) and not isinstance(data, bool) and str(data) not in known:
        yield str(data)


def _values(request: Request | None) -> frozenset[str]:
    """What the request names: the text and the value of each slot (quoted text is one)."""
    if request is None:
        return frozenset()
    found: set[str] = set()
    for slot in request.slots:
        found.add(normalised(slot.text))
        found.update(normalised(str(value)) for value in (slot.value if isinstance(slot.value, list) else [slot.value]))
    return frozenset(found - {""})


def normalised(text: str) -> str:
    """One form for what is the same name: width, spaces, quotes, `./`. Case is kept: file names differ by it."""
    plain = " ".join(unicodedata.normalize("NFKC", text).split()).strip(_QUOTES).strip()
    return posixpath.normpath(plain) if plain and "://" not in plain else plain


GROUNDING = Checker(name="grounding", judge=grounding)
