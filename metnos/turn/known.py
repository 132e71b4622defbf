"""What is known of an accepted plan before any turn runs it: computed once, and remembered with the plan.

Law: a function of `Checked` alone. Nothing of a turn goes in, so a turn that finds it here and one that computes it
anew give the same facts and commands; forgetting costs time only. A plan that is run again and again (a template, a
host's own) would else spend as much on this as on its steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from metnos.contracts.schemas import validator_for
from metnos.turn.references import is_literal
from metnos.values.quick import quick_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.checks.model import Checked, CheckedStep
    from metnos.sdk import EffectClass

LIMIT: Final = 512
"""Plans."""


class KnownStep:
    """Of one step."""

    __slots__ = ("contract", "effect", "fits", "lifted", "needs", "quick", "reference", "waits")

    def __init__(self, step: CheckedStep) -> None:
        contract = step.contract
        self.contract = contract
        self.reference = contract.reference
        """`name@version` of its executor."""
        self.lifted = step.for_each is not None
        self.needs = tuple(sorted(step.needs))
        self.waits = tuple(step.waits)
        self.quick = quick_of(step.args)
        """Its arguments as a table; None if they are of a form that needs the whole of `values.resolve`."""
        self.effect: EffectClass | None = contract.effects[0].effect if not contract.effects[0].when else None
        """The effect class, if no argument decides it."""
        self.fits: Callable[[Any], bool] | None = None
        """Whether resolved arguments fit the contract; None: the validator has seen all of them."""
        if contract.args and (step.waits or not is_literal(step.args)):
            self.fits = validator_for(contract.args).is_valid


class KnownPlan:
    """Of all its steps."""

    __slots__ = ("_keys", "_numbers", "acts", "executors", "kinds", "steps")

    def __init__(self, checked: Checked) -> None:
        self.steps = tuple(KnownStep(step) for step in checked.steps)
        digests = {known.reference: known.contract.digest for known in self.steps}
        self.executors = {name: digests[name] for name in sorted(digests)}
        """`name@version` → contract digest, sorted by name."""
        self.acts = any(step.worst_effect != "read" and step.contract.resources != () for step in checked.steps)
        """Whether any step may change what another one touches."""
        self.kinds = tuple({(step.contract.reference, step.worst_effect): step for step in checked.steps}.values())
        """One step for each executor and effect class: what a forecast depends on."""
        self._numbers = tuple(step.number for step in checked.steps)
        self._keys: dict[int, tuple[str, ...]] = {}

    def keys(self, number: int) -> tuple[str, ...]:
        """`plan.step` of every step, in plan `number` of a turn."""
        found = self._keys.get(number)
        if found is None:
            found = self._keys[number] = tuple(f"{number}.{step}" for step in self._numbers)
        return found


_known: dict[int, tuple[Checked, KnownPlan]] = {}
"""By identity; the plan is kept beside, so that its identity is not used again."""


def known_of(checked: Checked) -> KnownPlan:
    """What is known of `checked`."""
    found = _known.get(id(checked))
    if found is not None and found[0] is checked:
        return found[1]
    made = KnownPlan(checked)
    if len(_known) >= LIMIT:
        _known.clear()
    _known[id(checked)] = (checked, made)
    return made
