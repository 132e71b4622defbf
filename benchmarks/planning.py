"""Requests that nobody has planned before: a local model proposes, the engine runs, a judge looks at files and answer.

    .venv/bin/python benchmarks/planning.py --model FILE.gguf [--model FILE.gguf] [--arms metnos,json,schema,react]
        [--requests FILE --tree DIR] [--every N] [--list]

Arms, each with the same model, tools and worked examples: `metnos` (line notation under the typed grammar), `json` (JSON, no
grammar), `schema` (JSON under the plain schema of a plan file), `react` (asked before every step). Every consent is
given, so that what is wrong is done and seen. Starter templates and caches are off; what a hit costs is measured apart,
with the plans that were right. `--requests` takes cases in the form of `benchmarks/judged/cases.py`, and `--tree` a folder
that every turn works on a copy of. The last line is one JSON object by model and arm.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.judged import arms
from benchmarks.judged.cases import read_cases
from benchmarks.judged.desk import Desk, Ran
from benchmarks.judged.react import React

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.judged.cases import Case

DATA: Final = Path(__file__).resolve().parent / "data"
ARMS: Final = ("metnos", "json", "schema", "react")


def measure(arm: str, model: Any, cases: list[Case], place: Path, source: Path | None, show: Any) -> list[Ran]:
    """Every case through one arm, the first one twice: its first run warms, and counts for nothing."""
    if arm == "react":
        desk: Desk = React(place, model, source)
    else:
        desk = Desk(place, arms.proposer(arm, model), source)
    found: list[Ran] = []
    try:
        desk.run(cases[0])
        for case in cases:
            ran = desk.run(case)
            found.append(ran)
            show(arm, ran)
    finally:
        desk.close()
    return found


def figures(found: list[Ran], count: Any) -> dict[str, Any]:
    """What the last line says of one arm."""
    doable = [ran for ran in found if not ran.case.declines]
    declined = [ran for ran in found if ran.case.declines]
    impossible = [ran for ran in declined if ran.case.kind == "impossible"]
    verdicts = Counter(ran.judged.verdict for ran in found)
    executed = [ran for ran in found if ran.judged.verdict == "wrong"]
    out = [ran.usage.get("tokens_out", 0) for ran in found if ran.plan]
    plain = [count(json.dumps(ran.plan, ensure_ascii=False)) for ran in found if ran.plan] if count else []
    seconds = sorted(ran.seconds for ran in found)
    return {
        "requests": len(found),
        **{name: verdicts[name] for name in ("right", "wrong", "asked", "refused", "failed")},
        "right_share": _share(verdicts["right"], len(found)),
        "wrong_executed_share": _share(len(executed), len(found)),
        "unrequested": sum(bool(ran.judged.unrequested) for ran in found),
        "impossible_refused_share": _share(sum(ran.judged.verdict == "right" for ran in impossible), len(impossible)),
        "falsely_refused_share": _share(sum(ran.judged.verdict == "refused" for ran in doable), len(doable)),
        "falsely_asked_share": _share(sum(ran.judged.verdict == "asked" for ran in doable), len(doable)),
        "one_call_share": _share(sum(ran.usage.get("planning_calls", 0) <= 1 for ran in found), len(found)),
        "calls": sum(ran.usage.get("planning_calls", 0) for ran in found),
        "tokens_in": sum(ran.usage.get("tokens_in", 0) for ran in found),
        "tokens_out": sum(ran.usage.get("tokens_out", 0) for ran in found),
        "tokens_out_p50": statistics.median(out) if out else 0,
        "tokens_as_json_p50": statistics.median(plain) if plain else 0,
        "seconds_p50": round(statistics.median(seconds), 2),
        "seconds_p90": round(seconds[int(0.9 * (len(seconds) - 1))], 2),
    }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0


def hits(found: list[Ran], place: Path, source: Path | None) -> dict[str, Any]:
    """What the right plans cost once they are cached: no model, no token."""
    plans = {ran.case.request: ran.plan for ran in found if ran.judged.verdict == "right" and ran.plan}
    right = [ran for ran in found if ran.case.request in plans]
    desk = Desk(place, lambda request, _candidates: plans[request.text], source, caching="use")
    try:
        for ran in right:
            desk.run(ran.case)
        again = [desk.run(ran.case) for ran in right]
    finally:
        desk.close()
    served = [ran for ran in again if not ran.usage.get("planning_calls")]
    return {
        "asked_again": len(again),
        "served": len(served),
        "wrong": sum(ran.judged.verdict == "wrong" for ran in again),
        "hit_seconds_p50": round(statistics.median([ran.seconds for ran in served]), 4) if served else 0,
        "miss_seconds_p50": round(statistics.median([ran.seconds for ran in right]), 2) if right else 0,
        "hit_tokens": 0,
        "miss_tokens_p50": statistics.median(
            [sum(ran.usage.get(one, 0) for one in ("tokens_in", "tokens_out")) for ran in right]
        )
        if right
        else 0,
    }


def first(model: Path) -> float:
    """Seconds of the first proposal of a fresh process, its prefix kept by an earlier one."""
    command = [sys.executable, __file__, "--model", str(model), "--first"]
    return round(
        statistics.median(
            float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(3)
        ),
        2,
    )


def _first(model: Path, case: Case) -> float:
    begin = time.perf_counter()
    with arms.opened(model) as opened, tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder), arms.proposer("metnos", opened))
        before = time.perf_counter()
        desk.run(case)
        desk.close()
        return time.perf_counter() - before + arms.opening_s(opened, begin)


def _cases(given: argparse.Namespace) -> list[Case]:
    return read_cases(given.requests or DATA / "planning.jsonl")[:: given.every]


def _shower(listing: bool) -> Any:
    def show(arm: str, ran: Ran) -> None:
        if listing:
            told = {
                "arm": arm, "id": ran.case.id, "verdict": ran.judged.verdict, "outcome": ran.outcome, "code": ran.code,
                "why": ran.judged.why, "seconds": round(ran.seconds, 2), "usage": ran.usage, "plan": ran.plan,
                "request": ran.case.request,
            }  # fmt: skip
            print(json.dumps(told, ensure_ascii=False, default=str), flush=True)

    return show


def _runs(given: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    cases = _cases(given)
    for path in given.model:
        told: dict[str, Any] = {}
        with arms.opened(path) as model, tempfile.TemporaryDirectory() as folder:
            for arm in given.arms.split(","):
                found = measure(arm, model, cases, Path(folder) / arm, given.tree, _shower(given.list))
                told[arm] = figures(found, model.count if arm == "metnos" else None)
                if arm == "metnos":
                    told["hits"] = hits(found, Path(folder) / "hits", given.tree)
        if "metnos" in told:
            told["metnos"]["first_s"] = first(path)
        yield path.stem, told


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, action="append", required=True, help="a GGUF file; again for another")
    parser.add_argument("--arms", default=",".join(ARMS))
    parser.add_argument(
        "--requests", type=Path, help="cases, one JSON object a line; default: the 97 of this repository"
    )
    parser.add_argument("--tree", type=Path, help="the folder that these cases speak of")
    parser.add_argument("--every", type=int, default=1, help="only every Nth case")
    parser.add_argument("--list", action="store_true", help="a line for each turn")
    parser.add_argument("--first", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if unknown := set(given.arms.split(",")) - set(ARMS):
        parser.error(f"no such arm: {', '.join(sorted(unknown))}; there are {', '.join(ARMS)}")
    if given.first:
        print(_first(given.model[0], _cases(given)[0]))
        return
    print(json.dumps(dict(_runs(given)), ensure_ascii=False))


if __name__ == "__main__":
    main()
