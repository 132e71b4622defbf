"""A plan whose proposer is not sure that it understood: a person sees it before anything of it runs.

Law:

1. Only a plan that has passed what every plan passes is shown: nobody is asked about one that is refused afterwards.
2. The answer is to the plan that was shown, by its digest, and to no other; that very plan is begun.
3. It is no consent: a yes says that the plan is what was meant, and what must be asked about is asked about. For the same
   reason `TurnOpened.assume_yes`, which allows effects beforehand, answers nothing here.
4. Where nobody can be asked now the turn is suspended, as with a question of a plan's own; it is never run unasked.
5. A no is no failure of anybody's: nothing of the plan has run, and the turn was not understood.
6. What is asked about is counted apart from what a plan or a step asks: an answer of this kind is not among what the plan
   was made from, so the plan can be learned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from metnos.turn.answer import ask, close, succeeded, suspend
from metnos.turn.commands import Foreseen, Guess, OpenDialog

if TYPE_CHECKING:
    from metnos.turn.state import PlanRun, StepRun, TurnState

GO_ON: Final = "go_on"
"""Name of the field that the dialog asks for."""
YES: Final = "yes"
NO: Final = "no"
PLAN_DECLINED: Final = "plan-declined"
PLAN_UNSURE: Final = "plan-unsure"
FORM: Final[dict[str, dict[str, Any]]] = {GO_ON: {"schema": {"type": "string", "enum": [YES, NO]}, "label": ""}}


def show(turn: TurnState, plan: PlanRun) -> None:
    """Open the dialog about an accepted plan, and wait for a person."""
    turn.dialogs += 1
    turn.guesses += 1
    turn.dialog = OpenDialog(
        dialog=f"{turn.opened.turn}.dialog{turn.dialogs}",
        form=FORM,
        guess=Guess(
            plan=plan.number,
            digest=plan.checked.digest,
            steps=tuple(map(_foreseen, plan.runs, plan.body["steps"])),
            end=_end(plan),
        ),
    )
    ask(turn, turn.dialog)
    suspend(turn)


def _foreseen(run: StepRun, written: dict[str, Any]) -> Foreseen:
    contract = run.step.contract
    return Foreseen(
        step=run.key,
        tool=contract.name,
        effect=run.step.worst_effect,
        args=written["args"],
        each=run.lifted,
        for_each=written.get("for_each"),
        when=written.get("when", {}),
        about=contract.descriptions,
    )


def _end(plan: PlanRun) -> dict[str, Any]:
    """The last line of the plan; empty if it has none."""
    steps: list[dict[str, Any]] = plan.body["steps"]
    return steps[-1] if len(steps) > len(plan.runs) else {}


def is_yes(turn: TurnState, guess: Guess, answers: dict[str, Any]) -> bool:
    """Whether the plan that was shown is to be begun."""
    assert (guess.plan, guess.digest) == (turn.plan.number, turn.plan.checked.digest)
    return answers[GO_ON] == YES


def decline(turn: TurnState) -> None:
    """The person meant something else; what earlier plans of the turn did stays done."""
    outcome = "partial" if succeeded(turn) else "not_understood"
    turn.mark(outcome, PLAN_DECLINED)
    close(turn, outcome)
