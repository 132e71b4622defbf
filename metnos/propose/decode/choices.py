"""The ways in which the next line of a plan may go on, as data; `lark.py` writes them as a grammar.

Law: finite, and closed: every literal that can be written is listed here, because it was copied from the request, from
a contract or from a small table. Free text stands nowhere. Two spellings of one value are one value.

    line 2:  sort_entries  <1  by="size"|"name"|…  [order="desc"]
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from metnos.plan.jsondata import spell
from metnos.plan.references import Reference
from metnos.plan.spelling import format_parts, is_plain, parse_string

if TYPE_CHECKING:
    from collections.abc import Iterable

END = "end"
"""What stands for the end of the plan where a tool's name is asked for: no tool is called so without a line number."""
SOURCE = "<"
"""What stands for `<N` where an argument's name is asked for."""


class Value(msgspec.Struct, frozen=True, dict=True):
    """One value of an argument."""

    data: Any
    """As in the plan file: text that is not meant as a reference is escaped already."""

    @cached_property
    def json(self) -> str:
        """As JSON."""
        return spell(self.data)

    @cached_property
    def line(self) -> str:
        """In line notation: a reference alone is bare."""
        if isinstance(self.data, str) and not is_plain(self.data):
            parts = parse_string(self.data)
            if len(parts) == 1 and isinstance(parts[0], Reference):
                return self.data
        return self.json


class OneOf(msgspec.Struct, frozen=True):
    """One of these values."""

    values: tuple[Value, ...]


NOTHING: Final = OneOf(())


class Several(msgspec.Struct, frozen=True):
    """A list of different ones of these, in any order."""

    items: tuple[Value, ...]
    least: int = 1
    most: int = 8


class Listed(msgspec.Struct, frozen=True):
    """A list whose items are written alike."""

    item: Node
    least: int = 1
    most: int = 4


class Field(msgspec.Struct, frozen=True):
    """A field of an object."""

    name: str
    node: Node
    required: bool


class Fields(msgspec.Struct, frozen=True):
    """An object, its fields in the order of the schema; at least one is required."""

    fields: tuple[Field, ...]


class Either(msgspec.Struct, frozen=True):
    """Written in one of these ways."""

    nodes: tuple[Node, ...]


Node = OneOf | Several | Listed | Fields | Either


class Argument(msgspec.Struct, frozen=True):
    """`name=…`; one that is not required may be left out."""

    name: str
    node: Node
    required: bool = True


class Group(msgspec.Struct, frozen=True):
    """Exactly one of these arguments (`requires_one_of`)."""

    arguments: tuple[Argument, ...]


class Fork(msgspec.Struct, frozen=True):
    """What comes next depends on what is chosen here."""

    ways: tuple[tuple[Part, ...], ...]


Part = Argument | Group | Fork


class Form(msgspec.Struct, frozen=True):
    """One way to write a step of a tool."""

    tool: str
    sources: tuple[int, ...] = ()
    """Of these one stands as `<N`; none: the input is among the arguments, or there is none."""
    parts: tuple[Part, ...] = ()
    each: Value | None = None
    """The step runs once for each of these."""


class Line(msgspec.Struct, frozen=True):
    """What the next line may be."""

    number: int
    forms: tuple[Form, ...]
    ends: bool
    """The plan may end here."""


_FRAME: Final = 64
"""Bytes around the arguments in the wordier notation: the line's number, `"tool"`, `"args"`, `"from_step"`, `"for_each"`."""


def longest(line: Line) -> int:
    """The most bytes that it may take in any notation, and so the most tokens: none stands for less than a byte."""
    return _FRAME + max(map(_of_form, line.forms), default=0)


def _of_form(form: Form) -> int:
    each = 0 if form.each is None else _size(form.each.json)
    return _size(spell(form.tool)) + max(map(len, map(str, form.sources)), default=0) + each + _of_parts(form.parts)


def _of_parts(parts: Iterable[Part]) -> int:
    return sum(map(_of_part, parts))


def _of_part(part: Part) -> int:
    if isinstance(part, Argument):
        return _size(spell(part.name)) + len(",:") + _of_node(part.node)
    return max(map(_of_part, part.arguments) if isinstance(part, Group) else map(_of_parts, part.ways), default=0)


def _of_node(node: Node) -> int:
    if isinstance(node, OneOf):
        return max((_size(value.json) for value in node.values), default=0)
    if isinstance(node, Several):
        sizes = sorted((_size(value.json) for value in node.items), reverse=True)[: node.most]
        return len("[]") + sum(sizes) + len(", ") * len(sizes)
    if isinstance(node, Listed):
        return len("[]") + node.most * (_of_node(node.item) + len(", "))
    if isinstance(node, Fields):
        return len("{}") + sum(_size(spell(field.name)) + len(",:") + _of_node(field.node) for field in node.fields)
    return max(map(_of_node, node.nodes), default=0)


def _size(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


class Choice(msgspec.Struct, frozen=True):
    """What is masked: a tool, or one value of one of its arguments.

    `argument` empty: the tool itself; `SOURCE`: the step that it is handed.
    """

    tool: str
    argument: str = ""
    written: str = ""
    """JSON of the value; of `SOURCE`, the step's number."""


def unique(values: Iterable[Value]) -> tuple[Value, ...]:
    """Each once, in order."""
    return tuple({value.json: value for value in values}.values())


def plainest(nodes: Iterable[Node]) -> Node:
    """Plain values, where there are any; else a list or an object."""
    found = list(nodes)
    plain = either(node for node in found if isinstance(node, OneOf))
    return plain if plain != NOTHING else either(found)


def either(nodes: Iterable[Node]) -> Node:
    """One of these; plain values are joined."""
    values: list[Value] = []
    others: list[Node] = []
    for node in nodes:
        if isinstance(node, OneOf):
            values += node.values
        elif isinstance(node, Either):
            others += node.nodes
        else:
            others.append(node)
    if not others:
        return OneOf(unique(values))
    ways: list[Node] = [OneOf(unique(values)), *others] if values else others
    return ways[0] if len(ways) == 1 else Either(tuple(ways))


def escaped(data: Any) -> Any:
    """A literal as it is written: text stands for itself."""
    return format_parts((data,)) if isinstance(data, str) else data


def unescaped(data: Any) -> Any:
    """As it is once it is read: what was escaped is itself again."""
    if isinstance(data, str):
        return "".join(part for part in parse_string(data) if isinstance(part, str))
    if isinstance(data, list):
        return [unescaped(each) for each in cast("list[Any]", data)]
    return data
