"""One turn as a driver would record it, for tests of whatever records turns: inputs, reactions, and which are durable.

Law: the same arguments give the same bytes. It is no plan that ran, but every input and every reaction is one that a
machine could give, so a log of it verifies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from metnos.sdk import Effect
from metnos.turn.commands import AskApproval, Close, Compose, StartStep
from metnos.turn.facts import PlanAccepted, TurnClosed, TurnSuspended
from metnos.turn.inputs import AnswerComposed, ApprovalGiven, StepFinished, StepStarted, TurnOpened, TurnResumed
from metnos.turn.rules import Reaction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.record.store import TurnWriter
    from metnos.turn.inputs import AnyInput

_DIGEST = "sha256:" + "d" * 64
_LARGE = 20_000
"""Characters of a result that is too large for a record."""
ODD: dict[str, Any] = {"à": "naïve ⟦ \u2028", "n": [0.1, -0.0, 2**53 - 1, None, True], "": {"deep": [[[]]]}}


class Told(NamedTuple):
    """One `append`."""

    item: AnyInput
    reaction: Reaction
    durable: bool = False
    anchor: bool = False

    @property
    def records(self) -> int:
        """How many records it makes."""
        return 1 + len(self.reaction.facts)


def opened(turn: str, at: int = 1_000) -> TurnOpened:
    """The first input of a turn."""
    plan: dict[str, Any] = {"steps": []}
    return TurnOpened(at=at, turn=turn, now="2026-11-30T12:00:00+01:00", mode="run", plan=plan, request="ciò che c'è")


def start(step: str, effect: Any = "create") -> StartStep:
    """The command to start a step; its operation is `op-STEP`."""
    return StartStep(
        step=step, operation=f"op-{step}", executor="x@1", args={"path": "a"}, digest=_DIGEST, effect=effect,
        placement="inline", timeout_s=1.0,
    )  # fmt: skip


def beginning(turn: str, at: int = 1_000) -> list[Told]:
    """A turn is opened, reads something large, and makes one effect."""
    accepted = PlanAccepted(plan=1, digest=_DIGEST, executors={"x@1": _DIGEST})
    made = (Effect(cls="create", target="a"),)
    return [
        Told(opened(turn, at), Reaction((accepted,), (start("1.1", "read"),))),
        Told(StepStarted(at=at + 1, step="1.1", operation="op-1.1", fence=1), Reaction()),
        Told(
            StepFinished(at=at + 2, step="1.1", data={"text": "x" * _LARGE, "odd": ODD}),
            Reaction((), (start("1.2"),)),
        ),
        Told(StepStarted(at=at + 3, step="1.2", operation="op-1.2", fence=1), Reaction(), durable=True, anchor=True),
        Told(StepFinished(at=at + 4, step="1.2", data={"path": "a"}, effects=made), Reaction(), durable=True),
    ]


def question(at: int = 1_010) -> Told:
    """The turn asks about a step `1.3` and waits."""
    asked = AskApproval(
        approval="1.3", step="1.3", executor="x@1", action="change", reason="r", digest=_DIGEST, expires=9_000_000
    )
    waits = TurnSuspended(waiting=("1.3",), ticket="t")
    return Told(StepStarted(at=at, step="1.1", operation="op-1.1", fence=1), Reaction((waits,), (asked,)), durable=True)


def answer(fence: int, at: int = 1_020) -> list[Told]:
    """After a resume: the approval is given, the step runs, the turn ends."""
    made = (Effect(cls="change", target="b"),)
    return [
        Told(TurnResumed(at=at, fence=fence), Reaction()),
        Told(ApprovalGiven(at=at + 1, approval="1.3", digest=_DIGEST), Reaction((), (start("1.3", "change"),)), True),
        Told(StepStarted(at=at + 2, step="1.3", operation="op-1.3", fence=fence), Reaction(), True, True),
        Told(StepFinished(at=at + 3, step="1.3", data={}, effects=made), Reaction((), (_compose(),))),
        *ending(at + 4),
    ]


def ending(at: int = 1_030) -> list[Told]:
    """The answer, and the close."""
    closed = Reaction((TurnClosed(outcome="success"),), (Close(outcome="success", answer="done"),))
    return [Told(AnswerComposed(at=at, text="done"), closed)]


def _compose() -> Compose:
    return Compose(outcome="success", language="en")


def tell(writer: TurnWriter, story: list[Told]) -> None:
    """Append all of it."""
    for one in story:
        writer.append(one.item, one.reaction, durable=one.durable, anchor=one.anchor)


def boundaries(story: list[Told]) -> Iterator[int]:
    """Numbers of the last record after each `append`: a log may end at one of these, and nowhere else."""
    seq = 0
    for one in story:
        seq += one.records
        yield seq
