"""Whether a turn meets what a case expects: every expectation that it does not, in one pass. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from metnos.evaluate.cases.making import calls_of, effects_of
from metnos.evaluate.cases.model import Unmet
from metnos.plan.jsondata import JSONFault, canonical, loads_strict
from metnos.record.reading import view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.evaluate.cases.model import Expect, ExpectedEffect, ExpectedStep
    from metnos.record.model import TurnLog
    from metnos.record.reading import TurnView

SHOWN = 400
"""Characters of a text that a failure shows."""


def unmet(expect: Expect, log: TurnLog) -> tuple[Unmet, ...]:
    """What is expected and not so; none: the case holds.

    Args:
        expect: Of the case.
        log: Of the turn as it went now.
    """
    return tuple(_all(expect, view(log)))


def _all(expect: Expect, seen: TurnView) -> Iterator[Unmet]:
    if expect.outcome is not None and seen.outcome != expect.outcome:
        yield Unmet(what="outcome", expected=expect.outcome, found=seen.outcome or seen.status)
    if expect.code is not None and seen.code != expect.code:
        yield Unmet(what="code", expected=expect.code, found=seen.code)
    steps = [] if seen.plan is None else calls_of(seen.plan)
    tools = tuple(str(one.get("tool", "")) for one in steps)
    if expect.tools is not None and tools != expect.tools:
        yield Unmet(what="tools", expected=", ".join(expect.tools), found=", ".join(tools))
    elif expect.steps is not None:
        yield from _steps(expect.steps, steps, seen)
    yield from _effects(expect, effects_of(seen))
    if expect.answer is not None and seen.answer != expect.answer:
        yield Unmet(what="answer", expected=expect.answer[:SHOWN], found=seen.answer[:SHOWN])


def _steps(expected: tuple[ExpectedStep, ...], steps: list[dict[str, Any]], seen: TurnView) -> Iterator[Unmet]:
    if len(expected) != len(steps) or any(one.tool != step.get("tool") for one, step in zip(expected, steps, strict=True)):  # fmt: skip
        wanted, found = ", ".join(one.tool for one in expected), ", ".join(str(one.get("tool")) for one in steps)
        yield Unmet(what="steps", expected=wanted, found=found)
        return
    states = {one.step.partition(".")[2]: one.state for one in seen.steps if one.step.count(".") == 1}
    for number, (one, step) in enumerate(zip(expected, steps, strict=True), 1):
        wanted, found = _canonical(one.args), _canonical(step.get("args", {}))
        if one.args is not None and wanted != found:
            yield Unmet(what="arguments", step=str(number), expected=wanted[:SHOWN], found=found[:SHOWN])
        state = states.get(str(number), "")
        if one.runs and state != one.runs:
            yield Unmet(what="steps", step=str(number), expected=one.runs, found=state or "not run")


def _canonical(args: Any) -> str:
    try:
        return canonical(loads_strict(args) if isinstance(args, str) else args).decode()
    except JSONFault:
        return str(args)


def _effects(expect: Expect, made: tuple[ExpectedEffect, ...]) -> Iterator[Unmet]:
    wanted, found = Counter(expect.effects or ()), Counter(made)
    for one in wanted - found:
        yield Unmet(what="effects", expected=f"{one.cls} {one.target}")
    if not expect.other_effects:
        for one in found - wanted:
            yield Unmet(what="other-effects", found=f"{one.cls} {one.target}")
