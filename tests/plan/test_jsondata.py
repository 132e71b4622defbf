from __future__ import annotations

import hashlib
import json
import time
from enum import Enum, IntEnum
from pathlib import PurePosixPath
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from metnos.execute.strict import settle
from metnos.plan.codes import CODES
from metnos.plan.jsondata import (
    MAX_RESULT_BYTES,
    JSONFault,
    canonical,
    check_limits,
    copied,
    digest,
    digest_bytes,
    guard_depth,
    loads_strict,
    pointer,
    spell,
)
from tests.support.strategies import json_values

nested: Any = []
for _ in range(40):
    nested = [nested]


@given(json_values)
@example({"\ue000": 1, "\U0001f600": 2})
@example({"\U0001f600": None})
@example(["\U0001f600", {"\ue000": 1}])
@example([1e16, 1e21, -0.0, 1.0, 1e-7, 1e-6, 5e-324, 123456789012345680.0])
@example({"a": "x:1.5", "b": ":null"})
@example([None, 1, ",2.5"])
@example(1.5)
@example(None)
@example((1, (2.0,)))
def test_canonical_bytes_are_those_of_rfc_8785(data: Any) -> None:
    assert canonical(data) == rfc8785.dumps(data)


def _has_large_whole_float(data: Any) -> bool:
    if isinstance(data, dict):
        return any(map(_has_large_whole_float, data.values()))
    if isinstance(data, list):
        return any(map(_has_large_whole_float, data))
    return isinstance(data, float) and 2**53 <= abs(data) < 1e21


class _Text(str):
    __slots__ = ()


class _Number(IntEnum):
    ONE = 1


class _Ratio(float, Enum):
    ONE = 1.0


odd = st.recursive(
    st.one_of(
        json_values,
        st.sampled_from(
            [_Ratio.ONE, _Text("a"), _Number.ONE, True, 1, 1.0, -0.0, float("nan"), 2**53, "\ud800", {1}, None]
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner),
        st.dictionaries(st.sampled_from(["a", "\uffff", "\U0001f600", _Text("b"), 1]), inner, max_size=3),
    ),
    max_leaves=6,
)


def in_key_order(data: Any) -> Any:
    """The order of keys is not part of data."""
    if isinstance(data, dict):
        return {key: in_key_order(data[key]) for key in sorted(data)}
    return [in_key_order(item) for item in data] if isinstance(data, list) else data


@given(odd)
@example({"\uffff": None, "a": []})
@example({"a": [1, {"b": True}], "c": "x"})
@example({"a": 1, _Text("b"): 2})
@example([_Text("a")])
@example([_Ratio.ONE])
def test_one_writing_copies_and_writes_as_two_looks_would_or_says_nothing(data: Any) -> None:
    found = copied(data)
    if found is not None:
        assert repr(in_key_order(found[0])) == repr(in_key_order(settle(data))), "the same values of the same types"
        assert found[1] == canonical(settle(data))
        assert found[0] is not data or not isinstance(data, (list, dict))


def test_most_data_are_copied_in_one_writing() -> None:
    data = {"entries": [{"path": "a", "size": 1, "is_dir": False}], "count": 1}
    found = copied(data)
    assert found is not None
    assert found[0] == data
    assert found[0]["entries"] is not data["entries"]


def test_whole_floats_from_2_to_the_53_are_written_as_integers_and_not_read_back() -> None:
    assert canonical(2.0**53) == b"9007199254740992"
    with pytest.raises(JSONFault, match="beyond"):
        loads_strict(canonical(2.0**53))
    assert loads_strict(canonical(1e21)) == 1e21


@given(json_values)
@example(2.0**53)
@example(1e15)
@example(1.2345678901234567e22)
@example({"\ue000": -1e17, "\U0001f600": 1})
def test_spelled_data_are_read_back(data: Any) -> None:
    assert loads_strict(spell(data)) == data
    if not _has_large_whole_float(data):
        assert spell(data).encode() == canonical(data)


@given(json_values.filter(lambda data: not _has_large_whole_float(data)))
def test_what_is_written_is_read_back(data: Any) -> None:
    out = canonical(data)
    assert loads_strict(out) == data
    assert loads_strict(out.decode()) == data
    assert canonical(loads_strict(out)) == out
    assert digest(data) == digest_bytes(out) == "sha256:" + hashlib.sha256(out).hexdigest()


@given(json_values, st.integers(0, 4))
def test_the_reader_agrees_with_the_standard_one_on_good_text(data: Any, indent: int) -> None:
    for text in (json.dumps(data, indent=indent), json.dumps(data, ensure_ascii=False)):
        assert loads_strict(text) == json.loads(text)


REFUSED: list[tuple[bytes | str, str, str]] = [
    ('{"a": [{"b": 1, "b": 2}]}', "duplicate-key", "/a/0/b"),
    ('{"a": 1, "x/~": 2, "x/~": 3}', "duplicate-key", "/x~1~0"),
    ('{"a": {"k": {"z": 1, "z": 2}}, "a": 1}', "duplicate-key", "/a"),
    ("[1, NaN]", "not-a-number", "/1"),
    ('{"x": -Infinity}', "not-a-number", "/x"),
    ("[1e400]", "not-a-number", "/0"),
    ("[1e0400]", "not-a-number", "/0"),
    (f"[1{'0' * 400}.0]", "not-a-number", "/0"),
    ('{"a": 9007199254740992}', "integer-range", "/a"),
    ("-9007199254740992", "integer-range", ""),
    (f"[{'9' * 30}]", "integer-range", "/0"),
    (f"[{'9' * 5000}]", "integer-range", "/0"),
    ('["\\ud800"]', "lone-surrogate", "/0"),
    ('{"\\udc00": 1}', "lone-surrogate", ""),
    ('["\ud800"]', "lone-surrogate", ""),
    (b'["\xff"]', "not-utf8", ""),
    (b'["\xed\xa0\x80"]', "not-utf8", ""),
    ("[" * 33 + "]" * 33, "too-deep", ""),
    ('{"a":' * 33 + "1" + "}" * 33, "too-deep", ""),
    ("[" * 200_000, "too-deep", ""),
    ("[é" * 40, "too-deep", ""),
    (b"[" * 300_000, "too-large", ""),
    ('"' + "é" * 140_000 + '"', "too-large", ""),
    ("{", "json-syntax", ""),
    ("", "json-syntax", ""),
    ("[1,]", "json-syntax", ""),
    ("{'a': 1}", "json-syntax", ""),
    ('["\n"]', "json-syntax", ""),
    ("[}" * 40, "json-syntax", ""),
    ("]" * 40 + "[" * 33, "json-syntax", ""),
    ("1 2", "json-syntax", ""),
    ("\ufeff[]", "json-syntax", ""),
]


@pytest.mark.parametrize(("text", "code", "where"), REFUSED, ids=range(len(REFUSED)))
def test_refused_with_code_and_place(text: bytes | str, code: str, where: str) -> None:
    with pytest.raises(JSONFault) as caught:
        loads_strict(text)
    assert (caught.value.code, caught.value.where) == (code, where)
    assert code in CODES
    assert caught.value.message in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "9007199254740991",
        "-9007199254740991",
        "1e308",
        '"9007199254740992"',
        '["1e400", 1234567890123456]',
        '"\\ud83d\\ude00"',
        "[" * 32 + "]" * 32,
        '["' + "[" * 100 + '"]',
        '["\\"' + "{" * 100 + '"]',
        "[" + "[]," * 100 + "[]]",
        "[" + '{"é": []},' * 40 + "[]]",
    ],
)
def test_at_the_limit_is_read(text: str) -> None:
    assert loads_strict(text) == json.loads(text)


def test_limits_are_the_callers() -> None:
    large = json.dumps(["x" * 1000] * 1000)
    with pytest.raises(JSONFault, match="more than 262144 bytes"):
        loads_strict(large)
    assert len(loads_strict(large, max_bytes=MAX_RESULT_BYTES)) == 1000
    with pytest.raises(JSONFault, match="deeper than 3"):
        loads_strict("[[[[]]]]", max_depth=3)
    with pytest.raises(JSONFault, match="more than 5 bytes"):
        canonical("12345", max_bytes=5)
    assert canonical("123", max_bytes=5) == b'"123"'
    with pytest.raises(JSONFault, match="more than 5 bytes"):
        digest("12345", max_bytes=5)


def test_hostile_text_is_refused_quickly() -> None:
    start = time.process_time()
    for text in ("[" * 16_000_000, '{"a":' * 500_000, "[]" * 8_000_000, "[}" * 5_000_000):
        with pytest.raises(JSONFault):
            loads_strict(text, max_bytes=MAX_RESULT_BYTES)
    keys = "{" + ",".join(f'"{n % 99_999}":0' for n in range(100_000)) + "}"
    with pytest.raises(JSONFault, match="given twice"):
        loads_strict(keys, max_bytes=MAX_RESULT_BYTES)
    assert time.process_time() - start < 20  # CPU, not wall; quadratic readers would take hours


class Word(str):
    __slots__ = ()


UNWRITABLE: list[tuple[Any, str, str]] = [
    ({"a": [float("nan")]}, "not-a-number", "/a/0"),
    ([1.0, float("inf")], "not-a-number", "/1"),
    ({"a": 2**53}, "integer-range", "/a"),
    ([-(2**53)], "integer-range", "/0"),
    ([2**70], "integer-range", "/0"),
    ({"a": "\ud800"}, "lone-surrogate", "/a"),
    ({"b": {"\ud800": 1}}, "lone-surrogate", "/b"),
    ({1: 2}, "not-json", ""),
    ({"a": {3}}, "not-json", "/a"),
    ([b"x"], "not-json", "/0"),
    ([PurePosixPath("x")], "not-json", "/0"),
    ([1.5, {"a": ({},)}, Word("x")], "not-json", "/2"),
    ({Word("k"): 1}, "not-json", ""),
]


@pytest.mark.parametrize(("data", "code", "where"), UNWRITABLE, ids=range(len(UNWRITABLE)))
def test_what_is_not_json_has_no_bytes(data: Any, code: str, where: str) -> None:
    with pytest.raises(JSONFault) as caught:
        canonical(data)
    assert (caught.value.code, caught.value.where) == (code, where)


def test_a_cycle_and_a_tower_are_too_deep() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    tower: Any = 0
    for _ in range(100_000):
        tower = [tower]
    for data in (cycle, tower):
        with pytest.raises(JSONFault, match="at the top") as caught:
            canonical(data)
        assert caught.value.code == "too-deep"
    while tower:  # taken down by hand: the interpreter would recurse
        tower = tower[0]


def test_data_that_never_were_text_keep_the_limits() -> None:
    check_limits({"a": [[[]]] * 40})
    with pytest.raises(JSONFault, match="deeper than 32"):
        check_limits(nested)
    with pytest.raises(JSONFault, match="bytes"):
        check_limits("x" * 300_000)
    guard_depth("[" * 32)
    for data, code, where in UNWRITABLE:
        with pytest.raises(JSONFault) as caught:
            check_limits(data)
        assert (caught.value.code, caught.value.where) == (code, where)


@given(json_values, st.integers(0, 3))
def test_both_ways_count_depth_alike(data: Any, limit: int) -> None:
    verdicts: list[str] = []
    for check in (lambda: loads_strict(spell(data), max_depth=limit), lambda: check_limits(data, max_depth=limit)):
        try:
            check()
        except JSONFault as fault:
            verdicts.append(fault.code)
        else:
            verdicts.append("")
    assert verdicts[0] == verdicts[1]


def test_pointers_are_escaped() -> None:
    assert pointer("/steps", 0, "args", "a/b~c", "") == "/steps/0/args/a~1b~0c/"
