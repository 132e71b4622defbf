"""False hits first: what the plan cache serves that it must not, what it serves that it should, beside its peers.

    .venv/bin/python benchmarks/cache_safety.py [--requests DIR] [--lexicon FILE] [--no-peers] [--list]

Three parts. *Adversarial*: requests by hand, in two languages, that look like a learned one and mean something else, and
the same for every sentence of the starter catalog, changed by a generator. *Paraphrases*: the same meaning in other words
or with other values. *Requests*: streams of real people's wordings (`--requests`), each looked up and, if nothing served
it, learned. A hit is right if its plan is the very plan that a proposer gives for that request; where the same words are
labelled in two ways no cache can be right, and such hits are counted and listed apart. `near` asks somebody who reads both
requests and is right: `asked` says how often, `confirmed` how often the answer was yes. The last line is one JSON object;
lines before it name what was wrong. A false hit of our own in the first part ends the run with 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.peers.environment import run_peer
from benchmarks.safety import handed, meanings, starters
from benchmarks.safety.box import Box
from benchmarks.safety.calls import catalog_for, spelled
from benchmarks.safety.measures import completeness, homogeneity

Tally = dict[str, Any]
LAYERS = ("l0", "l1", "near")


def adversarial() -> tuple[Tally, Tally, list[str]]:
    """(pairs that differ, pairs that mean the same, lines that say what was wrong or missed)."""
    learned, asked = meanings.read()
    box = Box(catalog_for([one.plan for one in learned] + [one.plan for one in asked if one.plan is not None]))
    for one in learned:
        box.learn(one.text, one.plan, one.language)
    differ: Counter[str] = Counter()
    false: Counter[str] = Counter()
    same: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    lines: list[str] = []
    for one in asked:
        served = box.serve(one.text, one.language)
        wrong = served is not None and (one.plan is None or spelled(served.plan) != spelled(one.plan))
        if one.plan is None or one.kind.startswith("bound"):
            differ[one.kind] += 1
            false[one.kind] += wrong
        if one.plan is not None:
            same[one.kind] += 1
            hits[one.kind] += served is not None and not wrong
        if wrong:
            lines.append(f"FALSE {one.kind}: {one.text!r} was served as {one.beside!r}")
        elif one.plan is not None and served is None:
            lines.append(f"missed {one.kind}: {one.text!r} beside {one.beside!r}")
    return _part(differ, false, "false_hits"), _part(same, hits, "hits"), lines


def _part(asked: Counter[str], found: Counter[str], name: str) -> Tally:
    kinds = {kind: {"pairs": asked[kind], name: found[kind]} for kind in sorted(asked)}
    return {"pairs": asked.total(), name: found.total(), "kinds": kinds}


def joined(left: Tally, right: Tally, name: str) -> Tally:
    """Two parts as one."""
    kinds: dict[str, Tally] = defaultdict(lambda: {"pairs": 0, name: 0})
    for part in (left, right):
        for kind, row in part["kinds"].items():
            kinds[kind]["pairs"] += row["pairs"]
            kinds[kind][name] += row[name]
    return {
        "pairs": left["pairs"] + right["pairs"],
        name: left[name] + right[name],
        "kinds": dict(sorted(kinds.items())),
    }


def streamed(stream: handed.Stream, layers: tuple[str, ...], **box: Any) -> Tally:
    """One stream through one box: what these layers serve counts, anything else is learned."""
    cache = Box(catalog_for([plan for _, plan in stream]), eager=False, **box)
    hits = asked = near = 0
    keys: list[str] = []
    false: list[str] = []
    contradictory: list[str] = []
    taught: dict[str, str] = {}
    for at, (text, plan) in enumerate(stream):
        served = cache.serve(text, "en")
        if served is None or served.layer not in layers:
            keys.append(f"new {at}")
            taught |= dict.fromkeys(cache.learn(text, plan, "en"), text)
            continue
        right = spelled(served.plan) == spelled(plan)
        asked += served.layer == "near"
        if served.layer == "near" and not right:
            # Somebody who reads both requests says no.
            keys.append(f"new {at}")
            taught |= dict.fromkeys(cache.learn(text, plan, "en"), text)
            continue
        hits += 1
        near += served.layer == "near"
        keys.append(served.key)
        if not right:
            beside = taught.get(served.key, "")
            fault = f"{text!r} {_call(plan)} was served {_call(served.plan)} of {beside!r}"
            excused = handed.same_words(text, beside) or handed.relabelled((text, beside), (plan, served.plan))
            (contradictory if excused else false).append(fault)
    tools = [plan["steps"][0]["tool"] for _, plan in stream]
    return {
        "requests": len(stream),
        "hits": hits,
        "false_hits": len(false),
        "contradictory_labels": len(contradictory),
        **({"asked": asked, "confirmed": near} if "near" in layers else {}),
        "homogeneity": round(homogeneity(tools, keys), 4),
        "completeness": round(completeness(tools, keys), 4),
        "lines": [f"FALSE {line}" for line in false] + [f"contradictory labels: {line}" for line in contradictory],
    }


def _call(plan: dict[str, Any]) -> str:
    step = plan["steps"][0]
    return f"{step['tool']}({', '.join(f'{name}={value!r}' for name, value in step['args'].items())})"


def all_streams(streams: dict[str, handed.Stream], lexicons: list[Path], near: int) -> tuple[dict[str, Any], list[str]]:
    """(set → layer → figures, lines that say what was wrong)."""
    found: dict[str, dict[str, Tally]] = {}
    lines: list[str] = []
    for name, stream in streams.items():
        arms = {
            "l0": streamed(stream, ("l0",), lexicons=lexicons),
            "l1": streamed(stream, ("l0", "l1"), lexicons=lexicons),
            # The index of near matches is made anew after each lesson, so a part of the stream has to do.
            "near": streamed(stream[:near], LAYERS, lexicons=lexicons, confirm=lambda _said, _learned: True),
        }
        found[name] = arms
        for layer, row in arms.items():
            lines += [f"{name} {layer}: {line}" for line in row.pop("lines")]
    return found, lines


def peers(streams: dict[str, handed.Stream]) -> dict[str, Any]:
    """The same requests through the peers, in an environment of their own."""
    learned, asked = meanings.read()
    rows = [[one.text, spelled(one.plan)] for one in learned]
    asks = [[one.text, None if one.plan is None else spelled(one.plan)] for one in asked]
    job = {
        "streams": {name: [[text, spelled(plan)] for text, plan in stream] for name, stream in streams.items()},
        "pairs": {"adversarial": {"learned": rows, "asked": asks}},
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.json"
        path.write_text(json.dumps(job), "utf-8")
        found = run_peer("similarity", "similar_requests.py", str(path))
    for peer in found.values():
        for name, row in peer.items():
            keys = row.pop("keys", None)
            if keys is not None:
                tools = [plan["steps"][0]["tool"] for _, plan in streams[name]]
                row["homogeneity"] = round(homogeneity(tools, keys), 4)
                row["completeness"] = round(completeness(tools, keys), 4)
            right, _ = row.pop("right", None), row.pop("wrong", None)
            if right is not None:
                row["right_hits"] = len(right)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=Path, help="a folder of *.jsonl streams")
    parser.add_argument("--lexicon", type=Path, action="append", default=[], help="a domain lexicon, for a second run")
    parser.add_argument("--near", type=int, default=600, help="so many requests of a stream for the near layer")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--list", action="store_true", help="name every pair that was missed too")
    given = parser.parse_args()

    differ, same, lines = adversarial()
    made, varied, more = starters.measure()
    lines += more
    differ, same = joined(differ, made, "false_hits"), joined(same, varied, "hits")
    streams, _ = handed.read(given.requests) if given.requests else ({}, {})
    requests, faults = all_streams(streams, [], given.near)
    lines += faults
    domain: dict[str, Any] = {}
    if given.lexicon and streams:
        domain, faults = all_streams(streams, given.lexicon, given.near)
        lines += [f"with the lexicon: {line}" for line in faults]
    found = {} if given.no_peers else peers(streams)
    for line in lines:
        if given.list or not line.startswith("missed"):
            print(line)
    figures = {"adversarial": differ, "paraphrases": same, "requests": requests, "with_lexicon": domain, "peers": found}
    print(json.dumps(figures))
    return 1 if differ["false_hits"] else 0


if __name__ == "__main__":
    sys.exit(main())
