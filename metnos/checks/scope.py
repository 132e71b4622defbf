"""What a step may refer to, and what it finds there: the types of references, before anything has run.

Law: one scope for one validation. It reads references and reports what is wrong with them; what their values are
for is known to `arguments`. A step at fault itself makes `UNKNOWN`, and nothing is said of it twice.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeGuard

import msgspec

from metnos.checks.made import ALWAYS, Condition, Made
from metnos.checks.remembering import remembered
from metnos.checks.shapes import ANY, Shape, infer, union
from metnos.checks.shaping import compile_shape
from metnos.checks.walk import Walked, walk
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.faults import did_you_mean
from metnos.plan.references import (
    FillerTarget,
    Index,
    InputTarget,
    ItemTarget,
    Key,
    Reference,
    RuntimeTarget,
    Segment,
    SlotTarget,
    StepTarget,
)
from metnos.plan.spelling import format_reference
from metnos.values.runtime import RUNTIME_KEYS, runtime_schema

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.checks.model import CheckContext
    from metnos.plan.model import Plan


class Reading(msgspec.Struct, frozen=True, eq=False):
    """What a reference gives."""

    shape: Shape
    lenient: bool = False
    has_fallback: bool = False
    fallback: Any = None

    @property
    def whole(self) -> Shape:
        """The shape with the fallback as one more possibility."""
        return union([self.shape, infer(self.fallback)]) if self.has_fallback else self.shape


@remembered
def plain_reading(shape: Shape, lenient: bool) -> Reading:
    """A reading without a fallback."""
    return Reading(shape, lenient)


NOTHING_KNOWN = Reading(ANY, lenient=True)


@lru_cache(maxsize=256)
def runtime_shape(key: str) -> Shape | None:
    """The shape of `${RUNTIME:key}`; None: there is no such key."""
    schema = runtime_schema(key)
    return None if schema is None else compile_shape(schema)


def listed(names: Iterable[str], limit: int = 12) -> str:
    """The first names, for a diagnostic."""
    every = list(names)
    more = f" and {len(every) - limit} more" if len(every) > limit else ""
    return ", ".join(every[:limit]) + more if every else "none"


class Scope:
    """The steps so far, and all else that a reference can name."""

    def __init__(self, plan: Plan, context: CheckContext, form: tuple[Diagnostic, ...] = ()) -> None:
        self.plan = plan
        self.context = context
        self.faults: list[Diagnostic] = list(form)
        self.spoken: frozenset[str] = frozenset(fault.where for fault in form)
        """Places where the form is at fault: nothing more is said of them."""
        self.made: list[Made] = []
        self.positions: dict[str, int] = {step.id: at for at, step in enumerate(plan.steps, 1) if step.id is not None}
        self.item: Reading | None = None
        self.runs_if: frozenset[Condition] | None = ALWAYS
        """Under which conditions this step runs; None: its `when` is at fault, so nobody knows."""
        self.needs: set[int] = set()
        self.waits: set[int] = set()
        self.last = len(plan.steps)
        self.number = 0

    def enter(self, number: int) -> None:
        """Begin step `number`; `number` past the last step is the terminal."""
        self.number = number
        self.item = None
        self.runs_if = ALWAYS
        self.needs = set()
        self.waits = set()

    def fault(self, code: str, where: str, found: str = "", expected: str = "", hint: str = "") -> None:
        """Report, unless the form is at fault there already."""
        if where not in self.spoken or code == "unknown-argument":  # of the name, whatever the value is like
            self.faults.append(Diagnostic(code=code, where=where, found=found, expected=expected, hint=hint))

    # ------------------------------------------------------------------------------------------ references

    def read(self, reference: Reference, where: str) -> Reading:
        """The shape of what `reference` gives here; whatever is wrong with it is reported at `where`."""
        target = reference.target
        if type(target) is StepTarget:
            return self._read_step(reference, target, where)
        if isinstance(target, ItemTarget):
            return self._read_item(reference, where)
        shape = self._named(target, where)
        return NOTHING_KNOWN if shape is None else self._along(reference, shape, False, where)

    def _read_step(self, reference: Reference, target: StepTarget, where: str) -> Reading:
        if target.plan is not None:
            return self._read_earlier(reference, target, where)
        number = target.step
        if not self.is_earlier(number):
            found = self.position(number, where)
            if found is None:
                return NOTHING_KNOWN
            number = found
        if reference.has_fallback:
            self.waits.add(number)
        else:
            self.wait_for(number, where)
        made = self.made[number - 1]
        if not made.known:
            return NOTHING_KNOWN
        return self._along(reference, made.data, made.lenient, where, number)

    def is_earlier(self, step: int | str) -> TypeGuard[int]:
        """Whether `step` is the number of an earlier step."""
        return type(step) is int and 0 < step < self.number and step <= self.last

    def wait_for(self, number: int, where: str) -> None:
        """This step needs the result of step `number`, which must run whenever it does."""
        self.waits.add(number)
        self.needs.add(number)
        if self.made[number - 1].runs_if is not ALWAYS:
            self.must_run(number, where)

    def whole_of(self, reference: Reference) -> Made | None:
        """The earlier step whose collection or single value, and nothing else, `reference` is."""
        target = reference.target
        if not isinstance(target, StepTarget) or target.plan is not None or reference.has_fallback:
            return None
        if not self.is_earlier(target.step):
            return None
        made = self.made[target.step - 1]
        return made if made.known and reference.path == collection_path(made) else None

    def position(self, step: int | str, where: str) -> int | None:
        """The number of an earlier step, or None with a report."""
        number = self.positions.get(step) if isinstance(step, str) else step
        if number is None or not 1 <= number <= self.last:
            known = f"steps 1 to {self.last}" if self.last else "no step"
            ids = f", ids: {listed(self.positions)}" if self.positions else ""
            hint = did_you_mean(step, self.positions) if isinstance(step, str) else ""
            self.fault("reference-unknown-step", where, f"step {step}", known + ids, hint)
            return None
        if number >= self.number:
            which = "itself" if number == self.number else f"step {number}, which comes later"
            earlier = f"steps 1 to {self.number - 1}" if self.number > 1 else "no earlier step: this one is the first"
            self.fault("reference-forward", where, which, earlier, "move the step that is referred to before this one")
            return None
        return number

    def must_run(self, number: int, where: str) -> None:
        """Report if step `number` may be skipped while this one runs."""
        made = self.made[number - 1]
        if self.runs_if is None or made.runs_if is None or made.runs_if <= self.runs_if:
            return
        wanted = " and ".join(
            f'`"when": {{"{"nonempty" if nonempty else "empty"}": {step}}}`' for step, nonempty in sorted(made.runs_if)
        )
        self.fault(
            "may-be-skipped", where, f"step {number}, which may be skipped", f"`?? literal`, or {wanted} here too"
        )

    def _read_earlier(self, reference: Reference, target: StepTarget, where: str) -> Reading:
        name = f"plan{target.plan}.step{target.step}"
        schema = self.context.earlier_steps.get(name)
        if schema is None:
            self.fault("reference-unknown-step", where, name, f"done steps: {listed(self.context.earlier_steps)}")
            return NOTHING_KNOWN
        return self._along(reference, compile_shape(schema), False, where)

    def _read_item(self, reference: Reference, where: str) -> Reading:
        if self.item is None:
            self.fault("item-outside", where, "`${item}`", "a step with `for_each`", "add `for_each`, or name a step")
            return NOTHING_KNOWN
        return self._along(reference, self.item.shape, self.item.lenient, where)

    def _named(self, target: Any, where: str) -> Shape | None:
        if isinstance(target, RuntimeTarget):
            shape = runtime_shape(target.key)
            return self.unknown("unknown-runtime-key", target.key, RUNTIME_KEYS, where) if shape is None else shape
        if isinstance(target, FillerTarget):
            filler = self.plan.fillers.get(target.name)
            if filler is None:
                return self.unknown("unknown-filler", target.name, self.plan.fillers, where)
            return compile_shape(filler.schema)
        if isinstance(target, InputTarget):
            schema = self.context.inputs.get(target.name)
            if schema is None:
                return self.unknown("input-missing", target.name, self.context.inputs, where)
            return compile_shape(schema)
        assert isinstance(target, SlotTarget)
        self.fault(
            "slot-outside-template", where, f"`${{SLOT:{target.name}}}`", "a value", "slots are bound in templates only"
        )
        return None

    def unknown(self, code: str, name: str, known: Iterable[str], where: str) -> None:
        """Report a name that does not exist, with those that do."""
        names = list(known)
        self.fault(code, where, name, listed(names), did_you_mean(name, names))

    # ------------------------------------------------------------------------------------------ along the path

    def _along(self, reference: Reference, start: Shape, lenient: bool, where: str, number: int = 0) -> Reading:
        walked = walk(start, reference.path, lenient)
        if walked.lost is not None:
            self._report_lost(reference, walked, where)
            return NOTHING_KNOWN
        if walked.gaps and not reference.has_fallback:
            self._report_gaps(reference, walked, where, number)
        if not reference.has_fallback:
            return plain_reading(walked.shape, lenient)
        return Reading(walked.shape, lenient, True, reference.fallback)

    def _report_lost(self, reference: Reference, walked: Walked, where: str) -> None:
        assert walked.lost is not None
        lost = walked.lost
        segment = reference.path[lost.position]
        before = format_reference(Reference(reference.target, reference.path[: lost.position]))
        if lost.wrong_kind:
            wanted = f"an object with the field `{segment.name}`" if isinstance(segment, Key) else "a list"
            self.fault("type-mismatch", where, f"`{before}` is {lost.found}", wanted)
            return
        self.fault(
            "unknown-field",
            where,
            lost.found,
            f"fields of `{before}`: {listed(lost.names)}",
            did_you_mean(lost.found, lost.names),
        )

    def _report_gaps(self, reference: Reference, walked: Walked, where: str, number: int) -> None:
        for gap in walked.gaps:
            before = reference.path[: gap.position]
            segment = reference.path[gap.position]
            if gap.kind == "field":
                name = segment.name if isinstance(segment, Key) else ""
                self.fault(
                    "fallback-needed",
                    where,
                    f"the field `{name}` may be missing",
                    "`?? literal`",
                    "write a value to use where it is missing",
                )
            elif not self._filled(number, before, segment):
                self.fault(
                    "fallback-needed",
                    where,
                    f"the list may be too short for `{format_path(segment)}`",
                    "`?? literal`",
                    self._how_to_fill(number, before, segment),
                )
                return

    def _filled(self, number: int, before: tuple[Segment, ...], segment: Segment) -> bool:
        """`[0]` of a collection that `when` has found not empty."""
        if not number or segment != Index(0):
            return False
        if self.runs_if is not None and (number, True) not in self.runs_if:
            return False
        return before == collection_path(self.made[number - 1])

    def _how_to_fill(self, number: int, before: tuple[Segment, ...], segment: Segment) -> str:
        if (
            0 < number < self.number <= self.last
            and segment == Index(0)
            and before == collection_path(self.made[number - 1])
        ):
            return f'or add `"when": {{"nonempty": {number}}}` to this step'
        return "write a value to use where it is missing"


def collection_path(made: Made) -> tuple[Segment, ...] | None:
    """The path of a step's collection or single value in its result; None: it has none."""
    if made.field is None:
        return None
    return (Key(made.field),) if made.field else ()


def format_path(segment: Segment) -> str:
    """`[0]`, `.name`, for a diagnostic."""
    return format_reference(Reference(ITEM, (segment,)))[len("${item") : -1]


ITEM = ItemTarget()
