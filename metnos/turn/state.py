"""What a turn remembers: plans, steps, calls, what is open, what has been decided.

Law: plain records, no behaviour but looking up and adding. They belong to one machine; whoever is handed
`Machine.state` reads and never writes. A *call* is one `StartStep`: a step, or one item of a lifted step.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from metnos.turn.facts import OUTCOMES
from metnos.turn.known import known_of
from metnos.turn.logic import GOES_ON, level
from metnos.values.value import Value

if TYPE_CHECKING:
    from metnos.checks.model import Checked, CheckedStep
    from metnos.plan.diagnostics import Diagnostic
    from metnos.policy.model import Verdict
    from metnos.request.model import Request
    from metnos.sdk import Effect, EffectClass, Failure
    from metnos.turn.claims import Board, Claims
    from metnos.turn.commands import AnyCommand, AskApproval, OpenDialog, StartStep
    from metnos.turn.facts import AnyFact, Outcome
    from metnos.turn.inputs import StepFinished, TurnOpened, VirtualInput, Wanted
    from metnos.turn.known import KnownStep
    from metnos.turn.rules import Rules
    from metnos.turn.table import Phase, StepState

Brought: TypeAlias = Literal["given", "found", "first", "repair", "recovery", "continuation"]
"""How a candidate plan came: by the caller, by look-up, or for a `Propose` of that purpose."""


class Call:
    """One `StartStep`, from resolved arguments to its end."""

    __slots__ = (
        "announced",
        "args",
        "began",
        "chosen",
        "claims",
        "digest",
        "effect",
        "effects",
        "error",
        "expects",
        "item",
        "item_value",
        "key",
        "operation",
        "result",
        "run",
        "sources",
        "start",
        "state",
        "targets",
        "tries",
        "value",
    )

    def __init__(self, run: StepRun, item: int, key: str, item_value: Value | None) -> None:
        self.run = run
        self.item = item
        """From 1 in a lifted step; 0: the step runs once."""
        self.key = key
        self.item_value = item_value
        self.state: StepState = "ready"
        self.args: dict[str, Any] = {}
        self.sources: frozenset[str] = frozenset()
        self.digest = ""
        self.operation = ""
        self.effect: EffectClass = "read"
        self.targets: tuple[str, ...] = ()
        self.claims: Claims | None = None
        self.expects: dict[str, str] = {}
        """What must lie at its targets when it starts: what a person saw."""
        self.chosen = 0
        """Number of the dialog in which a person chose its arguments; 0: they are the plan's."""
        self.start: StartStep | None = None
        """As it was asked for: asked again unchanged after a crash."""
        self.tries = 1
        """How often it has been started for its own sake: those after a crash do not count."""
        self.announced = False
        """`StepStarted` has come for the `StartStep` that is open."""
        self.began = False
        """`StepStarted` has come at least once: the outside may have changed."""
        self.value: Value | None = None
        self.result: StepFinished | None = None
        """What came back, whole: counters, warnings, whether it was truncated."""
        self.error: Failure | None = None
        self.effects: tuple[Effect, ...] = ()

    @property
    def order(self) -> tuple[int, int]:
        """Place in the plan: (step, item)."""
        return (self.run.number, self.item)


class StepRun:
    """One step of the accepted plan, on its way."""

    __slots__ = (
        "calls",
        "dependents",
        "error",
        "fillers",
        "has_notes",
        "key",
        "known",
        "left",
        "left_out",
        "lifted",
        "missing",
        "number",
        "reason",
        "reference",
        "sources",
        "state",
        "step",
        "value",
    )

    def __init__(self, key: str, step: CheckedStep, known: KnownStep) -> None:
        self.key = key
        """`plan.step`."""
        self.known = known
        self.number = step.number
        self.step = step
        self.reference = known.reference
        """`name@version` of its executor."""
        self.lifted = known.lifted
        self.state: StepState = "waiting"
        self.missing = 0
        """Steps and fillers that are still to come."""
        self.dependents: list[StepRun] = []
        self.calls: list[Call] = []
        self.left = 0
        """Calls that have not ended."""
        self.value: Value | None = None
        self.error: Failure | None = None
        self.reason = ""
        """Why it was skipped."""
        self.sources: frozenset[str] = frozenset()
        """Of the collection that a lifted step runs over."""
        self.left_out: tuple[str, ...] = ()
        """Items that failed and were left out of the result, with their codes."""
        self.fillers: tuple[str, ...] = ()
        """Fillers that its arguments refer to."""
        self.has_notes = False
        """Whether anything must be told beside its data: warnings, what was cut short, sealed or left out."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Items that were left out, then what its calls warned of."""
        said = (call.result.warnings for call in self.calls if call.result is not None)
        return (*self.left_out, *(warning for warnings in said for warning in warnings))

    @property
    def truncated(self) -> bool:
        """Whether any of its calls came back with less than there is."""
        return any(call.result is not None and call.result.truncated for call in self.calls)

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What its calls reported, in the order of the items."""
        return tuple(effect for call in self.calls for effect in call.effects)


class PlanRun:
    """An accepted plan."""

    __slots__ = (
        "board",
        "body",
        "checked",
        "entry",
        "fillers",
        "known",
        "number",
        "replaced",
        "runs",
        "source",
        "unsure",
    )

    def __init__(self, number: int, checked: Checked, source: str, entry: str, body: dict[str, Any]) -> None:
        self.number = number
        self.checked = checked
        self.source = source
        """`author`, `host`, `template`, `cache`, `model`."""
        self.entry = entry
        self.unsure = False
        """Its proposer is not sure that it is what was meant."""
        self.replaced = False
        """It failed by its own fault and changed nothing, and another plan stands for it."""
        self.body = body
        """The accepted plan as JSON, canonical spelling."""
        self.known = known_of(checked)
        self.runs = list(map(StepRun, self.known.keys(number), checked.steps, self.known.steps))
        self.fillers: dict[str, list[StepRun]] = {}
        """Filler → the steps that wait for it."""
        self.board: Board[StepRun | Call] | None = None
        """None: nothing in the plan has an effect, so nothing conflicts."""


class Approval:
    """An open `AskApproval`, and the calls that it is for."""

    __slots__ = ("calls", "command", "digest", "seen")

    def __init__(self, command: AskApproval, digest: str, calls: list[Call]) -> None:
        self.command = command
        self.digest = digest
        """Argument digest of the call, or the digest over the ordered item digests."""
        self.calls = calls
        self.seen: dict[str, dict[str, str]] | None = None
        """Call → path → what lay there when it was asked; None: nobody has looked."""


class Held(NamedTuple):
    """A given plan that waits for its inputs."""

    plan: dict[str, Any]
    source: str
    origins: dict[str, str]


class TurnState:
    """Everything the fold carries. `facts` and `commands` are those of the reaction under way."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.phase: Phase = "new"
        self.at = 0
        """`at` of the input under way: the machine's only clock."""
        self.opened: TurnOpened = None  # pyright: ignore[reportAttributeAccessIssue]  # set by the first input
        self.request: Request | None = None
        self.inferred = False
        """What it asks to be done was read by a model, in part."""
        self.plans: list[PlanRun] = []
        self.plan: PlanRun = None  # pyright: ignore[reportAttributeAccessIssue]  # set at the first acceptance
        self.candidates = 0
        """Plans that were judged, accepted or not: their numbers."""
        self.proposals = 0
        self.purpose: Brought = "first"
        """Of the `Propose` that is open."""
        self.rejected: tuple[Diagnostic, ...] = ()
        """Why the last rejected plan was rejected."""
        self.repaired = False
        self.recoveries = 0
        self.retries = 0
        """Tries of calls after their first."""

        self.inputs: dict[str, VirtualInput] = {}
        self.fillers: dict[str, Value] = {}
        self.filler_errors: dict[str, Failure] = {}
        self.open_fillers: set[str] = set()
        self.due: dict[str, tuple[int, ...]] = {}
        """Filler that has not been asked for → the steps that it waits for."""
        self.runtime: dict[str, Value] = {}

        self.queue: deque[StepRun | Call] = deque()
        self.calls: dict[str, Call] = {}
        """Calls with an open `StartStep` or `ProbeEffect`, by key."""
        self.probing: dict[str, Failure | None] = {}
        """Key → the failure that left it open what happened, if one did."""
        self.approvals: dict[str, Approval] = {}
        self.choosing: list[Call] = []
        """Calls that failed and left a choice which nobody has made yet."""
        self.pausing: dict[str, Call] = {}
        """Timer → the call that is run again when it fires."""
        self.lapsed: set[str] = set()
        """Approvals and timers that a halt made pointless: a late answer closes them and does nothing."""
        self.dialog: OpenDialog | None = None
        self.dialogs = 0
        self.guesses = 0
        """Of the dialogs, those that showed a plan before it began (`turn.guess`)."""
        self.held: Held | None = None
        """A plan that waits for the inputs that the open dialog asks for."""
        self.wanted: Wanted | None = None
        """What the request lacks; asked for where nobody proposes a plan."""
        self.answers: dict[str, Any] = {}
        """Of the last dialog."""
        self.open: dict[str, AnyCommand] = {}
        """Other open commands by tag (fillers: tag and name), to be asked again after a crash."""
        self.started = 0
        self.suspensions = 0
        self.waiting: tuple[str, ...] = ()
        self.halted = False
        """No new step starts."""
        self.sweep = False
        """Halted just now: what has not started is still to be skipped."""
        self.failed = False
        self.cancelling = False
        self.verdicts: dict[tuple[object, ...], Verdict] = {}
        self.done: dict[tuple[str, str], Call] = {}
        """(executor, argument digest) → the effect that was done: the index across plans."""

        self.outcome: Outcome | None = None
        """The strongest verdict so far; None: none but success."""
        self.detail = ""
        self.code = ""
        self.answer = ""
        self.data: Any = None

        self.facts: list[AnyFact] = []
        self.commands: list[AnyCommand] = []

    @property
    def goes_on(self) -> bool:
        """Whether a model's plan may come without an end, and another one is asked for when its steps are over."""
        return level(self.opened.logic, GOES_ON) > 0

    @property
    def steps(self) -> tuple[StepRun, ...]:
        """Every step of every accepted plan, in order."""
        if len(self.plans) == 1:
            return tuple(self.plans[0].runs)
        return tuple(run for plan in self.plans for run in plan.runs)

    @property
    def standing(self) -> tuple[StepRun, ...]:
        """The steps that the outcome is about: all but those of a plan that another one stands for."""
        if len(self.plans) == 1:
            return tuple(self.plans[0].runs)
        return tuple(run for plan in self.plans if not plan.replaced for run in plan.runs)

    @property
    def effects(self) -> tuple[Effect, ...]:
        """Every effect that a step reported, in the order of the steps."""
        told = [call.effects for plan in self.plans for run in plan.runs for call in run.calls if call.effects]
        return tuple(effect for effects in told for effect in effects)

    @property
    def asked(self) -> tuple[AskApproval, ...]:
        """The approvals that are open."""
        return tuple(approval.command for approval in self.approvals.values())

    @property
    def closed(self) -> bool:
        """Whether the log has ended."""
        return self.phase == "closed"

    def find(self, key: str) -> StepRun | None:
        """The step `plan.step`."""
        return next((run for run in self.steps if run.key == key), None)

    def mark(self, outcome: Outcome, code: str = "", detail: str = "") -> None:
        """Keep `outcome` if it comes before what is kept (`OUTCOMES`: precedence)."""
        if self.outcome is None or _RANK[outcome] < _RANK[self.outcome]:
            self.outcome, self.code, self.detail = outcome, code, detail


_RANK = {outcome: rank for rank, outcome in enumerate(OUTCOMES)}
