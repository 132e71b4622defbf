"""Records the logs of tests/record/logs with the engine of this checkout: `recording.py OUT FOLDER`.

Run by hand at a release, never by a test: what lies there was written by the release that it is named after, and is
replayed as it is for ever. FOLDER is made, must not be there, and is in the logs: give it a name of no machine.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import msgspec

from metnos import Engine
from metnos.evaluate.collections.contracts import encode_contracts
from metnos.evaluate.collections.turnlog import encode_turn
from metnos.record import chain
from metnos.record.codec import decode_tolerant, encode
from metnos.record.model import TurnLog
from metnos.testing import FakeClock, ScriptedProposer

LONG = "a line of a long text, to be kept apart from the record\n" * 400


def plan(*steps: tuple[str, dict[str, Any]], **end: Any) -> dict[str, Any]:
    """A plan file."""
    return {"steps": [*({"tool": tool, "args": args} for tool, args in steps), {"tool": "final_answer", "args": end}]}


LIFTED = plan(
    ("find_files", {"path": ".", "pattern": "*.tmp"}), ("delete_files", {"from_step": 1}), text="${step2.count} deleted"
)
BY_SIZE = plan(
    ("find_files", {"path": ".", "pattern": "*.txt"}),
    ("sort_entries", {"from_step": 1, "by": "size", "order": "desc"}),
    ("take_entries", {"from_step": 2, "count": 2}),
    ("render_table", {"from_step": 3, "columns": ["path", "size"]}),
    text="${step4.text}",
)
WRITE = plan(("write_files", {"path": "new.txt", "content": "hello\n"}), text="${step1.path}")
READ = plan(("read_files", {"path": "long.md"}), data="${step1.entries}")
MISSING = plan(("read_files", {"path": "gone.md"}), data="${step1.entries}")
BAD = plan(("read_filez", {"path": "long.md"}), data="${step1.entries}")


def lay(folder: Path) -> None:
    """What the turns find."""
    folder.mkdir()
    for name, text in (("a.txt", "alpha\n"), ("b.txt", "beta beta\n"), ("c.txt", "gamma " * 9), ("long.md", LONG)):
        (folder / name).write_text(text)
    for number in range(3):
        (folder / f"{number}.tmp").write_text("x" * number)
    for path in folder.iterdir():
        os.utime(path, (1_764_500_000, 1_764_500_000))


def record(home: Path, folder: Path) -> dict[str, TurnLog]:
    """Name → log of a turn that went that way."""
    proposer = ScriptedProposer(BAD, BY_SIZE)
    clock = FakeClock("2026-11-30T12:00:00+01:00")
    answers: list[bool | None] = []
    settings: dict[str, Any] = {"home": home, "folder": folder, "zone": "Europe/Rome", "clock": clock, "language": "en"}
    with Engine.open(**settings, approve=lambda *_: answers.pop(), proposer=proposer, channel="api") as engine:

        def run(*said: Any, answer: tuple[bool | None, ...] = (), **more: Any) -> str:
            answers[:] = answer
            turn = engine.run_sync(*said, **more).turn
            clock.advance(60)
            return turn

        turns = {
            "template": run("the five largest files here, as a table"),
            "proposed": run("compile a summary of whatever text lies around, biggest two"),
            "large-result": run(plan=READ),
            "failed": run(plan=MISSING),
            "rejected": run(plan=BAD),
            "refused": run(plan=LIFTED, answer=(False, False, False)),
            "suspended": run(plan=LIFTED, answer=(None, None, None)),
            "resumed": run(plan=LIFTED, answer=(None, None, None)),
        }
        engine.resume_sync(turns["resumed"], approve=engine.read_turn(turns["resumed"]).waiting)
        turns["approved"] = run(plan=plan(("delete_files", {"path": "a.txt"}), text="gone"), answer=(True,))
        turns["written"] = run(plan=WRITE, answer=(True,))
        proposer.assert_done()
        (folder.parent / "contracts.json").write_bytes(encode_contracts(engine.parts.catalog.contracts().values()))
        return {name: engine.parts.journal.load(turn) for name, turn in turns.items()}


def changed(log: TurnLog, kind: str, **fields: Any) -> TurnLog:
    """The log with the first record of `kind` told otherwise, chained anew and unsigned: whole, and not what happened."""
    made, prev, done = [], chain.first(log.turn), False
    for one in log.records:
        body = one.body
        if one.kind == kind and not done:
            body, done = encode(decode_tolerant(body) | fields), True
        one = msgspec.structs.replace(one, body=body, prev=prev)
        one = msgspec.structs.replace(one, hash=chain.recompute(one))
        made.append(one)
        prev = one.hash
    head = msgspec.structs.replace(log.head, hash=prev, signature="", key="") if log.head else None
    return msgspec.structs.replace(log, records=tuple(made), head=head, anchor=None, key="", signed=False)


def spoiled(logs: dict[str, TurnLog]) -> dict[str, TurnLog]:
    """Logs that must not replay."""
    template, written = logs["template"], logs["written"]
    records = list(template.records)
    records[3] = msgspec.structs.replace(records[3], body=records[3].body.replace(b'"', b"'", 1))
    return {
        "diverged-fact": changed(logs["failed"], "turn_closed", detail="told otherwise"),
        "diverged-policy": changed(written, "policy_decided", verdict={"type": "deny", "reason": "told otherwise"}),
        "diverged-commands": changed(template, "turn_opened", request="the five smallest files here, as a table"),
        "diverged-input": changed(template, "step_finished", step="1.9"),
        "broken-altered": msgspec.structs.replace(template, records=tuple(records)),
        "broken-cut-off": msgspec.structs.replace(template, records=template.records[:-2]),
    }


def main(out: Path, folder: Path) -> None:
    """Write one line a log into OUT, and the contracts beside."""
    home = folder.parent / "home"
    lay(folder)
    try:
        logs = record(home, folder)
        out.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder.parent / "contracts.json", out)
        for name, log in (logs | spoiled(logs)).items():
            (out / f"{name}.jsonl").write_bytes(encode_turn(log) + b"\n")
        print(json.dumps({name: [one.kind for one in log.records] for name, log in logs.items()}, indent=1))
    finally:
        shutil.rmtree(folder)
        shutil.rmtree(home)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]))
