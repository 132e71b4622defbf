"""Grounding: every target of an effect comes from the request, an earlier step, the runtime or the user's answer.

Law: an argument is judged by where its parts come from. What a person or a publisher wrote passes by its source; a
model's literal must be one of the request's values; what a model will write later (`${FILLER:…}`) is never a target.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from typing import TYPE_CHECKING, Any

from metnos.checks.guards.model import Checker, Finding, verdict
from metnos.checks.guards.nested import nested_names
from metnos.checks.guards.places import at_home
from metnos.checks.shapes import is_list, is_object
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import pointer
from metnos.plan.references import FillerTarget, ItemTarget, Reference, StepTarget
from metnos.request.named import names_said
from metnos.request.relations import PLACES, relation_in
from metnos.request.spaced import with_names
from metnos.request.wider import names_with_blanks
from metnos.values.expressions import DictOf, Expression, ListOf, Literal_, Ref, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.checks.model import CheckContext, Checked, CheckedStep
    from metnos.contracts.model import Contract
    from metnos.request.model import Request

GROUNDED_SOURCES = frozenset({"user", "author", "host", "template"})
"""Who may write a target. `model` and `cache` may only copy one."""
_LOOKS_LIKE_A_FILE = re.compile(r"[./\\\"'«“]")
_QUOTES = "\"'`“”‘’«»„"


def grounding(checked: Checked, context: CheckContext) -> Finding:
    """Every target argument of a step with an effect, part by part."""
    acting = [step for step in checked.steps if step.worst_effect != "read"]
    if not acting:
        return verdict("grounding", context, [])
    known = _values(context.request, context.home)
    tracing = _Tracing(checked, known)
    of_files: _Tracing | None = None  # made where a step acts on a file that is written out, which few do
    found: list[Diagnostic] = []
    for step in acting:
        values = _arguments(step)
        for target in step.contract.targets:
            if target in values:  # else the contract's default holds
                where = pointer(f"/steps/{step.number - 1}/args", target)
                judge = tracing
                if is_what_is_acted_on(target, step.contract):
                    judge = of_files = of_files or _Tracing(checked, known - places_said(context.request))
                found += judge.faults(values[target], step, where)
    return verdict("grounding", context, found)


def _arguments(step: CheckedStep) -> dict[str, Expression]:
    return dict(step.args.items) if isinstance(step.args, DictOf) else {}


def is_what_is_acted_on(target: str, contract: Contract) -> bool:
    """Whether this argument is the file that a step is about, and not where it goes."""
    consumes = contract.consumes
    return consumes is not None and consumes.into == target and "file" in consumes.kinds


def places_said(request: Request | None) -> frozenset[str]:
    """Bare names that only say where: "delete the logs and show what is in documents" deletes no `documents`."""
    if request is None:
        return frozenset()
    slots = [
        (slot.text, relation_in(request, clause, slot) in PLACES)
        for clause in request.clauses
        for slot in (*request.slots, *with_names((), names_with_blanks(request)))
        if clause.start <= slot.start < clause.end and not _LOOKS_LIKE_A_FILE.search(slot.text)
    ]
    acted_on = {normalised(text) for text, placed in slots if not placed}
    named = {text for text in names_said(request) if not _LOOKS_LIKE_A_FILE.search(text)}
    return frozenset(normalised(text) for text in (*named, *(text for text, placed in slots if placed))) - acted_on


class _Tracing:
    """Where the parts of a value come from, back through steps that touch nothing outside."""

    def __init__(self, checked: Checked, known: frozenset[str]) -> None:
        self.steps = checked.steps
        self.known = known

    def faults(self, value: Expression, step: CheckedStep, where: str) -> list[Diagnostic]:
        bad = list(dict.fromkeys(self.ungrounded(value, step)))
        wanted = f"one of {', '.join(sorted(self.known)[:8])}" if self.known else "a target that the request names"
        return [Diagnostic(code="ungrounded-target", where=where, found=each, expected=wanted) for each in bad]

    def ungrounded(self, value: Expression, step: CheckedStep) -> Iterator[str]:
        """The parts of a target that nobody said."""
        if isinstance(value, Literal_):
            yield from self.literal(value.data, value.source)
        elif isinstance(value, Ref):
            yield from self.reference(value.reference, value.source, step)
        elif isinstance(value, Text):
            for part in value.parts:
                if isinstance(part, str):
                    yield from self.literal(part, value.source)
                else:
                    yield from self.reference(part, value.source, step)
        elif isinstance(value, DictOf):
            for _, item in value.items:
                yield from self.ungrounded(item, step)
        elif isinstance(value, ListOf):
            for item in value.items:
                yield from self.ungrounded(item, step)
        else:
            for reference in value.items:
                yield from self.reference(reference, "author", step)

    def reference(self, reference: Reference, source: str, step: CheckedStep) -> Iterator[str]:
        target = reference.target
        if isinstance(target, FillerTarget):
            yield f"the filler `{target.name}`, which a model writes"
        elif isinstance(target, ItemTarget) and step.for_each is not None:
            yield from self.ungrounded(step.for_each, step)
        elif isinstance(target, StepTarget) and target.plan is None:
            yield from self.step(target)
        if reference.has_fallback:
            yield from self.literal(reference.fallback, source)

    def step(self, target: StepTarget) -> Iterator[str]:
        """A step that looks at the world grounds what it gives; a pure transform only hands on what it was given."""
        assert isinstance(target.step, int)
        earlier = self.steps[target.step - 1]
        if earlier.contract.resources != ():
            return
        values = _arguments(earlier)
        consumes = earlier.contract.consumes
        handed = values if consumes is None else {consumes.into, *earlier.contract.own_text}
        for name in values:
            if name in handed:
                yield from self.ungrounded(values[name], earlier)

    def literal(self, data: Any, source: str) -> Iterator[str]:
        if source in GROUNDED_SOURCES:
            return
        if is_object(data):
            for value in data.values():
                yield from self.literal(value, source)
        elif is_list(data):
            for value in data:
                yield from self.literal(value, source)
        elif isinstance(data, str) and normalised(data) not in self.known:
            yield data
        elif isinstance(data, int | float) and not isinstance(data, bool) and str(data) not in self.known:
            yield str(data)


def _values(request: Request | None, home: str) -> frozenset[str]:
    """What the request names: each slot's text and value (quoted text is one), `~` written out too, bare names, and every reading of a name with blanks."""
    if request is None:
        return frozenset()
    found: set[str] = set()
    for slot in (each for given in request.slots for each in (*given.items, given)):
        found.update((normalised(slot.text), normalised(at_home(slot.text, home))))
        values: list[Any] = slot.value if is_list(slot.value) else [slot.value]
        found.update(normalised(str(value)) for value in values)
    found.update(normalised(name) for name in names_said(request))
    found.update(normalised(reading.text) for reading in names_with_blanks(request))
    found.update(normalised(inner.text) for inner in nested_names(request))
    return frozenset(found - {""})


def normalised(text: str) -> str:
    """One form for what is the same name: width, spaces, quotes, `./`. Case is kept: file names differ by it."""
    plain = " ".join(unicodedata.normalize("NFKC", text).split()).strip(_QUOTES).strip()
    return posixpath.normpath(plain) if plain and "://" not in plain else plain


GROUNDING = Checker(name="grounding", judge=grounding)
