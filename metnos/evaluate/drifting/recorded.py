"""What a log holds that can be held against today: plans, the contracts they were accepted under, results.

Law: tolerant, like `record.reading`: what it does not know it passes over, so that drift of old logs can be told too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from metnos.record.codec import decode_tolerant, fetch_from, marker_of
from metnos.record.faults import RecordFault
from metnos.record.reading import steps_of

if TYPE_CHECKING:
    from metnos.record.model import TurnLog

Body = dict[str, Any]
STEP: Final = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})(?:\.[0-9]{1,9})?\Z", re.ASCII)
"""`plan.step`, `plan.step.item`."""


class Accepted(msgspec.Struct, frozen=True):
    """One accepted plan."""

    body: Body
    executors: dict[str, str]
    """`name@version` → contract digest."""
    steps: list[Body] = []
    """Of the body, in their places."""


class Result(msgspec.Struct, frozen=True):
    """What one step or item came back with."""

    step: str
    data: Any
    effects: tuple[str, ...] = ()
    """Classes of what it reported."""


class Recorded:
    """Of one log."""

    def __init__(self, log: TurnLog) -> None:
        self.plans: dict[int, Accepted] = {}
        self.results: list[Result] = []
        self._written: Body = {}
        self._fetch = fetch_from(log.blobs)
        for record in log.records:
            if record.kind in ("turn_opened", "plan_found", "plan_proposed"):
                self._written = _object(decode_tolerant(record.body), "plan")
            elif record.kind == "plan_accepted":
                self._accepted(decode_tolerant(record.body))
            elif record.kind in ("step_finished", "effect_probed"):
                self._ended(decode_tolerant(record.body))

    def tool(self, step: str) -> str:
        """Name of the tool of `plan.step`; empty if the plan has no such step."""
        found = STEP.match(step)
        accepted = None if found is None else self.plans.get(int(found[1]))
        if found is None or accepted is None or not 0 < int(found[2]) <= len(accepted.steps):
            return ""
        return str(accepted.steps[int(found[2]) - 1]["tool"])

    def first_step(self, plan: int, tool: str) -> str:
        """`plan.step` of the first step that calls `tool`; the plan alone if none does."""
        numbers = (number for number, step in enumerate(self.plans[plan].steps, 1) if step["tool"] == tool)
        found = next(numbers, 0)
        return f"{plan}.{found}" if found else str(plan)

    def _accepted(self, body: Body) -> None:
        number: Any = body.get("plan")
        if isinstance(number, int):
            executors = {name: str(digest) for name, digest in _object(body, "executors").items()}
            plan = _object(body, "body") or self._written
            self.plans[number] = Accepted(plan, executors, steps_of(plan))

    def _ended(self, body: Body) -> None:
        data = body.get("data")
        if data is None:
            return  # a probe that found nothing
        try:
            marker = marker_of(data)
            data = data if marker is None else msgspec.json.decode(self._fetch(marker.blob))
        except (RecordFault, msgspec.MsgspecError):
            return  # said by the verification
        effects: Any = body.get("effects")
        listed = cast("list[Any]", effects) if isinstance(effects, list) else []
        classes = tuple(str(cast("Body", one).get("class", "")) for one in listed if isinstance(one, dict))
        self.results.append(Result(str(body.get("step", "")), data, classes))


def _object(body: Body, name: str) -> Body:
    value = body.get(name)
    return cast("Body", value) if isinstance(value, dict) else {}
