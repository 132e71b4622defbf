"""The peer `langgraph`: the same 10-step chain, checkpointed in memory and with `SqliteSaver`. Prints µs a step as JSON.

Run in an environment of its own by `overhead.py`; it imports nothing of Metnos.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

STEPS = 10


class State(TypedDict):
    value: int


def build(saver: Any) -> Any:
    graph = StateGraph(State)
    previous = START
    for number in range(1, STEPS + 1):
        name = f"n{number}"
        graph.add_node(name, lambda state: {"value": state["value"]})
        graph.add_edge(previous, name)
        previous = name
    graph.add_edge(previous, END)
    return graph.compile(checkpointer=saver)


def measure(saver: Any, rounds: int) -> float:
    app = build(saver)
    times: list[float] = []
    for number in range(rounds):
        start = time.perf_counter()
        result = app.invoke({"value": number}, {"configurable": {"thread_id": str(number)}})
        times.append(time.perf_counter() - start)
        if result["value"] != number:
            raise SystemExit(f"langgraph lost the value: {result}")
    return statistics.median(times) / STEPS * 1e6


def main(rounds: int, folder: str) -> None:
    memory = measure(InMemorySaver(), rounds)
    with SqliteSaver.from_conn_string(str(Path(folder) / "langgraph.sqlite")) as saver:
        durable = measure(saver, max(20, rounds // 4))
    print(json.dumps({"langgraph_memory": memory, "langgraph_sqlite": durable}))


if __name__ == "__main__":
    place = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, place)
