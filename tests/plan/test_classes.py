"""Every code, class of failure and outcome has its class of error."""

from __future__ import annotations

from typing import get_args

import pytest

from metnos.plan.classes import BY_CODE, BY_FAILURE, BY_OUTCOME, FAULT_CLASSES, VAGUE, WILLED, class_of, class_of_turn
from metnos.plan.codes import CODES
from metnos.sdk import ErrorClass
from metnos.turn.facts import OUTCOMES


def test_every_code_stands_in_one_class() -> None:
    assert set(BY_CODE) | WILLED == set(CODES), "metnos/plan/classes.py"
    assert not set(BY_CODE) & WILLED
    assert set(BY_CODE.values()) == set(FAULT_CLASSES)
    assert set(VAGUE) <= set(CODES)


def test_no_code_stands_in_two_classes() -> None:
    from metnos.plan.classes import _CODES

    assert sum(len(codes.split()) for codes in _CODES.values()) == len(BY_CODE)
    assert tuple(_CODES) == FAULT_CLASSES


def test_every_class_of_a_failure_and_every_outcome_has_its_class() -> None:
    assert set(BY_FAILURE) == set(get_args(ErrorClass))
    assert set(BY_OUTCOME) <= set(OUTCOMES)
    for outcome in OUTCOMES:
        found = class_of_turn(outcome, "not-found", {})
        assert found == BY_OUTCOME.get(outcome, "wrong-arguments")


@pytest.mark.parametrize(
    ("code", "failure", "expected"),
    [
        ("unknown-tool", "", "wrong-tool"),
        ("not-found", "missing", "wrong-arguments"),
        ("exists", "conflict", "missing-input"),
        ("input-missing", "", "missing-input"),
        ("outside-roots", "denied", "out-of-scope"),
        ("no-permission", "denied", "operational"),
        ("no-space", "operational", "operational"),
        ("foreign-unreachable", "unavailable", "operational"),
        ("not-found", "timeout", "operational"),
        ("tool-error", "operational", "operational"),
        ("tool-error", "arguments", "wrong-arguments"),
        ("tool-error", "denied", "out-of-scope"),
        ("own-code", "arguments", "wrong-arguments"),
        ("own-code", "conflict", "missing-input"),
        ("own-code", "rate-limit", "operational"),
        ("own-code", "", "operational"),
        ("cancelled", "", ""),
        ("approval-refused", "", ""),
        ("approval-expired", "", "missing-input"),
    ],
)
def test_what_helps(code: str, failure: str, expected: str) -> None:
    assert class_of(code, failure) == expected


def test_a_turn_has_the_class_of_what_kept_it_from_success() -> None:
    assert class_of_turn("", "not-found", {}) == ""
    assert class_of_turn("success", "", {}) == ""
    assert class_of_turn("effect_unknown", "effect-unknown", {}) == "operational"
    assert class_of_turn("error", "own-code", {"own-code": "data"}) == "wrong-arguments"
    assert class_of_turn("partial", "own-code", {"other": "data"}) == "operational"
    assert class_of_turn("not_understood", "no-model", {}) == "out-of-scope"
    assert class_of_turn("not_understood", "proposer-failed", {}) == "operational"
    assert class_of_turn("user_aborted", "approval-refused", {}) == ""
