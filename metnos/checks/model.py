"""What the checks hand on: a plan bound to contracts and compiled, or every fault that it has. Pure data."""

from __future__ import annotations

from typing import Literal

import msgspec

from metnos.contracts.model import Contract
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.model import OnError, Plan
from metnos.request.model import Request
from metnos.sdk import EffectClass
from metnos.values.expressions import Expression


class Guardrail(msgspec.Struct, frozen=True, kw_only=True):
    """`when`, by number: run only if that step's collection is (not) empty."""

    step: int
    nonempty: bool


class CheckedStep(msgspec.Struct, frozen=True, kw_only=True):
    """Step `number`, bound and compiled."""

    number: int
    contract: Contract
    args: Expression
    for_each: Expression | None = None
    """Set for `for_each` and for lifted steps; items are `${item}` in `args`."""
    when: Guardrail | None = None
    on_error: OnError = "stop"
    needs: frozenset[int] = frozenset()
    """Steps referred to without a fallback: if one has failed or was blocked, this one is skipped."""
    waits: frozenset[int] = frozenset()
    """All steps referred to, `needs` included; also the step of `when`."""
    worst_effect: EffectClass = "read"


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """Accepted if `diagnostics` is empty; then `steps` holds every step in order."""

    plan: Plan
    digest: str = ""
    """Plan digest, `sha256:…`."""
    steps: tuple[CheckedStep, ...] = ()
    answer_text: Expression | None = None
    answer_data: Expression | None = None
    """The terminal's `text` and `data`, compiled."""
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.diagnostics


PlanSource = Literal["author", "host", "template", "cache", "model", "user"]


class CheckContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a check may know beside the plan and the catalog."""

    source: PlanSource = "author"
    """Who wrote literals that `origins` does not name."""
    origins: dict[str, str] = {}
    """JSON pointer of a literal → its source (`user` for a bound slot, `author` …)."""
    home: str = ""
    """What `~` means in what the person said; empty: nothing."""
    request: Request | None = None
    """None: a plan without a request; request guards are `not_applicable`."""
    inputs: dict[str, dict[str, object]] = {}
    """Virtual inputs: name → JSON Schema."""
    goes_on: bool = False
    """Whether plans of this turn go on: one may come without an end, and no single one owes the whole request."""
    earlier_steps: dict[str, dict[str, object]] = {}
    """`planN.stepM` of done steps → result schema."""
    providers: dict[str, tuple[str, ...]] = {}
    """Provider → families (`verb object`) of its executors, over the whole catalog; the guards take it from the validator."""


class Rewritten(msgspec.Struct, frozen=True, kw_only=True, tag="rewritten"):
    guard: str
    plan: Plan


class Fine(msgspec.Struct, frozen=True, kw_only=True, tag="fine"):
    guard: str
    applicable: bool = True


class Repropose(msgspec.Struct, frozen=True, kw_only=True, tag="repropose"):
    guard: str
    diagnostics: tuple[Diagnostic, ...]


class Refuse(msgspec.Struct, frozen=True, kw_only=True, tag="refuse"):
    guard: str
    diagnostics: tuple[Diagnostic, ...]


GuardFinding = Rewritten | Fine | Repropose | Refuse


class Guarded(msgspec.Struct, frozen=True, kw_only=True):
    """The plan after the rewriters (checked again), and what every guard found."""

    checked: Checked
    findings: tuple[GuardFinding, ...] = ()

    @property
    def rewrites(self) -> tuple[str, ...]:
        return tuple(f.guard for f in self.findings if isinstance(f, Rewritten))

    @property
    def refusals(self) -> tuple[Refuse, ...]:
        return tuple(f for f in self.findings if isinstance(f, Refuse))

    @property
    def reproposals(self) -> tuple[Repropose, ...]:
        return tuple(f for f in self.findings if isinstance(f, Repropose))
