"""How a bound slot is said: exact sizes, names of types, formats of files, flags, periods."""

from __future__ import annotations

from typing import Any

import pytest

from metnos.cache.templates.saying import Saying, SlotRule
from metnos.request.model import Slot, SlotKind

TABLE = SlotRule(kind="path", formats={"": "markdown", ".md": "markdown", ".csv": "csv"})


def slot(kind: SlotKind, text: str, value: Any) -> Slot:
    return Slot(kind=kind, start=0, end=len(text), text=text, value=value)


def said(rule: SlotRule, given: Slot | None, part: str | None, language: str = "en") -> Any:
    saying = Saying({"x": rule}, {} if given is None else {"x": given}, frozenset(), language)
    return saying.part("x", part)


@pytest.mark.parametrize(("text", "value", "exact"), [
    ("1 MB", 1_000_000, "1 MB (1000000 bytes)"), ("4096 bytes", 4096, "4096 bytes"), ("1,000 bytes", 1000, "1,000 bytes"),
    ("1.5 KB", 1500, "1.5 KB (1500 bytes)"), ("five bytes", 5, "five bytes (5 bytes)"),
])  # fmt: skip
def test_bytes_are_said_once(text: str, value: int, exact: str) -> None:
    rule = SlotRule(kind="size", phrase={"en": "{} bytes"})
    assert said(rule, slot("size", text, value), "exact") == exact


@pytest.mark.parametrize(("value", "name"), [("*.pdf", " pdf"), ("*.tar.gz", " *.tar.gz"), ("a*", " a*"), ("*", " *")])
def test_a_type_is_called_by_its_ending(value: str, name: str) -> None:
    assert said(SlotRule(kind="glob", phrase={"en": " {}"}), slot("glob", "PDFs", value), "said") == name


@pytest.mark.parametrize(("path", "form"), [
    ("a.csv", "csv"), ("a/b.CSV", "csv"), ("a.md", "markdown"), ("README", "markdown"), ("a.b/c", "markdown"),
    ("a.xlsx", ""), (".csv", "markdown"), ("a.", ""),
])  # fmt: skip
def test_the_end_of_a_name_says_the_format(path: str, form: str) -> None:
    assert TABLE.format_of(path) == form
    assert said(TABLE, slot("path", path, path), "format") == form


def test_paths_that_are_no_files_or_not_bare_are_not_taken() -> None:
    assert [SlotRule(kind="path", names="file").takes(path) for path in ("a", "a/b", "a/")] == [True, True, False]
    assert [SlotRule(kind="path", names="bare").takes(path) for path in ("a", "a/b", "a/")] == [True, False, False]
    assert SlotRule(kind="path").takes("a/")


def test_a_flag_is_worth_what_its_rule_gives() -> None:
    rule = SlotRule(
        kind="flag", default="desc", given="asc", text={"en": "largest first"}, phrase={"en": "smallest first"}
    )
    for flags, value, words in (
        (frozenset({"x"}), "asc", "smallest first"),
        (frozenset[str](), "desc", "largest first"),
    ):
        saying = Saying({"x": rule}, {}, flags, "en")
        assert (saying.value("x"), saying.part("x", None), saying.part("x", "said")) == (value, value, words)
        assert saying.is_given("x") == bool(flags)


def test_a_period_of_two_keys() -> None:
    rule = SlotRule(kind="period")
    for value, start, end in (("day-7..day", "day-7", "day"), ("week-1", "week-1", "week-1")):
        given = slot("period", "then", value)
        assert said(rule, given, "start") == f"${{RUNTIME:{start}.start}}"
        assert said(rule, given, "end") == f"${{RUNTIME:{end}.end}}"
        assert said(rule, given, "text") == "then"


def test_what_was_not_said_is_the_default() -> None:
    rule = SlotRule(kind="path", default=".", text={"en": "this folder"})
    assert [said(rule, None, part) for part in (None, "text", "said", "exact")] == [
        ".",
        "this folder",
        "this folder",
        ".",
    ]
    assert said(rule, None, "text", "it") == "."
    assert said(rule, None, "said", "it") == ""
