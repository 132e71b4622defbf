"""Run, plan and their sync twins: sentences, plans in every form, functions of the host, inputs."""

from __future__ import annotations

import asyncio
import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from metnos import Engine, Planned, Refused, TurnResult, executor
from metnos.engine import json_schema
from metnos.plan.parse import read_plan
from metnos.record.faults import RecordFault
from metnos.settings import SettingsFault
from tests.engine.conftest import Opens
from tests.support.hosted import plan, step

COUNT = "how many files are here"


def check_recorded(engine: Engine, result: TurnResult) -> None:
    """What is handed back is what was recorded."""
    assert engine.verify(result.turn).ok
    assert engine.replay(result.turn).status == "identical"
    view = engine.read_turn(result.turn)
    assert (view.status, view.outcome) == (result.status, result.outcome)
    assert view.head is not None
    assert view.head.hash == result.log_head
    assert result.log_head.startswith("sha256:")
    assert engine.turns(1)[0].turn == result.turn


def test_a_sentence_is_answered_from_real_files(engine: Engine) -> None:
    result = engine.run_sync(COUNT)
    assert (result.status, result.outcome, result.ok) == ("closed", "success", True)
    assert result.answer.rstrip(".").endswith(": 3")
    assert [(one.step, one.tool, one.status) for one in result.steps] == [("1.1", "find_files", "done")]
    assert [entry["path"] for entry in result.steps[0].data["entries"]] == ["a.txt", "b.txt", "sub/c.md"]
    assert result.source == "template"
    assert result.entry.startswith("count-files@sha256:")
    assert result.usage["planning_calls"] == 0
    assert result.effects == result.needs == result.diagnostics == ()
    check_recorded(engine, result)


def test_the_twins_mean_the_same(engine: Engine) -> None:
    now, later = engine.run_sync(COUNT), asyncio.run(engine.run(COUNT))
    assert now.turn != later.turn
    assert (now.answer, now.plan, now.outcome) == (later.answer, later.plan, later.outcome)
    assert now.steps == later.steps
    planned, planned_later = engine.plan_sync(COUNT), asyncio.run(engine.plan(COUNT))
    assert isinstance(planned, Planned)
    assert isinstance(planned_later, Planned)
    assert (planned.plan, planned.digest) == (planned_later.plan, planned_later.digest)


def test_an_engine_is_a_context_manager_of_both_kinds(folder: Path) -> None:
    async def run() -> TurnResult:
        async with Engine.open(folder=folder, memory=True) as engine:
            return await engine.run(COUNT)

    assert asyncio.run(run()).ok
    with Engine.open(folder=folder, memory=True) as engine:
        assert engine.run_sync(COUNT).ok


# --- planned, then run ------------------------------------------------------------------------------------------------


def test_a_planned_sentence_is_run_later(engine: Engine) -> None:
    planned = engine.plan_sync("count the files here")
    assert isinstance(planned, Planned)
    assert engine.read_turn(planned.turn).steps == []
    result = engine.run_sync(planned)
    assert result.ok
    assert result.plan == planned.plan
    assert engine.read_turn(result.turn).plan_digest == planned.digest
    assert engine.read_turn(result.turn).request == "count the files here"
    check_recorded(engine, result)


def test_guards_hold_what_was_planned_to_its_request(engine: Engine, folder: Path) -> None:
    planned = engine.plan_sync(COUNT)
    assert isinstance(planned, Planned)
    steps = [step("write_files", path="x.txt", content="x"), *planned.plan["steps"][1:]]
    steps[1] = {"tool": "final_answer", "args": {}}
    forged = Planned(plan={"steps": steps}, digest=planned.digest, request=COUNT, source="template")
    result = engine.run_sync(forged, assume_yes=True)
    assert (result.outcome, result.code) == ("plan_rejected", "unrequested-effect")
    assert not (folder / "x.txt").exists()


def test_what_is_planned_says_what_it_will_ask_and_asks_nobody(opens: Opens) -> None:
    def nobody(_asked: Any) -> bool:
        raise AssertionError("plan() asks")

    engine = opens(approve=nobody)
    planned = engine.plan_sync('write "hello, world" to hello.txt')
    assert isinstance(planned, Planned)
    assert [(need.kind, need.action, need.step) for need in planned.needs] == [("approval", "create", "1.1")]


def test_a_sentence_that_nobody_understands_is_refused(engine: Engine) -> None:
    refused = engine.plan_sync("please fold the laundry")
    assert isinstance(refused, Refused)
    assert refused.outcome == "not_understood"
    assert "laundry" in refused.detail


# --- plans in every form ----------------------------------------------------------------------------------------------

PLAN = plan(step("add_one", n=1), step("add_two", n="${step1.n}"), data="${step2.n}")
LINES = "1 add_one n=1\n2 add_two n=${step1.n}\nend data=${step2.n}\n"


@pytest.mark.parametrize(
    "given",
    [
        PLAN,
        json.dumps(PLAN).encode(),
        json.dumps(PLAN),
        LINES,
        LINES.encode(),
        "\n  " + json.dumps(PLAN),
        LINES.replace("\n", "\r\n"),
    ],
    ids=["object", "bytes", "text", "lines", "lines-bytes", "indented", "crlf"],
)
def test_a_plan_is_taken_in_every_form(light: Engine, given: Any) -> None:
    result = light.run_sync(plan=given)
    assert (result.outcome, result.data, result.source) == ("success", 4, "author")
    assert light.check(given).ok


UNREADABLE: list[tuple[Any, str]] = [
    (b"", "terminal-missing"),
    (b"\xff\xfe", "not-utf8"),
    (b"\xef\xbb\xbf1 find_files\nend", "not-utf8"),
    (b'\xef\xbb\xbf{"steps": []}', "not-utf8"),
    ("\ufeff1 find_files\nend", "not-utf8"),
    (b'{"steps": [\xff]}', "not-utf8"),
    (b"{", "json-syntax"),
    (b'{"steps": [], "steps": []}', "duplicate-key"),
    (b'{"steps": NaN}', "not-a-number"),
    (b"[" * 100_000, "too-deep"),
    (b'{"steps": ["' + b"x" * 300_000 + b'"]}', "too-large"),
    (b'{"steps": [123456789012345678901234567890]}', "integer-range"),
    (b"[]", "wrong-type"),
    ('"text"', "wrong-type"),
    (["steps"], "wrong-type"),
    ({"steps": {1, 2}}, "not-json"),
    ({"steps": [math.nan]}, "not-a-number"),
    ({1: "steps"}, "not-json"),
    ({"steps": [datetime(2026, 1, 1, tzinfo=UTC)]}, "not-json"),
    ({"steps": "\ud800"}, "lone-surrogate"),
    ({"steps": [2**60]}, "integer-range"),
    ("sing a song", "line-syntax"),
]


@pytest.mark.parametrize(("given", "code"), UNREADABLE, ids=[f"{n}-{code}" for n, (_, code) in enumerate(UNREADABLE)])
def test_what_cannot_be_a_plan_is_rejected_by_name(light: Engine, given: Any, code: str) -> None:
    result = light.run_sync(plan=given)
    assert (result.status, result.outcome) == ("closed", "plan_rejected")
    assert code in {fault.code for fault in result.diagnostics}
    assert result.answer
    assert {fault.code for fault in light.check(given).diagnostics} == {fault.code for fault in result.diagnostics}


def test_tuples_of_a_hosts_plan_become_lists(light: Engine) -> None:
    given = {"steps": (step("add_one", n=1), {"tool": "final_answer", "args": {"data": (1, "${step1.n}")}})}
    result = light.run_sync(plan=given)
    assert result.data == [1, 2]
    assert light.replay(result.turn).status == "identical"


def test_what_the_caller_does_to_the_plan_afterwards_changes_nothing(light: Engine) -> None:
    given = plan(step("add_one", n=1), data={"found": "${step1.n}"})
    result = light.run_sync(plan=given)
    given["steps"][0]["args"]["n"] = 70
    given["steps"].clear()
    assert light.read_turn(result.turn).plan == result.plan
    assert light.replay(result.turn).status == "identical"


def test_every_fault_of_a_plan_is_told_in_one_pass(light: Engine) -> None:
    wrong = plan(step("add_one", m=1), step("nothing"), data="${step9.n}")
    expected = {
        ("/steps/0/args/m", "unknown-argument"),
        ("/steps/0/args", "missing-argument"),
        ("/steps/1/tool", "unknown-tool"),
        ("/steps/2/args/data", "reference-unknown-step"),
    }
    for faults in (light.check(wrong).diagnostics, light.run_sync(plan=wrong).diagnostics):
        assert expected <= {(fault.where, fault.code) for fault in faults} | {("/steps/0/args", "missing-argument")}


# --- functions of the host ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["tell_context", "tell_context_later"])
@pytest.mark.parametrize("later", [False, True])
def test_a_function_gets_its_context(engine: Engine, tool: str, later: bool) -> None:
    given = plan(step(tool), data="${step1}")
    result = asyncio.run(engine.run(plan=given)) if later else engine.run_sync(plan=given)
    assert result.outcome == "success", result.answer
    assert result.data["fence"] == 1
    assert result.data["left"] is True
    assert result.data["operation"] == engine.read_turn(result.turn).steps[0].operation
    assert datetime.fromisoformat(result.data["now"]).utcoffset() is not None


def test_a_function_that_raises_is_a_failed_step(engine: Engine) -> None:
    result = engine.run_sync(
        plan=plan(step("add_one", n=1), step("fail", text="no luck"), step("add_two", n="${step2.n ?? 1}"))
    )
    assert result.outcome == "partial"
    assert [one.status for one in result.steps] == ["done", "failed", "skipped"]
    assert result.steps[1].error is not None
    assert result.steps[1].error.code == "executor-raised"
    assert "no luck" in result.answer
    check_recorded(engine, result)


def test_two_executors_of_one_name_are_refused(opens: Opens) -> None:
    from tests.support.hosted import add_one

    with pytest.raises(ValueError, match="add_one"):
        _ = opens(executors=(add_one, add_one)).catalog


# --- inputs ------------------------------------------------------------------------------------------------------------

WITH_INPUT = plan(step("add_one", n="${INPUT:start}"), data=["${step1.n}", "${INPUT:rest}"])


@pytest.mark.parametrize("rest", [None, True, 3, "text", [1, {"a": []}], {"a": (1, 2)}])
def test_inputs_are_the_plans_inputs(engine: Engine, rest: Any) -> None:
    result = engine.run_sync(plan=WITH_INPUT, inputs={"start": 4, "rest": rest})
    assert result.data == [5, json.loads(json.dumps(rest))]
    check_recorded(engine, result)


def test_an_input_that_is_missing_is_asked_for(engine: Engine) -> None:
    result = engine.run_sync(plan=WITH_INPUT, inputs={"rest": 1})
    (need,) = result.needs
    assert (result.status, need.kind) == ("suspended", "dialog")
    assert need.form == {"start": {"schema": {"type": "integer"}, "label": ""}}
    done = engine.resume_sync(result.turn, answers={"start": 4})
    assert (done.outcome, done.data, done.plan) == ("success", [5, 1], WITH_INPUT)
    check_recorded(engine, done)


def test_a_check_supposes_the_inputs_unless_it_is_told_them(engine: Engine) -> None:
    assert engine.check(WITH_INPUT).ok
    assert engine.inputs_wanted(WITH_INPUT) == {"start": "/steps/0/args/n", "rest": "/steps/1/args/data/1"}
    assert [fault.code for fault in engine.check(WITH_INPUT, inputs={"rest": 1}).diagnostics] == ["input-missing"]
    assert engine.inputs_wanted(b"{") == {}


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"x": math.nan}, "nan"),
        ({"x": {1: 2}}, "key"),
        ({"x": object()}, "object"),
        ({"x": 2**60}, "2\\^53"),
        ({1: "x"}, "1"),
        ({"x": "\ud800"}, "surrogate"),
    ],
)
def test_an_input_that_is_no_json_is_the_callers_fault(engine: Engine, inputs: Any, said: str) -> None:
    before = len(engine.turns())
    with pytest.raises(TypeError, match=said):
        engine.run_sync(plan=WITH_INPUT, inputs=inputs)
    assert len(engine.turns()) == before


# --- mistakes of the caller ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({}, TypeError),
        ({"request": "x", "plan": PLAN}, TypeError),
        ({"request": 5}, TypeError),
        ({"request": b"how many files"}, TypeError),
        ({"request": PLAN}, TypeError),
        ({"request": "x", "language": "fr"}, ValueError),
        ({"request": "x", "language": ""}, ValueError),
        ({"plan": PLAN, "inputs": {"x": object()}}, TypeError),
    ],
)
def test_a_mistake_in_each_argument_of_run_raises(light: Engine, wrong: dict[str, Any], fault: type[Exception]) -> None:
    with pytest.raises(fault):
        light.run_sync(**wrong)
    with pytest.raises(fault):
        asyncio.run(light.run(**wrong))
    assert light.turns() == ()


@pytest.mark.parametrize("wrong", [None, 5, PLAN])
def test_a_mistake_in_plan_raises(light: Engine, wrong: Any) -> None:
    with pytest.raises(TypeError):
        light.plan_sync(wrong)


@pytest.mark.parametrize("turn", ["", "nothing", "../../x", "last", "a" * 500])
def test_a_turn_that_is_not_there_is_a_fault_with_a_code(engine: Engine, turn: str) -> None:
    for call in (engine.find_turn, engine.resume_sync, engine.read_turn, engine.replay):
        with pytest.raises(RecordFault) as raised:
            call(turn)
        assert raised.value.code in ("turn-missing", "turn-id")


@pytest.mark.parametrize(
    ("setting", "value"),
    [("zone", "Nowhere/Else"), ("language", "fr"), ("folder", "/no/such/folder/at/all")],
)
def test_a_mistake_in_each_setting_raises(opens: Opens, setting: str, value: str) -> None:
    with pytest.raises(SettingsFault) as raised:
        opens(**{setting: value})
    assert raised.value.where == setting


def test_a_sync_call_inside_a_running_loop_says_so_and_records_nothing(engine: Engine) -> None:
    async def wrong() -> None:
        with pytest.raises(RuntimeError, match="await"):
            engine.run_sync(COUNT)
        with pytest.raises(RuntimeError, match="await"):
            engine.plan_sync(COUNT)
        assert engine.turns() == ()
        assert (await engine.run(COUNT)).ok

    asyncio.run(wrong())


# --- what is asked without running ---------------------------------------------------------------------------------------


def test_turns_are_found_by_prefix_and_last(engine: Engine) -> None:
    first, second = engine.run_sync(plan=PLAN).turn, engine.run_sync(plan=PLAN).turn
    assert engine.find_turn("last") == second
    assert engine.find_turn(first) == first
    shared = "20"
    with pytest.raises(RecordFault, match="2 turns begin with"):
        engine.find_turn(shared)
    longer = next(first[:n] for n in range(1, 99) if not second.startswith(first[:n]))
    assert engine.find_turn(longer) == first


def test_examples_are_sentences_that_hit(engine: Engine) -> None:
    for language in ("en", "it"):
        found = engine.examples("", language)
        assert len(found) >= 20
        assert {one.language for one in found} == {language}
    assert all(
        "csv" in f"{one.text} {one.template} {one.description}".casefold() for one in engine.examples("csv", "en")
    )
    assert engine.examples("xyzzy") == []


def test_schemas_are_json_schemas() -> None:
    import jsonschema_rs

    schema = json_schema("plan")
    assert jsonschema_rs.Draft202012Validator(schema).is_valid(PLAN)
    assert not jsonschema_rs.Draft202012Validator(schema).is_valid({"steps": 5})
    assert isinstance(json_schema("manifest"), dict)


def test_the_plan_of_a_result_is_a_plan(engine: Engine) -> None:
    assert read_plan(engine.run_sync(COUNT).plan or {}).diagnostics == ()


def test_no_plan_reads_or_writes_the_keys_and_logs_it_is_judged_by(opens: Opens, folder: Path) -> None:
    home = folder / "metnos home"
    engine = opens(home=home)
    assert engine.run_sync("the five largest files").ok
    key = next((home / "keys").iterdir())
    for tool, args in (
        ("read_files", {"path": f"metnos home/keys/{key.name}"}),
        ("write_files", {"path": "metnos home/settings.toml", "content": 'roots = ["/"]'}),
    ):
        plan = {"steps": [{"tool": tool, "args": args}, {"tool": "final_answer", "args": {}}]}
        result = engine.run_sync(plan=plan, assume_yes=True)
        assert (result.outcome, result.code) == ("error", "withheld")
    assert not (home / "settings.toml").exists()
    found = engine.run_sync(
        plan={
            "steps": [{"tool": "find_files", "args": {}}, {"tool": "final_answer", "args": {"data": "${step1.count}"}}]
        }
    )
    assert found.data == 3


@pytest.mark.parametrize("stands", ["home", "above", "by a link"])
def test_a_folder_that_holds_the_home_folder_is_not_granted_by_standing_in_it(
    opens: Opens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stands: str
) -> None:
    person = tmp_path / "people" / "ada"
    (person / "below").mkdir(parents=True)
    (tmp_path / "link").symlink_to(person)
    monkeypatch.setenv("HOME", str(tmp_path / "link") if stands == "by a link" else str(person))
    where = tmp_path / "people" if stands == "above" else person
    assert opens(folder=where).settings.roots == ()
    assert opens(folder=person / "below").settings.roots == (person / "below",)
    assert opens(folder=where, roots=(where,)).settings.roots == (where,)


@pytest.mark.parametrize("later", [False, True])
def test_a_function_that_changes_its_arguments_changes_nothing_else(opens: Opens, later: bool) -> None:
    def spoil(numbers: list[Any]) -> list[Any]:
        numbers[0]["n"] = 9
        numbers.append("more")
        return numbers

    async def spoil_later(numbers: list[Any]) -> list[Any]:
        return spoil(numbers)

    @executor(version="1.0.0", effect="read", resources=())
    def give() -> list[dict[str, int]]:
        return [{"n": 1}]

    spoiler = executor(version="1.0.0", effect="read", name="spoil", resources=())(spoil_later if later else spoil)
    engine = opens(executors=[give, spoiler])
    steps = [step("give"), step("spoil", numbers="${step1}"), step("spoil", numbers=[{"n": 1}])]
    result = engine.run_sync(plan=plan(*steps, data=["${step1}", "${step2}", "${step3}"]))
    assert result.data == [[{"n": 1}], *[[{"n": 9}, "more"]] * 2]
    assert engine.replay(result.turn).status == "identical"


@pytest.mark.parametrize("start", ["4", True, 4.5, None, [4], {"n": 4}])
def test_an_input_of_another_type_is_told_before_anything_runs(engine: Engine, start: Any) -> None:
    inputs = {"start": start, "rest": 1}
    result = engine.run_sync(plan=WITH_INPUT, inputs=inputs)
    assert (result.outcome, result.code, result.detail) == ("plan_rejected", "type-mismatch", "/steps/0/args/n")
    assert [fault.code for fault in engine.check(WITH_INPUT, inputs=inputs).diagnostics] == ["type-mismatch"]
