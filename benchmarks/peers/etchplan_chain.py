"""The peer `etchplan`: a 10-step chain of no-op tools, each audited in memory. Prints µs a step as JSON.

Run in an environment of its own by `overhead.py`; it imports nothing of Metnos.
"""

from __future__ import annotations

import json
import statistics
import sys
import time

from etchplan_core.schemas.plan import ExecutionPlan
from etchplan_runtime.executor import PlanExecutor
from etchplan_runtime.registry import Registry

STEPS = 10


def make_plan() -> ExecutionPlan:
    nodes = [
        {
            "id": f"n{number}",
            "type": "tool.call",
            "tool": "noop",
            "mutability": "read_only",
            "args": {"value": "{{ inputs.value }}" if number == 1 else f"{{{{ vars.v{number - 1}.value }}}}"},
            "output": {"var": f"v{number}"},
        }
        for number in range(1, STEPS + 1)
    ]
    return ExecutionPlan.model_validate(
        {
            "apiVersion": "etchplan/v1alpha1",
            "kind": "ExecutionPlan",
            "metadata": {
                "plan_id": "chain",
                "plan_version_id": "chain-1",
                "name": "chain",
                "description": "ten no-ops",
                "source_patterns": [],
                "created_at": "2026-01-01T00:00:00Z",
            },
            "selector": {"workflow": "chain"},
            "budget": {"max_tool_calls": STEPS},
            "inputs": {"value": {"type": "integer"}},
            "nodes": nodes,
            "outputs": {"structured": {"value": f"{{{{ vars.v{STEPS}.value }}}}"}},
            "fallbacks": {"fallback_original_agent": {}},
        }
    )


def main(rounds: int) -> None:
    plan = make_plan()
    registry = Registry(tools={"noop": lambda value: {"value": value}})
    times: list[float] = []
    for number in range(rounds):
        executor = PlanExecutor(plan, registry=registry)
        start = time.perf_counter()
        result = executor.run({"value": number})
        times.append(time.perf_counter() - start)
        if result["status"] != "success" or len(result["audit"]) != STEPS:
            raise SystemExit(f"etchplan did not run the chain: {result}")
        last = list(executor.vars.values())[-1]["value"]
        if last != number and str(last) != str(number):
            raise SystemExit(f"etchplan lost the value: {last!r}")
    print(json.dumps({"etchplan": statistics.median(times) / STEPS * 1e6}))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
