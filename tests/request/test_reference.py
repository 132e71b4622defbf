"""The fast normaliser and the slow reference say the same of every text."""

from __future__ import annotations

import json
import os
import random
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.request.lexicon import lexicons
from metnos.request.understand import understand
from tests.request.reference import Said, understood

PLANS = Path(__file__).parents[2] / "catalog" / "plans"
WORDS = sorted({word for lexicon in lexicons() for word in lexicon.known})
VALUES = [
    "5", "1.5", "1,000", "1.000", "20%", "$5", "5pm", "5:30", "p.m.", "MB", "a/b.txt", "b.txt", "*.py", "*.md", '"x y"', "'z'",
    "README", "PDFs", ".txt", ".", "2026-01-01", "30/11/2026", "a@b.it", "http://x.y", ",", "please", "?", "hello", "flurb",
    "Flurb", "Documents", "twenty-five", "today's", "don't", "dell'archivio", "un'ora", "{path}", "(", "“q", "it's", "the", "in",
    "called", "folder", "file", "and", "e",
]  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=50),
    st.lists(st.one_of(st.sampled_from(WORDS), st.sampled_from(VALUES)), max_size=12).map(" ".join),
    st.lists(st.sampled_from(VALUES), max_size=8).map("".join),
)


def fast(text: str, language: str | None = None) -> Said:
    request = understand(text, language)
    slots = [(slot.kind, slot.start, slot.end, slot.value) for slot in request.slots]
    return Said(request.language, request.normal_form, request.loose_form, slots, request.negated)


@given(TEXTS, st.sampled_from([None, "en", "it"]))
def test_the_two_agree_on_any_text(text: str, language: str | None) -> None:
    assert fast(text, language) == understood(text, language)


def test_the_two_agree_on_every_example_and_its_mutilations() -> None:
    chance = random.Random(7)
    for path in sorted(PLANS.glob("*.toml")):
        examples = tomllib.loads(path.read_text("utf-8"))["examples"]
        for language, lines in examples.items():
            for line in filter(None, lines.splitlines()):
                assert fast(line, language) == understood(line, language)
                words = line.split()
                words.insert(chance.randrange(len(words) + 1), chance.choice(VALUES))
                chance.shuffle(words)
                text = chance.choice([" ", "  ", "\t"]).join(words)
                assert fast(text) == understood(text)


@pytest.mark.skipif("REQUESTS_FOLDER" not in os.environ, reason="no folder of requests is named")
def test_the_two_agree_on_what_people_said() -> None:
    for path in sorted(Path(os.environ["REQUESTS_FOLDER"]).glob("*.jsonl")):
        with path.open(encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                text = row.get("request") or row["origin"]
                assert fast(text) == understood(text)
