"""The library of signed templates: a request in, a whole plan out, or the reason why not.

Law: a request is served only if every word of it is explained, its strict form is a template's own to the last
word, and every slot is bound; so a negation or a quantifier that the template does not have is a miss. There is no
near match here. Payloads come in verified; what cannot be read is refused by name and the rest is served.

    library = TemplateLibrary.from_signed(verified)
    library.match(understand("the five largest files here, as a table"))
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec

from metnos.cache.model import Example, Hole, Match, Miss, MissReason
from metnos.cache.templates.holes import hole_of
from metnos.cache.templates.template import Refusal, Template, TemplateFault, bind, lines, read_payload
from metnos.cache.templates.wordings import Automaton, shared_form
from metnos.request.lexicon import lexicon_for
from metnos.request.model import Request
from metnos.request.tokens import fold
from metnos.request.understand import understand

_UNDONE: dict[str, MissReason] = {
    "delete": "no-delete",
    "move": "no-move",
    "rename": "no-rename",
    "copy": "no-copy",
    "append": "no-append",
    "send": "no-send",
    "run": "no-run",
}
"""Family verb of a request intent → why it is not served."""


class Listed(msgspec.Struct, frozen=True):
    """An admitted template."""

    template: Template
    reference: str
    """`id@sha256:…` over the signed bytes."""
    name: str
    """Of its envelope."""


class TemplateLibrary:
    """Templates whose signature was verified, behind `LookUpPlan`. Immutable once made; safe between threads."""

    def __init__(self, entries: tuple[Listed, ...] = (), refused: Mapping[str, str] | None = None) -> None:
        self._entries = entries
        self.refused: Mapping[str, str] = dict(refused or {})
        """Envelope name → why its payload was not admitted."""
        self.broken: dict[str, str] = {}
        """Template id → why its wordings or its plan do not compile; found when a language is first spoken."""
        self._first: dict[str, dict[str, list[tuple[Automaton, Listed]]]] = {}

    @classmethod
    def from_signed(cls, verified: Mapping[str, bytes]) -> TemplateLibrary:
        """A library of payloads.

        Args:
            verified: Envelope name → payload whose signature was verified. Nothing else may be passed in.

        Returns:
            The library; a payload that is no template, or has the id of an earlier one, is in `refused`.
        """
        entries: dict[str, Listed] = {}
        refused: dict[str, str] = {}
        for name, payload in sorted(verified.items()):
            try:
                template = read_payload(payload, name)
            except TemplateFault as fault:
                refused[name] = str(fault)
                continue
            if template.id in entries:
                refused[name] = f"the id {template.id!r} is taken"
                continue
            reference = f"{template.id}@sha256:{hashlib.sha256(payload).hexdigest()}"
            entries[template.id] = Listed(template, reference, name)
        return cls(tuple(entries.values()), refused)

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the admitted templates."""
        return tuple(entry.template.id for entry in self._entries)

    @property
    def listed(self) -> tuple[Listed, ...]:
        """The admitted templates with their references."""
        return self._entries

    @property
    def templates(self) -> tuple[Template, ...]:
        """The admitted templates."""
        return tuple(entry.template for entry in self._entries)

    @property
    def digest(self) -> str:
        """`sha256:…` over the references of all admitted templates."""
        whole = "\n".join(sorted(entry.reference for entry in self._entries))
        return f"sha256:{hashlib.sha256(whole.encode()).hexdigest()}"

    def match(self, request: Request) -> Match | Miss:
        """The plan for `request`, or why there is none."""
        if not request.normal_form:
            return Miss(reason="empty-request")
        unknown = request.unknown
        if unknown:
            return _undone(request) or Miss(reason="unknown-words", detail=", ".join(unknown))
        form = request.normal_form.split(" ")
        found = [
            (entry, names)
            for automaton, entry in self._spoken(request.language).get(form[0], ())
            for names in automaton.names(form)
        ]
        if len(found) != 1:
            return self._miss(request, [entry for entry, _ in found])
        entry, names = found[0]
        if sum(not name.startswith("+") for name in names) != len(request.slots):
            return Miss(reason="unbound-slot", detail="a slot of the request is not in its form")
        try:
            bound = bind(entry.template, request.language, names, request.slots)
        except TemplateFault as fault:
            self.broken[entry.template.id] = str(fault)
            return Miss(reason="no-template", detail=str(fault))
        if isinstance(bound, Refusal):
            return Miss(reason="unbound-slot", detail=bound.detail)
        return Match(
            plan=bound.plan,
            entry=entry.reference,
            origins=bound.origins,
            template=entry.template.id,
            language=request.language,
            slots=bound.values,
        )

    def _spoken(self, language: str) -> dict[str, list[tuple[Automaton, Listed]]]:
        """First token of a form → what may go on from there. Made once a language."""
        first = self._first.get(language)
        if first is None:
            first = dict[str, list[tuple[Automaton, Listed]]]()
            for entry in self._entries:
                try:
                    automaton = entry.template.automaton(language)
                except TemplateFault as fault:
                    self.broken[entry.template.id] = str(fault)
                    continue
                if automaton is None:
                    continue
                for token in automaton.moves(automaton.start):
                    first.setdefault(token, []).append((automaton, entry))
            self._first[language] = first
        return first

    def _miss(self, request: Request, found: list[Listed]) -> Miss:
        if found:
            return Miss(reason="ambiguous", detail=", ".join(entry.template.id for entry in found))
        if not self._spoken(request.language):
            return Miss(reason="no-library", detail=f"no template in {request.language!r}")
        if request.negated:
            return Miss(reason="negated", detail=_words(request, "negation"))
        undone = _undone(request)
        if undone is not None:
            return msgspec.structs.replace(undone, hole=self._hole(request))
        quantifiers = _words(request, "quantifier")
        if quantifiers:
            return Miss(reason="quantified", detail=quantifiers)
        detail = " ".join(request.text.split())
        return Miss(reason="no-template", detail=detail, hole=self._hole(request))

    def _hole(self, request: Request) -> Hole | None:
        form = request.normal_form.split(" ")
        if sum(token.startswith("{") for token in form) != len(request.slots) or _words(request, "quantifier"):
            return None
        begun = self._spoken(request.language).get(form[0], ())
        return hole_of(form, [(automaton, entry.template.id) for automaton, entry in begun])

    def examples(self, word: str = "", language: str | None = None) -> list[Example]:
        """Sentences that are known to hit.

        Args:
            word: Only those with this word in the sentence, the template's id or its description.
            language: Of the sentences; None: all languages, in declared order of each template.
        """
        wanted = word.casefold()
        found: list[Example] = []
        for entry in self._entries:
            source = entry.template.source
            for spoken, text in source.examples.items():
                if language is not None and spoken != language:
                    continue
                about = source.description.get(spoken, "")
                found.extend(
                    Example(template=source.id, language=spoken, text=line, description=about, effect=source.effect)
                    for line in lines(text)
                    if wanted in f"{line} {source.id} {about}".casefold()
                )
        return found


def _undone(request: Request) -> Miss | None:
    """The miss of a request that asks for an action which no plan does."""
    for intent in request.intents:
        reason = _UNDONE.get(intent.verb)
        if reason is not None and intent.effect != "read":
            return Miss(reason=reason, detail=" ".join(request.text.split()))
    return None


def _words(request: Request, role: str) -> str:
    """The words of the request that have this role, as they were written; "many" in "how many" only asks."""
    words = lexicon_for(request.language).words
    found: list[str] = []
    asking = False
    for text in (request.text[span.start : span.end] for span in request.spans if span.reason != "space"):
        roles = getattr(words.get(fold(text)), "roles", frozenset[str]())
        if role in roles and not (asking and role == "quantifier"):
            found.append(text)
        asking = "question" in roles
    return ", ".join(found)


def library_faults(library: TemplateLibrary) -> list[str]:
    """What a build refuses: a template with a fault, a form that two templates share, a dead example."""
    faults = [f"{name}: {why}" for name, why in library.refused.items()]
    templates = library.templates
    for template in templates:
        try:
            template.check()
        except TemplateFault as fault:
            faults.append(str(fault))
    sound = [template for template in templates if not any(fault.startswith(f"{template.id}: ") for fault in faults)]
    for at, left in enumerate(sound):
        for right in sound[at + 1 :]:
            faults += _shared(left, right)
    for example in library.examples():
        match = library.match(understand(example.text, example.language))
        if not isinstance(match, Match) or match.template != example.template:
            faults.append(f"{example.template}: the example {example.text!r} does not match it: {match}")
    return faults


def _shared(left: Template, right: Template) -> list[str]:
    faults: list[str] = []
    for language in left.source.wordings:
        ours, theirs = left.automaton(language), right.automaton(language)
        form = shared_form(ours, theirs) if ours is not None and theirs is not None else None
        if form is not None:
            faults.append(f"{left.id}: shares {form!r} with {right.id}")
    return faults
