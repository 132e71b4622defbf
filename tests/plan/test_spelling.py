from __future__ import annotations

import subprocess
import sys
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metnos.plan.codes import CODES
from metnos.plan.plainest import outlined, plainest
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
    SlotTarget,
    StepTarget,
)
from metnos.plan.spelling import (
    ReferenceSyntax,
    by_grammar,
    format_parts,
    format_reference,
    is_id,
    is_plain,
    is_reserved,
    parse_string,
)
from tests.support.strategies import ids, parts, references, texts

READ: list[tuple[str, Reference, str]] = [
    ("${step2}", Reference(StepTarget(2)), "${step2}"),
    (
        "${step2.entries[0].path}",
        Reference(StepTarget(2), (Key("entries"), Index(0), Key("path"))),
        "${step2.entries[0].path}",
    ),
    (
        "${step2.entries[*].size}",
        Reference(StepTarget(2), (Key("entries"), Every(), Key("size"))),
        "${step2.entries[*].size}",
    ),
    ('${step2["Exchange Rate"]}', Reference(StepTarget(2), (Key("Exchange Rate"),)), '${step2["Exchange Rate"]}'),
    ('${step2["path"]}', Reference(StepTarget(2), (Key("path"),)), "${step2.path}"),
    ("${sources.last-one}", Reference(StepTarget("sources"), (Key("last-one"),)), "${sources.last-one}"),
    ("${stepping}", Reference(StepTarget("stepping")), "${stepping}"),
    ("${items}", Reference(StepTarget("items")), "${items}"),
    ("${item.name}", Reference(ItemTarget(), (Key("name"),)), "${item.name}"),
    ("${RUNTIME:day-1.start}", Reference(RuntimeTarget("day-1"), (Key("start"),)), "${RUNTIME:day-1.start}"),
    ("${FILLER:title}", Reference(FillerTarget("title")), "${FILLER:title}"),
    ("${INPUT:name.path}", Reference(InputTarget("name"), (Key("path"),)), "${INPUT:name.path}"),
    ("${SLOT:folder}", Reference(SlotTarget("folder")), "${SLOT:folder}"),
    ("${plan1.step2.entries}", Reference(StepTarget(2, 1), (Key("entries"),)), "${plan1.step2.entries}"),
    ("$<step2.path>", Reference(StepTarget(2), (Key("path"),)), "${step2.path}"),
    ("$< step2 ??[ ] >", Reference(StepTarget(2), has_fallback=True, fallback=[]), "${step2 ?? []}"),
    (
        '${ step2.x??"a}b>" }',
        Reference(StepTarget(2), (Key("x"),), has_fallback=True, fallback="a}b>"),
        '${step2.x ?? "a}b>"}',
    ),
    ("${step2 ?? -1.50}", Reference(StepTarget(2), has_fallback=True, fallback=-1.5), "${step2 ?? -1.5}"),
    ("${step2 ?? null}", Reference(StepTarget(2), has_fallback=True), "${step2 ?? null}"),
    ("${step2 ?? {}}", Reference(StepTarget(2), has_fallback=True, fallback={}), "${step2 ?? {}}"),
    ("${step2 ?? true}", Reference(StepTarget(2), has_fallback=True, fallback=True), "${step2 ?? true}"),
]


@pytest.mark.parametrize(("text", "reference", "canonical"), READ, ids=[row[0] for row in READ])
def test_every_form_is_read_and_has_one_spelling(text: str, reference: Reference, canonical: str) -> None:
    assert parse_string(text) == (reference,)
    assert format_reference(reference) == canonical


STRINGS: list[tuple[str, Parts]] = [
    ("", ("",)),
    ("plain", ("plain",)),
    ("5$ and $x, $$ $", ("5$ and $x, $$ $",)),
    ("$${step2}", ("${step2}",)),
    ("$$<5", ("$<5",)),
    ("$$$${", ("$${",)),
    ("$$$${ $", ("$${ $",)),
    ("a${item}b", ("a", Reference(ItemTarget()), "b")),
    ("${item}${item}", (Reference(ItemTarget()), Reference(ItemTarget()))),
    ("$$${item}$", ("$", Reference(ItemTarget()), "$")),
    ("x $<item> $${y} }>", ("x ", Reference(ItemTarget()), " ${y} }>")),
]


@pytest.mark.parametrize(("text", "expected"), STRINGS, ids=[row[0] for row in STRINGS])
def test_dollars_are_dollars_unless_they_open_a_reference(text: str, expected: Parts) -> None:
    assert parse_string(text) == expected
    assert parse_string(format_parts(expected)) == expected


MISSPELLED: list[tuple[str, int, str, str]] = [
    ("${}", 2, "stepN", ""),
    ("a ${step2", 9, "}", ""),
    ("$<step2}", 7, ">", ""),
    ("${step2.}", 7, ".field", ""),
    ("${step0.x}", 2, "stepN", "numbered from 1"),
    ("${plan0.step1}", 2, "stepN", "numbered from 1"),
    ("${step01}", 2, "stepN", "numbered from 1"),
    ("${plan1}", 7, ".stepN", ""),
    ("${plan1.steps}", 7, ".stepN", ""),
    ("${step2.a[-1]}", 9, "[0]", "counts from 0"),
    ("${step2[01]}", 7, "[0]", ""),
    ("${FOO:x}", 2, "RUNTIME:key", ""),
    ("${RUNTIME}", 2, "RUNTIME:key", ""),
    ("${RUNTIME:}", 10, "a key such as `today` or `day-1`", ""),
    ("${FILLER:2}", 9, "a name", ""),
    ("${step2 ?? }", 11, "a JSON scalar, [] or {}", ""),
    ("${step2 ?? [1]}", 11, "a JSON scalar, [] or {}", ""),
    ("${step2 ?? 1e999}", 11, "a JSON value", "too large"),
    ("${step2 ?? 99999999999999999999}", 11, "a JSON value", "2^53"),
    ('x ${step2["\\ud800"]}', 10, "a JSON value", "surrogate"),
    ("costs $<5", 8, "stepN", "$$<"),
    ("${item.x y}", 8, "}", ""),
    ("${step2.x ?? 1 ?? 2}", 14, "}", ""),
    ("${" + "a" * 65 + "}", 2, "the id of a step", ""),
]


@pytest.mark.parametrize(("text", "position", "expected", "hint"), MISSPELLED, ids=[row[0][:20] for row in MISSPELLED])
def test_a_fault_points_into_the_string(text: str, position: int, expected: str, hint: str) -> None:
    with pytest.raises(ReferenceSyntax) as caught:
        parse_string(text)
    fault = caught.value
    assert (fault.position, fault.text) == (position, text)
    assert expected in fault.expected
    assert hint in fault.hint
    diagnostic = fault.diagnostic("/steps/0/args/x")
    assert diagnostic.code in CODES
    assert diagnostic.where == "/steps/0/args/x"
    assert diagnostic.found.startswith(f"character {position + 1}: ")
    assert diagnostic.expected == ", ".join(fault.expected)


def test_the_end_of_the_string_is_named() -> None:
    with pytest.raises(ReferenceSyntax) as caught:
        parse_string("${step2")
    assert caught.value.diagnostic("").found == "character 8: the end of the string"


@given(parts())
@example(("$",))
@example(("$", Reference(ItemTarget())))
@example(("${", Reference(ItemTarget()), "$<"))
def test_parts_survive_writing_and_reading(pieces: Parts) -> None:
    text = format_parts(pieces)
    assert parse_string(text) == pieces
    assert format_parts(parse_string(text)) == text


@given(references())
def test_a_reference_survives_writing_and_reading(reference: Reference) -> None:
    assert parse_string(format_reference(reference)) == (reference,)


_fragments = st.sampled_from(
    [
        "${",
        "$<",
        "}",
        ">",
        "$",
        "$$",
        "step2",
        "step0",
        "item",
        "plan1",
        ".step1",
        ".a",
        "[0]",
        "[*]",
        '["',
        '"]',
        "??",
        " ",
        "1",
        "[]",
        "RUNTIME:",
        "day-1",
        "x",
    ]
)


@given(st.lists(_fragments, max_size=9).map("".join))
def test_any_text_is_read_or_refused_inside_itself(text: str) -> None:
    try:
        pieces = parse_string(text)
    except ReferenceSyntax as error:
        fault = error
    else:
        assert parse_string(format_parts(pieces)) == pieces
        return
    assert 0 <= fault.position <= len(text)
    assert fault.expected


_plainest = st.sampled_from(
    [
        "${step2}",
        "${step12.a.b-c}",
        "${item.path}",
        "${step2.entries[0].lines ?? 0}",
        "${item[*].a[999999999]}",
        "${item[01]}",
        "${item[1234567890]}",
        "${RUNTIME:day-1.start}",
        "${RUNTIME:today}",
        "${RUNTIME:day-}",
        "${RUNTIME:Day}",
        "${SLOT:folder}",
        "${SLOT:" + "s" * 65 + "}",
        '${SLOT:s1.a ?? "x"}',
        "${FILLER:title}",
        '${step3.text ?? "None in \\"x\\", ${item}."}',
        '${step1 ?? "}"}',
        "${step2.n ?? -10}",
        "${step2.n ?? null}",
        "${item ?? []}",
        "${step2.n ?? {}}",
        "Rows: ",
        "\n",
        "costs 5$",
        '"',
        "\\",
        "\\u0041",
        "${step2.n ?? 01}",
        '${item ?? "\\ud800"}',
        '${item ?? "a\nb"}',
        "${steps.a}",
        "${item-2}",
        "${step1234567}",
    ]
)


@given(st.lists(_plainest | _fragments, max_size=7).map("".join))
@example('${item ?? "\\x"}')
@example("${step2.a}{")
@example("$${step2.a}")
@example("${step2.a}$<item>")
def test_the_short_way_reads_what_the_grammar_reads(text: str) -> None:
    short = plainest(text)
    if short is not None and not is_plain(text):
        assert repr(short) == repr(by_grammar(text))


@pytest.mark.parametrize(
    "text",
    [
        "${step2.a}, ${item}",
        "${step1.entries[0].size ?? 0}",
        "${RUNTIME:day-1.end}",
        "${SLOT:s1}",
        'In x: ${step3.text ?? "none"}.',
        "${step1 ?? 0}",
    ],
)
def test_most_references_go_the_short_way(text: str) -> None:
    assert plainest(text) == by_grammar(text)


@given(texts)
def test_plain_is_what_stands_for_itself(text: str) -> None:
    if is_plain(text):
        assert parse_string(text) == (text,)


@given(ids)
def test_an_id_serves_in_a_reference(name: str) -> None:
    assert parse_string(f"${{{name}.path}}") == (Reference(StepTarget(name), (Key("path"),)),)


@pytest.mark.parametrize(
    "name", ["step2", "Step_2", "plan1", "item", "ITEM", "runtime", "FILLER", "input", "SLOT", "12"]
)
def test_reserved_words_are_no_ids(name: str) -> None:
    assert is_reserved(name)
    assert not is_id(name)


@pytest.mark.parametrize(
    ("name", "good"), [("steps", True), ("a-b_1", True), ("", False), ("1a", False), ("a b", False), ("a" * 65, False)]
)
def test_form_of_ids(name: str, good: Any) -> None:
    assert is_id(name) is good
    assert not is_reserved(name)


def test_plain_strings_never_load_the_grammar() -> None:
    code = (
        "import sys; from metnos.plan.parse import read_plan;"
        "from metnos.plan.notation import parse_lines;"
        "assert parse_lines('1 a x=\"costs 5$\" <1\\nend').ok;"
        "assert 'lark' not in sys.modules, 'lark was loaded';"
        "assert read_plan({'steps': [{'tool': 'final_answer', 'args': {'text': '${step1.a ?? 0}'}}]}).ok;"
        "assert 'lark' not in sys.modules, 'lark was loaded for the plainest of references';"
        "assert read_plan({'steps': [{'tool': 'final_answer', 'args': {'text': '${ step1 }'}}]}).ok;"
        "assert 'lark' in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@given(st.lists(_plainest | _fragments, max_size=5).map("".join), st.lists(_plainest, max_size=3).map("".join))
@example('${item ?? "\\u0041"}', "")
@example("${item ?? -0}", "")
def test_an_outline_is_of_canonical_spelling_and_holds_every_reference(text: str, around: str) -> None:
    found = outlined(text)
    if found is None or found[1] is None or is_plain(text):
        return
    assert format_parts(found[0]) == text
    other = outlined(around.replace("$", "") + text)
    assert other is not None
    if other[1] == found[1]:
        assert _references(other[0]) == _references(found[0])
        assert (len(other[0]) == 1) == (len(found[0]) == 1)


def _references(pieces: Any) -> list[Reference]:
    """The references, with one text for every text that is used instead."""
    return [
        msgspec.structs.replace(each, fallback="") if isinstance(each.fallback, str) else each
        for each in pieces
        if isinstance(each, Reference)
    ]


def test_only_texts_to_use_instead_are_no_part_of_an_outline() -> None:
    written = [f"${{step1.n{other}}}" for other in ("", ' ?? "7"', ' ?? "8"', " ?? 7", " ?? 8", " ?? null", " ?? true")]
    outlines = [found[1] for found in map(outlined, [*written, "${step2.n}", "${step1.m}", "${step1[0]}"]) if found]
    assert len(outlines) == 10
    assert outlines[1] == outlines[2]
    assert len(set(outlines)) == 9
