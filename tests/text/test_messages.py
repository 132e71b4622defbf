"""The tables of messages: the same keys and placeholders in every language, each key used, each use a key."""

from __future__ import annotations

import re
import string
from pathlib import Path
from typing import get_args

import pytest

import metnos
from metnos.cache.model import MISS_REASONS
from metnos.cli.datasets import COUNTED
from metnos.contracts.model import ChoiceKey
from metnos.drivers.slash import WORDS
from metnos.evaluate.comparing.regressed import KINDS as WORSE
from metnos.evaluate.drifting.model import KINDS as DRIFTS
from metnos.evaluate.measures.figures import TurnFigures
from metnos.evaluate.reporting.gathering import stages
from metnos.evaluate.reporting.page import TILES
from metnos.evaluate.reporting.page import WORDS as SHOWN
from metnos.plan.codes import CODES
from metnos.propose.decode.asking import QUESTIONS
from metnos.propose.model import DECLINING
from metnos.sdk import EFFECT_CLASSES
from metnos.text import LANGUAGES, has_message, message, messages
from metnos.turn.facts import OUTCOMES

PACKAGE = Path(metnos.__file__).parent
SOURCES = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
LITERAL = re.compile(r"""\b(?:has_)?message\(\s*f?(["'])(?P<key>[a-z_]+\.[a-z_.-]+)\1""")
ASSIGNED = re.compile(
    r"""\bkey = (["'])(?P<one>[a-z_]+\.[a-z_]+)\1(?: if .* else (["'])(?P<two>[a-z_]+\.[a-z_]+)\3)?"""
)
MADE = re.compile(r"""f(["'])(?P<family>[a-z_]+)\.\{""")


def fields(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


def codes_used(*places: str) -> set[str]:
    """Codes of failures that stand in the code of these places."""
    text = "\n".join(
        path.read_text(encoding="utf-8") for place in places for path in sorted((PACKAGE.parent / place).rglob("*.py"))
    )
    return {word for word in re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)*)"', text) if word in CODES}


FAILURES = codes_used("catalog/executors", "metnos/execute") | {"value-misfit"}
STAGES = stages(TurnFigures(turn=""))
FAMILIES: dict[str, set[str]] = {
    "outcome": {*OUTCOMES},
    "miss": {*MISS_REASONS},
    "action": {*EFFECT_CLASSES},
    "verb": {*EFFECT_CLASSES},
    "effect": {*EFFECT_CLASSES} - {"read"},
    "replay": {"identical", "diverged", "broken"},
    "ask": {"yes_words", "no_words"},
    "failure": FAILURES,
    "warning": {"unreadable", "too-deep", "withheld", "left-out"},
    "aborted": {"approval-expired", "dialog-expired", "answer-failed"},
    "choice": {*get_args(ChoiceKey), "why.exists"},
    "slash": {*WORDS},
    "which": {*QUESTIONS},
    "import": {*COUNTED},
    "drift": {*DRIFTS},
    "report": {
        *SHOWN,
        *(f"tile.{name}" for name in ("turns", "succeeded", *TILES)),
        *(f"stage.{name}" for name, _ in STAGES),
    },
    "match": {"exact", "tools", "arguments"},
    "judged": {"same", "better", "worse"},
    "worse": {*WORSE},
    "why": {"no-model", "proposer-failed", "answer", "plan-declined", *DECLINING},
    "guess": {
        "yes",
        "no",
        "when_nonempty",
        "when_empty",
        *(f"effect.{name}" for name in EFFECT_CLASSES if name != "read"),
    },
}
"""Keys that are made from a code: family → the codes that must have a sentence."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_keys_and_placeholders(language: str) -> None:
    english, other = messages("en"), messages(language)
    assert list(other) == list(english)
    for key, template in other.items():
        assert fields(template) == fields(english[key]), key
        assert template.strip() == template, key
        assert template, key


def test_no_sentence_of_one_language_stands_in_the_other() -> None:
    same = {key for key, template in messages("en").items() if messages("it")[key] == template}
    assert same <= {"answer.step", "ask.approve", "ask.no_words", "label.now"}, same


def test_every_key_that_the_code_names_is_there() -> None:
    named = {found["key"] for text in SOURCES.values() for found in LITERAL.finditer(text)}
    assert len(named) > 30
    assert {key for key in named if not has_message(key)} == set()


def test_every_family_that_the_code_makes_keys_of_is_known_here() -> None:
    made = {
        found["family"]
        for path, text in SOURCES.items()
        if "message(" in text and path.parent.name in ("cli", "drivers", "decode", "running", "reporting")
        for found in MADE.finditer(text)
    }
    assert made - {"metnos", "step"} == set(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_code_of_a_family_has_its_sentence(family: str) -> None:
    assert FAMILIES[family]
    assert {code for code in FAMILIES[family] if not has_message(f"{family}.{code}")} == set()


def test_every_key_is_used() -> None:
    named = {found["key"] for text in SOURCES.values() for found in LITERAL.finditer(text)}
    named |= {
        key
        for text in SOURCES.values()
        for found in ASSIGNED.finditer(text)
        for key in found.groupdict().values()
        if key
    }
    named |= {f"{family}.{code}" for family, codes in FAMILIES.items() for code in codes}
    literals = "\n".join(SOURCES.values())
    unused = {key for key in messages("en") if key not in named and f'"{key}"' not in literals}
    # sentences for codes that values or other executors report
    assert unused <= {f"failure.{code}" for code in CODES}, unused


def test_failures_that_values_report_have_sentences() -> None:
    reported = codes_used("metnos/values") - {"reference-syntax"}
    shown = {code for code in reported if CODES[code].family == "tool"}
    assert shown
    assert {code for code in shown if not has_message(f"failure.{code}")} == set()


def test_a_message_is_filled_in_and_another_language_falls_back() -> None:
    assert message("effect.create", "en", target="a.txt") == "Created a.txt"
    assert message("effect.create", "it", target="a.txt") == "Creato a.txt"
    assert message("effect.create", "fr", target="a{b}.txt") == "Created a{b}.txt"
    assert message("outcome.success", None) == "Done."
    with pytest.raises(KeyError):
        message("no.such.key")
