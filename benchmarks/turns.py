"""Turns by the thousand, made and not recorded: the real machine, driven by what tools of the shipped catalog would say.

Law: every turn is schema-true: its inputs and facts are what the machine took and decided, chained and signed as a journal
does it. Ids, requests, plans, results, times and sizes differ from turn to turn; the same seed gives the same turns (but
for their signatures' key). Five steps each: find, filter, sort, take, render.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from metnos.evaluate.collections.model import Turn
from metnos.record.chain import as_records, head_payload
from metnos.record.keys import LogKey
from metnos.record.model import Head, TurnLog
from metnos.record.recorder import Recorder
from metnos.sdk import Failure
from metnos.turn import commands as c
from metnos.turn import inputs as i
from metnos.turn.rules import Rules
from metnos.turn.turn import Machine

EXTENSIONS = ("md", "txt", "csv", "log", "py", "json", "toml", "rst")
FOLDERS = ("notes", "src", "docs", "letters", "data/2026", "photos of Ada", "münchen", "архив")
WORDS = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "omicron",
    "pi",
    "rho",
    "sigma",
    "tau",
]
START = 1_796_036_400_000_000
MINUTE = 60_000_000


def catalog_of(root: Path) -> Any:
    """The signed catalog of this checkout."""
    from metnos.contracts.load import load_catalog

    return load_catalog(root / "build" / "catalog", home=None)


class Maker:
    """Makes the turns of one slice.

    Args:
        rules: As replay has them.
        key: Signs the heads; None: they are not signed.
        versions: What `TurnOpened` names.
    """

    def __init__(self, rules: Rules, key: LogKey | None, versions: dict[str, str]) -> None:
        self._rules = rules
        self._key = key
        self._versions = versions

    def turns(self, first: int, count: int) -> Iterator[Turn]:
        """Turns of these numbers, in order."""
        for number in range(first, first + count):
            yield Turn(
                log=self._turn(number), where=f"made:{number}", labels={"task": f"t{number // 4}", "trial": number % 4}
            )

    def _turn(self, number: int) -> TurnLog:
        rng = random.Random(number)
        at = START + number * MINUTE
        now = datetime.fromtimestamp(at / 1e6, UTC)
        turn = f"{now:%Y%m%d-%H%M%S}-{number:08x}"
        folder, ext, most = rng.choice(FOLDERS), rng.choice(EXTENSIONS), rng.randint(1, 40)
        plan = _plan(folder, ext, most, rng)
        way = rng.random()
        opened = i.TurnOpened(
            at=at,
            turn=turn,
            now=now.isoformat(),
            folder="/srv/ada",
            home="/srv/ada",
            roots=("/srv/ada",),
            language="en",
            mode="ask" if way < 0.7 else "run",
            request=f"list {rng.choice(WORDS)} {rng.choice(WORDS)} of {folder}, {most} {ext}" if way < 0.7 else None,
            plan=None if way < 0.7 else plan,
            versions=self._versions,
            fillers_see=True,
        )
        recorder, machine = Recorder(turn), Machine(self._rules)
        reaction = machine.receive(opened)
        recorder.add(opened, reaction)
        queue = list(reaction.commands)
        while queue:
            at += rng.randint(200, 90_000)
            for item in self._answers(queue.pop(0), plan, at, rng):
                reaction = machine.receive(item)
                recorder.add(item, reaction)
                queue += reaction.commands
        return self._closed(recorder)

    def _answers(self, command: Any, plan: dict[str, Any], at: int, rng: random.Random) -> Iterator[Any]:
        match command:
            case c.LookUpPlan():
                yield i.PlanMissed(at=at, reason="unknown-words")
            case c.Propose():
                usage = {"input": rng.randint(800, 4_000), "output": rng.randint(60, 300)}
                yield i.PlanProposed(at=at, plan=plan, usage=usage, proposer="made-up")
            case c.StartStep():
                yield i.StepStarted(at=at, step=command.step, operation=command.operation, fence=1)
                if rng.random() < 0.01:
                    gone = Failure(cls="data", code="not-found", message="it is gone", where=command.step)
                    yield i.StepFailed(at=at + 50, step=command.step, error=gone)
                else:
                    data = _data(command, rng)
                    yield i.StepFinished(at=at + rng.randint(50, 9_000), step=command.step, data=data)
            case c.Compose():
                yield i.AnswerComposed(at=at, text=f"{rng.randint(1, 40)} files")
            case c.Learn():
                yield i.Learned(at=at)
            case c.Close():
                return
            case _:
                raise AssertionError(f"nobody here answers {command}")

    def _closed(self, recorder: Recorder) -> TurnLog:
        rows = recorder.rows
        signature = key = ""
        if self._key is not None:
            key = self._key.public
            signature = self._key.sign(head_payload(recorder.turn, "closed", recorder.seq, recorder.hash))
        head = Head(turn=recorder.turn, seq=recorder.seq, hash=recorder.hash, signature=signature, key=key)
        return TurnLog(
            turn=recorder.turn,
            status="closed",
            seq=recorder.seq,
            records=as_records(rows),
            head=head,
            blobs=dict(recorder.blobs),
            signed=bool(key),
            key=key,
        )


def _plan(folder: str, ext: str, most: int, rng: random.Random) -> dict[str, Any]:
    order, by = rng.choice(("asc", "desc")), rng.choice(("size", "name", "modified"))
    kept = {"from_step": 1, "field": "size", "op": "gt", "value": rng.randint(0, 10**6)}
    return {
        "steps": [
            {"tool": "find_files", "args": {"path": folder, "pattern": f"*.{ext}"}},
            {"tool": "filter_entries", "args": kept},
            {"tool": "sort_entries", "args": {"from_step": 2, "by": by, "order": order}},
            {"tool": "take_entries", "args": {"from_step": 3, "count": most}},
            {"tool": "render_table", "args": {"from_step": 4, "columns": ["path", "size"]}},
            {"tool": "final_answer", "args": {"text": "${step5.text}"}},
        ]
    }


def _data(command: c.StartStep, rng: random.Random) -> dict[str, Any]:
    tool, args = command.executor.partition("@")[0], command.args
    if tool == "find_files":
        entries = [_entry(args["path"], str(args["pattern"]).lstrip("*"), rng) for _ in range(rng.randint(1, 9))]
        return {"entries": entries, "count": len(entries)}
    entries = list(args["entries"])
    match tool:
        case "filter_entries":
            entries = entries[: rng.randint(0, len(entries))]
        case "sort_entries":
            entries.sort(key=lambda one: one[args["by"]])
        case "take_entries":
            entries = entries[: args["count"]]
        case _:
            lines = [f"| {one['path']} | {one['size']} |" for one in entries]
            return {"text": "\n".join(["| path | size |", "| --- | ---: |", *lines, ""]), "rows": len(lines)}
    return {"entries": entries, "count": len(entries)}


def _entry(folder: str, ext: str, rng: random.Random) -> dict[str, Any]:
    name = f"{rng.choice(WORDS)}-{rng.randint(1, 9_999)}{ext}"
    modified = datetime.fromtimestamp((START - rng.randint(0, 10**14)) / 1e6, UTC).isoformat()
    return {"path": f"{folder}/{name}", "name": name, "ext": ext, "size": rng.randint(0, 10**9), "modified": modified}
