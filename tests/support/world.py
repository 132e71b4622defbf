"""A world that runs made-up plans with stand-in tools, as the turn machine would: conditions, loops, blocked steps.

The stand-ins are as unhelpful as their contracts allow: optional fields are missing, lists are short, what may be
null is null. `Broken` is raised where an accepted plan fails by something that its contracts had declared.
"""

from __future__ import annotations

from random import Random
from typing import Any

import jsonschema_rs

from metnos.checks.model import Checked, CheckedStep
from metnos.contracts.model import Contract
from metnos.plan.references import InputTarget, ItemTarget, RuntimeTarget, StepTarget, Target
from metnos.values.compile import references_of
from metnos.values.expressions import Expression
from metnos.values.resolve import Fault, resolve
from metnos.values.runtime import runtime_value
from metnos.values.value import Absent, Value
from tests.support.generated import data
from tests.support.shaping import executor, rule_of

CONSTRAINTS = frozenset({"minimum", "maximum", "minLength", "maxLength", "enum", "pattern", "minItems", "maxItems"})
"""Words that only values can break: a reference meets them at resolution."""
LENIENT_FAULTS = frozenset({"index-range", "value-type", "value-missing", "not-scalar", "null-in-text"})
INPUT_DATA: dict[str, Any] = {"folder": "a", "entries": [{"path": "p"}]}
NOW = "2026-11-30T12:00:00+01:00"


class Broken(AssertionError):
    """An accepted plan failed by what was declared."""


class World:
    """One run of one accepted plan; `lookup` is the environment of `resolve`."""

    def __init__(self, rnd: Random, checked: Checked) -> None:
        self.rnd = rnd
        self.checked = checked
        self.results: dict[int, Value | Absent] = {}
        self.item: Value | None = None
        self.by_data = False
        """A lenient producer's list was too short, or something failed that nothing had declared."""

    def lookup(self, target: Target) -> Value | Absent:
        if isinstance(target, StepTarget):
            assert isinstance(target.step, int), "ids are compiled away"
            if target.step not in self.results:
                raise Broken(f"step {target.step} has not run")
            return self.results[target.step]
        if isinstance(target, ItemTarget):
            if self.item is None:
                raise Broken("no item")
            return self.item
        if isinstance(target, RuntimeTarget):
            return Value(runtime_value(target.key, NOW, "UTC"))
        if isinstance(target, InputTarget) and target.name in INPUT_DATA:
            return Value(INPUT_DATA[target.name])
        raise Broken(f"nothing is known of {target}")

    def run(self) -> None:
        for each in self.checked.steps:
            self.results[each.number] = self.step(each)
        steps = {step.number: step for step in self.checked.steps}
        for end in (self.checked.answer_text, self.checked.answer_data):
            if end is not None and not self.failed_before(end):
                used = [ref.target.step for ref in references_of(end) if isinstance(ref.target, StepTarget)]
                self.resolved(end, lenient=any(self.is_lenient(steps[number]) for number in used))

    def failed_before(self, end: Expression) -> bool:
        """The answer may refer to a step that failed: then the turn has failed, not the plan."""
        absent = {
            number
            for number, result in self.results.items()
            if isinstance(result, Absent) and result.reason in ("failed", "blocked")
        }
        return any(
            isinstance(ref.target, StepTarget) and ref.target.step in absent and not ref.has_fallback
            for ref in references_of(end)
        )

    def step(self, each: CheckedStep) -> Value | Absent:
        for number in each.needs:
            earlier = self.results[number]
            if isinstance(earlier, Absent) and earlier.reason in ("failed", "blocked"):
                return Absent("blocked")
        if each.when is not None and not self.condition(each):
            return Absent("skipped")
        if self.rnd.random() < 0.1 and each.on_error == "continue":
            return Absent("failed")
        lenient = self.is_lenient(each)
        if each.for_each is None:
            return self.call(each, lenient)
        items = self.resolved(each.for_each, lenient=lenient)
        if items is None:
            return Absent("failed")
        if not isinstance(items, list):
            raise Broken(f"step {each.number} runs over {items!r}")
        made: list[Any] = []
        for item in items:
            self.item = Value(item)
            result = self.call(each, lenient)
            self.item = None
            if isinstance(result, Absent):
                return result
            produces = each.contract.produces
            many = produces is not None and produces.many
            made += (result.data.get(produces.field) or ()) if many else [result.data]
        return Value({"entries": made, "count": len(items)})

    def is_lenient(self, each: CheckedStep) -> bool:
        steps = {step.number: step for step in self.checked.steps}
        return each.contract.lenient or any(self.is_lenient(steps[number]) for number in each.waits)

    def condition(self, each: CheckedStep) -> bool:
        assert each.when is not None
        earlier = self.results[each.when.step]
        if isinstance(earlier, Absent):
            return not each.when.nonempty  # what was skipped is empty
        step = self.checked.steps[each.when.step - 1]
        field = "entries" if step.for_each is not None else step.contract.produces and step.contract.produces.field
        if field is None or not isinstance(earlier.data[field], list):
            raise Broken(f"step {each.when.step} has no collection")
        return bool(earlier.data[field]) == each.when.nonempty

    def resolved(self, expression: Expression, *, lenient: bool) -> Any:
        found = resolve(expression, self)
        if isinstance(found, Fault):
            if lenient and found.code in LENIENT_FAULTS:
                self.by_data = True
                return None
            raise Broken(f"{found.code}: {found.found}")
        return found.data

    def call(self, each: CheckedStep, lenient: bool) -> Value | Absent:
        args = self.resolved(each.args, lenient=lenient)
        if args is None:
            return Absent("failed")
        for error in jsonschema_rs.Draft202012Validator(each.contract.args).iter_errors(args):
            keyword = str(error.schema_path[-1])
            if keyword not in CONSTRAINTS and not lenient:
                raise Broken(f"step {each.number} {each.contract.name}: {error.message} ({keyword}) in {args}")
            self.by_data = True
            return Absent("failed")
        for group in each.contract.requires_one_of:
            if not any(name in args for name in group):
                raise Broken(f"step {each.number}: none of {group}")
        if rule_of(each.contract):
            done = executor(rule_of(each.contract))(args, None)
            self.by_data = self.by_data or not done.ok
            if done.ok and (
                faults := list(jsonschema_rs.Draft202012Validator(each.contract.result).iter_errors(done.data))
            ):
                raise Broken(f"{each.contract.name} made {faults[0].message}")
            return Value(done.data) if done.ok else Absent("failed")
        return Value(self.result(each.contract, args))

    def result(self, made: Contract, args: dict[str, Any]) -> Any:
        if made.produces is not None and made.produces.rule == "same":
            kept = [entry for entry in args["entries"] if self.rnd.random() < 0.7]
            return {"entries": kept, "count": len(kept)}
        return data(self.rnd, made.result, lenient=made.lenient)


def run(rnd: Random, checked: Checked) -> bool:
    """Run an accepted plan once; whether it ran without a failure of class `data`.

    Raises:
        Broken: The guarantee does not hold.
    """
    world = World(rnd, checked)
    world.run()
    return not world.by_data
