"""The peer `etchplan`: a request matched to a plan of its cache on disk, validated again. Prints µs, median, as JSON.

Run in an environment of its own by `cache_speed.py`; it imports nothing of Metnos. `compile_per_task_cached` is its way
from a request to a plan: a key over the request's words and the catalog's signature, a file of that name, the plan read
and validated. Its catalog has as many tools as ours; `signature_kept` is the same with the catalog's signature computed
once, which its own function does not do.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from etchplan_compiler import per_task_jit as jit
from etchplan_core.schemas.plan import ExecutionPlan


def plan_for(tool: str, number: int) -> dict[str, Any]:
    return {
        "apiVersion": "etchplan/v1alpha1",
        "kind": "ExecutionPlan",
        "metadata": {
            "plan_id": f"p{number}",
            "plan_version_id": f"p{number}-1",
            "name": f"p{number}",
            "description": "two reads",
            "source_patterns": [],
            "created_at": "2026-01-01T00:00:00Z",
        },
        "selector": {"workflow": "requests"},
        "budget": {"max_tool_calls": 2},
        "inputs": {"value": {"type": "integer"}},
        "nodes": [
            {
                "id": f"n{step}",
                "type": "tool.call",
                "tool": tool,
                "mutability": "read_only",
                "args": {"value": "{{ inputs.value }}"},
                "output": {"var": f"v{step}"},
            }
            for step in (1, 2)
        ],
        "outputs": {"structured": {"value": "{{ vars.v2.value }}"}},
        "fallbacks": {"fallback_original_agent": {}},
    }


def never(_instruction: str, _catalog: jit.ToolCatalog) -> None:
    raise SystemExit("etchplan's cache missed")


def main(source: str, tools: int, asked: int, rounds: int) -> None:
    rows = [row[0] for row in json.loads(Path(source).read_text("utf-8"))]
    texts = list({" ".join(text.split()): text for text in rows}.values())[-asked:]
    catalog = jit.ToolCatalog([jit.ToolCatalogEntry(f"tool_{number}") for number in range(tools)])
    with tempfile.TemporaryDirectory() as folder:
        cache = jit.JitCache(Path(folder))
        for number, text in enumerate(texts):
            plan = ExecutionPlan.model_validate(plan_for("tool_1", number))
            cache.store(jit.jit_cache_key(text, catalog), plan)

        def match(text: str) -> None:
            found = jit.compile_per_task_cached(text, catalog, never, cache=cache)
            if not found["accepted"] or not found["cached"]:
                raise SystemExit(f"etchplan did not match: {found['rejections']}")

        figures = {"etchplan_p50": _median(match, texts, rounds)}
        signature = jit.catalog_signature(catalog)
        jit.catalog_signature = lambda _catalog: signature
        figures["etchplan_signature_kept_p50"] = _median(match, texts, rounds)
    print(json.dumps(figures))


def _median(job: Callable[[str], None], texts: list[str], rounds: int) -> float:
    times: list[float] = []
    for _ in range(rounds):
        for text in texts:
            start = time.perf_counter()
            job(text)
            times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
