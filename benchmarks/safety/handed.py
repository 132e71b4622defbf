"""Streams of real people's requests, handed to the benchmark as a folder of `*.jsonl`.

A line is `{"request", "intent", "slots": [{"kind", "value", …}]}` (`slots` may be missing), or `{"origin", "similar"}`.
The stand-in proposer gives one step: a read tool named by the intent, its annotated slots as arguments. So two requests
mean the same if intent and annotated values are the same; where nothing is annotated, the intent alone says little, and
the figures say so.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.safety.calls import plan_of

if TYPE_CHECKING:
    from collections.abc import Iterator

Stream = list[tuple[str, dict[str, Any]]]
"""(request, plan of the stand-in proposer), in the order of the file."""


def read(folder: Path) -> tuple[dict[str, Stream], dict[str, list[tuple[str, str]]]]:
    """(streams by file name, pairs of paraphrases by file name).

    Raises:
        SystemExit: a line is of neither form.
    """
    streams: dict[str, Stream] = {}
    pairs: dict[str, list[tuple[str, str]]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for number, row in enumerate(_rows(path), 1):
            if "request" in row and "intent" in row:
                streams.setdefault(path.stem, []).append((row["request"], _plan(row)))
            elif "origin" in row and "similar" in row:
                pairs.setdefault(path.stem, []).append((row["origin"], row["similar"]))
            else:
                raise SystemExit(f"{path}:{number}: neither request and intent nor origin and similar")
    return streams, pairs


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def _plan(row: dict[str, Any]) -> dict[str, Any]:
    args: dict[str, Any] = {}
    for slot in row.get("slots", ()):
        name = re.sub(r"\W", "_", slot["kind"])
        spare = name
        count = 1
        while spare in args:
            count += 1
            spare = f"{name}_{count}"
        args[spare] = slot["value"]
    return plan_of(re.sub(r"[^A-Za-z0-9._-]", "_", f"{row['intent']}"), args)


def contradictions(stream: Stream) -> dict[str, list[str]]:
    """Requests that stand in the stream with more than one intent: text → intents. A label of these is wrong by itself."""
    found: dict[str, set[str]] = {}
    for text, plan in stream:
        found.setdefault(" ".join(re.findall(r"[\w']+", text.casefold())), set()).add(plan["steps"][0]["tool"])
    return {text: sorted(intents) for text, intents in found.items() if len(intents) > 1}
