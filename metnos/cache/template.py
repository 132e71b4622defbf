"""A template: read from TOML, compiled, and bound to a request's slots.

Law: what is signed is bytes; a payload is the TOML of `catalog/plans/*.toml` as written, or the compiled JSON that
`compile_template` makes of it (which carries the whole source and is compiled again if the rule data have changed).
A template's plan holds `${SLOT:name}`, `${SLOT:name.text}` (the words of the user, or the default's own) and
`${SLOT:name.start}` / `.end` of a period; after binding it holds none. Text of a user is escaped, so a quoted
`${step1}` stays text.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import msgspec

from metnos.cache.wordings import Automaton, WordingFault, compile_wordings, parse_wording
from metnos.plan.jsondata import JSONFault, loads_strict, pointer
from metnos.request.lexicon import lexicon_digest, lexicon_for
from metnos.request.model import Slot

FORMAT = "metnos.template/1"
_PARTS = Path(__file__).with_name("parts.toml")
_SLOT = re.compile(r"\$\{SLOT:([a-z_]+)(?:\.(text|start|end))?\}")
_OPENING = re.compile(r"\$+(?=[{<])")
_ID = re.compile(r"[a-z][a-z0-9-]{0,63}")


class TemplateFault(ValueError):
    """A template that cannot be admitted: which one, and why."""

    def __init__(self, template: str, message: str) -> None:
        super().__init__(f"{template}: {message}")
        self.template = template


class SlotRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a slot takes: kind (or kinds), the default where it may be left out, and bounds of a number."""

    kind: str | tuple[str, ...]
    default: Any = None
    text: dict[str, str] = {}
    """How the default reads, by language."""
    min: int | None = None
    max: int | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        return (self.kind,) if isinstance(self.kind, str) else self.kind


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
    """`final_answer.text` by language."""
    effect: str = "read"


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """Ready to match."""

    format: str = FORMAT
    rules: str
    """Digest of the rule data it was compiled with."""
    source: Source
    slots: dict[str, SlotRule]
    plans: dict[str, dict[str, Any]]
    """Language → plan with open slots."""
    automata: dict[str, Automaton]


class Refusal(msgspec.Struct, frozen=True):
    """A value that a slot does not take."""

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
def rules_digest() -> str:
    """`sha256:…` over the rule data that a compiled template depends on."""
    parts = _PARTS.read_bytes().replace(b"\r\n", b"\n")
    return "sha256:" + hashlib.sha256(lexicon_digest().encode() + parts).hexdigest()


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
        if not payload.lstrip().startswith(b"{"):
            return _compile(msgspec.convert(tomllib.loads(payload.decode()), Source, strict=True))
        template = msgspec.json.decode(payload, type=Template)
        if template.format != FORMAT:
            raise TemplateFault(name, f"format {template.format!r} is not known here")
        return template if template.rules == rules_digest() else _compile(template.source)
    except (msgspec.MsgspecError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TemplateFault(name, str(error)) from error


def compile_template(toml: bytes, name: str = "template") -> bytes:
    """The compiled payload of a TOML file, to be signed: same template, loads some 20 times faster.

    Raises:
        TemplateFault: the file is no template.
    """
    return msgspec.json.encode(read_payload(toml, name), order="sorted")


def _compile(source: Source) -> Template:
    if not _ID.fullmatch(source.id):
        raise TemplateFault(source.id, "an id is lower-case letters, digits and hyphens")
    shared = _parts()
    rules = {name: msgspec.convert(rule, SlotRule) for name, rule in shared["slots"].items()} | source.slots
    try:
        automata = {
            language: compile_wordings(
                [parse_wording(line, shared[language]) for line in lines(text)], lexicon_for(language)
            )
            for language, text in source.wordings.items()
        }
    except (WordingFault, ValueError, KeyError) as error:
        raise TemplateFault(source.id, str(error)) from error
    plans = {language: _plan(source, language) for language in automata}
    used = {name for plan in plans.values() for _, text in strings(plan) for name, _ in _SLOT.findall(text)}
    named = {name for automaton in automata.values() for names in automaton.accept.values() for name in names}
    for name in sorted(used | named):
        if name not in rules:
            raise TemplateFault(source.id, f"slot {name!r} is not declared")
    slots = {name: rules[name] for name in sorted(used | named)}
    _check_binding(source.id, automata, slots)
    return Template(rules=rules_digest(), source=source, slots=slots, plans=plans, automata=automata)


def _plan(source: Source, language: str) -> dict[str, Any]:
    """The plan of one language: its answer is put into the terminal."""
    try:
        plan = cast("dict[str, Any]", loads_strict(source.plan))
    except JSONFault as fault:
        raise TemplateFault(source.id, f"plan: {fault}") from fault
    if source.answer:
        if language not in source.answer:
            raise TemplateFault(source.id, f"no answer in {language!r}")
        plan["steps"].append({"tool": "final_answer", "args": {"text": source.answer[language].strip()}})
    for where, text in strings(plan):
        rest = _SLOT.sub("", text)
        # A dollar before a slot, or a bracket behind one, could join with the user's text to a reference.
        if "${SLOT:" in rest or re.search(r"\$\$\{SLOT:|\$\{SLOT:[a-z_.]+\}[{<]", text):
            raise TemplateFault(source.id, f"a misspelled slot at {where}: {text!r}")
    return plan


def _check_binding(template: str, automata: Mapping[str, Automaton], slots: Mapping[str, SlotRule]) -> None:
    """Every way to say it binds each slot once or leaves it to its default."""
    for automaton in automata.values():
        for names in automaton.accept.values():
            missing = [name for name, rule in slots.items() if name not in names and rule.default is None]
            if missing or len(set(names)) != len(names):
                raise TemplateFault(template, f"a wording binds {list(names)} and leaves out {missing}")


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
    """The plan with every slot bound: `names` and `slots` in the order of the form."""
    given = dict(zip(names, slots, strict=True))
    for name, slot in given.items():
        refusal = _refuse(name, template.slots[name], slot)
        if refusal is not None:
            return refusal
    values = {name: given[name].value if name in given else rule.default for name, rule in template.slots.items()}
    binder = _Binder(template.slots, given, language)
    plan = binder.fill(template.plans[language], "")
    origins = {
        where: binder.origins.get(where, "author")
        for where, _ in scalars(plan)
        if "/args/" in where
    }
    return Bound(plan, origins, values)


def _refuse(name: str, rule: SlotRule, slot: Slot) -> Refusal | None:
    if slot.kind not in rule.kinds:
        return Refusal(name, f"{slot.text!r} is a {slot.kind}, not a {' or '.join(rule.kinds)}")
    if rule.min is not None and slot.value < rule.min:
        return Refusal(name, f"{slot.text!r} is less than {rule.min}")
    if rule.max is not None and slot.value > rule.max:
        return Refusal(name, f"{slot.text!r} is more than {rule.max}")
    return None


def escape(text: str) -> str:
    """`text` as literal text of a plan: dollars that would open a reference are doubled."""
    return _OPENING.sub(lambda found: found[0] * 2, text) if "$" in text else text


class _Binder:
    """Walks a plan once; keeps the pointers that hold a value of the user."""

    def __init__(self, rules: Mapping[str, SlotRule], given: Mapping[str, Slot], language: str) -> None:
        self.rules = rules
        self.given = given
        self.language = language
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
        if any(name in self.given for name, _ in _SLOT.findall(text)):
            self.origins[where] = "user"
        whole = _SLOT.fullmatch(text)
        if whole is not None:
            value = self._value(whole[1], whole[2])
            return value if self._is_period(whole[1]) or not isinstance(value, str) else escape(value)
        return _SLOT.sub(lambda found: self._inside(found[1], found[2]), text)

    def _inside(self, name: str, part: str | None) -> str:
        value = self._value(name, part)
        if part in {"start", "end"} and self._is_period(name):
            return str(value)
        return escape(value if isinstance(value, str) else msgspec.json.encode(value).decode())

    def _is_period(self, name: str) -> bool:
        return name in self.given and self.given[name].kind == "period"

    def _value(self, name: str, part: str | None) -> Any:
        slot, rule = self.given.get(name), self.rules[name]
        if part == "text":
            return slot.text if slot is not None else rule.text.get(self.language, rule.default)
        if slot is None:
            return rule.default
        if slot.kind == "period":
            return f"${{RUNTIME:{slot.value}{'.' + part if part else ''}}}"
        return slot.value
