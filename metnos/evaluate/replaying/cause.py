"""The first cause of a difference, as a thing that many turns can have in common.

Law: made of the first difference alone, without texts, ids and times of one turn, so that what has one cause has one
name. A replay asks nobody: what the machine now wants and the record does not hold is the difference itself, named by
the command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from metnos.record.codec import decode_tolerant

if TYPE_CHECKING:
    from metnos.record.model import TurnLog
    from metnos.record.replay import ReplayResult

SHOWN: Final = 12
"""Hexadecimal digits of a digest."""


class Cause(msgspec.Struct, frozen=True, order=True):
    """What a turn differs by first, or why it cannot be believed."""

    status: str
    """`diverged` or `broken`."""
    kind: str
    """Kind of the fact or input, `commands`; of a broken log, its code."""
    tool: str = ""
    """Whose step it is about, or which tool the machine now asks for."""
    recorded: str = ""
    """What was decided: a verdict, an outcome, a code; empty where nothing was."""
    computed: str = ""
    """What is decided now."""
    rules: str = ""
    """Digest of the rules it was recorded under, where these are others."""


def cause_of(result: ReplayResult, log: TurnLog) -> Cause:
    """The cause of a result that is not `identical`."""
    if result.status == "broken":
        return Cause("broken", result.kind)
    rules = _rules(log)
    shown = rules.removeprefix("sha256:")[:SHOWN] if rules and result.rules != rules else ""
    if result.kind == "commands":
        asked = result.asked[0] if result.asked else ("nothing", "")
        return Cause("diverged", "commands", tool=asked[1], computed=asked[0], rules=shown)
    recorded, computed = (decode_tolerant(text.encode()) for text in (result.recorded, result.computed))
    step = str(recorded.get("step") or computed.get("step") or "")
    return Cause(
        "diverged",
        result.kind,
        tool=_tool(log, step, result.seq),
        recorded=_essence(recorded),
        computed=_essence(computed) if computed else result.refusal,
        rules=shown,
    )


def _rules(log: TurnLog) -> str:
    versions = decode_tolerant(log.records[0].body).get("versions") if log.records else None
    return str(cast("dict[str, Any]", versions).get("rules", "")) if isinstance(versions, dict) else ""


def _essence(body: dict[str, Any]) -> str:
    """What a fact says beside its step: its kind where another stood, and its verdict, outcome or first code."""
    if not body:
        return ""
    parts = [str(body.get("fact", ""))]
    verdict = body.get("verdict")
    if isinstance(verdict, dict):
        parts.append(str(cast("dict[str, Any]", verdict).get("type", "")))
    parts += [str(body[name]) for name in ("outcome", "code", "guard", "by") if body.get(name)]
    diagnostics = body.get("diagnostics")
    if isinstance(diagnostics, list) and diagnostics and isinstance(diagnostics[0], dict):
        parts.append(str(cast("dict[str, Any]", diagnostics[0]).get("code", "")))
    return " ".join(part for part in parts if part)


def _tool(log: TurnLog, step: str, before: int) -> str:
    """The tool of step `PLAN.STEP…`, by the plan that was last brought before record `before`."""
    number = step.split(".")[1] if step.count(".") else ""
    if not (number.isascii() and number.isdecimal()):
        return ""
    tool = ""
    for record in log.records[:before]:
        if record.kind not in ("turn_opened", "plan_found", "plan_proposed", "plan_accepted"):
            continue
        body = decode_tolerant(record.body)
        plan = body.get("plan") if isinstance(body.get("plan"), dict) else body.get("body")
        steps: Any = cast("dict[str, Any]", plan).get("steps") if isinstance(plan, dict) else None
        if isinstance(steps, list) and 0 < int(number) <= len(cast("list[Any]", steps)):
            one = cast("list[Any]", steps)[int(number) - 1]
            tool = str(cast("dict[str, Any]", one).get("tool", "")) if isinstance(one, dict) else ""
    return tool
