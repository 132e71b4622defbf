"""tau-bench: runs of an agent with a simulated person, judged by a reward.

    {"task_id": 3, "trial": 0, "reward": 1.0, "info": {"task": {…}}, "traj": [messages]}

as JSON Lines (`*.jsonl`) or as a list in one file (`*.json`). Form: the project's `historical_trajectories`, and the
output of its `run.py`.

| of the form | becomes |
|---|---|
| `traj` | the moments (`messages.py`); a result that begins with `Error` is a failure of the tool |
| `task_id`, `trial`, `reward` | labels: group (with the name of the file, the domain), trial, reward |
| `info/task/actions`, `/outputs`, `/instruction` | labels: gold calls, gold outputs, instruction |
| `info/user_cost` | labels: what the simulated person cost; it is none of the agent's costs |
| the user's last word (`###STOP###`) | labels: `after`; the answer before it was the last |
| a run that ends in a tool of `ENDS` | ended there, as the benchmark does; any other is cut |
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from metnos.evaluate.importing.messages import Spelling, openai_call, read_chat
from metnos.evaluate.importing.model import Act, Notes, ReadFault, Recorded
from metnos.evaluate.importing.reading import each, files, kind, list_of, object_of, rows
from metnos.plan.jsondata import is_object

SUFFIXES = (".jsonl", ".json")
ENDS = frozenset({"transfer_to_human_agents"})
"""Tools that end a run of the benchmark."""
FAILED = "Error"
"""What the text of a failed call begins with."""


def _failed(_message: dict[str, Any], text: str) -> str | None:
    return text if text.startswith(FAILED) else None


SPELLING = Spelling(call=openai_call, failed=_failed)


def read(source: Path, notes: Notes) -> Iterator[Recorded]:
    """The runs of a file or folder."""
    for path in files(source, SUFFIXES):
        yield from each(rows(path, notes), notes, partial(_run, notes, path.stem))


def _run(notes: Notes, domain: str, record: dict[str, Any], where: str) -> Recorded:
    task, trial = _number(record, "task_id", where), _number(record, "trial", where, 0)
    reward = record.get("reward")
    if type(reward) not in (int, float):
        raise ReadFault(f"{where}/reward", kind(reward), "a number")
    chat = read_chat(list_of(record, "traj", where), f"{where}/traj", notes, SPELLING)
    info = object_of(record, "info", where, missing=True)
    told = object_of(info, "task", f"{where}/info", missing=True)
    labels = {
        "group": f"{domain}/{task}",
        "trial": trial,
        "reward": reward,
        "gold_calls": list(map(_gold, list_of(told, "actions", f"{where}/info/task", missing=True))),
        "gold_outputs": told.get("outputs"),
        "instruction": told.get("instruction"),
        "user_cost": info.get("user_cost"),
        "after": chat.after,
    }
    last = chat.moments[-1] if chat.moments else None
    over = isinstance(last, Act) and any(call.name in ENDS for call in last.calls)
    return Recorded(
        key=f"{domain}-{task}-{trial}",
        request=chat.request,
        moments=chat.moments,
        end="ended" if chat.end == "cut" and over else chat.end,
        labels={name: value for name, value in labels.items() if value not in (None, "", [])},
    )


def _gold(action: Any) -> dict[str, Any]:
    known: dict[str, Any] = action if is_object(action) else {}
    return {"name": known.get("name", ""), "arguments": known.get("kwargs", known.get("arguments", {}))}


def _number(record: dict[str, Any], name: str, where: str, default: int | None = None) -> int:
    value = record.get(name, default)
    if type(value) is not int or value < 0:
        raise ReadFault(f"{where}/{name}", kind(value) if name in record else "nothing", "a number from 0")
    return value
