"""Forks and cases, driven offline: what was recorded answers, what was not is told; nothing can be run from here."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from metnos.contracts.catalog import Catalog
from metnos.drivers.rules import make_rules
from metnos.evaluate.cases.forking import Forked, fork
from metnos.evaluate.cases.making import make_case
from metnos.evaluate.cases.model import Expect
from metnos.evaluate.cases.trying import try_case
from metnos.evaluate.running.driving import AsRecorded
from metnos.evaluate.running.parts import RunParts
from metnos.evaluate.running.proposers import Line, Scripted
from metnos.record.faults import RecordFault
from metnos.testing.simulation import Script
from tests.support.checking import plan, step
from tests.support.recorded import changed, contract, recorded

TEXT = {"type": "string"}
PATH = {"type": "object", "properties": {"path": TEXT}, "required": ["path"]}
FIND = contract("find", {"path": TEXT, "more": {}}, PATH, required=["path"])
READ = contract("read", {"path": TEXT}, PATH)
PUT = contract("put", {"path": TEXT}, PATH, effect="change", targets=("path",))
TOOLS = (FIND, READ, PUT)
PLAN = plan(step("find", {"path": "a"}), step("read", {"path": "${step1.path}"}), step("read", {"path": "b"}))
RESULTS = {"find": {"path": "found"}, "read": {"path": "read"}, "put": {"path": "put"}}
LOG = recorded(TOOLS, PLAN, RESULTS)
ACTS = recorded(
    TOOLS, plan(step("put", {"path": "a"}), step("read", {"path": "b"}), step("put", {"path": "c"})), RESULTS,
    effects={"put": "change"},
)  # fmt: skip


def parts(*contracts: Any, proposing: Any = None) -> RunParts:
    catalog = Catalog().with_contracts(contracts or TOOLS)
    rules = make_rules(catalog)
    return RunParts(
        base=rules,
        rules=rules,
        catalog=catalog,
        known=AsRecorded(),
        proposing=proposing or AsRecorded(),
        today=None,
        told={},
        one_process=True,
    )


def states(forked: Forked) -> list[tuple[str, str]]:
    return [(one.step, one.state) for one in forked.steps]


def test_other_arguments_that_were_not_recorded_are_unobserved_and_what_depends_on_them_waits() -> None:
    forked = fork(LOG, 1, parts(), args={"path": "z"})
    assert (forked.unobserved, forked.outcome, forked.differs_at) == ("1.1", "", 1)
    assert states(forked) == [("1.1", "unobserved"), ("1.2", "waiting"), ("1.3", "done")]


def test_steps_before_the_fork_and_calls_that_were_recorded_elsewhere_are_answered() -> None:
    forked = fork(LOG, 2, parts(), args={"path": "b"})
    assert (forked.unobserved, forked.outcome, forked.differs_at) == ("", "success", 2)
    assert [(one.step, one.before) for one in forked.steps] == [("1.1", True), ("1.2", False), ("1.3", False)]
    kept = fork(LOG, 2, parts(), args={"path": None, "more": 1})
    assert (kept.rejected_by, kept.diagnostics[0].code) == ("validator", "unknown-argument")


def test_another_plan_from_a_step_on() -> None:
    other = plan(PLAN["steps"][0], step("find", {"path": "a"}), step("put", {"path": "x"}))
    forked = fork(LOG, 2, parts(), plan=other)
    assert states(forked) == [("1.1", "done"), ("1.2", "done"), ("1.3", "waiting")]
    assert (forked.outcome, forked.unanswered) == ("", "approval put")
    with pytest.raises(RecordFault, match="differs at step 1"):
        fork(LOG, 2, parts(), plan=plan(step("read", {"path": "b"})))


def test_a_consent_counts_for_the_same_call_before_the_fork_and_for_nothing_else() -> None:
    forked = fork(ACTS, 2, parts(), args={"path": "elsewhere"})
    assert states(forked)[:2] == [("1.1", "done"), ("1.2", "unobserved")]
    assert forked.effects == ({"class": "change", "target": "x"},)
    again = fork(ACTS, 3, parts(), args={"path": "d"})
    assert states(again) == [("1.1", "done"), ("1.2", "done"), ("1.3", "waiting")]
    assert again.unanswered == "approval put"
    first = fork(ACTS, 1, parts(), args={"path": "d"})
    assert (states(first)[0], first.unanswered) == (("1.1", "waiting"), "approval put")
    refused = recorded(
        TOOLS, plan(step("put", {"path": "a"}), step("read", {"path": "b"})), RESULTS, script=Script(approve=False)
    )
    assert states(fork(refused, 2, parts(), args={"path": "c"}))[0] == ("1.1", "skipped")


def test_another_proposer() -> None:
    log = recorded(TOOLS, PLAN, RESULTS, request="frobnicate the zorch")
    lines = [Line(request="frobnicate the zorch", plan=plan(PLAN["steps"][0], step("read", {"path": "b"})))]
    forked = fork(log, 2, parts(proposing=Scripted(lines, parts().catalog)))
    assert (states(forked), forked.outcome, forked.differs_at) == ([("1.1", "done"), ("1.2", "done")], "success", 2)
    nobody = fork(log, 2, parts(proposing=Scripted([], parts().catalog)))
    assert (nobody.outcome, nobody.unanswered, nobody.steps) == ("", "propose first", ())


def test_what_cannot_be_forked_is_said() -> None:
    for at in (0, 4, 99):
        with pytest.raises(RecordFault, match="the plan has 3 steps"):
            fork(LOG, at, parts(), args={})
    with pytest.raises(RecordFault, match="no plan"):
        fork(recorded(TOOLS, plan(step("nothing", {}))), 1, parts(), args={})
    second = LOG.records[1]
    altered = msgspec.structs.replace(second, body=second.body.replace(b"plan", b"plam"))
    with pytest.raises(RecordFault) as broken:
        fork(msgspec.structs.replace(LOG, records=(LOG.records[0], altered, *LOG.records[2:])), 1, parts(), args={})
    assert broken.value.code in ("record-altered", "record-malformed")


@pytest.mark.parametrize("log", [LOG, ACTS], ids=["reads", "acts"])
def test_a_case_holds_on_its_own_observations(log: Any) -> None:
    assert try_case(make_case(log), parts()) == ()


def test_a_case_fails_where_todays_tools_make_something_else_of_it() -> None:
    case = make_case(LOG)
    gone = try_case(case, parts(FIND, PUT))
    assert ("outcome", "success") in {(one.what, one.expected) for one in gone}
    renamed = changed(
        FIND,
        result={"type": "object", "properties": {"name": TEXT}, "required": ["name"], "additionalProperties": False},
    )
    assert {one.what for one in try_case(case, parts(renamed, READ, PUT))} >= {"outcome", "tools"}
    stricter = changed(READ, effects=PUT.effects)
    (first, *_) = try_case(case, parts(FIND, stricter, PUT))
    assert (first.what, first.found) == ("unanswered", "approval read")


def test_a_case_whose_record_does_not_hold_is_broken_and_an_empty_expectation_holds() -> None:
    case = make_case(LOG)
    assert case.record is not None
    cut = msgspec.structs.replace(case, record=msgspec.structs.replace(case.record, records=case.record.records[:-1]))
    (one,) = try_case(cut, parts())
    assert one.what == "broken"
    assert try_case(msgspec.structs.replace(case, expect=Expect()), parts()) == ()
