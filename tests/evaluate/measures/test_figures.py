from __future__ import annotations

import pytest

from metnos import Engine
from metnos.evaluate.measures.figures import JUDGED, Labels, figures_of
from metnos.evaluate.measures.prices import Price, Prices
from metnos.propose.model import Proposal
from metnos.testing.proposer import ScriptedProposer
from tests.support import hosted

PRICES = Prices({"tiny": Price(input="1", output="2", source="test", date="2026-11-30")})
ADD = {"steps": [{"tool": "add_one", "args": {"n": 1}}, {"tool": "final_answer", "args": {}}]}


def recorded(*answers, request="add one to the number 1", executors=(hosted.add_one, hosted.fail), **more):
    with Engine.open(
        memory=True, shipped=False, executors=executors, proposer=ScriptedProposer(*answers), **more
    ) as it:
        turn = it.run_sync(request).turn
        return it.parts.journal.load(turn)


def steps(*calls):
    return {"steps": [{"tool": tool, "args": args} for tool, args in calls] + [{"tool": "final_answer", "args": {}}]}


def test_a_turn_that_succeeded():
    found = figures_of(recorded(Proposal(ADD, model="tiny", tokens_in=1000, tokens_out=10)), prices=PRICES)
    assert (found.outcome, found.succeeded, found.cause, found.valid) == ("success", True, "", True)
    assert (found.plan_source, found.plans, found.proposals, found.cache_reason != "") == ("model", 1, 1, True)
    assert (found.steps, found.done, found.tools, found.verdicts) == (1, 1, ("add_one",), {"allow": 1})
    assert (found.models, found.model_calls, found.tokens_in, found.tokens_out) == (("tiny",), 1, 1000, 10)
    assert (found.cost, found.unpriced) == (1020, 0)
    assert found.latency_us >= 0
    assert found.request == "add one to the number 1"


def test_a_model_without_a_price_is_counted_and_not_free():
    found = figures_of(recorded(Proposal(ADD, model="other", tokens_in=1000, tokens_out=10)), prices=PRICES)
    assert (found.cost, found.unpriced, found.model_calls) == (0, 1, 1)


def test_the_same_call_twice_is_a_repeated_one():
    again = steps(("add_one", {"n": 1}), ("add_one", {"n": 2}), ("add_one", {"n": 1}))
    found = figures_of(recorded(again))
    assert (found.steps, found.repeated_calls, found.tools) == (3, 1, ("add_one",) * 3)


def test_the_first_cause_of_a_failure_is_the_step_that_failed():
    found = figures_of(recorded(steps(("fail", {}))))
    assert (found.outcome, found.succeeded, found.failed, found.cause_tool) == ("error", False, 1, "fail")
    assert found.cause == next(iter(found.error_codes))


def test_a_plan_that_was_rejected_twice():
    wrong = steps(("add_one", {"n": "one"}))
    found = figures_of(recorded(wrong, wrong))
    assert (found.outcome, found.valid, found.plans, found.rejected, found.proposals) == (
        "plan_rejected",
        False,
        0,
        2,
        2,
    )
    assert found.guards == {"validator": 2}
    assert found.cause in ("type-mismatch", "invalid-value")


def test_a_plan_that_was_repaired_is_accepted_and_was_not_valid():
    found = figures_of(recorded(steps(("add_one", {"n": "one"})), ADD))
    assert (found.outcome, found.valid, found.plans, found.rejected) == ("success", False, 1, 1)


def test_a_judge_has_the_last_word():
    log = recorded(ADD)
    wrong = figures_of(log, Labels(group="task 1", trial=1, reward=0.0))
    assert (wrong.group, wrong.trial, wrong.judged, wrong.succeeded, wrong.cause) == ("task 1", 1, True, False, JUDGED)
    assert figures_of(log, Labels(reward=1.0)).succeeded
    assert not figures_of(log, Labels(reward=0.99)).succeeded


@pytest.mark.parametrize("body", [b"", b"\xff", b"[]", b"{}", b'{"plan": 7, "steps": 3, "usage": {"x": "y"}}'])
def test_a_body_that_cannot_be_read_counts_as_empty(body):
    import msgspec

    log = recorded(ADD)
    records = tuple(msgspec.structs.replace(record, body=body) for record in log.records)
    found = figures_of(msgspec.structs.replace(log, records=records))
    assert (found.turn, found.succeeded, found.tools) == (log.turn, False, ("",))


def test_an_empty_log():
    import msgspec

    log = msgspec.structs.replace(recorded(ADD), records=())
    assert (figures_of(log).cause, figures_of(log).latency_us) == ("open", 0)
