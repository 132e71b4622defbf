"""Hypothesis strategies for what plans are made of. Import as `from tests.support.strategies import plans`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import strategies as st

from metnos.plan.jsondata import MAX_INTEGER
from metnos.plan.model import Ask, Field, Filler, FinalAnswer, NeedsInputs, Plan, Step, When
from metnos.plan.references import (
    Every,
    FillerTarget,
    Index,
    InputTarget,
    ItemTarget,
    Key,
    Parts,
    Reference,
    RuntimeTarget,
    Segment,
    SlotTarget,
    StepTarget,
    Target,
)
from metnos.plan.spelling import format_parts, is_id, parse_string

if TYPE_CHECKING:
    from collections.abc import Iterator

TRICKY = "ab$<>{}[]\"'\\?.:/~ \n\t\u2028éß€\ue000\uffff\U0001f600"
"""Characters on which readers, writers and key orders differ."""

texts = st.text(st.one_of(st.sampled_from(TRICKY), st.characters(exclude_categories=("Cs",))), max_size=12)
"""Any text that UTF-8 can write."""
integers = st.integers(-MAX_INTEGER, MAX_INTEGER)
floats = st.floats(allow_nan=False, allow_infinity=False)
json_scalars = st.one_of(st.none(), st.booleans(), integers, floats, texts)


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4)


json_values: st.SearchStrategy[Any] = st.recursive(json_scalars, _containers, max_leaves=12)
"""Strict JSON data."""

ids = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,8}", fullmatch=True).filter(is_id)
"""Ids of steps, names of fillers, inputs and slots."""
tool_names = st.sampled_from(("find_files", "read_files", "render_table", "Weather.get-now", "a"))

keys: st.SearchStrategy[Segment] = st.builds(Key, st.sampled_from(("entries", "path", "Exchange Rate", "a-b")) | texts)
segments: st.SearchStrategy[Segment] = st.one_of(
    keys, keys, st.builds(Index, st.integers(0, 999_999_999)), st.just(Every())
)
runtime_keys = st.sampled_from(("now", "today", "yesterday", "tomorrow", "day", "day-1", "week-2", "month", "year-3"))

targets: st.SearchStrategy[Target] = st.one_of(
    st.builds(StepTarget, st.integers(1, 200) | ids),
    st.builds(StepTarget, st.integers(1, 200), st.integers(1, 3)),
    st.just(ItemTarget()),
    st.builds(RuntimeTarget, runtime_keys),
    st.builds(FillerTarget, ids),
    st.builds(InputTarget, ids),
    st.builds(SlotTarget, ids),
)
fallbacks = st.one_of(json_scalars, st.just([]), st.just({}))


def references(targets: st.SearchStrategy[Target] = targets) -> st.SearchStrategy[Reference]:
    """References with any path and, half of them, a fallback."""
    path = st.lists(segments, max_size=4).map(tuple)
    bare = st.builds(Reference, targets, path)
    return bare | st.builds(
        lambda r, literal: msgspec.structs.replace(r, has_fallback=True, fallback=literal), bare, fallbacks
    )


def parts(references: st.SearchStrategy[Reference] | None = None) -> st.SearchStrategy[Parts]:
    """What `parse_string` can return: no two strings side by side, no empty string unless it is all."""
    pieces = st.lists(st.one_of(texts, references if references is not None else _references), max_size=5)
    return pieces.map(_joined)


_references = references()


def _joined(pieces: list[str | Reference]) -> Parts:
    joined: list[str | Reference] = []
    for piece in pieces:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        elif piece != "":
            joined.append(piece)
    return tuple(joined) or ("",)


# Drawn from often, so made once: a strategy made inside a draw costs more than the draw.
STEP_IDS = ("src", "out", "b-2", "_x", "Files")
_step_words: st.SearchStrategy[int | str] = st.integers(1, 6) | st.sampled_from(STEP_IDS)
_filler_names = st.sampled_from(("title", "a-b", "T2"))
_within: st.SearchStrategy[Target] = st.one_of(
    st.builds(StepTarget, _step_words),
    st.just(ItemTarget()),
    st.builds(RuntimeTarget, runtime_keys),
    st.builds(FillerTarget, _filler_names),
)
_inner = references(_within)
_strings = st.one_of(
    texts.map(lambda text: format_parts((text,))),
    _inner.map(lambda reference: format_parts((reference,))),
    parts(_inner).map(format_parts),
)
_values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), integers, floats, _strings, _strings), _containers, max_leaves=6
)
_alone = references(st.builds(StepTarget, _step_words)).map(lambda reference: format_parts((reference,)))
_from = st.one_of(
    st.just({}),
    st.builds(lambda step: {"from_step": step}, _step_words),
    st.builds(lambda steps: {"from_steps": steps}, st.lists(_step_words, min_size=1, max_size=3)),
)
_own = ("from_step", "from_steps")
_args = st.builds(
    lambda given, origin: {name: value for name, value in given.items() if name not in _own} | origin,
    st.dictionaries(texts | ids, _values, max_size=3),
    _from,
)
_steps = st.builds(
    Step,
    tool=tool_names,
    args=_args,
    for_each=st.none() | _alone | st.lists(_values, max_size=3),
    when=st.none() | st.builds(When, nonempty=st.booleans(), step=_step_words),
    on_error=st.sampled_from(("stop", "continue")),
)
_plain = texts.map(lambda text: text.replace("$", ""))
_schemas: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    ({}, {"type": "string"}, {"type": "integer", "minimum": 0})
)
_fillers = st.builds(Filler, prompt=_plain, schema=_schemas, role=st.sampled_from(("fast", "wise")))


_terminals: st.SearchStrategy[Any] = st.one_of(
    st.builds(FinalAnswer, text=st.none() | _strings),
    st.builds(FinalAnswer, data=_values, has_data=st.just(True)),
    st.builds(Ask, question=_plain, choices=st.lists(_plain, max_size=3).map(tuple)),
    st.builds(
        NeedsInputs,
        form=st.dictionaries(ids, st.builds(Field, schema=_schemas, label=_plain), min_size=1, max_size=3),
    ),
)
_plans = st.builds(Plan, steps=st.lists(_steps, max_size=5).map(tuple), terminal=_terminals)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Plans that `read_plan` reads without a fault (what their references mean is another matter)."""
    plan = draw(_plans)
    named = zip(plan.steps, draw(st.permutations((*STEP_IDS, None, None, None))), strict=False)
    steps = tuple(msgspec.structs.replace(step, id=name) for step, name in named)
    fillers = {name: draw(_fillers) for name in sorted(set(_fillers_in(plan)))}
    return msgspec.structs.replace(plan, steps=steps, fillers=fillers)


def _fillers_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        for part in parse_string(value):
            if isinstance(part, Reference) and isinstance(part.target, FillerTarget):
                yield part.target.name
    elif isinstance(value, dict):
        for item in value.values():
            yield from _fillers_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _fillers_in(item)
    elif isinstance(value, Plan):
        for step in value.steps:
            yield from _fillers_in([step.args, step.for_each])
        if isinstance(value.terminal, FinalAnswer):
            yield from _fillers_in([value.terminal.text, value.terminal.data])
