"""What of one owner is left in a general plan: the proof that is asked for before an entry is shared.

Law: it fails closed. A word counts as nobody's only if the shipped lexicon of the language has it, or a contract of
the catalog (names of tools, arguments, fields; values of an enum; defaults) at the very place where the contract says
it; everything else remains, whatever it means: unknown words, numbers but 0 and 1, letters in odd cases, marks in odd
runs, a list of truths. Every field of the `General` is looked at, and the words of the key.

What words of the language say together nobody can check here; so the operator has to switch sharing on as well, and
fixed values are never shared.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any, cast, get_args

from metnos.cache.generalise.conversions import CONVERSIONS, REFERENCES
from metnos.cache.generalise.leaves import Leaf, leaves
from metnos.cache.generalise.locate import bounds
from metnos.cache.generalise.shape import apart_words
from metnos.cache.generalise.uses import General, SlotUse
from metnos.contracts.catalog import Catalog
from metnos.plan.jsondata import canonical, is_list, is_object
from metnos.plan.parse import ROLES
from metnos.plan.references import Every, Index, Key, Reference, SlotTarget, StepTarget
from metnos.plan.spelling import parse_string
from metnos.plan.terminals import TERMINALS
from metnos.request.lexicon import Lexicon, lexicons
from metnos.request.model import Request, SlotKind
from metnos.request.tokens import fold
from metnos.values.runtime import runtime_schema

_SLOT = re.compile(r"\$\{SLOT:s([0-9]+)\}")
_WORD = re.compile(r"[^\W\d_]+['’]?|[0-9]+|_")
_ALLOWED = re.compile(r"[^\W\d_ ]|[ .,;:!?()\"'’\-/*=<>×\[\]{}]", re.UNICODE)
_RUN = re.compile(r"[^\w\s](?:\s*[^\w\s]){3,}|\s{2,}|_")
_MARKS = frozenset(
    (
        "plain",
        "hidden",
        "folder",
        "folder/",
        "simple",
        "path",
        "name",
        "n",
        "0",
        "1",
        "bytes",
        "iso",
        "yearly",
        "relative",
    )
)
_KINDS = frozenset(get_args(SlotKind))
_FORM = re.compile(r"\{([a-z]+)\}")
_SCHEMA_WORDS = frozenset((
    "type", "string", "integer", "number", "boolean", "array", "object", "properties", "items", "required", "maxlength",
    "minlength", "enum",
))  # fmt: skip
_TELLING = 3
"""Letters from which a value of the request is looked for as it is."""


def belongs_to_nobody(general: General, request: Request, wording: str, catalog: Catalog) -> tuple[str, ...]:
    """What remains of an owner, as `pointer: text`; empty if nothing does, and the entry may be shared.

    Args:
        general: The general plan.
        request: The request from which it was learned.
        wording: The form in the key.
        catalog: The contracts of the plan's tools.
    """
    lexicon = next((found for found in lexicons() if found.language == general.language), None)
    if lexicon is None:
        return (f"/language: {general.language}",)
    check = _Check(general, lexicon, catalog)
    return tuple(dict.fromkeys((*check.wording(wording), *check.fields(), *check.plan(), *check.values(request))))


class _Check:
    def __init__(self, general: General, lexicon: Lexicon, catalog: Catalog) -> None:
        self.general = general
        self.lexicon = lexicon
        self.catalog = catalog
        self.words = _words_of_lexicon(lexicon)
        self.fields_of_results = _fields(general.plan, catalog)
        self.names = {
            word for name in (*_names(general.plan, catalog), *self.fields_of_results) for word in _parts(name)
        }

    # --- the key and the fields of the struct ---------------------------------------------------------------

    def wording(self, wording: str) -> Iterator[str]:
        """The form: words of the lexicon, marks, and slots."""
        for token in wording.split(" "):
            slot = _FORM.fullmatch(token)
            known = slot[1] in _KINDS if slot else token in self.words or token in {",", ";", ":", "(", ")", ""}
            if not known:
                yield f"wording: {token}"

    def fields(self) -> Iterator[str]:
        """Everything but the plan."""
        general = self.general
        yield from (f"/fixed/{index}: {value}" for index, value in general.fixed.items())
        yield from (f"/fixed_texts/{index}: {said}" for index, said in general.fixed_texts.items())
        yield from (f"/kinds: {kind}" for kind in general.kinds if kind not in _KINDS)
        if general.apart != apart_words(general.plan, self.catalog):
            yield "/apart: other words than those of the catalog"
        types = {ending for glob in self.lexicon.types.values() if (ending := glob.removeprefix("*"))}
        for index, shapes in general.shapes.items():
            for mark in " ".join(shapes).split(" "):
                if mark not in _MARKS and mark not in types and mark not in general.apart:
                    yield f"/shapes/{index}: {mark}"
        leaves_of_plan = {leaf.place: leaf for leaf in leaves(general.plan, self.catalog)}
        for use in general.uses:
            yield from self._use(use, leaves_of_plan)
        yield from (f"/free_literals: {place}" for place in general.free_literals if place not in leaves_of_plan)

    def _use(self, use: SlotUse, known: dict[str, Leaf]) -> Iterator[str]:
        if not 0 <= use.index < len(self.general.kinds) or use.kind != self.general.kinds[use.index]:
            yield f"/uses: {use.index} {use.kind}"
        for reading in use.readings:
            for constant in reading[::2]:
                yield from self._text(constant, f"/uses/{use.index}")
            for conversion in reading[1::2]:
                name, _, parameter = conversion.partition(":")
                if name not in CONVERSIONS and name not in REFERENCES and name not in {"word", "exact"}:
                    yield f"/uses/{use.index}: {conversion}"
                yield from self._text(parameter, f"/uses/{use.index}")
        for place in use.places:
            leaf = known.get(place)
            if leaf is None:
                yield f"/uses/{use.index}: {place}"
            elif (use.least, use.most) not in {(None, None), bounds(leaf, use.mode)}:
                yield f"/uses/{use.index}: {use.least}..{use.most}"

    # --- the plan -------------------------------------------------------------------------------------------

    def plan(self) -> Iterator[str]:
        """Every leaf of the plan, keys included."""
        for key in self.general.plan:
            if key not in {"steps", "fillers"}:
                yield f"/{key}: {key}"
        for leaf in leaves(self.general.plan, self.catalog):
            for remains in self._leaf(leaf):
                yield f"{leaf.place}: {remains}"

    def _leaf(self, leaf: Leaf) -> Iterator[str]:
        value = leaf.value
        if leaf.role == "list" or leaf.is_default:
            return
        if leaf.role == "position":
            if not self._is_position(leaf):
                yield str(value)
        elif leaf.role in {"word", "key"}:
            if not self._is_name(leaf):
                yield str(value)
        elif isinstance(value, str):
            yield from self._string(value, plain=leaf.role == "plain")
        elif isinstance(value, bool) or value not in {0, 1} or not _is_argument(leaf.place):
            yield str(value)

    def _is_position(self, leaf: Leaf) -> bool:
        """A step number, or a flag that the contract has; truths in a row could say anything."""
        tokens = leaf.place.split("/")
        if tokens[1] == "fillers":
            return False
        if tokens[3] == "when" or tokens[4:5] in (["from_step"], ["from_steps"]):
            # More than there are steps could be told apart by nobody, and mean something.
            steps = range(1, len(self.general.plan["steps"]) + 1)
            return isinstance(leaf.value, int) and not isinstance(leaf.value, bool) and leaf.value in steps
        contract = self.catalog.get(self.general.plan["steps"][int(tokens[2])]["tool"])
        if contract is None or tokens[3] != "args" or len(tokens) != 5:
            return False
        schema: Any = contract.args.get("properties", {}).get(tokens[4], {})
        return isinstance(leaf.value, bool) and is_object(schema) and schema.get("type") == "boolean"

    def _is_name(self, leaf: Leaf) -> bool:
        tokens = leaf.place.split("/")
        value = str(leaf.value)
        if tokens[1] == "fillers":
            return value.casefold() in _SCHEMA_WORDS or value in ROLES or self._is_vocabulary(value)
        if tokens[3:] == ["tool"]:
            return value in TERMINALS or self.catalog.get(value) is not None
        if tokens[3:] == ["on_error"]:
            return value in {"stop", "continue"}
        enum: Any = leaf.schema.get("enum", ())
        return value in enum or value in self.fields_of_results or self._is_vocabulary(value)

    def _is_vocabulary(self, value: str) -> bool:
        return not list(self._text(value.replace("_", " "), ""))

    def _string(self, text: str, *, plain: bool) -> Iterator[str]:
        if plain:
            yield from self._text(text, "")
            return
        for part in parse_string(text):
            if isinstance(part, str):
                yield from self._text(part, "")
            else:
                yield from self._reference(part)

    def _reference(self, reference: Reference) -> Iterator[str]:
        target = reference.target
        if isinstance(target, StepTarget):
            ids = {step.get("id") for step in self.general.plan["steps"]}
            count = len(self.general.plan["steps"])
            sound = target.plan is None and (target.step in ids or target.step in range(1, count + 1))
        elif isinstance(target, SlotTarget):
            sound = _SLOT.fullmatch(f"${{SLOT:{target.name}}}") is not None and int(target.name[1:]) < len(
                self.general.uses
            )
        elif hasattr(target, "key"):
            sound = runtime_schema(cast("Any", target).key) is not None
        else:
            # A filler's name is a key of the plan and looked at there; answers of dialogs are never generalised.
            sound = getattr(target, "name", "item") in {*self.general.plan.get("fillers", {}), "item"}
        if not sound:
            yield str(target)
        for segment in reference.path:
            if isinstance(segment, Key):
                if segment.name not in self.fields_of_results:
                    yield segment.name
            elif isinstance(segment, Index) and segment.number > 1:
                yield str(segment.number)
            else:
                assert isinstance(segment, Every | Index)
        if isinstance(reference.fallback, str):
            yield from self._text(reference.fallback, "")
        elif reference.has_fallback and reference.fallback not in (None, 0, False, [], {}):
            yield str(reference.fallback)

    def _text(self, text: str, where: str) -> Iterator[str]:
        """What of a passage is not words of the language or of the contracts, slots aside."""
        at = 0
        for found in _SLOT.finditer(text):
            yield from self._passage(text[at : found.start()], where)
            if int(found[1]) >= len(self.general.uses):
                yield f"{where}: {found[0]}"
            at = found.end()
        yield from self._passage(text[at:], where)

    def _passage(self, text: str, where: str) -> Iterator[str]:
        text = text.strip(" ")
        prefix = f"{where}: " if where else ""
        odd = [character for character in text if not _ALLOWED.fullmatch(character)]
        if odd or _RUN.search(text) or unicodedata.normalize("NFC", text) != text:
            yield f"{prefix}{text}"
            return
        for found in _WORD.finditer(text):
            word = found[0]
            folded = fold(word)
            cased = word.islower() or word.isupper() or (word[0].isupper() and word[1:].islower())
            if not cased or not {folded, folded.rstrip("'")} & (self.words | self.names):
                yield f"{prefix}{word}"

    # --- a second look ----------------------------------------------------------------------------------------

    def values(self, request: Request) -> Iterator[str]:
        """No value of the request stands anywhere as it was said, whatever the rules above think of the place."""
        whole = canonical(_as_data(self.general)).decode().casefold()
        for slot in request.slots:
            for text in {slot.text.casefold(), str(slot.value).casefold()}:
                known = all(word in self.words | self.names for word in _parts(text))
                if len(text) >= _TELLING and not known and text in whole:
                    yield f"value: {text}"
        for span in request.spans:
            if span.reason == "unknown":
                yield f"wording: {request.text[span.start : span.end]}"


def _as_data(general: General) -> Any:
    """The plan and the readings; contracts' bounds, shapes and pointers are looked at elsewhere."""
    return [general.plan, [[list(reading) for reading in use.readings] for use in general.uses]]


def _words_of_lexicon(lexicon: Lexicon) -> frozenset[str]:
    return frozenset(part for word, entry in lexicon.words.items() for part in (word, *entry.canonical.split(" ")))


def _names(plan: dict[str, Any], catalog: Catalog) -> Iterator[str]:
    """Names that the contracts of the plan's tools bring."""
    for step in plan["steps"]:
        contract = catalog.get(step["tool"])
        if contract is not None:
            yield contract.name
            yield from contract.args.get("properties", {})


def _fields(plan: dict[str, Any], catalog: Catalog) -> frozenset[str]:
    """Fields of all results of the plan's tools."""
    found: set[str] = set()
    for step in plan["steps"]:
        contract = catalog.get(step["tool"])
        if contract is not None:
            found.update(_properties(contract.result))
    return frozenset(found)


def _properties(schema: Any) -> Iterator[str]:
    if is_object(schema):
        properties = schema.get("properties", {})
        if is_object(properties):
            yield from properties
        for value in schema.values():
            yield from _properties(value)
    elif is_list(schema):
        for value in schema:
            yield from _properties(value)


def _parts(name: str) -> list[str]:
    return [part for part in re.split(r"[\W_]+", name.casefold()) if part]


def _is_argument(place: str) -> bool:
    """An argument as a whole, no item of a list."""
    tokens = place.split("/")
    return tokens[3:4] == ["args"] and len(tokens) == 5
