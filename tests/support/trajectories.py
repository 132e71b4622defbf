"""Small logs of agents' runs, true to the public forms, written for these tests; and reading what became of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from metnos.contracts.catalog import Catalog
from metnos.drivers.rules import make_rules
from metnos.evaluate.collections.model import Turn
from metnos.evaluate.collections.opening import open_collection
from metnos.evaluate.exporting.view import RunView, view_of
from metnos.evaluate.importing import ImportReport, import_collection
from metnos.record.replay import replay
from metnos.turn.rules import Rules


def lines(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def called(name: str, arguments: Any, id_: str) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def assistant(text: str | None = None, *calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {})}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def result(id_: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content, **more}


DESK = [
    {"role": "system", "content": "You lend books."},
    user("I would like to borrow a book about bees."),
    assistant(None, called("find_books", {"topic": "bees"}, "c1")),
    result("c1", '[{"isbn": "1", "title": "Hives", "free": true}, {"isbn": "2", "title": "Wax", "free": null}]'),
    assistant("There are Hives and Wax. Which one?"),
    user("Hives, please."),
    assistant("I will lend it.", called("lend", {"isbn": "1", "days": 14}, "c2"), called("note", {"text": "x"}, "c3")),
    result("c3", ""),
    result("c2", "Error: the card has expired"),
    assistant("Your card has expired."),
]
"""A run with an answer of the person, two calls side by side, and a tool that fails."""


def tau(task: int = 0, trial: int = 0, reward: float = 1.0, messages: list[Any] | None = None) -> dict[str, Any]:
    actions = [{"name": "lend", "kwargs": {"isbn": "1"}}]
    return {
        "task_id": task,
        "trial": trial,
        "reward": reward,
        "info": {
            "task": {"user_id": "u", "instruction": "Borrow.", "actions": actions, "outputs": []},
            "user_cost": 0.01,
        },
        "traj": DESK if messages is None else messages,
    }


# --- what became of them -----------------------------------------------------------------------------------------


def imported(form: str, source: Path, to: Path) -> ImportReport:
    """Import, and hold every turn against its replay."""
    report = import_collection(form, source, to)
    rules = rules_of(to)
    statuses = {turn.log.turn: replay(turn.log, rules).status for turn in turns_of(to)}
    assert set(statuses.values()) <= {"identical"}, statuses
    assert len(statuses) == report.turns
    return report


def turns_of(folder: Path) -> list[Turn]:
    items = [item for shard in open_collection(folder).shards() for item in shard.read()]
    assert all(isinstance(item, Turn) for item in items), items
    return [item for item in items if isinstance(item, Turn)]


def rules_of(folder: Path) -> Rules:
    contracts = open_collection(folder).contracts()
    assert contracts is not None
    return make_rules(Catalog().with_contracts(contracts))


def views_of(folder: Path) -> dict[str, RunView]:
    rules = rules_of(folder)
    return {turn.log.turn: view_of(turn.log, rules, turn.labels) for turn in turns_of(folder)}


def calls_of(view: RunView) -> list[tuple[str, dict[str, Any], str, Any]]:
    return [(call.tool, call.arguments, call.state, call.data) for plan in view.plans for call in plan.calls]
