"""Row 18: a fixed set of turns, and every digest that they leave; printed as JSON.

    python -m tests.attack.same_bytes

`pinned` are turns of functions defined here, under named versions: their hashes change only where the form of records,
the canonical form or a library changes, and are committed in `same_bytes.json`. `live` are turns of the shipped
executors and sentences, under the versions of this checkout: equal in every environment, and different after every
change of a rule. Clock and ids come in by ports; the folder is `/`, of which nothing is granted.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, TypedDict

# Read once by the engine, as part of a turn: the same on every machine.
os.environ["HOME"] = "/nobody"

from metnos import Context, Effect, Engine, Result, executor
from metnos.drivers import opening
from metnos.testing import FakeClock

VERSIONS = {"metnos": "pinned", "rules": "pinned", "policy": "pinned", "catalog": "pinned"}
ODD = {
    "é": 1,
    "z": -0.0,
    "a": 1e21,
    "\U0001f600": 0.1,
    "\ufb33": 1e-7,
    "\u20ac": 5e-324,
    "1": [True, None, "\u2028\x7f\\"],
}
"""Keys whose order differs between UTF-8 and UTF-16, and numbers whose spelling differs between libraries."""


class Row(TypedDict):
    name: str
    size: float


class Rows(TypedDict):
    entries: list[Row]
    count: int


@executor(version="1.0.0", effect="read", description="Gives rows.", resources=())
def list_rows(count: int) -> Rows:
    return {"entries": [{"name": f"ñ{n}", "size": n / 3} for n in range(count)], "count": count}


@executor(version="1.0.0", effect="read", description="Says what its context says.", resources=())
def tell_time(ctx: Context, text: str = "") -> dict[str, str]:
    return {"now": ctx.now, "text": text, "operation": ctx.operation}


@executor(version="1.0.0", effect="read", description="Says so at once, on the loop: in order.", resources=())
async def tell_item(text: str) -> dict[str, str]:
    return {"text": text}


@executor(version="1.0.0", effect="read", description="Fails.", resources=())
def fail_always(text: str) -> dict[str, str]:
    raise ValueError(text)


@executor(version="1.0.0", effect="change", description="Changes nothing.", targets=("path",), idempotent=True)
def change_nothing(path: str) -> Result:
    return Result.done({"path": path}, effects=(Effect(cls="change", target=path),))


def plan(*calls: tuple[str, dict[str, Any]], end: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    made: list[dict[str, Any]] = [{"tool": tool, "args": args} for tool, args in calls]
    made[-1] |= more
    return {"steps": [*made, {"tool": "final_answer", "args": end or {}}]}


OWN: dict[str, dict[str, Any]] = {
    "odd data": {"plan": plan(("tell_time", {"text": "${INPUT:text}"}), end={"data": ODD | {"x": "${step1}"}}),
                 "inputs": {"text": "ﬁ \u0301é"}},
    "periods": {"plan": plan(("tell_time", {}), end={"data": ["${RUNTIME:now}", "${RUNTIME:day-1}", "${RUNTIME:month-9}"]})},
    "a loop": {"plan": plan(("list_rows", {"count": 7}), ("tell_item", {"text": "${item.name}"}), for_each="${step1.entries}")},
    "a failure": {"plan": plan(("fail_always", {"text": "no \u00df"}), end={"text": "never"})},
    "a rejection": {"plan": plan(("no_such", {"b": 1, "a": 2}), ("tell_time", {"wrong": 1}))},
    "an effect": {"plan": plan(("change_nothing", {"path": "/d/ö"})), "approve": True},
    "a refusal": {"plan": plan(("change_nothing", {"path": "/d/ö"})), "approve": False},
    "a suspension": {"plan": plan(("change_nothing", {"path": "/d/ö"}))},
}  # fmt: skip
ENTRIES = [
    {"name": name, "size": size} for name, size in (("é.txt", 3), ("z.txt", 0.5), ("a.txt", 10**12), ("Ä.txt", 3))
]
SHIPPED: dict[str, dict[str, Any]] = {
    "sorted": {"plan": plan(("sort_entries", {"entries": "${INPUT:e}", "by": "name"}), ("render_table", {"from_step": 1}))},
    "grouped": {"plan": plan(("group_entries", {"entries": "${INPUT:e}", "by": ["size"]}), end={"data": "${step1}"})},
    "statistics": {"plan": plan(("compute_stats", {"entries": "${INPUT:e}", "field": "size"}), end={"data": "${step1}"})},
    "filtered": {"plan": plan(("filter_entries", {"entries": "${INPUT:e}", "field": "size", "op": "ge", "value": 3}))},
    "a time": {"request": "what time is it", "language": "en"},
    "un'ora": {"request": "che ora è", "language": "it"},
    "outside": {"request": "how many files are in /etc", "language": "en"},
    "not understood": {"request": "perché no? \u00df\u0130", "language": "it"},
}  # fmt: skip


def digests(engine: Engine, turn: str) -> dict[str, Any]:
    """Every hash of a turn: of its records, of its commands, of plan, arguments and operations; and its head."""
    log = engine.parts.journal.load(turn)
    found: dict[str, Any] = {
        "head": log.head.hash if log.head else "",
        "records": [f"{record.kind} {record.hash} {record.commands}" for record in log.records],
    }
    for record in log.records:
        body = json.loads(record.body)
        for name in ("digest", "operation"):
            if name in body:
                found.setdefault(name, []).append(body[name])
    return found


def run(cases: dict[str, dict[str, Any]], engine: Engine, ids: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, case in cases.items():
        allowed = case.get("approve")
        inputs = case.get("inputs", {"e": ENTRIES} if "e}" in str(case.get("plan")) else None)
        result = engine.run_sync(
            case.get("request"), plan=case.get("plan"), inputs=inputs, language=case.get("language"),
            approve=lambda _asked, allowed=allowed: allowed,
        )  # fmt: skip
        found[name] = {"outcome": result.outcome, **digests(engine, result.turn or ids[-1])}
    return found


def main() -> None:
    numbers = itertools.count(1)
    ids: list[str] = []

    def turn_id(_at: int) -> str:
        ids.append(f"20261130-000000-{next(numbers):08x}")
        return ids[-1]

    live_versions = opening.versions
    with tempfile.TemporaryDirectory() as home:
        common: dict[str, Any] = {"home": Path(home), "folder": "/", "zone": "Europe/Rome", "language": "en"}
        opening.turn_id = turn_id
        opening.versions = lambda _parts: dict(VERSIONS)
        own = (list_rows, tell_time, tell_item, fail_always, change_nothing)
        with Engine.open(
            **common, executors=own, shipped=False, clock=FakeClock("2026-03-29T03:00:00+02:00")
        ) as engine:
            pinned = run(OWN, engine, ids)
        opening.versions = live_versions
        with Engine.open(**common, clock=FakeClock("2026-10-25T02:30:00+01:00")) as engine:
            live = run(SHIPPED, engine, ids)
    if sys.argv[1:] == ["--write"]:
        golden = Path(__file__).with_name("same_bytes.json")
        golden.write_text(json.dumps(pinned, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(json.dumps({"pinned": pinned, "live": live}, indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
