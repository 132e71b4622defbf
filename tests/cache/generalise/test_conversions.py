"""What a slot can look like, row by row; and what of a value may decide which plan is right."""

from __future__ import annotations

from typing import Any

import pytest

from metnos.cache.generalise.conversions import CONVERSIONS, REFERENCES, convert, forms
from metnos.cache.generalise.shape import shape_of
from metnos.request.model import Slot
from metnos.request.understand import understand


def slot_of(text: str, kind: str) -> Slot:
    return next(slot for slot in understand(text, "en").slots if slot.kind == kind)


ROWS: list[tuple[str, str, str, Any]] = [
    ("list the pdf files", "glob", "extension", "pdf"),
    ("list the pdf files", "glob", "dotted", ".pdf"),
    ("list the pdf files", "glob", "deep", "**/*.pdf"),
    ("list the pdf files", "glob", "EXTENSION", "PDF"),
    ("list the pdf files", "glob", "glob-name", "pdf"),
    ("list the report*.pdf files", "glob", "extension", None),
    ("list the report*.pdf files", "glob", "glob-name", "report*.pdf"),
    ("files over 5 MB", "size", "number", 5_000_000),
    ("files over 5 MB", "size", "MB", 5),
    ("files over 5 MB", "size", "GB", None),
    ("files over 5 MB", "size", "amount", 5),
    ("files over 2.5 MB", "size", "amount", None),
    ("files over 2.5 MB", "size", "amount-text", "2.5"),
    ("files over 5 MB", "size", "unit", "MB"),
    ("files over 5 MB", "size", "compact", "5MB"),
    ("files over 5 MB", "size", "exact:bytes", "5 MB (5000000 bytes)"),
    ("files over 512 bytes", "size", "exact:bytes", "512 bytes"),
    ("files over 5 MB", "size", "word", None),
    ("the five largest files", "integer", "word", "five"),
    ("the 5 largest files", "integer", "digits", "5"),
    ("the 5 largest files", "integer", "exact:bytes", None),
    ("read src/report.txt", "path", "basename", "report.txt"),
    ("read src/report.txt", "path", "stem", "report"),
    ("read src/report.txt", "path", "parent", "src"),
    ("read report.txt", "path", "parent", None),
    ("list the files in lib/", "path", "bare", "lib"),
    ("list the files in lib", "path", "slashed", "lib/"),
    ('files containing "a.b[c]"', "quoted", "regex", "a\\.b\\[c\\]"),
    ('files containing "a*[c]"', "quoted", "literal-glob", "a[*][[]c]"),
    ("set a timer for two weeks", "duration", "value", "P14D"),
    ("set a timer for two weeks", "duration", "weeks", 2),
    ("set a timer for two weeks", "duration", "days", 14),
    ("set a timer for two weeks", "duration", "hours", 336),
    ("set a timer for 90 minutes", "duration", "hours", None),
    ("set a timer for 90 minutes", "duration", "minutes", 90),
    ("files modified on 2026-12-31", "date", "next-day", "2027-01-01"),
    ("files modified on 2026-12-31", "date", "midnight", "2026-12-31T00:00:00"),
    ("files modified before tomorrow", "date", "next-day", None),
    ("files modified before tomorrow", "date", "as-date", "${RUNTIME:tomorrow}"),
    ("files modified before tomorrow", "date", "first", None),
    ("files modified yesterday", "period", "as-date", "${RUNTIME:yesterday}"),
    ("files modified last week", "period", "as-date", None),
    ("files modified in the last 7 days", "period", "first.start", "${RUNTIME:day-7.start}"),
    ("files modified in the last 7 days", "period", "last.end", "${RUNTIME:day.end}"),
    ("files modified last week", "period", "value", None),
    ("the 5 largest files", "integer", "first", None),
    ("read a.txt and b.txt", "paths", "items", ["a.txt", "b.txt"]),
    ("read a.txt and b.txt", "paths", "item:1:value", "b.txt"),
    ("read a.txt and b.txt", "paths", "item:2:value", None),
]


@pytest.mark.parametrize(("text", "kind", "name", "literal"), ROWS)
def test_a_conversion(text: str, kind: str, name: str, literal: Any) -> None:
    assert convert(name, slot_of(text, kind), "en") == literal


def test_every_row_is_tried_here() -> None:
    tried = {name.partition(":")[0] for _, _, name, _ in ROWS}
    plain = {"text", "said", "lower", "upper", "title", "capital", "seconds"}
    sizes = {"kB", "TB", "KiB", "MiB", "GiB", "TiB"}
    assert set(CONVERSIONS) - plain - sizes - {"next-midnight"} <= tried
    assert {"first", "first.start", "last.end", "as-date"} <= REFERENCES.keys() & tried


def test_a_name_that_no_conversion_has_is_a_fault_of_the_caller() -> None:
    with pytest.raises(KeyError):
        convert("nonsense", slot_of("files over 5 MB", "size"), "en")


def test_a_size_is_said_exactly_only_where_no_word_is_needed() -> None:
    said = {form.name for form in forms(slot_of("files over 512 bytes", "size"), "en", prose=True)}
    needs = {form.name for form in forms(slot_of("files over 5 MB", "size"), "en", prose=True)}
    assert "exact:" in said - needs


SHAPES: list[tuple[str, str, str]] = [
    ("read notes.txt", "path", ".txt"),
    ("read NOTES.TXT", "path", ".txt"),
    ("read list.csv", "path", ".csv csv"),
    ("list the files in .git", "path", "plain hidden"),
    ("list the files in src/lib", "path", "plain folder"),
    ("list the files in src/", "path", "plain folder/"),
    ("list the pdf files", "glob", "simple"),
    ("list the a/*.pdf files", "glob", "path"),
    ("list the report* files", "glob", "name"),
    ("the 1 largest files", "integer", "1"),
    ("the 7 largest files", "integer", "n"),
    ("files over 512 bytes", "size", "bytes"),
    ("files over 5 MB", "size", "n"),
    ("files modified on 2026-12-31", "date", "iso"),
    ("files modified before March 5", "date", "yearly"),
    ("files modified before tomorrow", "date", "relative"),
    ("send it to a@example.com", "address", "plain"),
    ("read https://example.com/a/b.pdf", "url", ".pdf"),
    ("read https://example.com", "url", "plain"),
    ("read a.txt and b.csv", "paths", "2: .txt, .csv csv"),
]


@pytest.mark.parametrize(("text", "kind", "shape"), SHAPES)
def test_a_shape(text: str, kind: str, shape: str) -> None:
    assert shape_of(slot_of(text, kind), ("csv", "json"), effects=True) == shape
