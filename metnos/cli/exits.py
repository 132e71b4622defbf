"""Exit codes: the promise that scripts build on (VERSIONING.md).

Law: one table from a turn's outcome to its code, and one exception to it (`of_turn`); nothing else in the command line
chooses a number.
"""

from __future__ import annotations

from typing import Final

OK: Final = 0
NOT_OK: Final = 1
"""The check found something, or the turn did not succeed."""
USAGE: Final = 2
ENVIRONMENT: Final = 3
"""A model or tool cannot be reached, a disk is full, a home cannot be written."""
TRUST: Final = 4
"""Bad signature, digest, chain or anchor."""
NEEDED: Final = 5
"""Input or consent is needed: the turn is suspended."""
UNKNOWN_EFFECT: Final = 6
CANCELLED: Final = 130

BY_OUTCOME: dict[str, int] = {
    "success": OK,
    "partial": NOT_OK,
    "error": NOT_OK,
    "timeout_steps": NOT_OK,
    "not_understood": NOT_OK,
    "plan_rejected": NOT_OK,
    "tool_hallucination": NOT_OK,
    "user_aborted": NOT_OK,
    "policy_denied": NOT_OK,
    "budget_hit": NOT_OK,
    "cancelled": CANCELLED,
    "effect_unknown": UNKNOWN_EFFECT,
    "": NEEDED,
}

MEANINGS: dict[int, str] = {
    OK: "ok",
    NOT_OK: "the check found something, or the turn did not succeed",
    USAGE: "usage",
    ENVIRONMENT: "environment: a model, tool or disk cannot be reached",
    TRUST: "trust: a signature, digest, chain or anchor does not hold",
    NEEDED: "input or consent is needed",
    UNKNOWN_EFFECT: "an effect may or may not have happened",
    CANCELLED: "cancelled",
}


def of_turn(outcome: str, code: str) -> int:
    """The exit code of a turn; where nothing came of it because a model could not be used, that of the environment."""
    from metnos.plan.codes import CODES

    away = code.startswith("model-") and code in CODES and CODES[code].family == "environment"
    return ENVIRONMENT if away and outcome in ("not_understood", "error") else BY_OUTCOME[outcome]
