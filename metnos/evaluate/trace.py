"""ExecutionTrace, `metnos.trace/1`: one turn as Thought, Action and Critic steps, with costs and outcome.

Law: a view of the log and never the record: what proves anything is the log it was read from. One JSON object a line;
its schema is `docs/schema/trace-1.json`. Times are µs since 1970 UTC, 0 where the log has no clock.

    thought   a plan that somebody wrote: who, at which cost, what was said beside it
    critic    what judged it: `reader`, `validator`, a guard, `policy`; accepted, rewritten, rejected, allow, ask, deny
    action    a call of a tool, and what came of it
    ask       a question to a person, and the answer
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import msgspec

FORM: Final = "metnos.trace/1"


class Thought(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="thought"):
    plan: int
    source: str = ""
    model: str = ""
    text: str = ""
    usage: dict[str, int] = {}
    asked: int = 0
    at: int = 0


class Critic(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="critic"):
    plan: int
    by: str
    verdict: str
    step: str = ""
    diagnostics: tuple[dict[str, Any], ...] = ()


class Action(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="action"):
    plan: int
    step: str
    tool: str
    arguments: dict[str, Any] = {}
    resolved: bool = True
    """False: as the plan wrote them."""
    state: str = ""
    result: Any = None
    error: dict[str, Any] | None = None
    started: int = 0
    ended: int = 0


class Asked(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="ask"):
    plan: int
    question: str = ""
    answers: dict[str, Any] | None = None
    """None: nobody answered."""
    at: int = 0


Step: TypeAlias = "Thought | Critic | Action | Asked"


class ExecutionTrace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One turn."""

    form: str
    turn: str = ""
    message: str = ""
    """What was asked for."""
    session: str = ""
    channel: str = ""
    outcome: str = ""
    code: str = ""
    detail: str = ""
    answer: str = ""
    data: Any = None
    steps: tuple[Step, ...] = ()
    costs: dict[str, int] = {}
    """Usage of every model call, added up."""
    opened: int = 0
    closed: int = 0
    labels: dict[str, Any] = {}


def schema() -> dict[str, Any]:
    """The JSON Schema of a line."""
    made: dict[str, Any] = msgspec.json.schema(ExecutionTrace)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://metnos.invalid/schema/trace-1.json",
        "title": "ExecutionTrace, metnos.trace/1",
        **made,
    }
