"""What a request says beside its form: written words keep their case, and only a sentence's first capital is folded."""

from __future__ import annotations

import pytest

from metnos.cache.key import form_of, said
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
