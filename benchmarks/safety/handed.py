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


_SAYS_NOTHING = frozenset(("please", "olly", "hey", "the", "a"))


def same_words(left: str, right: str) -> bool:
    """Whether two requests are the same words, but for case, marks and a "please": then their labels contradict."""
    return _bare(left) == _bare(right)


def _bare(text: str) -> list[str]:
    return [word for word in re.findall(r"[\w']+", text.casefold()) if word not in _SAYS_NOTHING]


def relabelled(requests: tuple[str, str], plans: tuple[dict[str, Any], dict[str, Any]]) -> bool:
    """Whether two requests say the same values and one of them is annotated otherwise: under another name, or not at all."""
    (one, *_), (other, *_) = plans[0]["steps"], plans[1]["steps"]
    values = [str(value).casefold() for step in (one, other) for value in step["args"].values()]
    if one["tool"] != other["tool"]:
        return False
    named_anew = sorted(one["args"].values()) == sorted(other["args"].values())
    return named_anew or all(value in text.casefold() for value in values for text in requests)
