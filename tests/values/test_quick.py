"""The short way of resolution gives what the long one gives, or nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from metnos.plan.references import Every, Index, ItemTarget, Key, Reference, RuntimeTarget, StepTarget, Target
from metnos.values.compile import compile_args
from metnos.values.expressions import Concat, DictOf, Expression, ListOf, Literal_, Ref, Text
from metnos.values.quick import quick_of, take
from metnos.values.resolve import Fault, resolve
from metnos.values.value import Absent, Value
from tests.support.strategies import json_values

NAMES = ("a", "b")


class Step:
    def __init__(self, value: Value | None) -> None:
        self.value = value


class World:
    def __init__(self, steps: list[Step], item: Value | None) -> None:
        self.steps = steps
        self.item = item

    def lookup(self, target: Target) -> Value | Absent:
        if isinstance(target, StepTarget):
            return self.steps[int(target.step) - 1].value or Absent("failed")
        if isinstance(target, ItemTarget):
            return self.item or Absent("missing")
        return Value("now", frozenset({"runtime"}))


sources = st.frozensets(st.sampled_from(["local", "user", "untrusted:web"]), max_size=2)
data = st.recursive(
    st.one_of(json_values, st.just(2**53)), lambda inner: st.dictionaries(st.sampled_from(NAMES), inner), max_leaves=5
)
values = st.none() | st.builds(Value, data, sources)
references = st.builds(
    Reference,
    st.sampled_from([StepTarget(1), StepTarget(2), ItemTarget(), RuntimeTarget("now")]),
    st.lists(st.sampled_from([Key("a"), Key("b"), Index(0), Every()]), max_size=2).map(tuple),
    st.booleans(),
    st.just(7),
)
names = st.sampled_from(["user", "author"])
expressions: st.SearchStrategy[Expression] = st.one_of(
    st.builds(Literal_, json_values, names),
    st.builds(Ref, references, names),
    st.builds(Text, st.tuples(st.just("x"), references), names),
    st.builds(Concat, st.tuples(references)),
)
arguments = st.dictionaries(st.sampled_from(["p", "q", "r"]), expressions).map(
    lambda items: DictOf(tuple(items.items()))
)


@given(arguments, values, values, values)
def test_the_short_way_gives_what_the_long_one_gives_or_nothing(
    args: DictOf, first: Value | None, second: Value | None, item: Value | None
) -> None:
    quick = quick_of(args)
    if quick is None:
        return
    steps = [Step(first), Step(second)]
    found = take(quick, steps, item)
    long = resolve(args, World(steps, item))
    if found is not None:
        assert isinstance(long, Value)
        assert (repr(found[0]), found[1]) == (repr(long.data), long.sources)
    else:
        assert isinstance(long, Fault), "what can be resolved in a table of this form is resolved from it"


def test_only_literals_and_fields_are_of_the_short_form() -> None:
    def short(written: Any) -> bool:
        return quick_of(compile_args(written)) is not None

    assert short({})
    assert short({"a": 1, "b": {"c": [1]}, "d": "${step1}", "e": "${item.x}", "f": '${step2["a b"].c}'})
    for odd in (
        "${step1[0]}",
        "${step1[*].a}",
        "${step1.a ?? 1}",
        "x ${step1}",
        "${RUNTIME:now}",
        ["${step1}"],
        "${plan1.step1}",
    ):
        assert not short({"a": odd}), odd
    assert quick_of(ListOf(())) is None
