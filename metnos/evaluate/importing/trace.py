"""ExecutionTrace (`metnos.trace/1`): what `metnos log export trace` writes, read back as runs.

| of the form | becomes |
|---|---|
| `message` | the request |
| a thought with its actions | one go: what was said, the calls side by side, cost and model |
| an action | a call with its result; one that failed keeps its code |
| an ask with an answer | what the person said |
| the answer | what the agent said last |
| a thought that was rejected | counted: it never ran |
| an outcome that is none of a turn that ended (`suspended`) | a run that was cut off |
| outcome, code, session, `labels` | labels; the outcome of the new turn is the machine's |
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from metnos.evaluate.importing.folding import NOT_RECORDED
from metnos.evaluate.importing.model import Act, Call, Ended, Heard, Moment, Notes, ReadFault, Recorded
from metnos.evaluate.importing.reading import each, files, rows
from metnos.evaluate.trace import FORM, Action, Asked, Critic, ExecutionTrace, Thought
from metnos.turn.facts import OUTCOMES

SUFFIXES = (".jsonl", ".json")


def read(source: Path, notes: Notes) -> Iterator[Recorded]:
    """The runs of a file or folder."""
    for path in files(source, SUFFIXES):
        yield from each(rows(path, notes), notes, lambda record, where: _run(record, where, notes))


def _run(record: dict[str, Any], where: str, notes: Notes) -> Recorded:
    if record.get("form") != FORM:
        raise ReadFault(f"{where}/form", str(record.get("form"))[:40], FORM)
    try:
        trace = msgspec.convert(record, ExecutionTrace)
    except msgspec.ValidationError as fault:
        raise ReadFault(where, str(fault), f"a line of {FORM}") from None
    if any(isinstance(step, Action) and not step.tool for step in trace.steps):
        raise ReadFault(f"{where}/steps", "a tool without a name", "the name of a tool")
    moments = _moments(trace, notes)
    end: Ended = "cut"
    if trace.outcome in OUTCOMES and trace.code != NOT_RECORDED:
        end = "answered" if trace.answer else "ended"
        last = moments[-1] if moments else None
        if end == "answered" and not (isinstance(last, Act) and not last.calls):
            moments.append(Act(text=trace.answer, at=trace.closed))
        elif end == "ended" and trace.outcome == "success" and isinstance(last, Act) and not last.calls:
            end = "answered"  # by nothing
        elif end == "answered" and isinstance(last, Act):
            moments[-1] = msgspec.structs.replace(last, text=trace.answer)
    told = {"recorded_outcome": trace.outcome, "recorded_code": trace.code, "session": trace.session}
    return Recorded(
        key=trace.turn or where.rpartition("/")[2],
        request=trace.message,
        moments=tuple(moments),
        end=end,
        at=trace.opened,
        labels={**{name: value for name, value in told.items() if value}, **trace.labels},
    )


def _moments(trace: ExecutionTrace, notes: Notes) -> list[Moment]:
    rejected = {step.plan for step in trace.steps if isinstance(step, Critic) and step.verdict == "rejected"}
    found: list[Moment] = []
    for step in trace.steps:
        if isinstance(step, Critic):
            continue
        if step.plan in rejected:
            if isinstance(step, Thought):
                notes.drop("plan that was rejected")
            continue
        if isinstance(step, Thought):
            found.append(Act(text=step.text, usage=_usage(step.usage), model=step.model, at=step.at))
        elif isinstance(step, Action):
            last = found[-1] if found and isinstance(found[-1], Act) else None
            if last is None:
                found.append(last := Act(at=step.started))
            found[-1] = msgspec.structs.replace(last, calls=(*last.calls, _call(step, notes)))
        else:
            found += _asked(step, found)
    return found


def _asked(step: Asked, found: list[Moment]) -> list[Moment]:
    last = found[-1] if found else None
    if isinstance(last, Act) and not last.calls and step.question:
        found[-1] = msgspec.structs.replace(last, text=step.question)
    if step.answers is None:
        return []
    values = list(step.answers.values())
    said = values[0] if len(values) == 1 else step.answers
    return [Heard(text=said if isinstance(said, str) else msgspec.json.encode(said).decode(), at=step.at)]


def _call(step: Action, notes: Notes) -> Call:
    if not step.resolved:
        notes.drop("arguments that are as a plan wrote them, references and all")
    call = Call(name=step.tool, arguments=step.arguments, id=step.step, started=step.started, ended=step.ended)
    if step.error is not None:
        code, message = step.error.get("code", "tool-error"), step.error.get("message", "")
        if code == NOT_RECORDED:
            return call
        return msgspec.structs.replace(call, recorded=True, error=str(message), code=str(code))
    if step.state != "done":
        return call
    return msgspec.structs.replace(call, recorded=True, result=step.result)


def _usage(usage: dict[str, int]) -> dict[str, int]:
    return {name: number for name, number in usage.items() if name != "planning_calls"}
