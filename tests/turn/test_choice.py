"""A failure that leaves a choice: what may be offered, who is asked when, and what an answer runs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.policy.model import Allow
from metnos.sdk import Effect, Failure, Option
from metnos.testing.simulation import Faults, Script, Simulation
from metnos.turn import commands as c
from metnos.turn import facts as f
from metnos.turn import inputs as i
from metnos.turn.table import ProtocolError
from metnos.turn.turn import Machine
from tests.support.turns import FOLDER, Files, Play, opened, plan, rules, step

ALLOW = rules(policy=lambda question: Allow())
REPLACE = Option(key="replace")
TAKEN = Failure(cls="conflict", code="exists", options=(REPLACE, Option(key="beside", args={"path": "a-2"})))


def play(*steps: dict[str, Any], used: Any = None, **fields: Any) -> Play:
    return Play(opened(plan(*(steps or (step("make", {"path": "a"}),))), **({"choices": True} | fields)), used)


def fail(turn: Play, key: str = "1.1", error: Failure = TAKEN, **fields: Any) -> None:
    turn.begin(key)
    turn.send(i.StepFailed(step=key, error=error, **fields))


def answer(turn: Play, choice: str) -> None:
    turn.send(i.DialogAnswered(dialog=turn.asked(c.OpenDialog)[-1].dialog, answers={"choice": choice}))


def test_the_answer_is_a_new_operation_with_a_consent_of_its_own() -> None:
    turn = play()
    turn.approve()
    first = turn.starts["1.1"]
    fail(turn)
    (dialog,) = turn.asked(c.OpenDialog)
    assert [(one.name, one.key, one.changes) for one in dialog.offers] == [
        ("replace", "replace", ({"overwrite": True},)),
        ("beside", "beside", ({"path": "a-2"},)),
    ]
    assert dialog.form["choice"]["schema"]["enum"] == ["replace", "beside", "stop"]
    assert (dialog.calls, dialog.targets, turn.phase) == (("1.1",), (f"{FOLDER}/a",), "suspended")
    answer(turn, "replace")
    before, asked = turn.asked(c.AskApproval)
    assert (asked.action, asked.approval) == ("change", "t1.1.1.choice1")
    assert asked.digest != before.digest
    with pytest.raises(ProtocolError):
        turn.send(i.ApprovalGiven(approval=before.approval, digest=before.digest))
    turn.approve()
    second = turn.starts["1.1"]
    assert (second.args, second.effect) == ({"path": "a", "overwrite": True}, "change")
    assert second.operation != first.operation
    turn.done("1.1", {"path": "a"})
    turn.compose()
    assert turn.ended.outcome == "success"


@pytest.mark.parametrize(
    "options",
    [
        (Option(key="encoding", args={"path": "a-2"}),),
        (Option(key="beside"),),
        (Option(key="beside", args={"path": 7}),),
        (Option(key="beside", args={"path": "a"}),),
        (Option(key="beside", args={"path": "sub/a"}),),
        (Option(key="beside", args={"path": "/etc/a"}),),
        (Option(key="beside", args={"path": "../a"}),),
        (Option(key="beside", args={"path": "a-2", "overwrite": True}),),
        (Option(key="replace", args={"overwrite": False}),),
        (Option(key="replace", args={"path": "b"}),),
    ],
    ids=str,
)
def test_nothing_is_offered_that_the_contract_does_not_allow(options: tuple[Option, ...]) -> None:
    turn = play(used=ALLOW)
    fail(turn, error=Failure(cls="conflict", code="exists", options=options))
    assert turn.asked(c.OpenDialog) == []
    assert (turn.ended.outcome, turn.ended.code) == ("error", "exists")


def test_a_choice_never_leaves_the_granted_folders() -> None:
    turn = play(step("make", {"path": f"{FOLDER}/in/a"}), used=ALLOW, roots=(f"{FOLDER}/in",))
    fail(turn, error=Failure(cls="conflict", code="exists", options=(Option(key="beside", args={"path": FOLDER}),)))
    assert (turn.asked(c.OpenDialog), turn.ended.outcome) == ([], "error")


@pytest.mark.parametrize(
    ("fields", "failed"),
    [
        ({"choices": False}, {}),
        ({}, {"error": Failure(cls="conflict", code="other", options=(REPLACE,))}),
        ({}, {"effects": (Effect(cls="create", target="a"),)}),
    ],
    ids=["nobody to ask", "another code", "something was done"],
)
def test_a_failure_stays_one_where_it_leaves_no_choice(fields: dict[str, Any], failed: dict[str, Any]) -> None:
    turn = play(used=ALLOW, **fields)
    fail(turn, **failed)
    assert (turn.asked(c.OpenDialog), turn.ended.outcome) == ([], "error")


def test_what_could_be_chosen_is_told_where_nobody_is_asked() -> None:
    turn = play(used=ALLOW, choices=False)
    fail(turn)
    error = turn.machine.state.steps[0].error
    assert error is not None
    assert error.options == (
        Option(key="replace", args={"overwrite": True}),
        Option(key="beside", args={"path": "a-2"}),
    )


def test_an_effect_in_doubt_is_never_a_choice() -> None:
    turn = play(used=ALLOW)
    fail(turn, error=Failure(cls="crashed", code="exists", options=(REPLACE,)))
    assert (turn.asked(c.OpenDialog), turn.ended.outcome) == ([], "effect_unknown")


def test_it_is_asked_once_and_stop_leaves_the_failure() -> None:
    turn = play(used=ALLOW)
    fail(turn)
    answer(turn, "beside")
    assert turn.starts["1.1"].args == {"path": "a-2"}
    fail(turn)
    assert (len(turn.asked(c.OpenDialog)), turn.ended.outcome, turn.ended.code) == (1, "error", "exists")
    other = play(step("make", {"path": "a"}), step("make", {"path": "b"}), used=ALLOW)
    fail(other)
    other.done("1.2", {"path": "b"})
    with pytest.raises(ProtocolError, match="does not fit"):
        answer(other, "perhaps")
    answer(other, "stop")
    other.compose()
    assert (other.ended.outcome, other.ended.code, other.states) == (
        "partial",
        "exists",
        {"1.1": "failed", "1.2": "done"},
    )


def test_silence_ends_the_turn_and_so_does_a_stop() -> None:
    turn = play(used=ALLOW)
    fail(turn)
    turn.send(i.DialogExpired(dialog=turn.asked(c.OpenDialog)[0].dialog))
    assert (turn.ended.outcome, turn.ended.code, turn.states) == ("user_aborted", "dialog-expired", {"1.1": "failed"})
    other = play(used=ALLOW)
    fail(other)
    other.send(i.Cancelled())
    assert (other.ended.outcome, other.states) == ("cancelled", {"1.1": "failed"})


def test_a_refused_consent_after_a_choice_is_a_refusal() -> None:
    turn = play()
    turn.approve()
    fail(turn)
    answer(turn, "replace")
    (asked,) = turn.machine.state.asked
    turn.send(i.ApprovalRefused(approval=asked.approval))
    assert (turn.ended.outcome, turn.states) == ("user_aborted", {"1.1": "skipped"})


LISTED = step("make", {"path": "${item}"}, for_each=["a", "b", "c"])


def test_the_items_that_failed_alike_are_asked_about_once() -> None:
    """Once nothing else can go on: siblings and whoever touches other things run first."""
    turn = play(LISTED, step("read", {"path": "b"}))
    turn.approve()
    for item in ("1.1.1", "1.1.3"):
        fail(turn, item, Failure(cls="conflict", code="exists", options=(REPLACE,)))
    turn.done("1.1.2", {"path": "b"})
    assert turn.asked(c.OpenDialog) == []
    turn.done("1.2", {"path": "b", "text": ""})
    (dialog,) = turn.asked(c.OpenDialog)
    assert dialog.calls == ("1.1.1", "1.1.3")
    answer(turn, "replace")
    (asked,) = turn.machine.state.asked
    assert (asked.step, asked.count, asked.targets) == ("1.1", 2, (f"{FOLDER}/a", f"{FOLDER}/c"))
    turn.approve()
    turn.done("1.1.1", {"path": "a"})
    turn.done("1.1.3", {"path": "c"})
    turn.compose()
    assert turn.ended.outcome == "success"


def test_what_comes_after_a_step_waits_for_its_choice() -> None:
    turn = play(LISTED, step("read", {"path": "a"}), used=ALLOW)
    fail(turn, "1.1.1")
    turn.done("1.1.2", {"path": "b"})
    turn.done("1.1.3", {"path": "c"})
    assert "1.2" not in turn.starts
    answer(turn, "beside")
    assert turn.starts["1.1.1"].args == {"path": "a-2"}
    assert "1.2" in turn.starts  # it touches something else now


def test_a_choice_is_replayed_and_asked_again_after_a_crash() -> None:
    turn = play(used=ALLOW)
    fail(turn)
    (dialog,) = turn.asked(c.OpenDialog)
    reaction = turn.send(i.TurnResumed())
    assert reaction.commands == (dialog,)
    answer(turn, "replace")
    turn.done("1.1", {"path": "a"})
    assert turn.told(f.PolicyDecided)[-1].digest == turn.starts["1.1"].digest


class Occupied(Files):
    """`make` replaces only what it was told to."""

    def perform(self, start: c.StartStep) -> i.StepFinished | i.StepFailed:
        path = self._path(start)
        if start.executor == "make@1" and path in self.contents and not start.args.get("overwrite"):
            option = Option(key="beside", args={"path": f"{start.args['path']}-2"})
            return i.StepFailed(
                step=start.step, error=Failure(cls="conflict", code="exists", options=(REPLACE, option))
            )
        return super().perform(start)


@given(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True),
    st.booleans(),
    st.sampled_from(["replace", "beside", "stop"]),
    st.integers(0, 2**32),
)
def test_whatever_crashes_between_question_and_answer(paths: list[str], lifted: bool, choice: str, seed: int) -> None:
    steps = (
        [step("make", {"path": "${item}"}, for_each=paths)]
        if lifted
        else [step("make", {"path": path}) for path in paths]
    )
    world = Occupied({f"{FOLDER}/a": "old", f"{FOLDER}/c": "old"})
    faults = Faults(crash=0.1, double=0.1)
    given_turn = opened(plan(*steps), choices=True)
    run = Simulation(
        ALLOW, given_turn, world, seed=seed, faults=faults, script=Script(answers={"choice": choice})
    ).run()
    taken = [path for path in paths if path in "ac"]
    if run.outcome != "effect_unknown":
        assert run.outcome in (("error", "partial") if taken and choice == "stop" else ("success",))
        made = {path: world.contents.get(f"{FOLDER}/{path}") for path in paths if path in "ac"}
        assert set(made.values()) <= ({"new"} if choice == "replace" else {"old"})
        if choice == "beside":
            assert all(f"{FOLDER}/{path}-2" in world.contents for path in taken)
    again = Machine(ALLOW)
    assert [again.receive(item) for item, _ in run.log] == [reaction for _, reaction in run.log]
