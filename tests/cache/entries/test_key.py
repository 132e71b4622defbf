"""What a request says beside its form: written words keep their case, and only a sentence's first capital is folded."""

from __future__ import annotations

import pytest

from metnos.cache.entries.key import GRADES, form_of, forms_of, said
from metnos.request.understand import understand


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ("Convert 5 florins", "convert 5 florins", True),
        ("  Convert 5 florins", "convert 5 florins", True),
        ("convert 5 Florins", "convert 5 florins", False),
        ("CONVERT 5 florins", "convert 5 florins", False),
        ("cOnvert 5 florins", "convert 5 florins", False),
        ("“Convert 5 florins", "convert 5 florins", False),
    ],
)
def test_the_capital_that_begins_a_sentence_is_none_of_the_words(left: str, right: str, equal: bool) -> None:
    for grade in ("strict", "loose"):
        one, other = understand(left, "en"), understand(right, "en")
        assert said(one, grade) == said(other, grade)
        assert (form_of(one, grade) == form_of(other, grade)) is equal


@pytest.mark.parametrize(
    "text", ["", "show me the five largest files, please", "Show May in src", "convert 5 Florins to IT", "SHOW MAY"]
)
def test_the_forms_of_all_grades_at_once_are_those_of_each(text: str) -> None:
    request = understand(text, "en")
    assert forms_of(request) == {grade: form_of(request, grade) for grade in GRADES}
