"""τ²-bench: simulations of an agent and a person who both have tools, judged by a reward.

    {"info": {"environment_info": {"domain_name"}}, "tasks": […], "simulations": [{"id", "task_id", "trial", "messages",
     "reward_info": {"reward"}, "termination_reason", "agent_cost", "user_cost"}]}

one file a result, as the project's `data/simulations` holds them.

| of the form | becomes |
|---|---|
| a simulation | a run; a call is `{"id", "name", "arguments"}`, a result `{"role": "tool", "id", "content", "error"}` |
| `usage`, `cost`, `timestamp` of the agent's messages | usage (cost in millionths), time of that plan |
| the agent's greeting before anybody asked | counted |
| what the person called, and the results of that | counted: it is no act of the agent's |
| `reward_info/reward` | labels: reward |
| domain and `task_id`, `trial` | labels: group, trial |
| `termination_reason`, costs, `seed` | labels |
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from metnos.evaluate.importing.messages import Spelling, arguments_of, read_chat
from metnos.evaluate.importing.model import Call, Notes, ReadFault, Recorded
from metnos.evaluate.importing.reading import each, files, kind, list_of, object_of, rows
from metnos.plan.jsondata import is_list, is_object

SUFFIXES = (".json", ".jsonl")
KEPT = ("termination_reason", "agent_cost", "user_cost", "seed", "duration")
OVER = frozenset({"agent_stop", "user_stop"})
"""Reasons of an end that somebody meant; any other was cut off."""


def _call(raw: dict[str, Any], where: str) -> Call:
    name, found = raw.get("name"), raw.get("id")
    if type(name) is not str or not name:
        raise ReadFault(f"{where}/name", kind(name), "the name of a tool")
    arguments = arguments_of(raw.get("arguments"), f"{where}/arguments")
    return Call(name=name, arguments=arguments, id=found if type(found) is str else "")


def _failed(message: dict[str, Any], text: str) -> str | None:
    return text if message.get("error") is True else None


SPELLING = Spelling(call=_call, failed=_failed)


def read(source: Path, notes: Notes) -> Iterator[Recorded]:
    """The simulations of a file or folder."""
    for path in files(source, SUFFIXES):
        for runs in each(rows(path, notes), notes, partial(_runs, notes, path.stem)):
            yield from runs


def _runs(notes: Notes, name: str, record: dict[str, Any], where: str) -> Iterator[Recorded]:
    info = object_of(record, "info", where, missing=True)
    domain = object_of(info, "environment_info", f"{where}/info", missing=True).get("domain_name")
    found = list_of(record, "simulations", where)
    places = ((one, f"{where}/simulations/{index}") for index, one in enumerate(found))
    return each(places, notes, partial(_run, notes, domain if type(domain) is str else name))


def _run(notes: Notes, domain: str, record: dict[str, Any], where: str) -> Recorded:
    task, trial = record.get("task_id"), record.get("trial", 0)
    if not isinstance(task, str | int):
        raise ReadFault(f"{where}/task_id", kind(task), "the id of a task")
    messages, costs = _messages(list_of(record, "messages", where), notes)
    chat = read_chat(messages, f"{where}/messages", notes, SPELLING, usage=costs)
    labels: dict[str, Any] = {"group": f"{domain}/{task}", "trial": trial if type(trial) is int else 0}
    reward = object_of(record, "reward_info", where, missing=True).get("reward")
    if isinstance(reward, int | float):
        labels["reward"] = reward
    labels |= {name: record[name] for name in KEPT if record.get(name) is not None}
    if chat.after:
        labels["after"] = chat.after
    over = chat.end == "cut" and record.get("termination_reason") in OVER
    return Recorded(
        key=f"{domain}-{task}-{trial}",
        request=chat.request,
        moments=chat.moments,
        end="ended" if over else chat.end,
        at=min((cost["at"] for cost in costs.values() if "at" in cost), default=0),
        labels=labels,
    )


def _messages(raw: list[Any], notes: Notes) -> tuple[list[Any], dict[int, dict[str, int]]]:
    """Messages as `messages` reads them, without what the person did with tools; and what the agent's cost."""
    found: list[Any] = []
    costs: dict[int, dict[str, int]] = {}
    for message in raw:
        if not is_object(message):
            found.append(message)
        elif message.get("requestor") == "user":
            notes.drop("result of a tool that the person called")
        elif message.get("role") == "user" and message.get("tool_calls"):
            calls = message["tool_calls"]
            notes.drop("call of a tool by the person", len(calls) if is_list(calls) else 1)
            if message.get("content"):
                found.append({"role": "user", "content": message["content"]})
        elif message.get("role") == "tool":
            found.append({**message, "tool_call_id": message.get("id")})
        else:
            if message.get("role") == "assistant":
                costs[len(found)] = _cost(message)
            found.append(message)
    return found, costs


def _cost(message: dict[str, Any]) -> dict[str, int]:
    cost: dict[str, int] = {}
    usage: Any = message.get("usage")
    for name, word in (("tokens_in", "prompt_tokens"), ("tokens_out", "completion_tokens")):
        number = usage.get(word) if is_object(usage) else None
        if type(number) is int and number >= 0:
            cost[name] = number
    paid, when = message.get("cost"), message.get("timestamp")
    if isinstance(paid, int | float) and paid > 0:
        cost["cost_micros"] = round(paid * 1_000_000)
    if type(when) is str:
        try:
            told = datetime.fromisoformat(when)
        except ValueError:
            return cost
        told = told if told.tzinfo is not None else told.replace(tzinfo=UTC)
        cost["at"] = int(told.timestamp() * 1_000_000)
    return cost
