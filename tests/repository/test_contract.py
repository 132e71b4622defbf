"""The contract of docs/embedding.md: each of its rows is held by tests that there are."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

HELD: dict[str, dict[str, str]] = {
    "engine": {"engine/test_together.py": "test_threads test_tasks test_loops_in_threads_and_workers_between_them"},
    "home": {
        "engine/test_processes.py": "test_processes_on_one_home",
        "engine/test_together.py": "test_two_engines_of_one_home",
    },
    "turn": {
        "engine/test_processes.py": "test_a_turn_that_another_process_has test_a_writer_that_lost_its_claim_writes_nothing"
    },
    "stream": {"engine/test_ending.py": "test_a_stream_is_read_in_one_loop"},
    "results": {"engine/test_ending.py": "test_what_is_handed_out_is_frozen"},
    "fork": {
        "engine/test_forking.py": "test_an_engine_of_the_parent_refuses test_what_runs_nothing_goes_on"
        " test_a_home_that_was_open_is_not_opened_in_the_child test_a_child_opens_an_engine_of_its_own"
        " test_closing_it_in_the_child_ends_nothing_of_the_parents"
    },
    "plain executor": {"engine/test_ending.py": "test_where_a_plain_executor_is_called"},
    "plain proposer": {
        "engine/test_reentering.py": "test_a_plain_proposer_does_not_hold_the_loop"
        " test_the_sync_twins_call_it_in_the_thread_of_who_calls_them"
    },
    "plain `approve`, `answer`": {"engine/test_ending.py": "test_a_plain_answer_is_given_on_the_thread_of_the_loop"},
    "engine inside a turn": {
        "engine/test_reentering.py": "test_an_executor_runs_a_turn test_who_is_asked_runs_a_turn"
        " test_a_turn_cannot_go_on_inside_itself"
    },
    "sync twin on a loop": {"engine/test_reentering.py": "test_a_sync_twin_on_a_loop_is_refused_in_words"},
    "cancel, timeout": {
        "engine/test_cancelling.py": "test_a_task_that_is_cancelled_closes_its_turn test_a_timeout_around_run_cancels_it"
        " test_an_effect_that_is_cancelled_in_its_midst_is_unknown test_a_loop_that_ends_closes_the_turns_on_it"
    },
    "running steps": {
        "engine/test_cancelling.py": "test_a_worker_at_work_is_stopped",
        "execute/test_runner.py": "test_a_thread_that_is_stopped",
    },
    "Ctrl-C": {
        "engine/test_cancelling.py": "test_ctrl_c_ends_the_turn_cancelled"
        " test_a_second_ctrl_c_is_an_interrupt_and_the_turn_can_be_resumed",
        "engine/test_ending.py": "test_ctrl_c_that_nobody_catches_leaves_a_turn_that_can_be_resumed",
    },
    "close": {
        "engine/test_together.py": "test_a_closed_engine_runs_and_reads_nothing"
        " test_a_turn_under_way_at_the_close_can_be_resumed",
        "engine/test_ending.py": "test_a_step_that_runs_at_the_close_is_stopped",
    },
}


def test_each_row_is_held() -> None:
    page = (ROOT / "docs" / "embedding.md").read_text(encoding="utf-8")
    section = page.partition("## What may be shared")[2]
    rows = [line.split(" | ")[0].removeprefix("| ") for line in section.splitlines() if line.startswith("| ")]
    assert rows[1:] == list(HELD)


@pytest.mark.parametrize("row", HELD)
def test_by_tests_that_there_are(row: str) -> None:
    for file, names in HELD[row].items():
        tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
        there = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert set(names.split()) <= there, file
