"""What was recorded, driven again: with nothing swapped it is the recorded turn; with a part swapped, that part shows."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from metnos import Engine
from metnos.drivers.rules import make_rules
from metnos.evaluate.collections.opening import open_collection
from metnos.evaluate.measures.figures import figures_of
from metnos.evaluate.running.driving import AsRecorded, Drive
from metnos.evaluate.running.lookups import Nothing
from metnos.evaluate.running.parts import without_guards
from metnos.evaluate.running.proposers import Line, Nobody, Scripted
from metnos.evaluate.running.recorded import Recorded, answer_of
from metnos.record.model import TurnLog
from metnos.testing.proposer import ScriptedProposer
from metnos.turn.rules import Rules
from tests.support import hosted
from tests.support.turnfiles import record


def driven(log: TurnLog, rules: Rules, known: Any = None, proposing: Any = None, under: Rules | None = None):
    found = Recorded(log, rules)
    return found, Drive(under or rules, found, known or AsRecorded(), proposing or AsRecorded()).run()


def logs_of(path):
    return [item.log for shard in open_collection(path).shards() for item in shard.read()]


def timeless(figures):
    return msgspec.structs.replace(figures, latency_us=0)


def test_with_nothing_swapped_every_turn_is_the_recorded_one(recorded, folder):
    with Engine.open(home=str(folder / "home")) as engine:
        rules = engine.parts.rules
    logs = logs_of(recorded)
    assert len(logs) == 8
    for log in logs:
        found, now = driven(log, rules)
        assert found.replayed.status == "identical"
        assert (now.unobserved, now.unanswered) == ("", "")
        assert timeless(figures_of(now.log)) == timeless(figures_of(log))
        assert [one.kind for one in now.log.records] == [one.kind for one in log.records]
        assert answer_of(now.spy) == found.answer
        assert figures_of(now.log).latency_us <= figures_of(log).latency_us


def hosted_logs(plan, *executors, request="do it", **more):
    proposer = ScriptedProposer(plan)
    with Engine.open(memory=True, shipped=False, executors=executors, proposer=proposer, **more) as engine:
        (log,) = record(engine, request)
        return log, engine.parts.rules, engine.parts.catalog


def plan_of(*calls):
    return {"steps": [{"tool": tool, "args": args} for tool, args in (*calls, ("final_answer", {}))]}


def test_side_by_side_stays_side_by_side():
    plan = plan_of(("add_one", {"n": 1}), ("add_one", {"n": 2}), ("add_one", {"n": "${step1.n}"}))
    log, rules, _ = hosted_logs(plan, hosted.add_one)
    _, now = driven(log, rules)
    assert timeless(figures_of(now.log)) == timeless(figures_of(log))


def test_a_call_that_was_not_recorded_is_named_and_what_does_not_need_it_goes_on():
    log, rules, catalog = hosted_logs(plan_of(("add_one", {"n": 1})), hosted.add_one)
    other = plan_of(("add_one", {"n": 1}), ("add_one", {"n": 7}), ("add_one", {"n": "${step1.n}"}))
    script = Scripted([Line(request="do it", plan=other)], catalog)
    _, now = driven(log, rules, proposing=script)
    assert (now.unobserved, now.unobserved_call) == ("1.2", "add_one")
    assert [one.kind for one in now.log.records].count("step_finished") == 1
    assert now.spy.close is None


def test_a_proposal_is_no_answer_to_another_question():
    wrong, right = plan_of(("add_one", {"n": "x"})), plan_of(("add_one", {"n": 1}))
    with Engine.open(
        memory=True, shipped=False, executors=(hosted.add_one,), proposer=ScriptedProposer(right)
    ) as engine:
        (log,) = record(engine, "do it")
        rules = engine.parts.rules
    strict = make_rules(engine.parts.catalog)

    def refuses(plan: Any, context: Any) -> Any:
        return strict.validate(wrong, context)

    _, now = driven(log, rules, under=msgspec.structs.replace(rules, validate=refuses))
    assert now.unanswered == "propose repair"
    assert figures_of(now.log).guards == {"validator": 1}


def test_where_nobody_proposes_the_turn_is_not_understood():
    log, rules, _ = hosted_logs(plan_of(("add_one", {"n": 1})), hosted.add_one)
    _, now = driven(log, rules, proposing=Nobody())
    assert figures_of(now.log).outcome == "not_understood"


def rules_without_guards(engine: Engine) -> Rules:
    return without_guards(engine.parts.rules, engine.parts.catalog, ["grounding", "requested-effects"])


def test_a_consent_counts_for_what_it_was_given_for(folder):
    from metnos.policy.decide import decider
    from metnos.policy.table import TABLE

    with Engine.open(home=str(folder / "home")) as engine:
        (log,) = record(engine, "delete f1.txt", approve=lambda _: True)
        rules = engine.parts.rules
    _, same = driven(log, rules)
    assert figures_of(same.log).approvals_given == 1
    table = {**TABLE, "delete": dict.fromkeys(TABLE["delete"], "ask")}
    other = msgspec.structs.replace(rules, policy=decider(table), policy_digest="sha256:other")
    _, now = driven(log, rules, under=other)
    assert (now.unanswered, figures_of(now.log).approvals_given) == ("", 1)
    line = Line(request="delete f1.txt", plan=plan_of(("delete_files", {"path": "f2.txt"})))
    script = Scripted([line], engine.parts.catalog)
    _, now = driven(log, rules, known=Nothing(), proposing=script, under=rules_without_guards(engine))
    assert (now.unanswered, figures_of(now.log).approvals_given) == ("approval delete_files", 0)
    allows = {**TABLE, "delete": dict.fromkeys(TABLE["delete"], "allow")}
    _, free = driven(log, rules, under=msgspec.structs.replace(rules, policy=decider(allows)))
    assert (figures_of(free.log).approvals_asked, figures_of(free.log).outcome) == (0, "success")


@pytest.mark.parametrize("answer", [True, False, None])
def test_consents_that_were_given_refused_or_left_open(folder, answer):
    with Engine.open(home=str(folder / "home")) as engine:
        (log,) = record(engine, "delete f1.txt", approve=lambda _: answer)
        _, now = driven(log, engine.parts.rules)
    assert timeless(figures_of(now.log)) == timeless(figures_of(log))
    assert now.unanswered == ""
    assert now.log.status == log.status


def test_a_question_and_its_answer(folder):
    from metnos.testing.proposer import ScriptedProposer

    ask = {"steps": [{"tool": "ask", "args": {"question": "which one?"}}]}
    then = {
        "steps": [{"tool": "read_files", "args": {"path": "${INPUT:answer}"}}, {"tool": "final_answer", "args": {}}]
    }
    proposer = ScriptedProposer(ask, then)
    with Engine.open(home=str(folder / "home"), proposer=proposer, answer=lambda _: {"answer": "f2.txt"}) as engine:
        (log,) = record(engine, "read the one that I mean")
        _, now = driven(log, engine.parts.rules)
    assert figures_of(log).proposals == 2
    assert timeless(figures_of(now.log)) == timeless(figures_of(log))
