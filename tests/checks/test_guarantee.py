"""The guarantee: an accepted plan cannot fail at run time by a missing declared reference, type or tool.

Plans are made up over made-up catalogs, and the accepted ones are run with stand-ins that return whatever their
contracts allow. The last test switches the checks off one by one: each time the runs must find out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.checks import arguments, lowering, ruled, steps
from metnos.checks.model import CheckContext, Checked
from metnos.checks.scope import Scope
from metnos.checks.shapes import Alternative, Shape
from metnos.checks.validator import Validator
from tests.support import generated, world
from tests.support import shaping as shaping_plans
from tests.support.world import Broken

CONTEXT = CheckContext(inputs=generated.INPUTS)
RUNS = 3
"""Of each accepted plan: what a stand-in returns differs each time."""


def accepted_of(rnd: Random, validator: Validator, written: dict[str, Any]) -> Checked | None:
    checked = validator(written, CONTEXT)
    if checked.ok:
        for _ in range(RUNS):
            world.run(rnd, checked)
        return checked
    assert all(fault.where.startswith(("/steps", "/fillers")) for fault in checked.diagnostics)
    return None


def explore(seed: int, plans: int = 12, *, shaping: bool = False) -> list[Checked]:
    """Make up a catalog, plans for it, and changed plans; run what is accepted."""
    rnd = Random(seed)
    known = shaping_plans.shaping_catalog(rnd) if shaping else generated.catalog(rnd)
    validator = Validator(known)
    accepted: list[Checked] = []
    for _ in range(plans):
        written = shaping_plans.shaping_plan(rnd, known) if shaping else generated.plan(rnd, known)
        checked = accepted_of(rnd, validator, written)
        if checked is None:
            continue
        accepted.append(checked)
        for _ in range(3):
            accepted_of(rnd, validator, generated.mutated(rnd, written))
    return accepted


@given(st.integers(min_value=0, max_value=2**48))
def test_an_accepted_plan_never_fails_by_what_was_declared(seed: int) -> None:
    explore(seed)


@given(st.integers(min_value=0, max_value=2**48))
def test_what_is_picked_grouped_and_joined_is_what_was_promised(seed: int) -> None:
    """The stand-ins of these rules are the shipped executors."""
    explore(seed, 4, shaping=True)


def test_the_plans_that_pick_group_and_join_use_what_they_make() -> None:
    seen: Counter[str] = Counter()
    for seed in range(40):
        for checked in explore(seed, 6, shaping=True):
            rules = {step.number: shaping_plans.rule_of(step.contract) for step in checked.steps}
            for step in checked.steps:
                seen[rules[step.number]] += 1
                seen.update(f"after {rules[number]}" for number in step.waits)
    wanted = ("pick", "group", "join", "after pick", "after group", "after join")
    assert {word: seen[word] for word in wanted if seen[word] < 5} == {}


def test_the_plans_that_are_accepted_use_the_whole_language() -> None:
    """Otherwise the property would hold because nothing is ever accepted."""
    seen: Counter[str] = Counter()
    for seed in range(150):
        for checked in explore(seed):
            seen["plans"] += 1
            text = str(checked.plan)
            for step in checked.steps:
                seen["lifted"] += step.for_each is not None and checked.plan.steps[step.number - 1].for_each is None
                seen["for_each"] += checked.plan.steps[step.number - 1].for_each is not None
                seen["when"] += step.when is not None
                seen["needs"] += bool(step.needs)
                seen["lenient"] += step.contract.lenient and bool(step.waits)
            for word in ("[0]", "[*]", "??", "from_steps", "RUNTIME", "INPUT", "see ${"):
                seen[word] += word in text
    assert seen.pop("plans") >= 250
    assert {word: count for word, count in seen.items() if count < 5} == {}


def _nothing(*_: object, **__: object) -> None:
    return None


def _fits(*_: object, **__: object) -> None:
    return None


def _any_position(self: Scope, step: int | str, where: str) -> int | None:
    return step if isinstance(step, int) and 1 <= step <= len(self.made) else None


SWITCHED_OFF: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "a step that may be skipped": (Scope, "must_run", _nothing),
    "optional fields and indices": (Scope, "_report_gaps", _nothing),
    "unknown fields": (Scope, "_report_lost", _nothing),
    "unknown steps, and later ones": (Scope, "position", _any_position),
    "types of references": (arguments, "misfit", _fits),
    "types of what is handed over": (lowering, "misfit", _fits),
    "scalars inside text": (arguments, "is_scalar", lambda *_, **__: True),
    "literals": (arguments, "literal", _nothing),
    "fields of objects written in the plan": (arguments, "_names", _nothing),
    "lists to run over": (steps, "elements", lambda shape: steps.ANY),
}


@pytest.mark.parametrize("check", sorted(SWITCHED_OFF))
def test_a_check_that_is_switched_off_is_missed(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, instead = SWITCHED_OFF[check]
    monkeypatch.setattr(owner, name, instead)
    with pytest.raises(Broken):
        for seed in range(400):
            explore(seed)


def _all_certain(shape: Shape) -> Alternative:
    found = _ONLY_OBJECT(shape)
    return msgspec.structs.replace(found, required=frozenset(found.fields))


_ONLY_OBJECT = ruled._only_object
RASH: dict[str, tuple[Any, str, Any]] = {
    "what is absent becomes null": (ruled.Call, "missing", property(lambda _: "error")),
    "optional fields of a join": (ruled, "_only_object", _all_certain),
}


@pytest.mark.parametrize("promise", sorted(RASH))
def test_a_promise_too_bold_is_noticed(promise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, instead = RASH[promise]
    monkeypatch.setattr(owner, name, instead)
    with pytest.raises(Broken):
        for seed in range(1000):
            explore(seed, shaping=True)
