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
segments: st.SearchStrategy[Segment] = st.one_of(keys, keys, st.builds(Index, st.integers(0, 999_999_999)), st.just(Every()))
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
    return bare | st.builds(lambda r, literal: msgspec.structs.replace(r, has_fallback=True, fallback=literal), bare, fallbacks)


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


def _arguments(steps: int, names: list[str]) -> st.SearchStrategy[Any]:
    """JSON in which strings may hold references to `steps` steps and to ids."""
    step: st.SearchStrategy[Any] = st.integers(1, max(steps, 1))
    step = step | st.sampled_from(names) if names else step
    within: st.SearchStrategy[Target] = st.one_of(
        st.builds(StepTarget, step), st.just(ItemTarget()), st.builds(RuntimeTarget, runtime_keys), st.builds(FillerTarget, ids)
    )
    inner = references(within)
    strings = st.one_of(texts.map(lambda text: format_parts((text,))), parts(inner).map(format_parts), inner.map(lambda r: format_parts((r,))))
    return st.recursive(st.one_of(json_scalars.filter(lambda x: not isinstance(x, str)), strings, strings), _containers, max_leaves=6)


@st.composite
def plans(draw: st.DrawFn, max_steps: int = 5) -> Plan:
    """Plans that `read_plan` reads without a fault (what their references mean is another matter)."""
    count = draw(st.integers(0, max_steps))
    names = draw(st.lists(ids, max_size=count, unique=True))
    values = _arguments(count, names)
    labels = [*names, *([None] * (count - len(names)))]
    steps = tuple(draw(_step(values, count, names, label)) for label in draw(st.permutations(labels)))
    terminal = draw(_terminals(values))
    plain = Plan(steps=steps, terminal=terminal)
    fillers = {name: draw(_fillers) for name in sorted(set(_fillers_in(plain)))}
    return msgspec.structs.replace(plain, fillers=fillers)


@st.composite
def _step(draw: st.DrawFn, values: st.SearchStrategy[Any], count: int, names: list[str], label: str | None) -> Step:
    step: st.SearchStrategy[Any] = st.integers(1, count)
    step = step | st.sampled_from(names) if names else step
    args: dict[str, Any] = draw(st.dictionaries(texts | ids, values, max_size=3))
    args.pop("from_step", None)
    args.pop("from_steps", None)
    match draw(st.sampled_from(("none", "one", "many"))):
        case "one":
            args["from_step"] = draw(step)
        case "many":
            args["from_steps"] = draw(st.lists(step, min_size=1, max_size=3))
        case _:
            pass
    alone = references(st.builds(StepTarget, step)).map(lambda r: format_parts((r,)))
    return Step(
        tool=draw(tool_names),
        args=args,
        id=label,
        for_each=draw(st.none() | alone | st.lists(values, max_size=3)),
        when=draw(st.none() | st.builds(When, nonempty=st.booleans(), step=step)),
        on_error=draw(st.sampled_from(("stop", "continue"))),
    )


_plain = texts.map(lambda text: text.replace("$", ""))
_schemas: st.SearchStrategy[dict[str, Any]] = st.sampled_from(({}, {"type": "string"}, {"type": "integer", "minimum": 0}))
_fillers = st.builds(Filler, prompt=_plain, schema=_schemas, role=st.sampled_from(("fast", "wise")))


def _terminals(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    strings = values.filter(lambda value: isinstance(value, str))
    return st.one_of(
        st.builds(FinalAnswer, text=st.none() | strings),
        st.builds(FinalAnswer, data=values, has_data=st.just(True)),
        st.builds(Ask, question=_plain, choices=st.lists(_plain, max_size=3).map(tuple)),
        st.builds(
            NeedsInputs,
            form=st.dictionaries(ids, st.builds(Field, schema=_schemas, label=_plain), min_size=1, max_size=3),
        ),
    )


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
