"""The life of steps: readiness, resolution, lifting, skips and failures."""

from __future__ import annotations

import pytest

from metnos.turn import commands as c
from metnos.turn import facts as f
from metnos.turn import inputs as i
from metnos.turn.turn import ProtocolError
from tests.support.turns import FOLDER, Play, opened, plan, step

ENTRIES = {"entries": [{"path": "a", "size": 1}, {"path": "b", "size": 2}, {"path": "c", "size": 3}]}


def test_a_chain_runs_step_by_step_and_is_composed() -> None:
    play = Play(opened(plan(step("noop", {"x": 1}), step("noop", {"x": "${step1.v}"}))))
    assert play.started == ["1.1"]
    play.done("1.1", {"v": 7})
    assert play.starts["1.2"].args == {"x": 7}
    play.done("1.2", {"v": 8})
    assert play.asked(c.Compose) == [c.Compose(outcome="success", language="en", show=("1.2",))]
    play.compose("eight")
    assert play.close == c.Close(outcome="success", answer="eight")
    assert play.told(f.TurnClosed) == [f.TurnClosed(outcome="success")]


def test_independent_steps_start_together_sorted_by_number() -> None:
    play = Play(opened(plan(*(step("noop", {"x": n}) for n in range(12)))))
    assert play.started == [f"1.{n}" for n in range(1, 13)]


def test_results_keep_their_sources_and_those_of_the_arguments() -> None:
    play = Play(opened(plan(step("noop", {"x": 1}), step("noop", {"x": "${step1.v}"}))))
    play.done("1.1", {"v": 7}, sources=("untrusted:web",))
    play.done("1.2", {"v": 8})
    value = play.machine.state.steps[1].value
    assert value is not None
    assert value.sources == {"untrusted:web", "author", "local"}


def test_what_came_back_is_kept_whole() -> None:
    play = Play(opened(plan(step("noop", {"x": "${item}"}, for_each=[1, 2]))))
    play.done("1.1.2", warnings=("second",), truncated=True)
    play.done("1.1.1", warnings=("first",))
    run = play.machine.state.find("1.1")
    assert run is not None
    assert (run.warnings, run.truncated) == (("first", "second"), True)
    assert play.machine.state.find("1.9") is None


def test_operation_ids_differ_by_step_item_and_arguments() -> None:
    play = Play(
        opened(plan(step("noop", {"x": 1}), step("noop", {"x": 1}), step("noop", {"x": "${item}"}, for_each=[1, 1])))
    )
    operations = [start.operation for start in play.starts.values()]
    assert len(set(operations)) == 4
    assert Play(opened(plan(step("noop", {"x": 1})), turn="t2")).starts["1.1"].operation not in operations


def test_a_runtime_key_and_an_input_are_resolved() -> None:
    given = {"name": i.VirtualInput(data="x.txt", schema={"type": "string"})}
    play = Play(
        opened(plan(step("noop", {"x": ["${RUNTIME:today}", "${RUNTIME:today}", "${INPUT:name}"]})), inputs=given)
    )
    assert play.starts["1.1"].args == {"x": ["2026-11-30", "2026-11-30", "x.txt"]}


# --- lifted steps ------------------------------------------------------------------------------------------------


def test_for_each_runs_once_per_entry_and_keeps_the_order_of_the_items() -> None:
    play = Play(opened(plan(step("list"), step("noop", {"x": "${item.path}"}, for_each="${step1.entries}"))))
    play.done("1.1", ENTRIES)
    assert play.started[1:] == ["1.2.1", "1.2.2", "1.2.3"]
    for key in ("1.2.3", "1.2.1", "1.2.2"):
        play.done(key, {"v": key})
    assert play.machine.state.steps[1].value.data == {
        "entries": [{"v": "1.2.1"}, {"v": "1.2.2"}, {"v": "1.2.3"}],
        "count": 3,
    }


def test_a_single_entry_consumer_is_lifted_and_collections_are_joined() -> None:
    play = Play(opened(plan(step("list"), step("read", {"from_step": 1}))))
    play.done("1.1", ENTRIES)
    assert [play.starts[key].args["path"]["path"] for key in play.started[1:]] == ["a", "b", "c"]
    play = Play(
        opened(plan(step("list", {"path": "${item}"}, for_each=["x", "y"]), step("noop", {"x": "${step1.entries}"})))
    )
    play.done("1.1.1", {"entries": [{"path": "a", "size": 1}]})
    play.done("1.1.2", ENTRIES)
    assert play.starts["1.2"].args["x"] == [{"path": "a", "size": 1}, *ENTRIES["entries"]]
    assert play.machine.state.steps[0].value.data["count"] == 4


def test_an_empty_collection_is_done_with_nothing() -> None:
    play = Play(opened(plan(step("list"), step("read", {"from_step": 1}), step("noop", {"x": "${step2.count}"}))))
    play.done("1.1", {"entries": []})
    assert play.states["1.2"] == "done"
    assert play.starts["1.3"].args == {"x": 0}


def test_more_than_a_thousand_items_fail_as_oversize() -> None:
    play = Play(opened(plan(step("list"), step("read", {"from_step": 1}))))
    play.done("1.1", {"entries": [{"path": "a", "size": 1}] * 1001})
    assert play.machine.state.steps[1].error.cls == "oversize"
    assert play.asked(c.Compose)[0].outcome == "partial"
    play = Play(opened(plan(step("list"), step("read", {"from_step": 1})), budget=i.Budget(steps=1001)))
    play.done("1.1", {"entries": [{"path": "a", "size": 1}] * 1000})
    assert len(play.started) == 1001


def test_what_is_no_list_cannot_be_run_over() -> None:
    play = Play(opened(plan(step("list"), step("noop", {"x": "${item}"}, for_each="${step1.entries}"))))
    play.done("1.1", {"entries": {"not": "a list"}})
    assert play.machine.state.steps[1].error.code == "value-type"


def test_a_failing_item_stops_the_step_and_running_ones_finish() -> None:
    play = Play(opened(plan(step("list"), step("noop", {"x": "${item}"}, for_each="${step1.entries}"))))
    play.done("1.1", ENTRIES)
    play.fail("1.2.2")
    assert play.phase == "running"
    play.done("1.2.1")
    play.done("1.2.3")
    assert play.states["1.2"] == "failed"
    assert play.asked(c.Compose)[0] == c.Compose(outcome="partial", language="en", show=("1.1",))


def test_with_continue_failed_items_are_left_out_and_named() -> None:
    each = step("noop", {"x": "${item}"}, for_each="${step1.entries}", on_error="continue")
    play = Play(opened(plan(step("list"), each, step("noop", {"x": "${step2.count}"}))))
    play.done("1.1", ENTRIES)
    play.fail("1.2.2", code="gone")
    play.done("1.2.1")
    play.done("1.2.3")
    run = play.machine.state.steps[1]
    assert (run.state, run.warnings, run.value.data["count"]) == ("done", ("1.2.2: gone",), 2)
    play.done("1.3")
    assert play.asked(c.Compose)[0].outcome == "partial"


def test_with_continue_a_step_whose_items_all_fail_has_failed() -> None:
    each = step("noop", {"x": "${item}"}, for_each=[1, 2], on_error="continue")
    play = Play(opened(plan(each, step("noop", {"x": 5}))))
    play.fail("1.1.1")
    play.fail("1.1.2")
    play.done("1.2")
    assert play.states == {"1.1": "failed", "1.2": "done"}


def test_an_item_that_cannot_be_resolved_counts_as_failed() -> None:
    args = {"x": "${item.b}"}
    listed = [{"b": 1}, {"a": 2}, {"b": 3}]
    play = Play(opened(plan(step("loose"), step("noop", args, for_each="${step1.rows}", on_error="continue"))))
    play.done("1.1", {"rows": listed})
    assert play.started[1:] == ["1.2.1", "1.2.3"]
    play.done("1.2.1")
    play.done("1.2.3")
    assert play.machine.state.steps[1].warnings == ("1.2.2: value-missing",)
    play = Play(opened(plan(step("loose"), step("noop", args, for_each="${step1.rows}"))))
    play.done("1.1", {"rows": listed})
    assert play.started == ["1.1"]
    assert play.states["1.2"] == "failed"


# --- skips -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("entries", "ran"), [([], "1.3"), (ENTRIES["entries"], "1.2")])
def test_when_runs_one_branch_and_a_skip_is_no_failure(entries: list[object], ran: str) -> None:
    branches = (step("noop", {"x": 1}, when={"nonempty": 1}), step("noop", {"x": 2}, when={"empty": 1}))
    play = Play(opened(plan(step("list"), *branches)))
    play.done("1.1", {"entries": entries})
    assert play.started == ["1.1", ran]
    play.done(ran)
    assert list(play.skipped.values()) == ["when"]
    assert play.asked(c.Compose)[0].outcome == "success"


def test_a_step_skipped_by_when_counts_as_empty() -> None:
    play = Play(
        opened(
            plan(
                step("list"),
                step("list", {"path": "b"}, when={"nonempty": 1}),
                step("noop", {"x": 3}, when={"empty": 2}),
            )
        )
    )
    play.done("1.1", {"entries": []})
    assert play.skipped == {"1.2": "when"}
    assert play.started == ["1.1", "1.3"]


def test_a_skipped_step_is_replaced_by_the_fallback() -> None:
    play = Play(
        opened(
            plan(
                step("list"),
                step("noop", {"x": 1}, when={"nonempty": 1}),
                step("noop", {"x": '${step2.v ?? "none"}'}),
            )
        )
    )
    play.done("1.1", {"entries": []})
    assert play.starts["1.3"].args == {"x": "none"}


def test_what_needs_a_failed_step_is_blocked_and_fallbacks_are_used() -> None:
    play = Play(
        opened(
            plan(
                step("list", on_error="continue"),
                step("loose", {"x": "${step1.entries}"}),
                step("noop", {"x": "${step2.rows}"}),
                step("noop", {"x": "${step1.entries ?? 0}"}),
                step("noop", {"x": 5}, when={"nonempty": 2}),
            )
        )
    )
    play.fail("1.1")
    assert play.skipped == {"1.2": "blocked_by 1.1", "1.3": "blocked_by 1.2", "1.5": "blocked_by 1.2"}
    assert play.starts["1.4"].args == {"x": 0}
    play.done("1.4")
    assert play.asked(c.Compose)[0] == c.Compose(outcome="partial", language="en", show=("1.4",))


def test_a_failure_stops_new_steps_and_lets_running_ones_finish() -> None:
    play = Play(opened(plan(step("noop", {"x": 1}), step("noop", {"x": 2}), step("noop", {"x": "${step2.v}"}))))
    play.fail("1.1", "missing", "no-file")
    assert play.skipped == {"1.3": "stopped"}
    assert play.phase == "running"
    play.done("1.2")
    assert play.started == ["1.1", "1.2"]
    play.compose("half")
    assert play.ended == f.TurnClosed(outcome="partial", code="no-file")
    assert play.close.answer == "half"


def test_where_nothing_succeeded_the_outcome_is_error_and_nothing_is_composed() -> None:
    play = Play(opened(plan(step("noop", {"x": 1}), step("noop", {"x": "${step1.v}"}))))
    play.fail("1.1", "missing", "no-file")
    assert (play.close.outcome, play.ended.code) == ("error", "no-file")


def test_arguments_that_came_by_reference_are_checked_against_the_schema() -> None:
    play = Play(opened(plan(step("noop", {"x": 1}), step("list", {"path": "${step1.v}"}))))
    play.done("1.1", {"v": 12})
    error = play.machine.state.steps[1].error
    assert (error.cls, error.code, error.where) == ("data", "value-misfit", "/path")


def test_arguments_that_are_no_strict_json_fail_the_step() -> None:
    play = Play(opened(plan(step("noop", {"x": 1}), step("noop", {"x": ["${step1.v}"]}))))
    play.done("1.1", {"v": float("nan")})
    error = play.machine.state.steps[1].error
    assert (error.cls, error.code) == ("data", "not-a-number")


def test_the_step_budget_counts_items_and_closes_timeout_steps() -> None:
    each = step("noop", {"x": "${item}"}, for_each=[1, 2, 3])
    play = Play(opened(plan(each, step("noop", {"x": 9})), budget=i.Budget(steps=2)))
    assert play.started == ["1.1.1", "1.1.2"]
    play.done("1.1.1")
    play.done("1.1.2")
    assert (play.ended.outcome, play.ended.code, play.ended.detail) == ("timeout_steps", "step-budget", "1.1.3")
    assert play.states == {"1.1": "stopped", "1.2": "skipped"}


# --- answers -----------------------------------------------------------------------------------------------------


def test_text_and_data_are_resolved_without_composing() -> None:
    end = step("final_answer", {"text": "it is ${step1.v}", "data": {"value": "${step1.v}"}})
    play = Play(opened(plan(step("noop", {"x": 1}), end=end)))
    play.done("1.1", {"v": 4})
    assert play.close == c.Close(outcome="success", answer="it is 4", data={"value": 4})


def test_a_text_that_is_one_reference_to_a_number_is_written_as_json() -> None:
    play = Play(opened(plan(step("noop", {"x": 1}), end=step("final_answer", {"text": "${step1.v}"}))))
    play.done("1.1", {"v": 4.5})
    assert play.close.answer == "4.5"


def test_an_answer_that_cannot_be_resolved_is_composed_as_partial() -> None:
    end = step("final_answer", {"text": "${step1.name}"})
    play = Play(opened(plan(step("loose", {"x": 1}), end=end)))
    play.done("1.1", {"rows": []})
    assert play.asked(c.Compose)[0].outcome == "partial"
    play.compose("well")
    assert (play.ended.code, play.close.answer) == ("value-missing", "well")
    end = step("final_answer", {"data": "${step1.v}"})
    play = Play(opened(plan(step("noop", {"x": 1}, on_error="continue"), step("noop", {"x": 2}), end=end)))
    play.fail("1.1")
    play.done("1.2")
    assert play.asked(c.Compose)[0].outcome == "partial"
    play = Play(opened(plan(step("noop", {"x": 1}), end=end)))
    play.fail("1.1")
    assert play.close.outcome == "error"


def test_only_results_that_nothing_consumed_are_shown() -> None:
    play = Play(
        opened(
            plan(
                step("list"),
                step("noop", {"x": 1}, when={"nonempty": 1}),
                step("noop", {"x": '${step2.v ?? "-"}'}),
                step("noop", {"x": "${step1.entries}"}, when={"empty": 1}),
            )
        )
    )
    play.done("1.1", {"entries": [{"path": "a", "size": 1}]})
    play.done("1.2")
    play.done("1.3")
    assert play.asked(c.Compose)[0].show == ("1.1", "1.3")


def test_a_plan_without_steps_is_answered_at_once() -> None:
    play = Play(opened(plan(end=step("final_answer", {"text": "hello"}))))
    assert play.close.answer == "hello"


# --- the driver's faults -------------------------------------------------------------------------------------------


def test_inputs_about_steps_must_fit_what_is_open() -> None:
    play = Play(opened(plan(step("noop", {"x": 1}))))
    operation = play.starts["1.1"].operation
    with pytest.raises(ProtocolError, match="has not been started"):
        play.send(i.StepFinished(step="1.1", data={}))
    with pytest.raises(ProtocolError, match="is operation"):
        play.send(i.StepStarted(step="1.1", operation="another"))
    with pytest.raises(ProtocolError, match=r"step 1\.2 is not running"):
        play.send(i.StepStarted(step="1.2", operation=operation))
    play.begin("1.1")
    with pytest.raises(ProtocolError, match="started already"):
        play.send(i.StepStarted(step="1.1", operation=operation))
    with pytest.raises(ProtocolError, match="not being probed"):
        play.send(i.EffectProbed(step="1.1", found="done"))
    play.done("1.1")
    play.compose()
    with pytest.raises(ProtocolError, match="expected nothing") as caught:
        play.send(i.StepFinished(step="1.1", data={}))
    assert (caught.value.item, caught.value.phase) == ("step_finished", "closed")


def test_an_effect_outside_the_granted_folders_is_refused_before_anybody_is_asked() -> None:
    inside = Play(opened(plan(step("write", {"path": "a"})), roots=(FOLDER,)))
    assert [ask.targets for ask in inside.machine.state.asked] == [(f"{FOLDER}/a",)]
    for path in ("../a", "/etc/a", f"{FOLDER}x/a"):
        play = Play(opened(plan(step("write", {"path": path})), roots=(FOLDER,)))
        run = play.machine.state.steps[0]
        assert not play.machine.state.asked
        assert run.error is not None
        assert (run.error.code, run.error.cls) == ("outside-roots", "denied")
