from __future__ import annotations

import msgspec

from metnos.record.memory import MemoryJournal
from metnos.record.model import Record, TurnLog
from metnos.record.reading import view
from metnos.record.summary import summary_of
from metnos.sdk import Failure
from metnos.turn.facts import (
    PlanAccepted,
    PlanRejected,
    PlanRewritten,
    StepSkipped,
    StepUnknown,
    TurnClosed,
    TurnSuspended,
)
from metnos.turn.inputs import (
    ApprovalExpired,
    ApprovalRefused,
    DialogAnswered,
    EffectProbed,
    PlanFound,
    PlanProposed,
    StepFailed,
    StepStarted,
    StepStopped,
    TurnOpened,
    TurnResumed,
)
from metnos.turn.rules import Reaction


def test_a_turn_is_shown_from_its_records(world, journal, effects):
    world.begin(journal, world.opened("t1", "read_a", "create_b", "ask_c"), effects, consent=False)
    waiting = view(journal.load("t1"))
    assert (waiting.status, waiting.outcome, waiting.waiting) == ("suspended", "", ["t1.1.3"])
    world.resume(journal, "t1", effects)
    shown = view(journal.load("t1"))
    assert (shown.status, shown.outcome, shown.waiting, shown.resumed) == ("closed", "success", [], 1)
    assert [(line.step, line.tool, line.state, line.took_us) for line in shown.steps] == [
        ("1.1", "read_a", "done", 1),
        ("1.2", "create_b", "done", 1),
        ("1.3", "ask_c", "done", 1),
    ]
    assert [effect["target"] for effect in shown.effects] == ["1.2", "1.3"]
    assert [(line.approval, line.state, line.by) for line in shown.approvals] == [("t1.1.3", "given", "local")]
    assert (shown.plan_source, shown.answer, shown.records) == ("author", "done", journal.load("t1").seq)
    assert shown.plan["steps"][0]["tool"] == "read_a"
    assert shown.head == journal.load("t1").head


def test_everything_that_can_happen_to_a_turn_is_shown():
    journal = MemoryJournal()
    opened = TurnOpened(at=10, turn="t", now="x", request="five files", folder="/here", channel="api")
    plan = {"steps": [{"tool": "find_files"}, {"tool": "write_files"}]}
    failure = Failure(cls="data", code="no-field")
    writer = journal.begin(opened)
    for item, facts in (
        (opened, ()),
        (
            PlanFound(at=11, plan=plan, source="template", entry="five@sha256:0"),
            (PlanRejected(plan=1, by="validator", diagnostics=()),),
        ),
        (
            PlanProposed(at=12, plan=plan, usage={"planning_calls": 1}),
            (PlanRewritten(plan=2, guard="g"), PlanAccepted(plan=2, digest="sha256:p", executors={})),
        ),
        (StepStarted(at=13, step="2.1", operation="o1"), ()),
        (StepStarted(at=14, step="2.2", operation="o2"), (StepUnknown(step="2.2", operation="o2"),)),
        (StepFailed(at=15, step="2.1", error=failure), (StepSkipped(step="2.3", reason="blocked_by 2.1"),)),
        (EffectProbed(at=16, step="2.2", found="done"), ()),
        (StepStopped(at=17, step="2.4.1"), ()),
        (ApprovalRefused(at=18, approval="a", by="someone"), ()),
        (ApprovalExpired(at=19, approval="b"), (TurnSuspended(waiting=("c", "d"), ticket="k"),)),
        (DialogAnswered(at=19, dialog="d", answers={}), ()),
        (TurnResumed(at=20), (TurnClosed(outcome="error", code="no-field", detail="2.1"),)),
    ):
        writer.append(item, Reaction(tuple(facts)))
    assert view(journal.load("t")).waiting == []
    writer.finish("closed")
    shown = view(journal.load("t"))
    assert {line.step: (line.tool, line.state, line.reason) for line in shown.steps} == {
        "2.1": ("find_files", "failed", ""),
        "2.2": ("write_files", "done", ""),
        "2.3": ("", "skipped", "blocked_by 2.1"),
        "2.4.1": ("", "stopped", ""),
    }
    assert shown.steps[0].error == {"class": "data", "code": "no-field"}
    assert (shown.plan_source, shown.entry, shown.usage) == ("proposer", "five@sha256:0", {"planning_calls": 1})
    assert (shown.code, shown.detail, shown.rewritten_by, shown.plan_digest) == ("no-field", "2.1", ["g"], "sha256:p")
    assert [(line.state, line.by) for line in shown.approvals] == [("refused", "someone"), ("expired", "local")]
    assert (shown.request, shown.folder, shown.channel, shown.opened, shown.last) == (
        "five files",
        "/here",
        "api",
        10,
        20,
    )
    assert msgspec.json.encode(shown)


def test_a_log_of_another_version_is_shown_as_far_as_it_is_known():
    odd = (
        ("turn_opened", b'{"request":7,"versions":[],"plan":"x","new":{"a":1}}'),
        ("from_the_future", b"{}"),
        ("plan_proposed", b'{"plan":null,"usage":{"tokens":"many"}}'),
        ("plan_accepted", b"not json"),
        ("step_started", b"[]"),
        ("step_finished", b'{"step":"1.x","effects":"none"}'),
        ("turn_suspended", b'{"waiting":3}'),
        ("plan_rejected", b'{"diagnostics":[1,{"code":"c"}]}'),
        ("step_failed", b'{"step":5,"error":[]}'),
    )
    records = tuple(Record("t", seq, kind, seq, body, "", "") for seq, (kind, body) in enumerate(odd, 1))
    shown = view(TurnLog(turn="t", records=records))
    assert shown.diagnostics == [{"code": "c"}]
    assert (shown.records, shown.waiting, shown.usage) == (9, [], {})
    assert summary_of(TurnLog(turn="t")).opened == 0
    assert view(TurnLog(turn="t")).steps == []
