"""Keys of the caches: digests over all that must be equal, and nothing that can be compared afterwards.

Law: a key is `KIND:` and the SHA-256 of canonical JSON; two requests have one key only if every part is equal, so
nothing is ever found by likeness. Executors, families, rules, policy, channel and place are not in it: they are compared
at each use, so that a miss can say which one differed (docs/adr/0019).

| kind | leads to |
|---|---|
| `l0` | the plan of one request, slot values included |
| `l1` | the plan of a form, with the values of the slots that stay |
| `shape` | which slots stay, for a form |
| `held` | successes of a form that wait for a second one |
| `anti` | a plan that was bad for a request or a form |
| `near` | what confirmations said of a plan's near matches |
| `uses` | how often entries were served; decides only what is evicted |
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from metnos.cache.entries.entry import Against, Entry, Held, Kept, Mark, Outcomes, Shape
from metnos.plan.jsondata import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metnos.cache.entries.entry import Grade
    from metnos.request.model import Request, Slot, Span

KINDS: tuple[str, ...] = ("l0", "l1", "shape", "held", "anti", "near", "uses")
KEY = re.compile(rf"({'|'.join(KINDS)}):[0-9a-f]{{64}}")
GRADES: tuple[Grade, ...] = ("strict", "loose")
"""Strict first."""
DATABASE = "cache.db"
"""What diskcache calls the file that rows are kept in."""
_DOMAIN = "metnos.cache-key/1"
_CAPITALS = re.compile(r"\b[A-ZÀÈÉÌÒÙ]{2,}\b")
_INNER = re.compile(r"[^\s.?!…:]\s+[A-ZÀÈÉÌÒÙ][a-zàèéìòù]")
"""A capital that begins a word and no sentence."""
_TITLED = re.compile(r"[A-ZÀÈÉÌÒÙ][a-zàèéìòù]+")
_END = "?!…."
_BEGINS = "?!….:"
_SURE = frozenset((str, int, bool, type(None)))


def made(kind: str, *parts: Any) -> str:
    """`KIND:<hex>` over the parts, which are JSON data."""
    return f"{kind}:{sha256(canonical([_DOMAIN, kind, *parts])).hexdigest()}"


def form_of(request: Request, grade: Grade) -> str:
    """The normal form of that grade, with the words that the lexicon lacks as they were written.

    The form folds case, which a word that nobody knows may need (a name, a file), but for the capital that begins a
    sentence; and so may a known one that stands in capitals, or begins with one inside a sentence ("May", "Will"), among
    others that do not.
    """
    return _bare(request, grade) + _as_it_stands(request)


def forms_of(request: Request) -> dict[Grade, str]:
    """`form_of` for each grade; what is kept as it stands is the same in all of them."""
    kept = _as_it_stands(request)
    return {grade: _bare(request, grade) + kept for grade in GRADES}


def _bare(request: Request, grade: Grade) -> str:
    return request.normal_form if grade == "strict" else (request.loose_form or request.normal_form)


def _as_it_stands(request: Request) -> str:
    """What is added to a form: words whose capitals count, and those that nobody knows."""
    form, text = "", request.text
    if _CAPITALS.search(text) is not None and not text.isupper():
        # "IT" is not "it", nor is "US" "us"; where all is in capitals they say nothing.
        shouted = [text[s.start : s.end] for s in request.spans if not s.reason.startswith("slot(")]
        shouted = [word for word in shouted if _CAPITALS.fullmatch(word)]
        form = f"{form} ⟪{' '.join(shouted)}⟫" if shouted else form
    if _INNER.search(text) is not None:
        named = _named(request)
        form = f"{form} ⟨{' '.join(named)}⟩" if named else form
    if not request.explanation.has_unknown():
        return form
    unknown = [_as_written(text, span) for span in request.spans if span.reason == "unknown"]
    return form if all(word == word.lower() for word in unknown) else f"{form} ⟨{' '.join(unknown)}⟩"


def _named(request: Request) -> list[str]:
    """Known words that begin with a capital inside a sentence; none where all words do, as in a title."""
    text = request.text
    said = [s for s in request.spans if s.reason not in {"space", "unknown"} and not s.reason.startswith("slot(")]
    titled = [s for s in said if _TITLED.fullmatch(text, s.start, s.end)]
    if len(titled) == sum(text[s.start : s.end].isalpha() for s in said):
        return []
    return [text[s.start : s.end] for s in titled if (text[: s.start].rstrip() or ".")[-1] not in _BEGINS]


def kinds_of(request: Request) -> tuple[str, ...]:
    """The kinds of its slots, in order."""
    return tuple([slot.kind for slot in request.slots])


def said(request: Request, grade: Grade) -> list[Any]:
    """What a request says beside its form: slot values, and its mark.

    The form drops the mark at the end, which in the strict grade tells a question from an order.
    """
    return [[plain(slot.value) for slot in request.slots], _mark(request.text) if grade == "strict" else ""]


def _as_written(text: str, span: Span) -> str:
    """The word of a span; a capital that only begins the sentence ("Convert") is none of the word's."""
    word = text[span.start : span.end]
    begins = word[:1].isupper() and word[1:].islower() and not text[: span.start].strip()
    return word.lower() if begins else word


def _mark(text: str) -> str:
    """`?` for what ends like a question, else nothing."""
    stripped = text.rstrip()
    tail = stripped[len(stripped.rstrip(_END)) :]
    return "?" if "?" in tail else ""


def plain(value: Any) -> Any:
    """A slot's value as JSON data: tuples are lists, structs are objects."""
    return value if value.__class__ in _SURE else msgspec.to_builtins(value)


def l0_key(scope: str, language: str, grade: str, form: str, kinds: Sequence[str], values: Sequence[Any]) -> str:
    """The key of one request."""
    return made("l0", scope, language, grade, form, [*kinds], [*values])


def l1_key(scope: str, language: str, grade: str, form: str, kinds: Sequence[str], fixed: Sequence[Any]) -> str:
    """The key of a form; `fixed`: [index, value] of each slot that stays, in order."""
    return made("l1", scope, language, grade, form, [*kinds], [*map(list, fixed)])


def shape_key(scope: str, language: str, grade: str, form: str, kinds: Sequence[str]) -> str:
    """The key of the index over a form's `l1` entries."""
    return made("shape", scope, language, grade, form, [*kinds])


def held_key(scope: str, language: str, grade: str, form: str, kinds: Sequence[str]) -> str:
    """The key of the successes of a form that wait."""
    return made("held", scope, language, grade, form, [*kinds])


def anti_key(key: str, plan: dict[str, Any]) -> str:
    """The key of the anti-entry of `plan` for the entry key `key`."""
    return made("anti", key, plan)


def near_key(scope: str, plan: str) -> str:
    """The key of the outcomes of a plan's near matches; `plan` is its digest."""
    return made("near", scope, plan)


def fixed_of(slots: Sequence[Slot], pattern: Sequence[int]) -> list[list[Any]]:
    """[index, value] of the slots that stay."""
    return [[index, plain(slots[index].value)] for index in pattern if index < len(slots)]


def key_of(kept: Kept) -> str:
    """The key that what is kept belongs under, by its own contents."""
    if isinstance(kept, Entry):
        make = l0_key if kept.layer == "l0" else l1_key
        return make(kept.scope, kept.language, kept.grade, kept.form, kept.kinds, kept.values)
    assert isinstance(kept, Mark | Against | Shape | Held | Outcomes)
    return kept.key


def same_json(left: Any, right: Any) -> bool:
    """Whether two JSON data are equal, 1 and true told apart."""
    return orjson.dumps(left, option=orjson.OPT_SORT_KEYS) == orjson.dumps(right, option=orjson.OPT_SORT_KEYS)
