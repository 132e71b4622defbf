"""Requests that differ in a word that is often left out, a capital or a digit's form: none is served the other's plan.

One plan that only reads is learned for the left sentence; the right one, and the other way round, must miss.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from metnos import Engine

APART = {
    "greeting": [
        ("hello kitty photos", "kitty photos"),
        ("hey jude lyrics", "jude lyrics"),
        ("hi res photos", "res photos"),
        ("good evening standard news", "standard news"),
        ("good morning messages", "messages"),
        ("ciao in giapponese", "in giapponese"),
    ],
    "closing": [
        ("how do you say thanks", "how do you say please"),
        ("translate thank you", "translate"),
        ("how do you say please, in french", "how do you say, in french"),
        ("tell Anna thanks", "tell Anna please"),
        ("find songs called thanks", "find songs called please"),
        ("come si dice grazie", "come si dice per favore"),
        ("traduci grazie mille", "traduci per piacere"),
        ("what is the opposite of please", "what is the opposite of"),
    ],
    "capitals": [("define IT", "define it"), ("news about US", "news about us"), ("who is WHO", "who is who")],
    "raised digits": [
        ("show 10² photos", "show 102 photos"),
        ("what is m²", "what is m2"),
        ("compute x₂", "compute x2"),
        ("show ①0 photos", "show 10 photos"),
    ],
    "digits of a name": [
        ("call 0123456", "call 123456"),
        ("open room 01", "open room 1"),
        ("news of python 3.10", "news of python 3.1"),
        ("notizie di python 3,10", "notizie di python 3,1"),
    ],
}
ALIKE = [
    ("hello, show my alarms", "show my alarms"),
    ("hi where is my car", "where is my car"),
    ("show my alarms thanks", "show my alarms please"),
    ("how do you say hello, please", "how do you say hello"),
    ("SHOW MY PAGES", "show my pages"),
    ("what is 20% of $5.50", "what is 20% of $5.5"),
    ("show ５ photos", "show 5 photos"),
    ("find photos over 1.50 MB", "find photos over 1.5 MB"),
]


def proposer(command: Any, candidates: Any) -> dict[str, Any]:
    return {
        "steps": [
            {"tool": "find_files", "args": {"path": ".", "pattern": "*.md"}},
            {"tool": "final_answer", "args": {"text": "${step1.count}"}},
        ]
    }


def source(learned: str, asked: str) -> str:
    with Engine.open(memory=True, proposer=proposer) as engine:
        assert engine.run_sync(learned).outcome == "success"
        return engine.run_sync(asked).source


@pytest.mark.parametrize("kind", APART)
def test_none_is_served_the_plan_of_the_other(kind: str) -> None:
    for one, other in APART[kind]:
        assert source(one, other) == "model", (one, other)
        assert source(other, one) == "model", (other, one)


def test_what_says_nothing_is_still_left_out() -> None:
    for one, other in ALIKE:
        assert source(one, other) == "cache", (one, other)


@pytest.mark.parametrize("name", ["version", "alarms.jsonl", "quarantine", "cache.db"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "full"])
def test_no_turn_fails_for_what_stands_in_the_place_of_a_file_of_the_cache(
    tmp_path: Path, name: str, kind: str
) -> None:
    home = tmp_path / "home"
    with Engine.open(home, proposer=proposer) as engine:
        assert engine.run_sync("tell me how many notes there are").outcome == "success"
    place = home / "cache" / name
    place.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    elif kind == "link":
        place.symlink_to(tmp_path / "nowhere")
    else:
        place.write_bytes(b"\xff" * 16)
    with Engine.open(home, proposer=proposer) as engine:
        found = engine.run_sync("tell me how many notes there are")
        assert found.outcome == "success"
        engine.cache.feedback(found.turn, "bad")
        assert engine.run_sync("tell me how many notes there are").source == "model"
    assert not (tmp_path / "nowhere").exists()
