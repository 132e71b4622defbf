"""Plans as a page shows them: lines of the plan notation, a graph, and what differs between two. Pure."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import msgspec

from metnos.evaluate.reporting.model import Part, Shape, shown
from metnos.plan.drawing import graph_of
from metnos.plan.jsondata import JSONFault, canonical, digest, is_object
from metnos.plan.notation import NotationRefused, show
from metnos.plan.parse import read_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metnos.plan.model import Plan

LINE: Final = 400
"""Characters of a line."""
LINES: Final = 120
LABEL: Final = 60
ENDING: Final = "final_answer"
EffectOf: TypeAlias = "Callable[[str], str]"
"""Tool → the worst effect class that it may have; empty: nobody knows."""


def key_of(plan: dict[str, Any]) -> str:
    """A short name of a plan: equal plans have the same."""
    try:
        return digest(plan)[7:19]
    except JSONFault:
        return digest(repr(plan))[7:19]


def shape_of(plan: dict[str, Any], effect_of: EffectOf) -> Shape:
    """A plan, valid or not."""
    read = read_plan(plan).plan
    if read is None:
        return Shape(lines=_as_json(plan), nodes=(), edges=())
    try:
        lines = tuple(show(read).rstrip("\n").split("\n"))
    except NotationRefused:
        lines = _in_lines(plan)
    nodes, edges = _graph(read, effect_of)
    return Shape(lines=tuple(shown(line, LINE) for line in lines[:LINES]), nodes=nodes, edges=edges)


def shape_of_all(plans: Sequence[tuple[int, dict[str, Any]]], effect_of: EffectOf) -> Shape:
    """Several plans of one turn as one shape: steps are called `plan.step`, what leads from plan to plan is drawn.

    Args:
        plans: (number, plan) of each that was accepted, in order.
        effect_of: As for one.
    """
    lines: list[str] = []
    nodes: list[tuple[str, str]] = []
    edges: list[tuple[int, int, str, str]] = []
    known: dict[str, int] = {}
    for number, plan in plans:
        one = shape_of(plan, effect_of)
        places: list[int] = []
        for label, effect in one.nodes:
            step, _, tool = label.partition(" ")
            if step.isdecimal():
                known[f"plan{number}.step{step}"] = len(nodes)
                label = f"{number}.{step} {tool}"
            places.append(known.get(label, len(nodes)))
            if label == ENDING and number != plans[-1][0]:
                places[-1] = -1  # it went on
            elif label not in known:
                nodes.append((shown(label, LABEL), effect))
        edges += [
            (places[first], places[last], kind, said)
            for first, last, kind, said in one.edges
            if places[first] >= 0 and places[last] >= 0
        ]
        goes_on = number != plans[-1][0]
        told = one.lines[:-1] if goes_on and one.lines[-1:] == ("end",) else one.lines
        lines += [f"{number}.{line}" if line[:1].isdecimal() else line for line in told]
    return Shape(lines=tuple(lines[:LINES]), nodes=tuple(nodes), edges=tuple(edges))


def _in_lines(plan: dict[str, Any]) -> tuple[str, ...]:
    """A plan that the notation cannot hold, one that goes on for instance: a line for each step all the same."""
    lines: list[str] = []
    for number, step in enumerate(cast("list[Any]", plan.get("steps", ())), 1):
        called: dict[str, Any] = step if is_object(step) else {}
        args: Any = called.get("args", {})
        if not is_object(args):
            return _as_json(plan)
        told = [f"{name}={msgspec.json.encode(held).decode()}" for name, held in args.items()]
        lines.append(" ".join((str(number), str(called.get("tool", "")), *told)))
    return tuple(lines)


def _as_json(plan: dict[str, Any]) -> tuple[str, ...]:
    try:
        text = msgspec.json.format(canonical(plan), indent=2).decode()
    except JSONFault:
        text = repr(plan)
    return tuple(shown(line, LINE) for line in text.split("\n")[:LINES])


def _graph(
    plan: Plan, effect_of: EffectOf
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[int, int, str, str], ...]]:
    graph = graph_of(plan)
    names = [f"s{number}" for number in range(1, len(plan.steps) + 1)]
    nodes = [(shown(f"{number} {step.tool}", LABEL), effect_of(step.tool)) for number, step in enumerate(plan.steps, 1)]
    for name, said in graph.outside.items():
        names.append(name)
        nodes.append((shown(said, LABEL), ""))
    names.append("t")
    nodes.append((shown(graph.ending, LABEL), ""))
    place = {name: at for at, name in enumerate(names)}
    edges = tuple((place[one.source], place[one.target], one.kind, shown(one.label, LABEL)) for one in graph.edges)
    return tuple(nodes), edges


def diff_of(recorded: Shape, now: Shape) -> tuple[Part, ...]:
    """What differs, line by line: parts that stand in both, and parts that stand in one for what stands in the other."""
    matcher = SequenceMatcher(None, recorded.lines, now.lines, autojunk=False)
    return tuple(
        Part("=" if tag == "equal" else "!", first, last, start, end)
        for tag, first, last, start, end in matcher.get_opcodes()
    )
