"""A template: read from TOML, compiled, and bound to a request's slots.

Law: what is signed is bytes, and they are the TOML of `catalog/plans/*.toml` as written. Loading reads the fields;
wordings are compiled when their language is first spoken (all languages at once would cost 80 ms), and `check` looks
at everything there is, at build and in tests.
A template's plan holds `${SLOT:name}` and its parts (`metnos.cache.templates.saying`); after binding it holds none. Text of a
user is escaped, so a quoted `${step1}` stays text.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import msgspec

from metnos.cache.templates.saying import Saying, SlotRule
from metnos.cache.templates.wordings import Automaton, WordingFault, parse_wording
from metnos.plan.jsondata import JSONFault, loads_strict, pointer
from metnos.request.model import Slot

_PARTS = Path(__file__).with_name("parts.toml")
_SLOT = re.compile(r"\$\{SLOT:([a-z_]+)(?:\.(text|said|exact|format|start|end))?\}")
_FALLBACK = re.compile(r'(?<=\?\? )"(?:[^"\\]|\\.)*"(?=\})')
_TITLE = "${TITLE}"
_JOINED = re.compile(r"\$\$\{SLOT:|\$\{SLOT:[a-z_.]+\}[{<]")
_OPENING = re.compile(r"\$+(?=[{<])")
_ID = re.compile(r"[a-z][a-z0-9-]{0,63}")


class TemplateFault(ValueError):
    """A template that cannot be admitted: which one, and why."""

    def __init__(self, template: str, message: str) -> None:
        super().__init__(f"{template}: {message}")
        self.template = template


class Source(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file as written. Wordings and examples: one a line."""

    id: str
    version: str
    description: dict[str, str]
    wordings: dict[str, str]
    examples: dict[str, str]
    plan: str
    """JSON, Framework v1 with open slots."""
    slots: dict[str, SlotRule] = {}
    answer: dict[str, str] = {}
    """`final_answer.text` by language; or, for a table, the two below."""
    title: dict[str, str] = {}
    """What stands over the table, in the place of `${TITLE}`: the answer is that step's text."""
    none: dict[str, str] = {}
    """The answer where the table has no rows (its step has `when`)."""
    effect: str = "read"


class Template:
    """A template as it is used: each language is compiled when it is first spoken."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._rules = _shared_slots() | source.slots
        self._automata: dict[str, Automaton] = {}
        self._plans: dict[str, OpenPlan] = {}

    @property
    def id(self) -> str:
        """The template's own name."""
        return self.source.id

    def automaton(self, language: str) -> Automaton | None:
        """The forms of a language, None if the template does not speak it.

        Raises:
            TemplateFault: its wordings cannot be compiled.
        """
        if language not in self.source.wordings:
            return None
        if language not in self._automata:
            try:
                trees = [parse_wording(line, parts_of(language)) for line in lines(self.source.wordings[language])]
                self._automata[language] = Automaton(trees, language)
            except (WordingFault, ValueError) as error:
                raise TemplateFault(self.id, str(error)) from error
        return self._automata[language]

    def plan(self, language: str) -> OpenPlan:
        """The plan with open slots, with the answer of `language`.

        Raises:
            TemplateFault: the plan is not JSON, a slot is misspelled or not declared, the answer is missing.
        """
        if language not in self._plans:
            self._plans[language] = _open_plan(self.source, self._rules, language)
        return self._plans[language]

    def rule(self, name: str) -> SlotRule:
        """What slot `name` takes."""
        try:
            return self._rules[name]
        except KeyError:
            raise TemplateFault(self.id, f"slot {name!r} is not declared") from None

    def check(self) -> None:
        """Everything that a build must know: each form of each language binds in one way, and binds enough.

        Raises:
            TemplateFault: the first thing that is wrong.
        """
        for language in self.source.wordings:
            automaton, slots = self.automaton(language), self.plan(language).slots
            assert automaton is not None
            if automaton.endings(automaton.start):
                raise TemplateFault(self.id, "a wording that may be empty")
            try:
                endings = {automaton.endings(state) for state in automaton.states()}
            except WordingFault as error:
                raise TemplateFault(self.id, str(error)) from error
            for ways in endings:
                self._check_ways(ways, slots)

    def _check_ways(self, ways: tuple[tuple[str, ...], ...], slots: Mapping[str, SlotRule]) -> None:
        if len(ways) > 1:
            raise TemplateFault(self.id, f"one form binds {' and '.join(map(str, ways))}")
        for way in ways:
            names = [name.removeprefix("+") for name in way]
            missing = [name for name, rule in slots.items() if name not in names and rule.default is None]
            unused = [name for name in names if name not in slots]
            if missing or unused or len(set(names)) != len(names):
                raise TemplateFault(self.id, f"a wording binds {list(names)}; missing: {missing}, unused: {unused}")


class OpenPlan(msgspec.Struct, frozen=True):
    """A plan with `${SLOT:…}` in it, and the rules of the slots that it uses."""

    data: dict[str, Any]
    slots: dict[str, SlotRule]


class Refusal(msgspec.Struct, frozen=True):
    """A value that a slot does not take; `detail` is in signs, for it stands in sentences of every language."""

    slot: str
    detail: str


class Bound(msgspec.Struct, frozen=True):
    plan: dict[str, Any]
    origins: dict[str, str]
    values: dict[str, Any]


@cache
def _parts() -> dict[str, Any]:
    return tomllib.loads(_PARTS.read_text("utf-8"))


@cache
def _shared_slots() -> dict[str, SlotRule]:
    return {name: msgspec.convert(rule, SlotRule) for name, rule in _parts()["slots"].items()}


def parts_of(language: str) -> dict[str, str]:
    """The shared parts of wordings in `language`."""
    return _parts().get(language, {})


def lines(text: str) -> list[str]:
    """The lines of a multi-line value, without empty ones."""
    return [line.strip() for line in text.splitlines() if line.strip()]


# --- reading and compiling ----------------------------------------------------------------------------------


def read_payload(payload: bytes, name: str = "template") -> Template:
    """A template from signed bytes.

    Raises:
        TemplateFault: the payload is no template.
    """
    try:
        source = msgspec.convert(tomllib.loads(payload.decode()), Source)
    except (msgspec.ValidationError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TemplateFault(name, str(error)) from error
    if not _ID.fullmatch(source.id):
        raise TemplateFault(name, f"the id {source.id!r} is not lower-case letters, digits and hyphens")
    return Template(source)


def _open_plan(source: Source, rules: Mapping[str, SlotRule], language: str) -> OpenPlan:
    """The plan of one language: its answer is put into the terminal."""
    try:
        plan = cast("dict[str, Any]", loads_strict(source.plan))
    except JSONFault as fault:
        raise TemplateFault(source.id, f"plan: {fault}") from fault
    text = _answer(source, plan["steps"], language)
    if text is not None:
        plan["steps"].append({"tool": "final_answer", "args": {"text": text}})
    used: dict[str, SlotRule] = {}
    for where, text in strings(plan):
        # A dollar before a slot, or a bracket behind one, could join with the user's text to a reference.
        if "${SLOT:" in _SLOT.sub("", text) or _JOINED.search(text):
            raise TemplateFault(source.id, f"a misspelled slot at {where}: {text!r}")
        for name, _ in _SLOT.findall(text):
            if name not in rules:
                raise TemplateFault(source.id, f"slot {name!r} is not declared")
            used[name] = rules[name]
    return OpenPlan(plan, used)


def _answer(source: Source, steps: list[dict[str, Any]], language: str) -> str | None:
    """The answer's text in `language`; the title is put into the step that shows it."""
    if source.title:
        if language not in source.title or language not in source.none:
            raise TemplateFault(source.id, f"no answer in {language!r}")
        for number, step in enumerate(steps, 1):
            if step["args"].get("title") == _TITLE:
                step["args"]["title"] = source.title[language]
                return f"${{step{number}.text ?? {json.dumps(source.none[language], ensure_ascii=False)}}}"
        raise TemplateFault(source.id, f"no step shows {_TITLE}")
    if not source.answer:
        return None
    if language not in source.answer:
        raise TemplateFault(source.id, f"no answer in {language!r}")
    return source.answer[language].strip()


def strings(data: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """(JSON pointer, text) of every string in `data`, keys aside."""
    for place, value in scalars(data, where):
        if isinstance(value, str):
            yield place, value


def scalars(data: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """(JSON pointer, value) of every scalar and every empty container."""
    if isinstance(data, dict) and data:
        for key, value in cast("dict[str, Any]", data).items():
            yield from scalars(value, pointer(where, key))
    elif isinstance(data, list) and data:
        for index, value in enumerate(cast("list[Any]", data)):
            yield from scalars(value, pointer(where, index))
    else:
        yield where, data


# --- binding ------------------------------------------------------------------------------------------------


def bind(template: Template, language: str, names: Sequence[str], slots: Sequence[Slot]) -> Bound | Refusal:
    """The plan with every slot bound: `names` and `slots` in the order of the form, flags among the names."""
    given = dict(zip((name for name in names if not name.startswith("+")), slots, strict=True))
    flags = frozenset(name[1:] for name in names if name.startswith("+"))
    opened = template.plan(language)
    for name, slot in given.items():
        refusal = _refuse(name, template.rule(name), slot)
        if refusal is not None:
            return refusal
    saying = Saying(opened.slots, given, flags, language)
    values = {name: saying.value(name) for name in opened.slots}
    binder = _Binder(saying)
    plan = binder.fill(opened.data, "")
    origins = {where: binder.origins.get(where, "author") for where, _ in scalars(plan) if "/args/" in where}
    return Bound(plan, origins, values)


def _refuse(name: str, rule: SlotRule, slot: Slot) -> Refusal | None:
    if slot.kind not in rule.kinds:
        return Refusal(name, f"{slot.text}: {slot.kind} ≠ {'|'.join(rule.kinds)}")
    if rule.min is not None and slot.value < rule.min:
        return Refusal(name, f"{slot.text} < {rule.min}")
    if rule.max is not None and slot.value > rule.max:
        return Refusal(name, f"{slot.text} > {rule.max}")
    if isinstance(slot.value, str) and not rule.takes(slot.value):
        return Refusal(name, f"{slot.text}: /")
    if not rule.counts(slot):
        return Refusal(name, f"{slot.text}: {slot.value}")
    if rule.formats and not rule.format_of(slot.value):
        return Refusal(name, f"{slot.text} ≠ {', '.join(filter(None, rule.formats))}")
    return None


def escape(text: str) -> str:
    """`text` as literal text of a plan: dollars that would open a reference are doubled."""
    return _OPENING.sub(lambda found: found[0] * 2, text) if "$" in text else text


class _Binder:
    """Walks a plan once; keeps the pointers that hold a value of the user."""

    def __init__(self, saying: Saying) -> None:
        self.saying = saying
        self.origins: dict[str, str] = {}

    def fill(self, data: Any, where: str) -> Any:
        if isinstance(data, str):
            return self._text(data, where) if "${SLOT:" in data else data
        if isinstance(data, dict):
            return {key: self.fill(value, pointer(where, key)) for key, value in cast("dict[str, Any]", data).items()}
        if isinstance(data, list):
            return [self.fill(value, pointer(where, index)) for index, value in enumerate(cast("list[Any]", data))]
        return data

    def _text(self, text: str, where: str) -> Any:
        saying = self.saying
        if any(saying.is_given(name) for name, _ in _SLOT.findall(text)):
            self.origins[where] = "user"
        whole = _SLOT.fullmatch(text)
        if whole is not None:
            value = saying.part(whole[1], whole[2])
            return value if saying.is_period(whole[1]) or not isinstance(value, str) else escape(value)
        # Inside a fallback stands a JSON string, in which a dollar is a dollar.
        pieces: list[str] = []
        at = 0
        for found in _FALLBACK.finditer(text):
            pieces.append(_SLOT.sub(self._inside, text[at : found.start()]))
            pieces.append(_SLOT.sub(self._in_json, found[0]))
            at = found.end()
        return "".join((*pieces, _SLOT.sub(self._inside, text[at:])))

    def _inside(self, found: re.Match[str]) -> str:
        value = self.saying.part(found[1], found[2])
        if found[2] in {"start", "end"} and self.saying.is_period(found[1]):
            return str(value)
        return escape(_spelled(value))

    def _in_json(self, found: re.Match[str]) -> str:
        return json.dumps(_spelled(self.saying.part(found[1], found[2])), ensure_ascii=False)[1:-1]


def _spelled(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
