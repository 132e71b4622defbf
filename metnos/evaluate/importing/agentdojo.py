"""AgentDojo: runs of an agent on tasks with and without injected instructions, one JSON file a run.

    {"suite_name", "pipeline_name", "user_task_id", "injection_task_id", "attack_type", "injections", "messages", "error",
     "utility", "security", "duration", …}

as its `TraceLogger` writes them below `runs/PIPELINE/SUITE/USER_TASK/ATTACK/INJECTION_TASK.json`.

| of the form | becomes |
|---|---|
| `messages` | the moments; a call is `{"function", "args", "id"}`, a result names its call, or carries it whole |
| `error` of a tool's message | a failure of the tool |
| `utility` | labels: reward (1 or 0), and `utility` |
| `security` | labels: `security` (whether the injected task was done: AgentDojo's word, whose `true` is the attacker's) |
| suite, pipeline, tasks, attack, injections, duration, `error` | labels |
| suite, user task, attack, injection task | the group; the pipelines are its trials |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from metnos.evaluate.importing.messages import Spelling, arguments_of, read_chat
from metnos.evaluate.importing.model import Call, Notes, ReadFault, Recorded
from metnos.evaluate.importing.reading import each, files, kind, list_of, rows, text_of
from metnos.plan.jsondata import is_list, is_object

SUFFIXES = (".json", ".jsonl")
KEPT = ("suite_name", "pipeline_name", "user_task_id", "injection_task_id", "attack_type", "injections", "duration")


def _call(raw: dict[str, Any], where: str) -> Call:
    name, found = raw.get("function"), raw.get("id")
    if type(name) is not str or not name:
        raise ReadFault(f"{where}/function", kind(name), "the name of a tool")
    return Call(
        name=name, arguments=arguments_of(raw.get("args"), f"{where}/args"), id=found if type(found) is str else ""
    )


def _failed(message: dict[str, Any], _text: str) -> str | None:
    error = message.get("error")
    return error if type(error) is str and error else None


SPELLING = Spelling(call=_call, failed=_failed)


def read(source: Path, notes: Notes) -> Iterator[Recorded]:
    """The runs of a file or of a folder with everything below it."""
    trials: Counter[str] = Counter()
    for path in files(source, SUFFIXES, deep=True):
        yield from each(rows(path, notes), notes, partial(_run, notes, trials))


def _run(notes: Notes, trials: Counter[str], record: dict[str, Any], where: str) -> Recorded:
    suite, task = text_of(record, "suite_name", where), text_of(record, "user_task_id", where)
    messages = _with_ids(list_of(record, "messages", where))
    chat = read_chat(messages, f"{where}/messages", notes, SPELLING)
    attack, injection = record.get("attack_type") or "none", record.get("injection_task_id") or "none"
    group = f"{suite}/{task}/{attack}/{injection}"
    trial = trials[group]
    trials[group] += 1
    labels: dict[str, Any] = {"group": group, "trial": trial}
    for name in KEPT:
        if record.get(name) not in (None, "", {}):
            labels[name] = record[name]
    utility, security = record.get("utility"), record.get("security")
    if type(utility) is bool:
        labels["utility"], labels["reward"] = utility, 1.0 if utility else 0.0
    if type(security) is bool:
        labels["security"] = security
    if record.get("error"):
        labels["error"] = record["error"]
    if chat.after:
        labels["after"] = chat.after
    return Recorded(
        key=f"{record.get('pipeline_name') or 'run'}-{suite}-{task}-{attack}-{injection}",
        request=chat.request,
        moments=chat.moments,
        end=chat.end,
        labels=labels,
    )


def _with_ids(messages: list[Any]) -> list[Any]:
    """Calls and results with an id each: some pipelines give none, and a result then answers the first open call like it."""
    found: list[Any] = []
    open_calls: list[dict[str, Any]] = []
    for index, message in enumerate(messages):
        if not is_object(message):
            found.append(message)
            continue
        calls = message.get("tool_calls")
        if is_list(calls):
            named = [
                {**call, "id": call.get("id") or f"call-{index}-{number}"} if is_object(call) else call
                for number, call in enumerate(calls)
            ]
            message = {**message, "tool_calls": named}
            open_calls += [call for call in named if is_object(call)]
        elif message.get("role") == "tool":
            answered = _answered(message, open_calls)
            if answered is not None:
                open_calls.remove(answered)
                message = {**message, "tool_call_id": answered["id"]}
        found.append(message)
    return found


def _answered(message: dict[str, Any], open_calls: list[dict[str, Any]]) -> dict[str, Any] | None:
    told = message.get("tool_call_id")
    for call in open_calls:
        if told and call.get("id") == told:
            return call
    whole = message.get("tool_call")
    if told or not is_object(whole):
        return None
    like = [call for call in open_calls if call.get("function") == whole.get("function")]
    same = [call for call in like if call.get("args") == whole.get("args")]
    return (same or like or [None])[0]
