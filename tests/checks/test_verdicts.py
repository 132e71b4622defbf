"""Verdicts are remembered for requests as they are understood, and told apart by what these say."""

from __future__ import annotations

from typing import Any

from metnos.checks.guards.run import guard
from metnos.checks.model import CheckContext, Checked
from metnos.checks.validator import Validator
from metnos.checks.verdicts import Verdicts
from metnos.request.understand import understand

PLAN = {"steps": [{"tool": "find_files", "args": {}}, {"tool": "final_answer", "args": {}}]}


def asked(text: str) -> CheckContext:
    return CheckContext(source="template", request=understand(text, "en"))


def test_a_request_that_was_understood_is_part_of_the_key(validator: Validator) -> None:
    judged: list[str] = []

    def validate(plan: Any, context: CheckContext) -> Checked:
        assert context.request is not None
        judged.append(context.request.text)
        return validator(plan, context)

    verdicts = Verdicts(validate, lambda checked, context: guard(checked, context, validator))
    for text in ("list the files", "list the files", "list the largest files"):
        context = asked(text)
        verdicts.guard(verdicts.validate(PLAN, context), context)
    assert judged == ["list the files", "list the largest files"]


def test_a_guard_is_asked_in_a_context_of_its_own(validator: Validator) -> None:
    verdicts = Verdicts(validator, lambda checked, context: guard(checked, context, validator))
    checked = verdicts.validate(PLAN, asked("list the files"))
    first = verdicts.guard(checked, asked("list the files"))
    assert verdicts.guard(checked, asked("list the files")) is first
