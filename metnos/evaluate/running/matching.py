"""The accepted plans of a turn beside the recorded ones: the same, the same tools, the same arguments, the same edges.

Law: both are in canonical form (positions, one spelling), so equal is equal. A step is known by its tool and which of
that tool's calls it is, so a step put in before does not make every edge behind it another one. An edge is a consumer that
refers to a producer, once however often it does; the end of the plan is a consumer, too.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from metnos.evaluate.measures.result import PlanMatch
from metnos.plan.jsondata import canonical, is_list, is_object
from metnos.plan.references import StepTarget
from metnos.plan.spelling import ReferenceSyntax, is_plain, parse_string

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Node: TypeAlias = "tuple[str, int]"
"""(tool, which of its calls)."""
Edge: TypeAlias = "tuple[Node, Node]"
TERMINALS = frozenset(("final_answer", "ask", "needs_inputs"))


def match_plans(now: Sequence[dict[str, Any]], recorded: Sequence[dict[str, Any]]) -> PlanMatch:
    """Compare the plans of a turn with the recorded ones: one after the other, as one list of calls."""
    left, right = canonical(list(now)), canonical(list(recorded))
    if left == right:
        edges = _edge_count(left)
        return PlanMatch(
            exact=True, tools=True, arguments=True, edges_both=edges, edges_now=edges, edges_recorded=edges
        )
    mine, theirs = ([step for plan in plans for step in _calls(plan)] for plans in (now, recorded))
    tools = [step["tool"] for step in mine] == [step["tool"] for step in theirs]
    same = tools and all(
        canonical(left["args"]) == canonical(right["args"]) and left.get("for_each") == right.get("for_each")
        for left, right in zip(mine, theirs, strict=True)
    )
    ours, others = _edges_of_all(now), _edges_of_all(recorded)
    return PlanMatch(
        tools=tools,
        arguments=same,
        edges_both=len(ours & others),
        edges_now=len(ours),
        edges_recorded=len(others),
    )


@lru_cache(maxsize=2048)
def _edge_count(plans: bytes) -> int:
    """Most turns of a collection have one of a few plans, and most of these are the recorded ones."""
    return len(_edges_of_all(msgspec.json.decode(plans)))


def _edges_of_all(plans: Sequence[dict[str, Any]]) -> frozenset[tuple[int, Edge]]:
    return frozenset((number, edge) for number, plan in enumerate(plans) for edge in edges_of(plan))


def edges_of(plan: dict[str, Any]) -> frozenset[Edge]:
    """Producer and consumer of every reference from one step to another."""
    names = _names(plan)
    edges: set[Edge] = set()
    for position, step in enumerate(plan.get("steps", ())):
        for number in _referred(step):
            if 1 <= number <= len(names):
                edges.add((names[number - 1], names[position]))
    return frozenset(edges)


def _calls(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for step in plan.get("steps", ()) if step["tool"] not in TERMINALS]


def _names(plan: dict[str, Any]) -> list[Node]:
    seen: Counter[str] = Counter()
    names: list[Node] = []
    for step in plan.get("steps", ()):
        seen[step["tool"]] += 1
        names.append((step["tool"], seen[step["tool"]]))
    return names


def _referred(step: dict[str, Any]) -> Iterator[int]:
    args = step.get("args", {})
    yield from _numbers([args.get("from_step")])
    yield from _numbers(args.get("from_steps"))
    when: dict[str, Any] = step.get("when") or {}
    yield from _numbers(list(when.values()))
    yield from _in_texts([args, step.get("for_each")])


def _numbers(values: Any) -> Iterator[int]:
    if is_list(values):
        yield from (value for value in values if isinstance(value, int))


def _in_texts(value: Any) -> Iterator[int]:
    if isinstance(value, str) and not is_plain(value):
        yield from _in_text(value)
    elif is_object(value):
        for inner in value.values():
            yield from _in_texts(inner)
    elif is_list(value):
        for inner in value:
            yield from _in_texts(inner)


def _in_text(text: str) -> Iterator[int]:
    try:
        parts = parse_string(text)
    except ReferenceSyntax:  # a text of an older plan language refers to nothing that is known here
        return
    for part in parts:
        target = None if isinstance(part, str) else part.target
        if isinstance(target, StepTarget) and target.plan is None and isinstance(target.step, int):
            yield target.step
