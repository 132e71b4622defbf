"""Whether a plan that was right once is right whenever the same is asked: what it holds that nobody said.

Law: a plan may be kept only if all in it that is not the request's own is as true tomorrow, elsewhere and in another
conversation. Doubt is a no: it costs a proposal, and a wrong plan served costs more. Nothing here judges whether a
plan is right; the turn that succeeded did. What is held against a plan has a name of `HELD` (docs/adr/0020).

| what could differ | what is done |
|---|---|
| the time: a literal that was made from it ("yesterday" → `2026-11-29`) | `time-bound`, not kept |
| the place: a path that nobody said | kept for this folder, home and roots alone (`Depends.place`) |
| what was said before: "delete it", "again" | `points-back`, not kept |
| what a person handed in or answered: `${INPUT:…}`, earlier plans | `needs-turn`, not kept |
| the world: an answer with a figure that no step gave, a plan with no step at all | `invented-answer`, `no-steps`, not kept |
| who may read it: a literal in an argument that its contract calls sensitive | `sensitive`, not kept |
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args
from unicodedata import normalize

import msgspec

from metnos.cache.templates.template import scalars
from metnos.plan.jsondata import canonical
from metnos.request.lexicon import lexicon_for
from metnos.request.tokens import fold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.cache.model import Place
    from metnos.contracts.catalog import Catalog
    from metnos.contracts.model import Contract
    from metnos.request.model import Request

Against = Literal["no-steps", "time-bound", "points-back", "needs-turn", "invented-answer", "sensitive", "too-large"]
AGAINST: tuple[Against, ...] = get_args(Against)
MAX_ENTRY = 64 * 1024
"""Bytes of a plan; a longer one is not kept."""

_DATE = re.compile(
    r"\b\d{4}-\d{1,2}(?:-\d{1,2})?\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b|\b\d{1,2}:\d{2}(?::\d{2})?\b|\b(?:19|20)\d{2}\b"
)
_EPOCHS = ((10**9, 4 * 10**9), (10**12, 4 * 10**12), (10**15, 4 * 10**15))
"""Seconds, milliseconds and microseconds since 1970, from 2001 on."""
_WORD = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_OF_TURN = re.compile(r"\$[{<](?:INPUT:|plan\d)")
_REFERENCE = re.compile(r"\$[{<]")
_DURATION = re.compile(r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
_SECONDS = (31_536_000, 2_592_000, 604_800, 86_400, 3_600, 60, 1)
_TIMED = frozenset(("date", "period"))


class Standing(msgspec.Struct, frozen=True):
    """What is held against a plan (empty: nothing), and whether it names a place that nobody said."""

    against: Against | Literal[""]
    detail: str = ""
    placed: bool = False


class _Words(msgspec.Struct, frozen=True):
    back: frozenset[str]
    pronouns: frozenset[str]
    stands: frozenset[str]
    clitics: tuple[str, ...]
    time: frozenset[str]
    calendar: frozenset[str]


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("standing.toml").read_text("utf-8"))


@cache
def _words(language: str) -> _Words:
    return msgspec.convert(_data().get(language, _data()["en"]), _Words)


@cache
def _calendar() -> frozenset[str]:
    """Days and months in every language: a model may write in another than it is asked in."""
    return frozenset(word for data in _data().values() for word in data.get("calendar", ()))


@cache
def _time_arguments() -> frozenset[str]:
    return frozenset(_data()["arguments"]["time"])


def judge(request: Request, plan: dict[str, Any], catalog: Catalog, place: Place) -> Standing:
    """Look at a plan that succeeded for `request`; `plan` as it was accepted."""
    written = canonical(plan)
    if len(written) > MAX_ENTRY:
        return Standing("too-large", str(len(written)))
    text = written.decode()
    if _OF_TURN.search(text):
        return Standing("needs-turn")
    back = _points_back(request)
    if back:
        return Standing("points-back", back)
    steps = [step for step in plan["steps"] if catalog.get(step["tool"]) is not None]
    if not steps:
        return Standing("no-steps")
    said = _Said(request)
    found = _of_time(said, text) or _of_steps(said, steps, catalog) or _of_answer(said, plan)
    if found is not None:
        return found
    return Standing("", placed=any(_is_placed(said, step, catalog, place) for step in steps))


class _Said:
    """What the person said, as far as a literal can be compared with it."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.text = _plain(request.text)
        self.words = frozenset(_WORD.findall(self.text))
        self.numbers: set[str] = {found[0] for found in _DIGITS.finditer(request.text)}
        self.values: set[str] = set()
        self.symbolic: list[str] = []
        """Texts of dates and periods that are not dates by themselves."""
        for slot in request.slots:
            self._take(slot.kind, slot.text, slot.value)
        self.timed = bool(
            any(slot.kind in _TIMED for slot in request.slots) or self.words & _words(request.language).time
        )

    def _take(self, kind: str, text: str, value: Any) -> None:
        for one in value if isinstance(value, list | tuple) else (value,):  # pyright: ignore[reportUnknownVariableType]
            spelled = str(one)  # pyright: ignore[reportUnknownArgumentType]
            self.values.add(_plain(spelled))
            self.numbers.update(found[0] for found in _DIGITS.finditer(spelled))
            if kind in _TIMED and _DATE.search(spelled) is None:
                self.symbolic.append(_plain(text))
            duration = _DURATION.fullmatch(spelled)
            if duration is not None and spelled != "P":
                self.numbers.update(_units(duration))

    def holds(self, literal: str) -> bool:
        """Whether this text, or this number, was said."""
        folded = _plain(literal)
        return folded in self.values or _stands_in(folded, self.text)

    def number(self, value: float) -> bool:
        """Whether this number was said."""
        return str(int(value) if value == int(value) else value) in self.numbers


def _plain(text: str) -> str:
    """Case, width and white space aside."""
    return " ".join(normalize("NFKC", text).casefold().split())


def _stands_in(literal: str, text: str) -> bool:
    """Whether a literal stands in a text by itself, not as a part of a longer word or number."""
    at = text.find(literal) if literal else -1
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(literal) : at + len(literal) + 1]
        if not (before.isalnum() and literal[0].isalnum()) and not (after.isalnum() and literal[-1].isalnum()):
            return True
        at = text.find(literal, at + 1)
    return False


def _units(duration: re.Match[str]) -> Iterator[str]:
    """A duration as a number of each unit that it is a whole number of."""
    seconds = sum(int(part or 0) * unit for part, unit in zip(duration.groups(), _SECONDS, strict=True))
    yield from (str(seconds // unit) for unit in _SECONDS if seconds and seconds % unit == 0)


def _points_back(request: Request) -> str:
    """The word that means something said before; empty: none."""
    words = _words(request.language)
    known = lexicon_for(request.language).words
    named = False
    texts = [
        (fold(request.text[span.start : span.end]), span.reason) for span in request.spans if span.reason != "space"
    ]
    for at, (word, reason) in enumerate(texts):
        if reason.startswith("slot("):
            named = True
            continue
        entry = known.get(word)
        following = texts[at + 1][0] if at + 1 < len(texts) else ""
        if word in words.back and following not in words.stands:
            return word
        if word in words.pronouns and not named and following not in words.stands:
            return word
        own = entry is None or entry.canonical == word
        if not named and own and _is_verb_with_pronoun(word, words.clitics, known):
            return word
        named = named or bool(entry is not None and entry.object) or (entry is None and reason == "unknown")
    return ""


def _is_verb_with_pronoun(word: str, clitics: tuple[str, ...], known: Any) -> bool:
    for clitic in clitics:
        bare = word.removesuffix(clitic)
        stems = (known.get(bare), known.get(f"{bare}e")) if word.endswith(clitic) else ()  # "cancellalo", "cancellarlo"
        if any(stem is not None and stem.verb for stem in stems):
            return True
    return False


def _of_time(said: _Said, text: str) -> Standing | None:
    """Dates, times and days that nobody said; a relative one that the plan says in no way."""
    for found in _DATE.finditer(text):
        if not said.holds(found[0]) and found[0] not in said.numbers:
            return Standing("time-bound", found[0])
    for word in _calendar() & frozenset(_WORD.findall(_plain(text))):
        if word not in said.words:
            return Standing("time-bound", word)
    folded = _plain(text)
    for symbolic in said.symbolic:
        if "RUNTIME:" not in text and symbolic not in folded:
            return Standing("time-bound", symbolic)
    return None


def _of_steps(said: _Said, steps: list[dict[str, Any]], catalog: Catalog) -> Standing | None:
    for step in steps:
        contract = catalog.get(step["tool"])
        assert contract is not None
        for name, value in step["args"].items():
            if _is_default(contract, name, value):
                continue
            if name in contract.sensitive and any(_is_literal(one) for _, one in scalars(value)):
                return Standing("sensitive", f"{step['tool']}.{name}")
            timed = said.timed or bool(_time_arguments().intersection(re.split(r"[^a-z]+", name.lower())))
            for where, one in scalars(value, name):
                if _is_number(one) and not said.number(one) and (timed or _is_epoch(one)) and name != "from_step":
                    return Standing("time-bound", f"{step['tool']}.{where}: {one}")
    return None


def _of_answer(said: _Said, plan: dict[str, Any]) -> Standing | None:
    """A figure in the answer that no step gave and nobody said."""
    args: Any = plan["steps"][-1].get("args") or {}
    if plan["steps"][-1]["tool"] != "final_answer":
        return None
    for where, value in scalars(args):
        if _is_number(value) and not said.number(value):
            return Standing("invented-answer", f"{where}: {value}")
        if isinstance(value, str) and _REFERENCE.search(value) is None:
            for found in _DIGITS.finditer(value):
                if found[0] not in said.numbers:
                    return Standing("invented-answer", found[0])
    return None


def _is_placed(said: _Said, step: dict[str, Any], catalog: Catalog, place: Place) -> bool:
    """Whether a step names a path that nobody said."""
    contract = catalog.get(step["tool"])
    assert contract is not None
    paths: set[str | None] = {one.arg for one in contract.resources or () if one.kind == "root"}
    paths.update(contract.targets)
    here = [one for one in (place.folder, place.home, *place.roots) if len(one) > 1]
    args: dict[str, Any] = step["args"]
    for name, value in args.items():
        for _, one in scalars(value):
            if not isinstance(one, str) or one in {"", "."} or said.holds(one):
                continue
            if one.startswith(("/", "~")) or any(path in one for path in here):
                return True
            if name in paths and _is_literal(one) and not _is_default(contract, name, value):
                return True
    return False


def _is_default(contract: Contract, name: str, value: Any) -> bool:
    schema: Any = contract.args.get("properties", {}).get(name, {})
    return isinstance(schema, dict) and "default" in schema and canonical(schema["default"]) == canonical(value)  # pyright: ignore[reportUnknownArgumentType]


def _is_literal(value: Any) -> bool:
    """Whether something is written there, and not only referred to."""
    return not (isinstance(value, str) and value.startswith(("${", "$<")) and value.count("$") == 1)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_epoch(value: float) -> bool:
    return any(low <= abs(value) < high for low, high in _EPOCHS)
