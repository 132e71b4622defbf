"""A plan in plain words: each kind of argument, of step and of end, in both languages."""

from __future__ import annotations

from typing import Any

import pytest

from metnos.drivers.guessing import LONGEST, guess_lines, guess_options, guess_question
from metnos.text import LANGUAGES
from metnos.turn.commands import Foreseen, Guess

END: dict[str, Any] = {"tool": "final_answer", "args": {}}


def lines(*steps: Foreseen, end: dict[str, Any] = END, language: str = "en") -> list[str]:
    return list(guess_lines(Guess(plan=1, digest="d", steps=steps, end=end), language)[1:])


def one(args: dict[str, Any] | None = None, **fields: Any) -> Foreseen:
    return Foreseen(**({"step": "1.1", "tool": "t", "effect": "read", "args": args or {}} | fields))


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (one(), "t"),
        (one({"min_size": 10, "names": ["a", "b"], "deep": True}), 't: min size 10, names ["a","b"], deep true'),
        (one({"path": "${step2.entries[0].path}"}), "t: path what step 2 gives (entries[0].path)"),
        (one({"path": "${step2}"}), "t: path what step 2 gives"),
        (one({"path": 'a ${step2.n} "b"'}), r't: path "a ${step2.n} \"b\""'),
        (one({"path": "${step2.n ?? 1}"}), "t: path ${step2.n ?? 1}"),
        (one({"path": "${plan1.step2.n}"}), "t: path ${plan1.step2.n}"),
        (one({"path": "${INPUT:name}"}), 't: path "${INPUT:name}"'),
        (one({"from_step": 3}), "t: what step 3 gives"),
        (one({"from_step": 3}, each=True), "t: for each of what step 3 gives"),
        (one({"from_steps": [1, 3]}), "t: what step 1 gives, what step 3 gives"),
        (one({"x": "${item.p}"}, for_each="${step1.entries}"), "t: for each of what step 1 gives (entries), x \"${item.p}\""),
        (one(for_each=["a", "b"]), 't: for each of ["a","b"]'),
        (one(when={"nonempty": 2}), "t: if step 2 gives anything"),
        (one(when={"empty": 2}), "t: if step 2 gives nothing"),
        (one({"path": "a"}, effect="delete"), 't: path "a"; this deletes'),
        (one(about={"en": "Reads v1.2 files. Slowly."}), "Reads v1.2 files (t)"),
        (one(about={"en": "Moves one; never two"}), "Moves one (t)"),
        (one(about={"it": "Sposta."}), "t"),
        (one(about={"en": "A\nB\u202e\u2028C"}), "A\\u000aB\\u202e\\u2028C (t)"),
    ],
)  # fmt: skip
def test_a_step(step: Foreseen, said: str) -> None:
    assert lines(step) == [f"  1. {said}"]


def test_a_long_value_is_cut() -> None:
    (said,) = lines(one({"text": "x" * 1000}, about={"en": "y" * 1000}))
    assert said.count("x") + said.count("y") == 2 * LONGEST
    assert said.count("…") == 2


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ({"tool": "final_answer", "args": {"text": "hm"}}, ['  1. Tell you: "hm"']),
        ({"tool": "final_answer", "args": {"text": "hm", "data": [1]}}, ['  1. Tell you: "hm", [1]']),
        ({"tool": "final_answer", "args": {"text": "${step1.n}"}}, ["  1. Tell you: what step 1 gives (n)"]),
        ({"tool": "ask", "args": {"question": "Which?"}}, ['  1. Ask you: "Which?"']),
        ({"tool": "needs_inputs", "args": {"form": {"a": {}, "b": {}}}}, ["  1. Ask you: a, b"]),
        ({}, ["  1. Then go on from what was found"]),
        (END, []),
    ],
)
def test_an_end(end: dict[str, Any], said: list[str]) -> None:
    assert lines(end=end) == said


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("effect", ["read", "create", "change", "delete", "send", "execute"])
def test_every_language_has_a_word_for_every_effect(language: str, effect: str) -> None:
    step = one({"from_step": 1}, effect=effect, each=True, when={"empty": 1}, about={"it": "Fa.", "en": "Does."})
    asked = guess_question(Guess(plan=1, digest="d", steps=(step,), end=END), language)
    assert len(asked.splitlines()) == 3
    assert asked.splitlines()[-1] == {"en": "Shall I go on?", "it": "Procedo?"}[language]
    assert [option.name for option in guess_options(language)] == ["yes", "no"]
