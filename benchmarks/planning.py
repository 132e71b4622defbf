"""Requests that nobody has planned before: a local model proposes, the engine runs, a judge looks at files and answer.

    .venv/bin/python benchmarks/planning.py --model FILE.gguf [--model FILE.gguf] [--arms metnos,json,schema,react]
        [--requests FILE --tree DIR] [--every N [--offset N]] [--keep DIR] [--list]

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
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.judged import arms, tree
from benchmarks.judged.cases import read_cases, unfit
from benchmarks.judged.desk import Desk, Ran
from benchmarks.judged.react import React

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.judged.cases import Case

DATA: Final = Path(__file__).resolve().parent / "data"
FIRST: Final = "which of the log files was changed last?"
ARMS: Final = ("metnos", "json", "schema", "react")


def measure(
    arm: str, weights: Path, cases: list[Case], place: Path, source: Path | None, kept: Path, show: Any
) -> list[Ran]:
    """Every case through one arm. The first is run once before: what it warms is counted apart (`first_s`)."""
    with ExitStack() as stack:
        if arm == "metnos":
            arms.configure(place / "home", weights)
            desk = Desk(place, None, source)
        else:
            model = stack.enter_context(arms.opened(arms.configure(kept / weights.stem, weights)))
            if arm == "react":
                desk = React(place, model, source)
            else:
                desk = Desk(place, arms.InJson(model, arms.worked(), schema=arm == "schema"), source)
        stack.callback(desk.close)
        desk.run(cases[0])
        found: list[Ran] = []
        for case in cases:
            found.append(desk.run(case))
            show(arm, found[-1])
    return found


def figures(found: list[Ran]) -> dict[str, Any]:
    """What the last line says of one arm."""
    doable = [ran for ran in found if not ran.case.declines]
    declined = [ran for ran in found if ran.case.declines]
    impossible = [ran for ran in declined if ran.case.kind == "impossible" or ran.case.declines == ("refuse",)]
    verdicts = Counter(ran.judged.verdict for ran in found)
    executed = [ran for ran in found if ran.judged.verdict == "wrong"]
    out = [ran.usage.get("tokens_out", 0) for ran in found if ran.plan]
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
        "seconds_p50": round(statistics.median(seconds), 2),
        "seconds_p90": round(seconds[int(0.9 * (len(seconds) - 1))], 2),
    }


def as_json(found: list[Ran], count: Callable[[str], int]) -> dict[str, Any]:
    """Tokens of the same plans as JSON: what an equally constrained model would have to write."""
    plans = [ran for ran in found if ran.plan and ran.usage.get("tokens_out")]
    json_tokens = [count(json.dumps(ran.plan, ensure_ascii=False, separators=(", ", ": "))) for ran in plans]
    ratios = [tokens / ran.usage["tokens_out"] for tokens, ran in zip(json_tokens, plans, strict=True)]
    return {
        "tokens_as_json_p50": statistics.median(json_tokens) if plans else 0,
        "json_ratio_p50": round(statistics.median(ratios), 2) if plans else 0,
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


def first(home: Path, request: str) -> float:
    """Seconds of a whole `metnos ask` in a process of its own, weights and prefix read by none before it but once."""
    command = [sys.executable, "-m", "metnos", "--home", str(home), "ask", "--no-cache", request]
    taken: list[float] = []
    for _ in range(4):
        begin = time.perf_counter()
        subprocess.run(command, check=False, capture_output=True)
        taken.append(time.perf_counter() - begin)
    return round(statistics.median(taken[1:]), 2)


def _cases(given: argparse.Namespace) -> list[Case]:
    """The cases to run, held against the tree.

    Raises:
        OSError: The file cannot be read.
        ValueError: A case, the tree or the choice among the cases is none.
    """
    source = given.requests or DATA / "planning.jsonl"
    cases = read_cases(source)
    if given.tree is not None and not given.tree.is_dir():
        raise ValueError(f"no folder {given.tree}")
    files = tree.look(given.tree).keys() if given.tree else tree.contents().keys()
    if given.tree is not None and not files:
        raise ValueError(f"no file in {given.tree}")
    if faults := unfit(cases, files):
        raise ValueError("\n".join(f"{source.name}, {one}" for one in faults))
    chosen = cases[given.offset :: given.every]
    if not chosen:
        raise ValueError(f"{source.name} has {len(cases)} cases; none is left from --offset {given.offset}")
    return chosen


def _shower(listing: bool) -> Any:
    def show(arm: str, ran: Ran) -> None:
        if listing:
            told = {
                "arm": arm, "id": ran.case.id, "verdict": ran.judged.verdict, "outcome": ran.outcome, "code": ran.code,
                "why": ran.judged.why, "unrequested": ran.judged.unrequested, "kind": ran.case.kind,
                "seconds": round(ran.seconds, 2), "usage": ran.usage, "plan": ran.plan,
                "request": ran.case.request,
            }  # fmt: skip
            print(json.dumps(told, ensure_ascii=False, default=str), flush=True)

    return show


def _runs(given: argparse.Namespace, cases: list[Case]) -> Iterator[tuple[str, dict[str, Any]]]:
    for weights in given.model:
        told: dict[str, Any] = {}
        with tempfile.TemporaryDirectory() as folder:
            for arm in given.arms.split(","):
                place = Path(folder) / arm
                found = measure(arm, weights, cases, place, given.tree, given.keep or Path(folder), _shower(given.list))
                told[arm] = figures(found)
                if arm == "metnos":
                    with arms.opened(place / "home") as model:
                        told[arm] |= as_json(found, model.count)
                    told[arm]["first_s"] = first(place / "home", FIRST)
                    told["hits"] = hits(found, Path(folder) / "hits", given.tree)
        yield weights.stem, told


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
    parser.add_argument("--offset", type=int, default=0, help="the case to begin with")
    parser.add_argument(
        "--keep", type=Path, help="a folder that keeps what the other arms' prompts begin with, read once"
    )
    parser.add_argument("--list", action="store_true", help="a line for each turn")
    given = parser.parse_args()
    if given.every < 1 or given.offset < 0:
        parser.error("--every is at least 1, --offset at least 0")
    if missing := [str(weights) for weights in given.model if not weights.is_file()]:
        parser.error(f"no model file {', '.join(missing)}")
    if unknown := set(given.arms.split(",")) - set(ARMS):
        parser.error(f"no such arm: {', '.join(sorted(unknown))}; there are {', '.join(ARMS)}")
    try:
        cases = _cases(given)
    except (OSError, ValueError) as fault:
        parser.error(str(fault))
    print(json.dumps(dict(_runs(given, cases)), ensure_ascii=False))


if __name__ == "__main__":
    main()
