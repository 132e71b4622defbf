"""Plans that differ in values only: one that was judged sound speaks for the others, once their values are looked at.

Law: the outline of a plan is the plan without those of its values that decide nothing but whether they themselves are
allowed. Two plans of one outline over the same contracts have the same verdict, those values aside, and those are looked
at here, each against its own schema. Only soundness is affirmed: whatever is not plainly so is left to the validator,
which says what is wrong. What is given out is what the validator would have given (`tests/checks/test_outlines.py` holds
the two against each other over every shipped contract).

What is taken out of an argument or of the answer's text, and what is still asked of it:

| taken out | where | still asked |
|---|---|---|
| a text, a number | an argument in `Bound.free` | its schema, its length, whether a handle is in it |
| the text around references | any argument, the answer | whether a handle is in it |
| the text to use instead of a missing value | any argument, the answer | the schema of the argument; whether a handle is in it |

The JSON type of what was taken out, every reference and everything else stays in the outline.
"""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from metnos.checks.bound import Bound
from metnos.checks.model import CheckContext, Checked, CheckedStep
from metnos.checks.shapes import ANY, Shape, is_list, is_object
from metnos.checks.tables import MAX_LITERAL
from metnos.contracts.schemas import validator_for
from metnos.plan.jsondata import canonical
from metnos.plan.model import FinalAnswer, Plan, Step
from metnos.plan.plainest import outlined
from metnos.plan.references import Parts, Reference
from metnos.plan.write import to_json
from metnos.values.expressions import DictOf, Expression, Literal_, Ref, Text
from metnos.values.sealed import OPENING

LIMIT = 512
"""Outlines that are remembered."""
_HANDLE = OPENING.encode()
_KINDS: dict[type, int] = {str: 0, int: 1, float: 2}
_FIELDS = frozenset({"tool", "args"})
_ANSWER: frozenset[str] = frozenset({"text"})
_EXACT = 0
"""The version of `marshal` that writes a value the same way each time: it keeps a list from a tuple, 1 from true and
from 1.0, and the order of keys, all of which JSON or a comparison would lose."""

Validate: TypeAlias = Callable[[Any, CheckContext], Checked]
Value: TypeAlias = "str | int | float | Parts"


class Opened(NamedTuple):
    """One value that was taken out."""

    step: int
    """Position of the step, from 0."""
    name: str
    value: Value
    """Of a text with references, its pieces."""


class Outline(NamedTuple):
    """A plan in two halves."""

    key: bytes
    bounds: tuple[Bound, ...]
    opened: tuple[Opened, ...]
    answer: Value | None
    """The answer's text, or its pieces; None: it has none."""


class _Sound(NamedTuple):
    """What was judged of one plan of an outline."""

    bounds: tuple[Bound, ...]
    steps: tuple[CheckedStep, ...]
    read: tuple[Step, ...]
    """The steps as read; their arguments and loops belong to whoever wrote that plan, and are not handed on."""
    places: tuple[int, ...]
    """Of each opened value, where among its step's compiled arguments it stands."""
    answer: Expression | None


class Outlines:
    """What one validator found sound. Safe between threads: an outline may be learned twice, never wrongly."""

    def __init__(self, validate: Validate, bound: Callable[[str], Bound | None]) -> None:
        """Over a validator.

        Args:
            validate: Asked about every plan that is not plainly like another.
            bound: Its contracts; one that was exchanged makes what was judged of it void.
        """
        self._validate = validate
        self._bound = bound
        self._sound: dict[bytes, _Sound] = {}

    def judged(self, plan: dict[str, Any], context: CheckContext, written: bytes) -> Checked:
        """The validator's verdict on a plan; `written` are its canonical bytes."""
        outline = self.outline(plan, context)
        if outline is None:
            return self._validate(plan, context)
        found = self.affirm(plan, outline, written)
        if found is None:
            found = self._validate(plan, context)
            self.learn(plan, outline, written, found)
        return found

    def outline(self, plan: dict[str, Any], context: CheckContext) -> Outline | None:
        """The outline of a plan; None if it is of a form that nothing is remembered of."""
        steps: Any = plan.get("steps")
        if len(plan) != 1 or not is_list(steps) or not steps:
            return None
        bounds: list[Bound] = []
        opened: list[Opened] = []
        shape: list[Any] = [context.source, context.origins, context.inputs, context.earlier_steps]
        for index, step in enumerate(steps[:-1]):
            args = step.get("args") if is_object(step) else None
            if not is_object(args) or type(step.get("tool")) is not str:
                return None
            bound = self._bound(step["tool"])
            if bound is None:
                return None
            bounds.append(bound)
            shape.append(step["tool"] if len(step) == 2 else {k: v for k, v in step.items() if k != "args"})
            free = bound.free
            for name, value in args.items():
                found = None if value is True or value is False else _value(value, name in free)
                if found is None:
                    shape += (name, [value])
                else:
                    shape += (name, found[1])
                    opened.append(Opened(index, name, found[0]))
            shape.append(None)
        answer = _answer(steps[-1], shape)
        if answer is None:
            return None
        try:
            key = marshal.dumps(shape, _EXACT)
        except ValueError:  # no JSON data
            return None
        return Outline(key, tuple(bounds), tuple(opened), answer[0])

    def affirm(self, plan: dict[str, Any], outline: Outline, written: bytes) -> Checked | None:
        """The verdict on a plan that is sound because another of its outline was; None: the validator must say.

        Args:
            plan: The plan, JSON data.
            outline: Its outline.
            written: Its canonical bytes.
        """
        sound = self._sound.get(outline.key)
        if sound is None or _HANDLE in written or len(sound.bounds) != len(outline.bounds):
            return None
        for known, bound in zip(sound.bounds, outline.bounds, strict=True):
            if known is not bound:
                return None
        for step, name, value in outline.opened:
            bound = outline.bounds[step]
            if not _is_allowed(value, bound.args.get(name) or bound.extra or ANY):
                return None
        if type(outline.answer) is str and len(outline.answer) > MAX_LITERAL:
            return None
        return _again(sound, plan, outline, written)

    def learn(self, plan: dict[str, Any], outline: Outline, written: bytes, checked: Checked) -> None:
        """Remember a plan that the validator found sound, if it is given back from its outline as it is."""
        if not checked.ok or canonical(to_json(checked.plan)) != written:
            return
        sound = _sound_of(outline, checked)
        if sound is None or _again(sound, plan, outline, written) != checked:
            return
        if len(self._sound) >= LIMIT:
            self._sound.clear()
        self._sound[outline.key] = sound


def _answer(end: Any, shape: list[Any]) -> tuple[Value | None] | None:
    """The text of the last step, whose outline is added to `shape`; None if it is no answer of this form."""
    args = end.get("args") if is_object(end) and _FIELDS.issuperset(end) else None
    if not is_object(args) or end.get("tool") != "final_answer" or not _ANSWER.issuperset(args):
        return None
    text = args.get("text")
    if "text" not in args:
        return (None,)
    found = _value(text, True) if type(text) is str else None
    if found is None:
        return None
    shape.append(found[1])
    return (found[0],)


def _value(value: Any, free: bool) -> tuple[Value, Any] | None:
    """What is taken out for a value, and what stands in its place; None: it stays.

    Args:
        value: As written.
        free: Whether a value without references may be taken out.
    """
    kind: type = value.__class__
    if kind is str and "$" in value:
        pieces = outlined(value)
        return None if pieces is None or pieces[1] is None else (pieces[0], pieces[1])
    return (value, _KINDS[kind]) if free and kind in _KINDS else None


def _is_allowed(value: Value, wanted: Shape) -> bool:
    """Whether a value may stand where `wanted` is; False where that needs a closer look."""
    if type(value) is tuple:
        only = value[0]
        if len(value) > 1 or type(only) is not Reference or type(only.fallback) is not str:
            return True  # what is around references is text, and all else is in the outline
        value = only.fallback
    if type(value) is str and len(value) > MAX_LITERAL:
        return False
    if wanted.exact is not None and type(value) in wanted.exact:
        return True
    return wanted.schema is not None and validator_for(wanted.schema).is_valid(value)


def _sound_of(outline: Outline, checked: Checked) -> _Sound | None:
    """What is kept of a verdict; None if its arguments are not where they should be."""
    places: list[int] = []
    for step, name, _ in outline.opened:
        args = checked.steps[step].args
        names = [key for key, _ in args.items] if isinstance(args, DictOf) else []
        if names.count(name) != 1:
            return None
        places.append(names.index(name))
    return _Sound(outline.bounds, checked.steps, checked.plan.steps, tuple(places), checked.answer_text)


def _again(sound: _Sound, plan: dict[str, Any], outline: Outline, written: bytes) -> Checked:
    """The verdict with the values of this plan, whose arguments it shares as the validator's would."""
    raws = plan["steps"]
    steps = list(sound.steps)
    changed: dict[int, list[tuple[str, Expression]]] = {}
    for (step, name, value), place in zip(outline.opened, sound.places, strict=True):
        items = changed.get(step)
        if items is None:
            args = steps[step].args
            assert isinstance(args, DictOf)
            items = changed[step] = list(args.items)
        items[place] = (name, _compiled(value, items[place][1]))
    for step, items in changed.items():
        steps[step] = _with_args(steps[step], DictOf(tuple(items)))
    answer = sound.answer
    text: str | None = None
    if answer is not None and outline.answer is not None:
        text = raws[-1]["args"]["text"]
        answer = _compiled(outline.answer, answer)
    read = tuple(
        Step(  # what it holds is shared with this plan, and not with the one that was judged
            tool=each.tool,
            args=raw["args"],
            id=each.id,
            for_each=raw.get("for_each"),
            when=each.when,
            on_error=each.on_error,
        )
        for each, raw in zip(sound.read, raws[:-1], strict=True)
    )
    return Checked(
        plan=Plan(steps=read, terminal=FinalAnswer(text=text)),
        digest="sha256:" + hashlib.sha256(written).hexdigest(),
        steps=tuple(steps),
        answer_text=answer,
    )


def _with_args(step: CheckedStep, args: DictOf) -> CheckedStep:
    return CheckedStep(
        number=step.number,
        contract=step.contract,
        args=args,
        for_each=step.for_each,
        when=step.when,
        on_error=step.on_error,
        needs=step.needs,
        waits=step.waits,
        worst_effect=step.worst_effect,
    )


def _compiled(value: Value, like: Expression) -> Expression:
    """A value as `values.compile` compiles it; it has the source of the one that stood in its place."""
    assert isinstance(like, (Literal_, Ref, Text))
    if type(value) is not tuple:
        return Literal_(value, like.source)
    if len(value) == 1 and isinstance(value[0], Reference):
        return Ref(value[0], like.source)
    return Text(value, like.source)
