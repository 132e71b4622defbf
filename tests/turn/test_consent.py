"""Binding verdicts, approvals, refusals, silence, and what an approval is bound to."""

from __future__ import annotations

from typing import Any

import pytest

from metnos.policy.approval import approval_hash, items_digest
from metnos.policy.model import Allow, AskUser, Deny, Question
from metnos.turn import commands as c
from metnos.turn import facts as f
from metnos.turn import inputs as i
from metnos.turn.consent import EXPIRES_US
from metnos.turn.turn import ProtocolError
from tests.support.turns import Play, failure, opened, plan, rules, step

WRITE = plan(step("write", {"path": "notes/a.txt", "content": 1}))
WRITES = plan(step("write", {"path": "${item}", "content": 1}, for_each=["a", "b"]))
REMOVES = plan(step("remove", {"path": "${item}"}, for_each=["a", "b"]))


def test_reads_are_allowed_and_the_verdict_is_bound_to_the_argument_digest() -> None:
    play = Play(opened(plan(step("noop", {"x": 1}))))
    (decided,) = play.told(f.PolicyDecided)
    assert decided == f.PolicyDecided(step="1.1", verdict=Allow(), digest=play.starts["1.1"].digest)


def test_an_effect_is_asked_about_with_absolute_targets() -> None:
    play = Play(opened(WRITE))
    (command,) = play.asked(c.AskApproval)
    assert (command.approval, command.step, command.action, command.count) == ("t1.1.1", "1.1", "change", 1)
    assert command.targets == ("/home/ada/notes/a.txt",)
    assert command.expires == play.at + EXPIRES_US
    assert play.told(f.TurnSuspended) == [f.TurnSuspended(waiting=("t1.1.1",), ticket="t1.1")]
    bound = play.told(f.PolicyDecided)[1]
    assert type(bound.verdict) is AskUser
    assert command.digest == approval_hash(
        owner="local",
        turn="t1",
        plan_digest=play.machine.state.plan.checked.digest,
        step="1.1",
        arguments=bound.digest,
        targets=command.targets,
        count=1,
        executor="write@1",
        policy="sha256:p",
    )


def test_yes_starts_the_step_once() -> None:
    play = Play(opened(WRITE))
    play.approve()
    assert play.started == ["1.1"]
    assert play.phase == "running"
    with pytest.raises(ProtocolError, match=r"no approval t1\.1\.1 is open"):
        play.send(i.ApprovalGiven(approval="t1.1.1", digest=play.asked(c.AskApproval)[0].digest))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"digest": "sha256:another"}, "approval-differs"),
        ({"by": "eve"}, "approval-stranger"),
    ],
)
def test_an_answer_to_something_else_or_of_somebody_else_answers_nothing(fields: dict[str, str], reason: str) -> None:
    play = Play(opened(WRITE))
    play.approve(**fields)
    assert play.last.facts == (
        f.PolicyDecided(step="1.1", verdict=Deny(reason), digest=play.told(f.PolicyDecided)[1].digest),
    )
    assert (play.started, play.phase) == ([], "suspended")
    play.approve()
    assert play.started == ["1.1"]


@pytest.mark.parametrize(
    "answer",
    [
        i.ApprovalRefused(approval="t1.1.1"),
        i.ApprovalExpired(approval="t1.1.1"),
        i.CommandFailed(command="ask_approval", ref="t1.1.1", error=failure()),
    ],
)
def test_no_and_silence_abort(answer: i.AnyInput) -> None:
    play = Play(opened(WRITE))
    play.send(answer)
    told = {"approval_refused": ("approval-refused", "1.1"), "approval_expired": ("approval-expired", "1.1")}
    why = told.get(str(answer.__struct_config__.tag), ("broken", ""))
    assert (play.ended.outcome, play.ended.code, play.ended.detail) == ("user_aborted", *why)
    assert play.skipped == {"1.1": "stopped"}


def test_a_yes_that_comes_too_late_is_silence() -> None:
    play = Play(opened(WRITE))
    play.at += EXPIRES_US
    play.approve()
    assert play.started == ["1.1"]
    play = Play(opened(WRITE))
    play.at += EXPIRES_US + 1
    play.approve()
    assert (play.started, play.ended.code) == ([], "approval-expired")


def test_assume_yes_is_policys_to_use() -> None:
    made = plan(step("make", {"path": "a"}))
    assert Play(opened(made)).started == []
    assert Play(opened(made, assume_yes=True)).started == ["1.1"]
    assert Play(opened(plan(step("make", {"path": "a", "overwrite": True})), assume_yes=True)).started == []


def test_the_effect_class_follows_the_arguments_and_defaults() -> None:
    play = Play(opened(plan(step("noop", {"x": 1}), step("make", {"path": "a", "overwrite": "${step1.v}"}))))
    play.done("1.1", {"v": True})
    assert play.asked(c.AskApproval)[0].action == "change"
    play = Play(opened(plan(step("noop", {"x": 1}), step("make", {"path": "${step1.v}"}))))
    play.done("1.1", {"v": "a"})
    assert play.asked(c.AskApproval)[0].action == "create"


def test_a_binding_denial_stops_new_steps_and_closes_policy_denied() -> None:
    def policy(question: Question) -> Any:
        return Deny("not there") if question.targets else Allow()

    play = Play(
        opened(plan(step("noop", {"x": 1}), step("noop", {"x": 2}), step("write", {"path": "${step1.v}"}))),
        rules(policy=policy),
    )
    play.done("1.1", {"v": "a"})
    assert play.skipped == {"1.3": "stopped"}
    play.done("1.2")
    assert (play.ended.outcome, play.ended.code, play.ended.detail) == ("policy_denied", "policy-denied", "not there")


def test_untrusted_values_in_trusted_arguments_are_named_to_policy() -> None:
    questions: list[Question] = []

    def policy(question: Question) -> Any:
        questions.append(question)
        return Allow()

    play = Play(
        opened(plan(step("noop", {"x": 1}), step("trust", {"path": "a", "content": "${step1.v}"}))),
        rules(policy=policy),
    )
    play.done("1.1", {"v": "x"}, sources=("untrusted:mail", "untrusted:web"))
    assert questions[-1].untrusted == (("content", "untrusted:mail"), ("content", "untrusted:web"))
    each = step("trust", {"path": "a", "content": "${item}"}, for_each="${step1.rows}")
    play = Play(opened(plan(step("loose"), each)), rules(policy=policy))
    play.done("1.1", {"rows": ["x", "y"]}, sources=("local",))
    assert questions[-1].untrusted == ()
    assert (questions[-1].count, len(questions[-1].targets)) == (2, 2)


# --- lists -------------------------------------------------------------------------------------------------------


def test_one_question_shows_the_whole_list_and_each_item_has_its_verdict() -> None:
    play = Play(opened(WRITES))
    (command,) = play.asked(c.AskApproval)
    assert (command.step, command.targets, command.count) == ("1.1", ("/home/ada/a", "/home/ada/b"), 2)
    digests = [fact.digest for fact in play.told(f.PolicyDecided) if not fact.forecast]
    assert command.digest == approval_hash(
        owner="local",
        turn="t1",
        plan_digest=play.machine.state.plan.checked.digest,
        step="1.1",
        arguments=items_digest(digests),
        targets=command.targets,
        count=2,
        executor="write@1",
        policy="sha256:p",
    )
    play.approve()
    assert [(fact.step, fact.verdict, fact.digest) for fact in play.last.facts] == [
        ("1.1.1", Allow(), digests[0]),
        ("1.1.2", Allow(), digests[1]),
    ]
    assert play.started == ["1.1.1", "1.1.2"]


def test_where_the_contract_says_so_each_entry_is_asked_about() -> None:
    play = Play(opened(REMOVES))
    assert [(command.step, command.targets) for command in play.asked(c.AskApproval)] == [
        ("1.1.1", ("/home/ada/a",)),
        ("1.1.2", ("/home/ada/b",)),
    ]
    second = play.asked(c.AskApproval)[1]
    play.send(i.ApprovalGiven(approval=second.approval, digest=second.digest))
    assert play.started == ["1.1.2"]
    play.done("1.1.2", {"path": "b", "content": None})
    assert play.phase == "suspended"
    assert [fact.waiting for fact in play.told(f.TurnSuspended)] == [("t1.1.1.1", "t1.1.1.2"), ("t1.1.1.1",)]
    play.send(i.ApprovalRefused(approval="t1.1.1.1"))
    assert play.states == {"1.1": "stopped"}
    assert play.close.outcome == "user_aborted"


def test_mixed_verdicts_ask_for_some_and_start_the_others() -> None:
    def policy(question: Question) -> Any:
        return Allow() if question.targets == ("/home/ada/a",) else AskUser("sure?")

    play = Play(opened(REMOVES), rules(policy=policy))
    assert play.started == ["1.1.1"]
    assert [command.step for command in play.asked(c.AskApproval)] == ["1.1.2"]
    assert play.told(f.TurnSuspended) == []
    play.done("1.1.1", {"path": "a", "content": None})
    play.approve()
    play.done("1.1.2", {"path": "b", "content": None})
    assert play.states == {"1.1": "done"}


def test_items_with_one_target_follow_each_other() -> None:
    play = Play(opened(plan(step("save", {"path": "${item}", "content": 1}, for_each=["a", "b", "./a", "a"]))))
    play.approve()
    assert play.started == ["1.1.1", "1.1.2"]
    play.done("1.1.1", {"path": "a", "content": 1})
    assert play.started[2:] == ["1.1.3"]
    play.done("1.1.3", {"path": "a", "content": 1})
    assert play.started[3:] == ["1.1.4"]


def test_several_questions_may_be_open_while_something_runs() -> None:
    play = Play(opened(plan(step("write", {"path": "a"}), step("write", {"path": "b"}), step("noop", {"x": 1}))))
    assert play.told(f.TurnSuspended) == []
    assert play.phase == "running"
    play.done("1.3")
    assert play.told(f.TurnSuspended)[0].waiting == ("t1.1.1", "t1.1.2")
    play.send(i.ApprovalGiven(approval="t1.1.2", digest=play.asked(c.AskApproval)[1].digest))
    play.fail("1.2")
    assert play.skipped == {"1.1": "stopped"}
    assert play.machine.state.asked == ()
    first = play.asked(c.AskApproval)[0]
    play.send(i.ApprovalGiven(approval=first.approval, digest=first.digest))
    assert (play.last.commands, play.started) == ((), ["1.3", "1.2"])
    with pytest.raises(ProtocolError, match="is open"):
        play.send(i.ApprovalRefused(approval=first.approval))
    assert play.asked(c.Compose)[0].outcome == "partial"
