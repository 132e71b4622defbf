"""Turns as an Inspect log, `.eval`: what `inspect view` and `inspect_ai.log.read_eval_log` read.

The file is a zip: `header.json` (the log without samples), `samples/ID_epoch_N.json`, `summaries.json`. Form: log version 2.

| of the turn | becomes |
|---|---|
| the turn | a sample; id: its group, epoch: its trial (without labels: its own id, 1) |
| request, plans, calls, answers | its messages: user, assistant with tool calls, tool |
| a failure of a call | `error` of the tool's message |
| the answer, usage | its output; usage by model |
| `reward` | score `reward`; mean of the scores: metric of the log |
| outcome | score `outcome`, `success` or not |
| labels, codes | metadata |
"""

from __future__ import annotations

import hashlib
import re
import zipfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

    from metnos.evaluate.exporting.view import CallView, PlanView, RunView

VERSION = 2
_WHEN = (1980, 1, 1, 0, 0, 0)
"""Of every member of the zip: equal turns are equal files."""
_ODD = re.compile(r"[^A-Za-z0-9._-]+")
"""What no file of a zip is called by."""
SCORES = ("reward", "outcome")


class InspectLog:
    """One log under way; `close` writes its header.

    Args:
        path: Of the file; it is made new.
        task: What the log is called.
    """

    def __init__(self, path: Path, task: str) -> None:
        self._zip = zipfile.ZipFile(path, "w", compression=zipfile.ZIP_DEFLATED)
        self._task = task
        self._samples: set[tuple[str, int]] = set()
        self._summaries: list[dict[str, Any]] = []
        self._sums: dict[str, tuple[int, float]] = {}
        self._models: dict[str, dict[str, int]] = {}
        self._times: list[int] = []

    def add(self, run: RunView) -> None:
        """One more turn."""
        sample = self._sample(run)
        name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
        self._write(name, sample)
        fields = ("id", "epoch", "input", "target", "scores", "metadata")
        self._summaries.append({**{field: sample[field] for field in fields}, "completed": True})
        self._times += [run.opened, run.closed]
        for score, told in sample["scores"].items():
            count, total = self._sums.get(score, (0, 0.0))
            self._sums[score] = (count + 1, total + float(told["value"]))
        for model, usage in sample["model_usage"].items():
            known = self._models.setdefault(model, {})
            for word, number in usage.items():
                known[word] = known.get(word, 0) + number

    def close(self) -> None:
        """Write what is of the whole log, and end the file."""
        self._write("summaries.json", self._summaries)
        self._write("header.json", self._header())
        self._zip.close()

    def _write(self, name: str, value: Any) -> None:
        info = zipfile.ZipInfo(name, _WHEN)
        info.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(info, msgspec.json.encode(value))

    def _header(self) -> dict[str, Any]:
        from metnos import __version__

        mark = hashlib.sha256(f"{self._task} {sorted(self._samples)}".encode()).hexdigest()
        count = len(self._samples)
        times = {"started_at": _iso(min(self._times, default=0)), "completed_at": _iso(max(self._times, default=0))}
        dataset = {"name": self._task, "samples": count, "sample_ids": sorted({name for name, _ in self._samples})}
        return {
            "version": VERSION,
            "status": "success",
            "eval": {
                "eval_id": mark[:22],
                "run_id": mark[22:44],
                "created": times["started_at"],
                "task": self._task,
                "task_id": mark[42:64],
                "task_version": 0,
                "dataset": dataset,
                "model": next(iter(self._models), "none/none"),
                "config": {"epochs": max((epoch for _, epoch in self._samples), default=1)},
                "packages": {"metnos": __version__},
            },
            "plan": {"name": "plan", "steps": []},
            "results": {
                "total_samples": count,
                "completed_samples": count,
                "scores": [_metric(name, *self._sums[name]) for name in SCORES if name in self._sums],
            },
            "stats": {**times, "model_usage": {name: _usage(told) for name, told in self._models.items()}},
        }

    def _sample(self, run: RunView) -> dict[str, Any]:
        group, trial = run.labels.get("group"), run.labels.get("trial", 0)
        name = _ODD.sub("-", str(group)) if group else run.turn
        epoch = trial + 1 if group and isinstance(trial, int) else 1
        if (name, epoch) in self._samples:
            name, epoch = run.turn, 1
        self._samples.add((name, epoch))
        models: dict[str, dict[str, int]] = {}
        for plan in run.plans:
            if plan.usage.get("tokens_in") or plan.usage.get("tokens_out"):
                known = models.setdefault(plan.model or "none/none", {"input_tokens": 0, "output_tokens": 0})
                known["input_tokens"] += plan.usage.get("tokens_in", 0)
                known["output_tokens"] += plan.usage.get("tokens_out", 0)
        scores: dict[str, Any] = {"outcome": _score(run.outcome == "success", run.outcome, run.code)}
        if isinstance(reward := run.labels.get("reward"), int | float):
            scores["reward"] = {"value": float(reward)}
        made = messages_of(run)
        told = {"turn": run.turn, "outcome": run.outcome, "code": run.code, **run.labels}
        return {
            "id": name,
            "epoch": epoch,
            "input": run.request,
            "target": "",
            "messages": made,
            "output": _output(run, made),
            "scores": scores,
            "metadata": told,
            "model_usage": {model: _usage(usage) for model, usage in models.items()},
            "total_time": (run.closed - run.opened) / 1e6 if run.closed else 0.0,
        }


def messages_of(run: RunView) -> list[dict[str, Any]]:
    """The turn as a chat."""
    found: list[dict[str, Any]] = [_message("user", run.request)]
    for plan in run.plans:
        if not plan.accepted:
            continue
        found += _of_plan(plan)
        if plan.answers is not None:
            values = list(plan.answers.values())
            said = values[0] if len(values) == 1 else plan.answers
            found.append(_message("user", said if isinstance(said, str) else msgspec.json.encode(said).decode()))
    if run.answer:
        found.append(_message("assistant", run.answer))
    return found


def _of_plan(plan: PlanView) -> list[dict[str, Any]]:
    if not plan.calls and not plan.question:
        return []
    said = _message("assistant", plan.said if plan.calls else plan.question)
    if plan.model:
        said["model"] = plan.model
    if plan.calls:
        said["tool_calls"] = [
            {"id": call.step, "function": call.tool, "arguments": call.arguments, "type": "function"}
            for call in plan.calls
        ]
    return [said, *map(_result, plan.calls)]


def _result(call: CallView) -> dict[str, Any]:
    made = _message("tool", "")
    made.update(tool_call_id=call.step, function=call.tool)
    if call.error is not None:
        made["content"] = str(call.error.get("message", ""))
        made["error"] = {"type": "unknown", "message": str(call.error.get("message") or call.error.get("code", ""))}
    elif call.state == "done":
        data = call.data
        only_text = isinstance(data, dict) and set(data) == {"text"} and isinstance(data["text"], str)  # pyright: ignore[reportUnknownArgumentType]
        made["content"] = data["text"] if only_text else msgspec.json.encode(data).decode()
    return made


def _message(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


def _output(run: RunView, messages: list[dict[str, Any]]) -> dict[str, Any]:
    said = next((one for one in reversed(messages) if one["role"] == "assistant"), _message("assistant", ""))
    model = next((plan.model for plan in reversed(run.plans) if plan.model), "none/none")
    return {"model": model, "choices": [{"message": said, "stop_reason": "stop"}]}


def _usage(told: dict[str, int]) -> dict[str, int]:
    given, made = told.get("input_tokens", 0), told.get("output_tokens", 0)
    return {"input_tokens": given, "output_tokens": made, "total_tokens": given + made}


def _score(good: bool, answer: str, why: str) -> dict[str, Any]:
    score: dict[str, Any] = {"value": 1.0 if good else 0.0, "answer": answer}
    return {**score, "explanation": why} if why else score


def _metric(name: str, count: int, total: float) -> dict[str, Any]:
    mean = {"name": "mean", "value": total / count if count else 0.0}
    return {"name": name, "scorer": name, "scored_samples": count, "metrics": {"mean": mean}}


def _iso(at: int) -> str:
    return datetime.fromtimestamp(at / 1e6, UTC).isoformat()
