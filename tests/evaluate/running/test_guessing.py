"""A plan that a person saw first, driven again, forked and exported: what was said of it is said of no other plan."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from metnos import Engine
from metnos.evaluate.cases.forking import fork
from metnos.evaluate.exporting.trace import trace_of
from metnos.evaluate.exporting.view import view_of
from metnos.evaluate.measures.figures import figures_of
from metnos.evaluate.running.driving import AsRecorded, Drive
from metnos.evaluate.running.parts import RunParts
from metnos.evaluate.running.proposers import Line, Scripted
from metnos.evaluate.running.recorded import Recorded
from metnos.evaluate.trace import Critic
from metnos.propose.model import Proposal
from metnos.record.model import TurnLog
from metnos.testing.proposer import ScriptedProposer
from tests.support import hosted
from tests.support.hosted import plan, step
from tests.support.turnfiles import record

PLAN = plan(step("add_one", n=1))
OTHER = plan(step("add_one", n=1), step("add_one", n=1))


def recorded(said: str | None, *, unsure: bool = True) -> tuple[TurnLog, Engine]:
    answer = None if said is None else (lambda _dialog: {"go_on": said})
    proposer = ScriptedProposer(Proposal(PLAN, unsure=unsure))
    with Engine.open(memory=True, executors=(hosted.add_one,), proposer=proposer, answer=answer) as engine:
        (log,) = record(engine, "do it")
        return log, engine


def driven(log: TurnLog, engine: Engine, *lines: Line) -> Any:
    rules = engine.parts.rules
    proposing: Any = Scripted(lines, engine.parts.catalog) if lines else AsRecorded()
    return Drive(rules, Recorded(log, rules), AsRecorded(), proposing).run()


@pytest.mark.parametrize("said", ["yes", "no", None])
def test_with_nothing_swapped_it_is_the_recorded_turn(said: str | None) -> None:
    log, engine = recorded(said)
    now = driven(log, engine)
    before, after = (msgspec.structs.replace(figures_of(one), latency_us=0) for one in (log, now.log))
    assert (after, now.unanswered, now.log.status) == (before, "", log.status)
    assert after.outcome == {"yes": "success", "no": "not_understood", None: "suspended"}[said]


@pytest.mark.parametrize(
    ("line", "unanswered", "outcome"),
    [
        (Line(request="do it", plan=PLAN, unsure=True), "", "success"),
        (Line(request="do it", plan=PLAN), "", "success"),
        (Line(request="do it", plan=OTHER), "", "success"),
        (Line(request="do it", plan=OTHER, unsure=True), "guess", "suspended"),
    ],
)
def test_another_plan_is_another_question(line: Line, unanswered: str, outcome: str) -> None:
    now = driven(*recorded("yes"), line)
    assert (now.unanswered, figures_of(now.log).outcome) == (unanswered, outcome)


def test_a_doubt_that_was_not_recorded_is_answered_by_nobody() -> None:
    now = driven(*recorded(None, unsure=False), Line(request="do it", plan=PLAN, unsure=True))
    assert (now.unanswered, now.log.status, now.unobserved) == ("guess", "suspended", "")


def test_what_was_left_open_for_one_plan_is_no_excuse_for_another() -> None:
    log, engine = recorded(None)
    assert driven(log, engine, Line(request="do it", plan=PLAN, unsure=True)).unanswered == ""
    assert driven(log, engine, Line(request="do it", plan=OTHER, unsure=True)).unanswered == "guess"


def test_the_answer_is_not_taken_for_one_to_a_question_of_a_plan() -> None:
    form = {"go_on": {"schema": {"type": "string", "enum": ["yes", "no"]}}}
    asks = {"steps": [{"tool": "needs_inputs", "args": {"form": form}}]}
    assert driven(*recorded("yes"), Line(request="do it", plan=asks)).unanswered == "dialog"


def test_a_fork_begins_what_was_agreed_to_and_nothing_else() -> None:
    log, engine = recorded("yes")
    rules, catalog = engine.parts.rules, engine.parts.catalog
    again, other = (
        fork(
            log,
            1,
            RunParts(
                base=rules,
                rules=rules,
                catalog=catalog,
                known=AsRecorded(),
                proposing=proposing,
                today=None,
                told={},
                one_process=True,
            ),
        )
        for proposing in (AsRecorded(), Scripted([Line(request="do it", plan=OTHER, unsure=True)], catalog))
    )
    assert (again.outcome, again.unanswered) == ("success", "")
    assert (other.outcome, other.unanswered, {one.state for one in other.steps}) == ("", "guess", {"waiting"})


@pytest.mark.parametrize(("said", "verdict"), [("yes", "accepted"), ("no", "rejected"), (None, "")])
def test_what_was_said_of_it_is_exported_as_judgement_and_not_as_an_answer(said: str | None, verdict: str) -> None:
    log, engine = recorded(said)
    view = view_of(log, engine.parts.rules)
    assert (view.plans[0].unsure, view.plans[0].seen, view.plans[0].answers) == (True, said or "", None)
    told = [one.verdict for one in trace_of(view).steps if isinstance(one, Critic) and one.by == "person"]
    assert told == ([verdict] if verdict else [])
