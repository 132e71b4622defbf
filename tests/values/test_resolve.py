from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.plan.codes import CODES
from metnos.plan.jsondata import canonical
from metnos.plan.references import Index, Key, Reference, Segment, StepTarget, Target
from metnos.plan.spelling import format_reference
from metnos.values.compile import compile_args
from metnos.values.expressions import Concat, DictOf
from metnos.values.resolve import Fault, Resolved, resolve, resolve_args
from metnos.values.value import Absent, Value
from tests.support.strategies import json_scalars, json_values, texts

DATA: dict[str, Any] = {
    "entries": [{"path": "a", "size": 3}, {"path": "b", "size": 4, "tag": None}],
    "Exchange Rate": 1.5,
    "count": 2,
    "yes": True,
    "none": None,
    "text": "ü",
    "big": 2**53,
    "nan": float("nan"),
    "large": 1e21,
}


class World:
    """Step 1 has `DATA`, step 2 was skipped, step 3 failed, step 4 was blocked; the item is untrusted."""

    def __init__(self, data: Any = DATA) -> None:
        self.values: dict[Any, Value | Absent] = {
            "1": Value(data, frozenset({"local"})),
            "2": Absent("skipped"),
            "3": Absent("failed"),
            "4": Absent("blocked"),
            "5": Value([1, 2], frozenset({"local", "untrusted:web"})),
        }
        self.asked: list[Target] = []

    def lookup(self, target: Target) -> Value | Absent:
        self.asked.append(target)
        if isinstance(target, StepTarget):
            return self.values[str(target.step)]
        return Value({"name": "i"}, frozenset({"untrusted:mail"}))


def resolved(written: Any) -> Value | Fault:
    return resolve(compile_args(written, source="author"), World())


GIVEN: list[tuple[str, Any]] = [
    ("${step1}", DATA),
    ("${step1.count}", 2),
    ('${step1["Exchange Rate"]}', 1.5),
    ("${step1.entries[1].path}", "b"),
    ("${step1.entries[*].size}", [3, 4]),
    ("${step1.entries[*]}", DATA["entries"]),
    ("${step1.none}", None),
    ("${step1.none ?? 1}", None),
    ("${step1.yes}", True),
    ("${step1.entries[9].path ?? null}", None),
    ("${step1.entries[*].tag ?? []}", []),
    ("${step1.missing ?? {}}", {}),
    ("${step1.missing.deeper ?? 0}", 0),
    ('${step2.x[0] ?? "none"}', "none"),
    ("${step3 ?? false}", False),
    ("${step4 ?? 1.5}", 1.5),
    ("${item.name}", "i"),
    ("a ${step1.count}, ${step1.yes}, ${step1.text}, ${item.name}", "a 2, true, ü, i"),
    ('${step1["Exchange Rate"]}${step1.large}', "1.51e+21"),
    ("n: ${step1.none ?? 0}", "n: 0"),
    ("n: ${step2 ?? false}", "n: false"),
    ("$${step1} ${step1.count}", "${step1} 2"),
]


@pytest.mark.parametrize(("text", "data"), GIVEN, ids=[row[0] for row in GIVEN])
def test_a_reference_has_its_value(text: str, data: Any) -> None:
    found = resolved(text)
    assert isinstance(found, Value)
    assert found.data == data
    assert type(found.data) is type(data)


REFUSED: list[tuple[Any, str, str, str]] = [
    ({"a": "${step1.pth}"}, "value-missing", "/a", "no field pth"),
    ({"a": [0, "${step1.entries[0].pth}"]}, "value-missing", "/a/1", "no field pth"),
    ({"a/b": {"c": "x ${step1.entries[*].tag}"}}, "value-missing", "/a~1b/c", "no field tag"),
    ({"a": "${step1.entries[2]}"}, "index-range", "/a", "[2] of 2 elements"),
    ({"a": "${step1.count[0]}"}, "value-type", "/a", "an integer: 2"),
    ({"a": "${step1.count.x ?? 1}"}, "value-type", "/a", "an integer: 2"),
    ({"a": "${step1[0] ?? 1}"}, "value-type", "/a", "an object"),
    ({"a": "${step1[*].x ?? 1}"}, "value-type", "/a", "an object"),
    ({"a": "${step1.entries.path ?? 1}"}, "value-type", "/a", "a list"),
    ({"a": "${step2}"}, "step-absent", "/a", "skipped"),
    ({"a": "${step3.x}"}, "step-absent", "/a", "failed"),
    ({"a": "x ${step4}"}, "step-absent", "/a", "blocked"),
    ({"a": "x ${step1.none}"}, "null-in-text", "/a", "${step1.none}"),
    ({"a": "x ${step2 ?? null}"}, "null-in-text", "/a", "${step2 ?? null}"),
    ({"a": "x ${step1.entries}"}, "not-scalar", "/a", "a list"),
    ({"a": "x ${step1 ?? 1}"}, "not-scalar", "/a", "an object"),
    ({"a": "x ${step2 ?? []}"}, "not-scalar", "/a", "a list"),
    ({"a": "${step1.big}"}, "integer-range", "/a", "9007199254740992"),
    ({"a": "x ${step1.big}"}, "integer-range", "/a", "9007199254740992"),
    ({"a": "x ${step1.nan}"}, "not-a-number", "/a", "${step1.nan}"),
]


@pytest.mark.parametrize(("written", "code", "where", "words"), REFUSED, ids=[json.dumps(row[0]) for row in REFUSED])
def test_what_is_not_there_is_a_fault_with_its_place(written: Any, code: str, where: str, words: str) -> None:
    found = resolved(written)
    assert isinstance(found, Fault)
    assert (found.code, found.where, found.cls) == (code, where, "data")
    assert words in found.found
    assert code in CODES
    assert resolve_args(compile_args(written), World()) == found  # pyright: ignore[reportArgumentType]


def test_a_missing_field_lists_what_there_is() -> None:
    found = resolved("${step1.entries[0].pathh}")
    assert found == Fault(
        code="value-missing",
        found="${step1.entries[0].pathh}: no field pathh",
        expected="path, size",
        hint="did you mean `path`?",
    )


def test_sources_of_all_that_was_used_are_united() -> None:
    def sources(written: Any) -> set[str]:
        found = resolve(compile_args(written, source="model"), World())
        assert isinstance(found, Value)
        return set(found.sources)

    assert sources("x") == {"model"}
    assert sources("${step1.count}") == {"local"}
    assert sources("${item.name}${step5[0]}") == {"untrusted:mail", "untrusted:web", "local"}
    assert sources("${item.name} ") == {"untrusted:mail", "model"}
    assert sources(["${step5}", {"a": 1}]) == {"untrusted:web", "local", "model"}
    assert sources("${step2 ?? 1}") == {"model"}
    assert sources("${step5[7] ?? 1}") == {"model"}
    assert sources("${step1.none ?? 1} ${step1.count}") == {"local", "model"}
    assert sources([]) == {"model"}


def test_each_argument_has_its_own_sources() -> None:
    compiled = compile_args(
        {"path": "${item.name}", "mode": "x", "n": ["${step1.count}", 1]}, origins={"/mode": "user"}
    )
    assert isinstance(compiled, DictOf)
    found = resolve_args(compiled, World())
    assert found == Resolved(
        {"path": "i", "mode": "x", "n": [2, 1]},
        {"path": frozenset({"untrusted:mail"}), "mode": frozenset({"user"}), "n": frozenset({"local", "author"})},
    )
    assert resolve(compiled, World()) == Value(found.data, frozenset().union(*found.sources.values()))


def test_collections_are_put_one_after_the_other() -> None:
    entries = Reference(StepTarget(1), (Key("entries"),))
    numbers = Reference(StepTarget(5))
    skipped = Reference(StepTarget(2), has_fallback=True, fallback=[])
    found = resolve(Concat((entries, numbers, skipped, numbers)), World())
    assert isinstance(found, Value)
    assert found.data == [*DATA["entries"], 1, 2, 1, 2]
    assert found.sources == {"local", "untrusted:web", "author"}
    assert len(DATA["entries"]) == 2
    wrong = resolve(Concat((numbers, Reference(StepTarget(1)))), World())
    assert isinstance(wrong, Fault)
    assert (wrong.code, wrong.expected) == ("value-type", "a list")


def test_fallbacks_are_new_each_time_and_targets_asked_once_each() -> None:
    world = World()
    compiled = compile_args(["${step2 ?? []}", "${step2 ?? []}"])
    first, second = resolve(compiled, world), resolve(compiled, world)
    assert isinstance(first, Value)
    assert isinstance(second, Value)
    first.data[0].append(1)
    assert second.data == [[], []]
    assert world.asked == [StepTarget(2)] * 4


def _paths(data: Any, path: tuple[Segment, ...] = ()) -> list[tuple[tuple[Segment, ...], Any]]:
    found: list[tuple[tuple[Segment, ...], Any]] = [(path, data)]
    if isinstance(data, dict):
        for key, item in data.items():
            found += _paths(item, (*path, Key(key)))
    elif isinstance(data, list):
        for index, item in enumerate(data):
            found += _paths(item, (*path, Index(index)))
    return found


@given(json_values, st.data())
def test_every_place_in_data_can_be_referred_to(data: Any, draw: st.DataObject) -> None:
    path, there = draw.draw(st.sampled_from(_paths(data)))
    reference = Reference(StepTarget(1), path)
    found = resolve(compile_args(format_reference(reference)), World(data))
    assert isinstance(found, Value)
    assert found.data is there or found.data == there
    assert found.sources == {"local"}
    beyond = Reference(StepTarget(1), (*path, Key("\x00nowhere")))
    missing = resolve(compile_args(format_reference(beyond)), World(data))
    assert isinstance(missing, Fault)
    assert missing.code == ("value-missing" if isinstance(there, dict) else "value-type")


@given(json_scalars.filter(lambda data: data is not None), texts)
def test_inside_text_a_scalar_is_written_as_json_writes_it(data: Any, text: str) -> None:
    written = {"x": "${step1}" + text.replace("$", "")}
    found = resolve(compile_args(written), World(data))
    assert isinstance(found, Value)
    words = data if isinstance(data, str) else canonical(data).decode()
    assert found.data["x"] == (data if not text.replace("$", "") else words + text.replace("$", ""))
