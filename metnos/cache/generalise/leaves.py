"""The leaves of a plan: every scalar with its place, and what kind of thing it is there.

Law: this module reads a plan's shape and the contracts, never a request. What no contract explains is `data`, which is
the strictest role: it may hold a slot, and counts as a literal that somebody wrote.

| role | is | may hold a slot |
|---|---|---|
| `data` | an argument, an item of `for_each`, a terminal's text or data | yes |
| `plain` | text in which references do not count: a filler's prompt | yes |
| `list` | a list, before its items | as a whole |
| `key` | a key of an object that no contract names | no, as a word |
| `word` | names: tools, ids, keys, values of an enum, fields of the input | no: a value that is equal stays in the key |
| `position` | step numbers, flags | no, and it is not compared |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, cast

from metnos.contracts.catalog import Catalog
from metnos.contracts.model import Contract
from metnos.plan.jsondata import is_list, is_object, pointer
from metnos.plan.spelling import parse_string

Role = Literal["data", "plain", "list", "key", "word", "position"]
_POSITIONS = frozenset(("from_step", "from_steps"))
_NOTHING: Mapping[str, Any] = {}
_NO_DEFAULT = object()


class Leaf(NamedTuple):
    """One scalar (or list) of a plan."""

    place: str
    value: Any
    role: Role
    schema: Mapping[str, Any] = _NOTHING
    """Of the argument, where its contract says one."""
    pattern: bool = False
    """It is a pattern: a regular expression or a glob."""

    @property
    def is_default(self) -> bool:
        """Whether it is what the contract would have put there."""
        default = self.schema.get("default", _NO_DEFAULT)
        return default is not _NO_DEFAULT and type(default) is type(self.value) and default == self.value


def leaves(plan: dict[str, Any], catalog: Catalog) -> Iterator[Leaf]:
    """Every leaf, in the plan's own order. Tools are in `catalog`; the plan has the form of a Framework."""
    for key, value in plan.items():
        if key == "steps":
            for index, step in enumerate(value):
                yield from _step(step, pointer("", "steps", index), catalog)
        elif key == "fillers":
            for name, filler in value.items():
                yield from _filler(name, filler, pointer("", "fillers", name))
        else:
            yield from _words(value, pointer("", key))


def _step(step: dict[str, Any], where: str, catalog: Catalog) -> Iterator[Leaf]:
    contract = catalog.get(step["tool"])
    for key, value in step.items():
        here = pointer(where, key)
        if key == "args" and contract is not None:
            for name, argument in value.items():
                yield from _argument(name, argument, pointer(here, name), contract, value)
        elif key == "args":
            for name, argument in value.items():
                yield from _data(argument, pointer(here, name), _NOTHING)
        elif key == "for_each":
            yield from _data(value, here, _NOTHING)
        elif key == "when":
            yield from _words(list(value.values()), here)
        else:
            yield from _words(value, here)


def _argument(name: str, value: Any, where: str, contract: Contract, args: Mapping[str, Any]) -> Iterator[Leaf]:
    if name in _POSITIONS:
        yield from _words(value, where)
        return
    properties = cast("dict[str, Any]", contract.args.get("properties", {}))
    schema: Any = properties.get(name)
    if name in contract.field_of_input:
        yield from _words(value, where)
        return
    if not is_object(schema):
        yield Leaf(where, name, "key")
        schema = {}
    yield from _data(value, where, schema, pattern=_is_pattern(name, args, properties))


def _is_pattern(name: str, args: Mapping[str, Any], properties: Mapping[str, Any]) -> bool:
    """Whether marks in this argument may mean something; where the contract has a `syntax`, it says so."""
    if "syntax" in properties:
        return args.get("syntax", properties["syntax"].get("default")) != "text"
    return name in {"pattern", "glob", "regex"} or args.get("op") == "matches"


def _filler(name: str, filler: dict[str, Any], where: str) -> Iterator[Leaf]:
    yield Leaf(where, name, "word")
    for key, value in filler.items():
        here = pointer(where, key)
        if key == "prompt" and isinstance(value, str):
            yield Leaf(here, value, "plain")
        else:
            yield from _words(value, here)


def _data(value: Any, where: str, schema: Mapping[str, Any], *, pattern: bool = False) -> Iterator[Leaf]:
    if is_object(value):
        properties: Any = schema.get("properties", {})
        for key, item in value.items():
            inner = properties.get(key) if is_object(properties) else None
            if inner is None:
                yield Leaf(pointer(where, key), key, "key")
            yield from _data(item, pointer(where, key), inner if is_object(inner) else _NOTHING, pattern=pattern)
    elif is_list(value):
        yield Leaf(where, value, "list", schema)
        items: Any = schema.get("items", {})
        for index, item in enumerate(value):
            yield from _data(item, pointer(where, index), items if is_object(items) else _NOTHING, pattern=pattern)
    elif value is None or isinstance(value, bool):
        yield Leaf(where, value, "position")
    elif "enum" in schema or "const" in schema:
        yield Leaf(where, value, "word", schema)
    else:
        yield Leaf(where, value, "data", schema, pattern)


def _words(value: Any, where: str) -> Iterator[Leaf]:
    """Names all the way down; numbers and flags are positions."""
    if is_object(value):
        for key, item in value.items():
            yield Leaf(pointer(where, key), key, "word")
            yield from _words(item, pointer(where, key))
    elif is_list(value):
        for index, item in enumerate(value):
            yield from _words(item, pointer(where, index))
    elif isinstance(value, str):
        yield Leaf(where, _spoken(value), "word")
    else:
        yield Leaf(where, value, "position")


def _spoken(text: str) -> str:
    """A name as it is meant: doubled dollars are one, as in every text that may hold references."""
    if "$$" not in text:
        return text
    parts = parse_string(text)
    return "".join(part for part in parts if isinstance(part, str)) if all(isinstance(p, str) for p in parts) else text
