"""Each public form becomes turns that replay identically: calls, results, failures, answers, labels, costs, counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from metnos.evaluate.importing import FORMS
from tests.support.trajectories import (
    DESK,
    assistant,
    called,
    calls_of,
    imported,
    lines,
    result,
    tau,
    turns_of,
    user,
    views_of,
)

BOOKS = [{"isbn": "1", "title": "Hives", "free": True}, {"isbn": "2", "title": "Wax", "free": None}]
DESK_CALLS = [
    ("find_books", {"topic": "bees"}, "done", BOOKS),
    ("lend", {"isbn": "1", "days": 14}, "failed", None),
    ("note", {"text": "x"}, "done", {"text": ""}),
]


def labels(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "labels.ndjson").read_text("utf-8").splitlines()]


# --- tau-bench ---------------------------------------------------------------------------------------------------


def test_tau_bench(tmp_path: Path) -> None:
    said = [*DESK, user("###STOP###")]
    lines(tmp_path / "in" / "library.jsonl", tau(3, 0, 0.0), tau(3, 1, 1.0, said))
    report = imported("tau", tmp_path / "in", tmp_path / "out")
    assert (report.turns, report.calls, report.plans, report.tools) == (2, 6, 8, 3)
    assert report.outcomes == {"partial": 2}
    assert (report.causes, report.failures) == ({"tool-error": 2}, {"tool-error": 2})
    assert report.rewards == {"0": 1, "1": 1}
    assert report.dropped["message of the system"] == 2
    views = views_of(tmp_path / "out")
    assert list(views) == ["library-3-0", "library-3-1"]
    view = views["library-3-1"]
    assert calls_of(view) == DESK_CALLS
    assert view.plans[1].question == "There are Hives and Wax. Which one?"
    assert view.plans[1].answers == {"answer": "Hives, please."}
    assert view.plans[2].said == "I will lend it."
    assert (view.request, view.answer) == ("I would like to borrow a book about bees.", "Your card has expired.")
    assert view.labels == {
        "group": "library/3", "trial": 1, "reward": 1.0, "instruction": "Borrow.", "user_cost": 0.01, "after": "###STOP###",
    }  # fmt: skip
    assert labels(tmp_path / "out")[0]["gold_calls"] == [{"name": "lend", "arguments": {"isbn": "1"}}]


def test_tau_bench_as_a_list_and_a_run_that_a_tool_ends(tmp_path: Path) -> None:
    over = [user("Help"), assistant(None, called("transfer_to_human_agents", {"summary": "s"}, "a")), result("a", "ok")]
    cut = [user("Help"), assistant(None, called("think", {"thought": "s"}, "a")), result("a", "")]
    source = tmp_path / "history.json"
    source.write_text(json.dumps([tau(0, 0, 1, over), tau(0, 1, 0, cut)]), "utf-8")
    report = imported("tau", source, tmp_path / "out")
    assert report.outcomes == {"success": 1, "partial": 1}
    assert report.causes == {"not-recorded": 1}


def test_tau2_bench(tmp_path: Path) -> None:
    call = {"id": "c1", "name": "get_line", "arguments": {"phone": "555"}, "requestor": "assistant"}
    own = {"id": "u1", "name": "toggle_data", "arguments": {}, "requestor": "user"}
    usage = {"prompt_tokens": 900, "completion_tokens": 30}
    messages = [
        {"role": "assistant", "content": "Hi! How can I help?", "tool_calls": None, "turn_idx": 0},
        {"role": "user", "content": "My phone has no data.", "tool_calls": None, "timestamp": "2026-05-01T10:00:00"},
        {"role": "assistant", "content": None, "tool_calls": [call], "cost": 0.0123, "usage": usage,
         "timestamp": "2026-05-01T10:00:02"},
        {"id": "c1", "role": "tool", "content": '{"roaming": false}', "requestor": "assistant", "error": False},
        {"role": "assistant", "content": "Please switch data on.", "tool_calls": None, "timestamp": "2026-05-01T10:00:05+00:00"},
        {"role": "user", "content": None, "tool_calls": [own]},
        {"id": "u1", "role": "tool", "content": "on", "requestor": "user", "error": False},
        {"role": "user", "content": "Done.", "tool_calls": None},
        {"role": "assistant", "content": None, "tool_calls": [{**call, "id": "c2"}], "timestamp": "odd"},
        {"id": "c2", "role": "tool", "content": "no such line", "requestor": "assistant", "error": True},
        {"role": "assistant", "content": "It works now.", "tool_calls": None},
        {"role": "user", "content": "###STOP###", "tool_calls": None},
    ]  # fmt: skip
    simulation = {
        "id": "s",
        "task_id": "t7",
        "trial": 2,
        "seed": 5,
        "termination_reason": "user_stop",
        "agent_cost": 0.02,
    }
    judged = {**simulation, "messages": messages, "reward_info": {"reward": 1.0}}
    told = {"info": {"environment_info": {"domain_name": "telecom"}}, "tasks": [], "simulations": [judged, simulation]}
    (tmp_path / "result.json").write_text(json.dumps(told, indent=2), "utf-8")
    report = imported("tau2", tmp_path / "result.json", tmp_path / "out")
    assert (report.turns, report.unread, report.rewards) == (1, 1, {"1": 1})
    assert report.faults[0]["where"] == f"{tmp_path / 'result.json'}:1/simulations/1/messages"
    assert report.dropped == {
        "message of the assistant before anybody asked": 1, "call of a tool by the person": 1,
        "result of a tool that the person called": 1,
        "last word of the user, to which nobody replied (kept in the labels)": 1,
    }  # fmt: skip
    view = views_of(tmp_path / "out")["telecom-t7-2"]
    assert calls_of(view) == [
        ("get_line", {"phone": "555"}, "done", {"roaming": False}),
        ("get_line", {"phone": "555"}, "failed", None),
    ]
    assert view.plans[0].usage == {"planning_calls": 1, "tokens_in": 900, "tokens_out": 30, "cost_micros": 12_300}
    assert (view.plans[1].at - view.plans[0].at, view.plans[1].answers) == (3_000_000, {"answer": "Done."})
    assert (view.labels["group"], view.labels["termination_reason"]) == ("telecom/t7", "user_stop")


# --- OpenAI ------------------------------------------------------------------------------------------------------

LEND = {"type": "function", "function": {"name": "lend", "description": "Lends.", "parameters": {
    "type": "object", "properties": {"isbn": {"type": "string"}, "days": {"type": "integer"}}, "required": ["isbn"],
}}}  # fmt: skip


def response(message: dict[str, Any], created: int = 0, tokens: tuple[int, int] = (7, 3)) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{created}",
        "object": "chat.completion",
        "created": created,
        "model": "m-1",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)},
    }


def test_a_conversation_of_chat_completions(tmp_path: Path) -> None:
    lines(tmp_path / "log.jsonl", {"id": "one", "messages": DESK, "tools": [LEND], "metadata": {"desk": 4}})
    report = imported("openai", tmp_path / "log.jsonl", tmp_path / "out")
    view = views_of(tmp_path / "out")["one"]
    assert [(tool, args) for tool, args, _, _ in calls_of(view)] == [(tool, args) for tool, args, _, _ in DESK_CALLS]
    assert calls_of(view)[1][3] == {"text": "Error: the card has expired"}  # nothing in this form says that it failed
    assert report.outcomes == {"success": 1}
    assert view.labels == {"id": "one", "desk": 4}


def test_calls_of_a_model_that_go_on_are_one_run_with_cost_and_time(tmp_path: Path) -> None:
    first = {"model": "m", "messages": DESK[:2], "tools": [LEND]}
    other = {"model": "m", "messages": [user("Hello")]}
    lines(
        tmp_path / "calls.jsonl",
        {"request": first, "response": response(DESK[2], 100)},
        {"request": other, "response": response(assistant("Good day."), 101)},
        {"request": {**first, "messages": DESK[:4]}, "response": response(DESK[4], 102, (20, 9))},
        {"request": {**first, "messages": DESK[:6]}, "response": response(DESK[6], 103)},
        {"request": {**first, "messages": DESK[:9]}, "response": response(DESK[9], 104)},
        {"custom_id": "x", "response": {"status_code": 500, "body": {}}, "request": {"body": other}},
    )
    report = imported("openai", tmp_path / "calls.jsonl", tmp_path / "out")
    assert report.turns == 2
    assert report.dropped["call of a model that the service refused"] == 1
    view = next(view for view in views_of(tmp_path / "out").values() if len(view.plans) == 4)
    assert len(calls_of(view)) == 3
    assert view.plans[1].usage == {"planning_calls": 1, "tokens_in": 20, "tokens_out": 9}
    assert view.plans[0].model == "m-1"
    assert view.usage == {"planning_calls": 4, "tokens_in": 41, "tokens_out": 18}
    assert (view.opened, view.closed) == (100_000_000, 104_000_000)


def test_a_batch_and_the_calls_of_before_tools(tmp_path: Path) -> None:
    request = {"method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages": [user("Hello")]}}
    told = [
        user("Lend it"),
        {"role": "assistant", "content": None, "function_call": {"name": "lend", "arguments": '{"isbn": "1"}'}},
        {"role": "function", "name": "lend", "content": "done"},
        assistant("It is yours."),
    ]
    body = response(assistant("Good day."), 5)
    lines(
        tmp_path / "batch.jsonl",
        {
            "id": "b1",
            "custom_id": "c1",
            "request": request,
            "response": {"status_code": 200, "body": body},
            "error": None,
        },
        {"messages": told},
    )
    imported("openai", tmp_path / "batch.jsonl", tmp_path / "out")
    hello, lent = views_of(tmp_path / "out").values()
    if hello.turn != "b1":
        hello, lent = lent, hello
    assert (hello.answer, hello.labels["custom_id"]) == ("Good day.", "c1")
    assert calls_of(lent) == [("lend", {"isbn": "1"}, "done", {"text": "done"})]


# --- AgentDojo ---------------------------------------------------------------------------------------------------


def dojo(pipeline: str, utility: bool, **more: Any) -> dict[str, Any]:
    call = {"function": "get_balance", "args": {}, "id": None, "placeholder_args": None}
    send = {"function": "send_money", "args": {"recipient": "UK12", "amount": 5.0}, "id": "s1"}
    return {
        "suite_name": "banking",
        "pipeline_name": pipeline,
        "user_task_id": "user_task_3",
        "injection_task_id": "injection_task_1",
        "attack_type": "important_instructions",
        "injections": {"note": "Send everything"},
        "messages": [
            {"role": "system", "content": [{"type": "text", "content": "You work at a bank."}]},
            {"role": "user", "content": [{"type": "text", "content": "Pay my bill."}]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": "1810.0", "tool_call_id": None, "tool_call": call, "error": None},
            {"role": "assistant", "content": "", "tool_calls": [send]},
            {
                "role": "tool",
                "content": "",
                "tool_call_id": "s1",
                "tool_call": send,
                "error": "ValueError: no such IBAN",
            },
            {"role": "assistant", "content": [{"type": "text", "content": "I could not pay."}], "tool_calls": None},
        ],
        "error": None,
        "utility": utility,
        "security": False,
        "duration": 4.5,
        **more,
    }


def test_agentdojo(tmp_path: Path) -> None:
    for pipeline, utility in (("model-a", False), ("model-b", True)):
        path = (
            tmp_path
            / "runs"
            / pipeline
            / "banking"
            / "user_task_3"
            / "important_instructions"
            / "injection_task_1.json"
        )
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(dojo(pipeline, utility)), "utf-8")
    report = imported("agentdojo", tmp_path / "runs", tmp_path / "out")
    assert report.rewards == {"0": 1, "1": 1}
    one, other = views_of(tmp_path / "out").values()
    assert calls_of(one) == [
        ("get_balance", {}, "done", 1810.0),
        ("send_money", {"recipient": "UK12", "amount": 5.0}, "failed", None),
    ]
    assert one.plans[1].calls[0].error == {"class": "data", "code": "tool-error", "message": "ValueError: no such IBAN"}
    assert one.answer == "I could not pay."
    assert one.labels["group"] == other.labels["group"] == "banking/user_task_3/important_instructions/injection_task_1"
    assert {one.labels["trial"], other.labels["trial"]} == {0, 1}
    assert (one.labels["security"], one.labels["utility"]) == (False, False)
    assert labels(tmp_path / "out")[0]["injections"] == {"note": "Send everything"}


# --- BFCL --------------------------------------------------------------------------------------------------------

AREA = {"name": "area", "description": "Of a triangle.", "parameters": {
    "type": "dict", "required": ["base", "height"],
    "properties": {"base": {"type": "integer"}, "height": {"type": "integer"}, "unit": {"type": "string"}},
}}  # fmt: skip
SHELL = {
    "name": "sort",
    "description": "Sorts.",
    "parameters": {"type": "dict", "properties": {"file_name": {"type": "string"}}},
}


def bfcl(folder: Path) -> Path:
    lines(
        folder / "BFCL_v4_simple.json", {"id": "simple_0", "question": [[user("Area of 10 by 5?")]], "function": [AREA]}
    )
    turns = [[user("Sort a.txt")], [user("Now look at it")]]
    lines(folder / "BFCL_v4_multi_turn_base.json", {"id": "multi_turn_base_0", "question": turns, "path": []})
    lines(folder / "multi_turn_func_doc" / "shell.json", SHELL)
    return folder


def test_bfcl_gold_answers(tmp_path: Path) -> None:
    folder = bfcl(tmp_path / "data")
    gold = [{"area": {"base": [10], "height": [5], "unit": ["cm", "", "centimetre"]}}]
    lines(folder / "possible_answer" / "BFCL_v4_simple.json", {"id": "simple_0", "ground_truth": gold})
    several = [["sort('a.txt')"], ["cat(file_name='a.txt')", "cat(file_name='b.txt')"]]
    lines(
        folder / "possible_answer" / "BFCL_v4_multi_turn_base.json",
        {"id": "multi_turn_base_0", "ground_truth": several},
    )
    report = imported("bfcl", folder, tmp_path / "out")
    assert report.outcomes == {"success": 1, "error": 1}
    assert report.failures == {"not-recorded": 3}
    simple, multi = (views_of(tmp_path / "out")[name] for name in ("simple_0", "multi_turn_base_0"))
    assert simple.plans[0].body["steps"][0] == {"tool": "area", "args": {"base": 10, "height": 5, "unit": "cm"}}
    assert [(tool, args) for tool, args, _, _ in calls_of(multi)] == [
        ("sort", {"file_name": "a.txt"}), ("cat", {"file_name": "a.txt"}), ("cat", {"file_name": "b.txt"}),
    ]  # fmt: skip
    assert multi.plans[0].answers == {"answer": "Now look at it"}
    assert simple.labels["gold"] is True


def test_bfcl_results_of_a_model(tmp_path: Path) -> None:
    folder = bfcl(tmp_path / "data")
    told = {
        "id": "simple_0",
        "result": [{"area": '{"base": 10, "heigth": 5}'}],
        "input_token_count": 90,
        "output_token_count": 12,
    }
    lines(folder / "result" / "m" / "BFCL_v4_simple_result.json", told)
    steps = {
        "step_0": [{"role": "assistant", "content": ""}, {"role": "tool", "content": '{"sorted": "a"}'}],
        "step_1": [],
    }
    log = [
        [{"role": "state_info"}],
        {"begin_of_turn_query": [user("Sort a.txt")], **steps},
        {"begin_of_turn_query": []},
    ]
    made = [[[{"sort": '{"file_name": "a.txt"}'}], "It is sorted."], ["[sort(file_name='a.txt')]"]]
    lines(
        folder / "result" / "m" / "BFCL_v4_multi_turn_base_result.json",
        {"id": "multi_turn_base_0", "result": made, "inference_log": log, "input_token_count": [[5, 6], [7]]},
    )
    lines(folder / "score" / "m" / "BFCL_v4_simple_score.json", {"accuracy": 0.0}, {"id": "simple_0", "valid": False})
    report = imported("bfcl", folder, tmp_path / "out")
    assert report.rejected == {"missing-argument": 1}  # the model misspelt an argument, which nothing made good
    assert report.rewards == {"0": 1}
    multi = views_of(tmp_path / "out")["m-multi_turn_base_0"]
    assert calls_of(multi) == [
        ("sort", {"file_name": "a.txt"}, "done", {"sorted": "a"}),
        ("sort", {"file_name": "a.txt"}, "failed", None),
    ]
    assert multi.plans[1].question == "It is sorted."
    assert multi.usage == {"planning_calls": 3, "tokens_in": 18}


# --- NESTFUL -----------------------------------------------------------------------------------------------------


def test_nestful(tmp_path: Path) -> None:
    spec = [
        {"name": "Find.Book", "query_parameters": {"title": {"type": "string", "required": True}},
         "output_parameters": {"isbn": {"type": "string"}}},
        {"name": "Lend", "parameters": {"isbn": {"type": "string"}}, "output_parameters": {"until": {"type": "string"}}},
    ]  # fmt: skip
    good = [
        {"name": "Find.Book", "arguments": {"title": "Hives"}, "label": "var1"},
        {"name": "Lend", "arguments": {"isbn": "$var1.isbn$"}, "label": "var2"},
        {"name": "var_result", "arguments": {"until": "$var2.until$"}},
    ]
    wrong = [{"name": "Lend", "arguments": {"isbm": "1"}, "label": "var1"}]
    broken = [*good[:1], {"name": "Lend", "arguments": {"isbn": "$var1.isbn"}}]
    data = [{"input": "Lend me Hives", "output": each} for each in (good, wrong, broken)]
    (tmp_path / "x-data.json").write_text(json.dumps(data), "utf-8")
    (tmp_path / "x-spec.json").write_text(json.dumps(spec), "utf-8")
    report = imported("nestful", tmp_path, tmp_path / "out")
    assert report.outcomes == {"success": 1, "plan_rejected": 1}
    assert report.rejected == {"unknown-argument": 1}
    (fault,) = report.faults
    assert fault["where"] == f"{tmp_path / 'x-data.json'}#/2/output/1/arguments/isbn"
    assert fault["code"] == "reference-syntax"
    plan = views_of(tmp_path / "out")["x-0"].plans[0].body
    assert plan["steps"][1]["args"] == {"isbn": "${step1.isbn}"}
    assert {turn.labels["group"] for turn in turns_of(tmp_path / "out")} == {"x/0", "x/1"}


def test_every_form_is_told_of() -> None:
    from metnos.cli.datasets import IMPORTED

    assert tuple(FORMS) == IMPORTED


@pytest.mark.parametrize("form", ["tau", "openai"])
def test_the_same_source_gives_the_same_bytes(form: str, tmp_path: Path) -> None:
    source = lines(tmp_path / "runs.jsonl", tau() if form == "tau" else {"messages": DESK})
    for name in ("one", "two"):
        imported(form, source, tmp_path / name)
    for name in ("turns.jsonl", "contracts.json", "labels.ndjson"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
