"""Drift of recorded turns: each change is made to a contract, and must be found where it is, and nowhere else."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest

from metnos.contracts.catalog import Catalog
from metnos.contracts.model import Contract, EffectRule
from metnos.evaluate.drifting.finding import drift_of
from metnos.evaluate.drifting.model import KINDS, NAMED, Drift, Finding, Gathering
from metnos.evaluate.drifting.today import today
from metnos.sdk import Failure
from metnos.text import message
from tests.support.checking import plan, step
from tests.support.recorded import changed, contract, recorded, rows_of

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
FIND = contract("find", {"path": TEXT, "depth": WHOLE}, rows_of(path=TEXT, size=WHOLE), required=["path"])
SUM = contract("sum", {"values": {"type": "array", "items": WHOLE}}, {"type": "object", "properties": {"total": WHOLE}})
PLAN = plan(step("find", {"path": "x", "depth": 2}), step("sum", {"values": "${step1.entries[*].size}"}))
RESULTS = {"find": {"entries": [{"path": "a", "size": 1}, {"path": "b", "size": 2}]}, "sum": {"total": 3}}
LOG = recorded([FIND, SUM], PLAN, RESULTS)


def found(*contracts: Contract, before: tuple[Contract, ...] = (), log: Any = LOG) -> list[Finding]:
    return list(drift_of(log, today(Catalog().with_contracts(contracts), before))[0])


def told(findings: list[Finding]) -> set[tuple[str, str, str, str]]:
    return {(one.kind, one.step, one.tool, one.field) for one in findings}


def with_args(known: Contract, **fields: Any) -> Contract:
    return changed(known, args={**known.args, **fields})


def test_nothing_has_changed() -> None:
    findings, steps = drift_of(LOG, today(Catalog().with_contracts([FIND, SUM])))
    assert (findings, steps) == ((), 2)


def test_a_renamed_field_of_a_result_is_found_with_what_it_could_be_now_and_who_refers_to_it() -> None:
    now = changed(FIND, result=rows_of(path=TEXT, bytes=WHOLE))
    findings = found(now, SUM)
    assert told(findings) == {
        ("contract-changed", "1.1", "find", ""),
        ("field-gone", "1.1", "find", "/entries/*/size"),
        ("reference-broken", "1.2", "sum", "/values"),
    }
    (gone,) = [one for one in findings if one.kind == "field-gone"]
    assert (gone.candidates, gone.recorded, gone.count) == (("bytes",), "integer", 2)
    (broken,) = [one for one in findings if one.kind == "reference-broken"]
    assert (broken.recorded, broken.code) == ("size", "unknown-field")


def test_the_same_from_the_contracts_of_then() -> None:
    now = changed(FIND, result=rows_of(path=TEXT, bytes=WHOLE))
    (gone,) = [one for one in found(now, SUM, before=(FIND,)) if one.kind == "field-gone"]
    assert (gone.field, gone.candidates, gone.recorded) == ("/entries/*/size", ("bytes",), "integer")


def test_a_type_that_changed_a_field_that_is_promised_and_a_rule() -> None:
    typed = changed(FIND, result=rows_of(path=TEXT, size=TEXT))
    (one,) = [one for one in found(typed, SUM) if one.kind == "field-type"]
    assert (one.field, one.recorded, one.now, one.count) == ("/entries/*/size", "integer", "string", 2)
    more = changed(FIND, result=rows_of(path=TEXT, size=WHOLE, owner=TEXT))
    (one,) = [one for one in found(more, SUM) if one.kind == "field-missing"]
    assert (one.field, one.candidates) == ("/entries/*/owner", ())
    ruled = changed(FIND, result=rows_of(path=TEXT, size={"type": "integer", "minimum": 2}))
    (one,) = [one for one in found(ruled, SUM) if one.kind == "field-value"]
    assert (one.field, one.now, one.count) == ("/entries/*/size", "minimum: 2", 1)


def test_a_new_name_in_an_open_object_is_the_candidate_of_what_is_missing() -> None:
    item = {"type": "object", "properties": {"path": TEXT, "bytes": WHOLE}, "required": ["path", "bytes"]}
    open_rows = {"type": "object", "properties": {"entries": {"type": "array", "items": item}}}
    (one,) = [one for one in found(changed(FIND, result=open_rows), SUM) if one.kind.startswith("field")]
    assert (one.kind, one.field, one.candidates) == ("field-missing", "/entries/*/bytes", ("size",))


def test_arguments_that_are_gone_required_or_of_another_type() -> None:
    renamed = with_args(FIND, properties={"folder": TEXT, "depth": WHOLE}, required=["folder"])
    findings = [one for one in found(renamed, SUM) if one.kind.startswith("argument")]
    assert told(findings) == {
        ("argument-gone", "1.1", "find", "/path"),
        ("argument-required", "1.1", "find", "/folder"),
    }
    assert [one.candidates for one in findings if one.kind == "argument-gone"] == [("folder",)]
    typed = with_args(FIND, properties={"path": TEXT, "depth": TEXT})
    (one,) = [one for one in found(typed, SUM) if one.kind.startswith("argument")]
    assert (one.kind, one.field, one.code) == ("argument-type", "/depth", "type-mismatch")
    ruled = with_args(FIND, properties={"path": TEXT, "depth": {"type": "integer", "maximum": 1}})
    assert ("argument-value", "1.1", "find", "/depth") in told(found(ruled, SUM))
    before = {(one.kind, one.field) for one in found(renamed, SUM, before=(FIND, SUM))}
    assert before >= {("argument-gone", "/path"), ("argument-required", "/folder")}


def test_a_tool_that_is_gone_or_has_another_version() -> None:
    other = changed(FIND, name="finds")
    gone = next(one for one in found(other, SUM) if one.kind == "tool-gone")
    assert (gone.step, gone.tool, gone.recorded, gone.candidates) == ("1.1", "find", "1.0.0", ("finds",))
    (version,) = found(changed(FIND, version="2.0.0"), SUM)
    assert (version.kind, version.recorded, version.now) == ("tool-version", "1.0.0", "2.0.0")


def test_an_effect_that_has_another_class_now_and_what_policy_says_then() -> None:
    write = contract("put", {"path": TEXT}, effect="change", targets=("path",))
    log = recorded([write], plan(step("put", {"path": "x"})), effects={"put": "change"})
    harmless = changed(write, effects=(EffectRule(effect="read"),))
    findings = found(harmless, log=log)
    assert told(findings) == {
        ("contract-changed", "1.1", "put", ""),
        ("effect-changed", "1.1", "put", ""),
        ("verdict-changed", "1.1", "put", ""),
    }
    effect, verdict = findings[1], findings[2]
    assert (effect.recorded, effect.now) == ("change", "read")
    assert (verdict.recorded, verdict.now) == ("ask", "allow")
    worse = found(changed(FIND, effects=(EffectRule(effect="delete"),)), SUM)
    assert ("verdict-changed", "1.1", "find", "") in told(worse)
    assert ("effect-changed", "1.1", "find", "") in told(
        found(changed(FIND, effects=(EffectRule(effect="delete"),)), SUM, before=(FIND,))
    )


def test_recorded_data_that_make_no_arguments_any_more() -> None:
    loose = contract("loose", {"path": TEXT}, {}, lenient=True)
    take = contract("take", {"value": {}})
    log = recorded(
        [loose, take], plan(step("loose", {"path": "x"}), step("take", {"value": "${step1.b}"})), {"loose": {"b": "s"}}
    )
    strict = changed(take, args={**take.args, "properties": {"value": WHOLE}})
    (one,) = [one for one in found(loose, strict, log=log) if one.kind == "reference-broken"]
    assert (one.step, one.tool, one.field, one.code) == ("1.2", "take", "/value", "value-misfit")


def test_a_log_that_cannot_be_believed_is_said_to_be_and_not_looked_into() -> None:
    second = LOG.records[1]
    altered = msgspec.structs.replace(second, body=second.body.replace(b"plan", b"plam"))
    broken = msgspec.structs.replace(LOG, records=(LOG.records[0], altered, *LOG.records[2:]))
    (one,) = found(FIND, SUM, log=broken)
    assert (one.kind, one.step, one.code) == ("log-broken", "2", "record-altered")


def test_failed_steps_and_turns_without_a_plan_have_nothing_to_compare() -> None:
    log = recorded([FIND, SUM], PLAN, {"find": Failure(cls="operational", code="broken")})
    assert drift_of(log, today(Catalog().with_contracts([FIND, SUM]))) == ((), 0)
    none = recorded([FIND], plan(step("nothing", {})))
    assert found(FIND, log=none) == []


def gathered(findings: list[tuple[Finding, ...]]) -> Gathering:
    made = Gathering()
    for one in findings:
        made.add(one, 1)
    return made


def as_json(drift: Drift) -> bytes:
    return msgspec.json.encode(drift)


@pytest.mark.parametrize("split", [0, 1, 7, 29, 60])
def test_any_split_of_the_turns_counts_the_same(split: int) -> None:
    kinds = itertools.cycle(KINDS)
    all_of = [
        tuple(
            Finding(kind=next(kinds), turn=f"t{turn}", step=f"1.{number}", field=f"/{number}", candidates=(f"c{turn}",))
            for number in range(turn % 4)
        )
        for turn in range(60)
    ]
    first, second = gathered(all_of[:split]), gathered(all_of[split:])
    second.unread("turnlog-malformed")
    second.merge(first)
    first = second
    whole = gathered(all_of)
    whole.unread("turnlog-malformed")
    assert as_json(first.drift()) == as_json(whole.drift())


def test_a_thing_that_changed_in_many_turns_is_one_group_that_names_some() -> None:
    now = today(Catalog().with_contracts([changed(FIND, result=rows_of(path=TEXT, bytes=WHOLE)), SUM]))
    made = Gathering()
    for number in range(NAMED + 5):
        made.add(*drift_of(msgspec.structs.replace(LOG, turn="t1"), now))
        assert made.drift().turns == number + 1
    drift = made.drift()
    (gone,) = [one for one in drift.groups if one.kind == "field-gone"]
    assert (gone.turns, gone.steps, gone.count, len(gone.places)) == (NAMED + 5, NAMED + 5, 2 * (NAMED + 5), NAMED)
    assert drift.tools == ("find", "sum")
    assert not drift.whole


def test_every_kind_has_its_words() -> None:
    for kind in KINDS:
        assert message(f"drift.{kind}", "en") != message(f"drift.{kind}", "it")
