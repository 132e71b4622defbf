"""Several processes that read, learn, demote and take back in one plan cache, and a count of what went wrong.

Law: every process knows the plan of every request, so a plan that is served is compared, always. One that does the same
and says it in the words of another request of the same values ("49 weeks", "343 days") is `reworded`. A row that was learned
and is gone at the end is a loss; the cache is allowed more rows than there are, so nothing is evicted and none may be.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
UNIVERSE = 1500
"""Requests that the processes speak of."""
LEARNS, TAKES_BACK = 0.25, 0.02
"""Shares of the acts; the rest are look-ups."""
_REFERENCE = re.compile(r"\$\{[^}]*\}")
BROKEN = frozenset(
    ("malformed-row", "bad-signature", "signer-unknown", "key-differs", "foreign-scope", "store-unusable")
)
"""Reasons that say: what stood there was torn, or the store failed."""


def run(folder: Path, tools: int, processes: int, seconds: float, universe: int = UNIVERSE) -> dict[str, int]:
    """Let `processes` loose for `seconds`; the counts of all of them together."""
    from benchmarks.traffic.world import Installation

    here = Installation(folder, tools)
    cache = here.cache()
    before = cache.store.size()[0]
    command = [sys.executable, "-m", "benchmarks.traffic.race", str(folder), str(tools), str(seconds), str(universe)]
    running = [
        subprocess.Popen([*command, str(number)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for number in range(processes)
    ]
    counts: Counter[str] = Counter()
    learned: set[str] = set()
    for process in running:
        said, faults = process.communicate()
        if process.returncode != 0:
            counts["errors"] += 1
            print(faults, file=sys.stderr)
            continue
        told: dict[str, Any] = json.loads(said.splitlines()[-1])
        learned.update(told.pop("keys"))
        counts.update(told)
    lost = sum(cache.store.get(key) is None for key in learned)
    whole = {"rows_before": before, "rows_after": cache.store.size()[0], "learned_rows": len(learned), "lost": lost}
    whole |= {"alarms": len(cache.store.alarms())}
    cache.close()
    return {
        name: counts[name] for name in ("look_ups", "hits", "learned", "errors", "torn", "wrong", "reworded")
    } | whole


def is_wrong(told: dict[str, int]) -> bool:
    """Whether anything happened that must not."""
    return any(told[name] for name in ("errors", "torn", "wrong", "lost", "alarms"))


def _wordless(plan: dict[str, Any]) -> list[Any]:
    """What a plan does: its steps without titles, which only say it; its answer's references without its words."""
    done = [
        step | {"args": {name: value for name, value in step["args"].items() if name != "title"}}
        for step in plan["steps"][:-1]
    ]
    return [*done, _REFERENCE.findall(json.dumps(plan["steps"][-1]))]


def one(folder: Path, tools: int, seconds: float, count: int, number: int) -> dict[str, Any]:
    """What one of the processes does."""
    from benchmarks.traffic.sentences import Drawing, any_places
    from benchmarks.traffic.world import Installation
    from metnos.cache.model import Match

    here = Installation(folder, tools)
    cache = here.cache()
    drawing = Drawing(here.library, any_places(), random.Random(5))  # the same requests in every process
    universe = list(drawing.different(here.library.examples(), count))
    rng = random.Random(number)
    counts: Counter[str] = Counter()
    learned: set[str] = set()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        drawn = rng.choice(universe)
        act = rng.random()
        try:
            if act < LEARNS:
                found = cache.learn(here.lesson(drawn, f"p{number}"))
                learned.update(reference.partition("@")[0] for reference in found.admitted)
                counts["learned"] += bool(found.admitted)
                counts["torn"] += "store-unusable" in found.held
            elif act < LEARNS + TAKES_BACK:
                cache.demote(here.lesson(drawn, f"p{number}"), "error")
            else:
                served = cache.look_up(here.rules.normalise(drawn.text, None), here.asking)
                counts["look_ups"] += 1
                if isinstance(served, Match):
                    counts["hits"] += served.layer != "template"
                    if served.plan != drawn.plan:
                        counts["reworded" if _wordless(served.plan) == _wordless(drawn.plan) else "wrong"] += 1
                else:
                    counts["torn"] += served.reason in BROKEN
        except Exception as fault:  # noqa: BLE001 - every fault counts: the cache must not raise
            counts["errors"] += 1
            print(f"{type(fault).__name__}: {fault}", file=sys.stderr)
    cache.close()
    return dict(counts) | {"learned": counts["learned"], "keys": sorted(learned)}


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    told = one(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
    print(json.dumps(told))
