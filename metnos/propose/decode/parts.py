"""The arguments of one form of a step, put together; and what is left of it where choices are closed.

Law: required ones first, then one of each group, then those that may be left out. No name stands twice in one step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from metnos.checks.shapes import Kind
from metnos.plan.jsondata import is_object
from metnos.plan.spelling import is_plain
from metnos.propose.decode.choices import SOURCE, Argument, Choice, Fork, Form, Group, OneOf, Part, Value
from metnos.propose.decode.endings import is_file_name
from metnos.propose.decode.entry import compared, figures_and_times, type_class

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.propose.decode.arguments import Arguments

FOLDERS: Final = frozenset({"folder", "dir", "directory"})
"""What an argument is called that takes a folder where another takes a path."""
SINCE: Final = "_from"
UNTIL: Final = "_to"
"""How two arguments end that are the beginning and the end of one time."""
UNORDERED: Final = frozenset({"text", "name", "ending", "boolean"})
ORDERING: Final = frozenset({"lt", "le", "gt", "ge"})
"""Comparisons that mean nothing of what has no order."""
OBJECTS: Final[frozenset[Kind]] = frozenset({"object"})


class Parts:
    """The arguments of a form: required ones first, then one of each group, then those that may be left out."""

    def __init__(
        self, arguments: Arguments, left_out: frozenset[str] = frozenset(), fixed: dict[str, Value] | None = None
    ) -> None:
        self.arguments = arguments
        self.bound = arguments.bound
        self.left_out = left_out
        self.fixed = fixed or {}

    def parts(self) -> tuple[Part, ...] | None:
        contract = self.bound.contract
        groups = [group for group in contract.requires_one_of if self.left_out.isdisjoint(group)]
        grouped = {name for group in groups for name in group}
        required = [
            name for name in self.arguments.properties if name in self.bound.required and name not in self.left_out
        ]
        found: list[Part] = []
        for at, name in enumerate(required):
            fork = self._fork(name, required[at + 1 :])
            if fork is not None:
                if not fork.ways:
                    return None
                found.append(fork)
                break
            argument = self._argument(name, required=True)
            if argument is None:
                return None
            found.append(argument)
        for group in groups:
            if not set(group) & set(required):
                members = [each for name in group if (each := self._argument(name, required=True)) is not None]
                members = self._by_place(members)
                if not members:
                    return None
                found.append(Group(tuple(members)))
        found = list(self._apart(found))
        if found == [Fork(())]:
            return None
        skipped = {*required, *grouped, *self.left_out, contract.missing_arg}
        return (*found, *self._optional([name for name in self.arguments.properties if name not in skipped]))

    def _optional(self, names: list[str]) -> list[Part]:
        """What may be left out; the beginning and the end of a time stand together, if it is said as a whole."""
        found: list[Part] = []
        ends: set[str] = set()
        for name in names:
            end = f"{name.removesuffix(SINCE)}{UNTIL}"
            if name.endswith(SINCE) and end in names and self.arguments.is_time(name):
                ends.add(end)
                if (spell := self._spell(name, end)) is not None:
                    found.append(spell)
            elif name not in ends and (argument := self._argument(name, required=False)) is not None:
                found.append(argument)
        return found

    def _spell(self, start: str, end: str) -> Fork | None:
        offers = self.arguments.offers
        if offers.sides is not None:
            sides = zip((start, end), offers.sides, strict=True)
            return Fork((*((Argument(name, OneOf(values)),) for name, values in sides if values), ()))
        ways: list[tuple[Part, ...]] = [
            (Argument(start, OneOf((first,))), Argument(end, OneOf((last,)))) for first, last in offers.spells
        ]
        for name, alone in zip((start, end), offers.one_sided, strict=True):
            argument = self._argument(name, required=False) if alone else None
            if argument is not None:
                ways.append((Argument(name, argument.node),))
        return Fork((*ways, ())) if ways else None

    def _by_place(self, members: list[Argument]) -> list[Argument]:
        """Where a folder or a new name may be given: a name with an extension is none of a folder, and the reverse.

        Who asks to rename gives a new name, whatever it looks like.
        """
        if not any(member.name in FOLDERS for member in members):
            return members
        renames = any(intent.verb == "rename" for intent in self.arguments.offers.request.intents)
        found: list[Argument] = []
        for member in members:
            folder = member.name in FOLDERS
            if isinstance(member.node, OneOf):
                values = tuple(
                    value
                    for value in member.node.values
                    if not is_plain(str(value.data))
                    or (not folder if renames else is_file_name(str(value.data)) != folder)
                )
                if values:
                    found.append(Argument(member.name, OneOf(values), member.required))
            else:
                found.append(member)
        return found

    def _apart(self, parts: list[Part]) -> tuple[Part, ...]:
        """No name stands twice in one step: what is copied is not where it goes."""
        contract = self.bound.contract
        naming = {*contract.targets, *contract.trusted}
        if len(parts) < 2 or not isinstance(parts[0], Argument) or parts[0].name not in naming:
            return tuple(parts)
        first = parts[0]
        if not isinstance(first.node, OneOf):
            return tuple(parts)
        ways: list[tuple[Part, ...]] = []
        for value in first.node.values:
            rest = [_open(part, [Choice("", name, value.json) for name in naming]) for part in parts[1:]]
            if None not in rest:
                way = (Argument(first.name, OneOf((value,))), *(part for part in rest if part is not None))
                ways.append(way)
        return (Fork(tuple(ways)),)

    def _argument(self, name: str, *, required: bool) -> Argument | None:
        if name in self.fixed:
            return Argument(name, OneOf((self.fixed[name],)), required)
        consumes = self.bound.contract.consumes
        handed = consumes is not None and name == consumes.into  # that is written `<N`
        collections = () if handed else self.arguments.collections(name)
        if collections or self._takes_objects(name):
            return self.arguments.argument(name, required=required, only=collections) if collections else None
        found = self.arguments.argument(name, required=required)
        offers = self.arguments.offers
        if found is None or not offers.listed or name not in self.bound.words or not isinstance(found.node, OneOf):
            return found
        # What was said in one breath is acted on in one step: the list stands for its items.
        left = tuple(value for value in found.node.values if value.json not in offers.listed)
        return Argument(name, OneOf(left), required) if left else None

    def _takes_objects(self, name: str) -> bool:
        shapes = self.bound.args[name].only("array")
        return any(each.items is not None and each.items.kinds == OBJECTS for each in shapes)

    def _fork(self, name: str, rest: list[str]) -> Fork | None:
        """A field of the input, and what it is compared with: a value of the field's own type."""
        entry = self.arguments.entry
        free = [other for other in rest if self._is_free(other)]
        if name not in self.bound.contract.field_of_input or entry is None or not free:
            return None
        argument = self.arguments.argument(name, required=True)
        if argument is None or not isinstance(argument.node, OneOf):
            return Fork(())
        ways: list[tuple[Part, ...]] = []
        by_class: dict[str, list[Value]] = {}
        for value in argument.node.values:
            by_class.setdefault(type_class(entry, str(value.data)), []).append(value)
        for kind, fields in by_class.items():
            if kind == "any" and self.arguments.offers.held.known:
                ways += self._held(name, tuple(fields), rest, free)
                continue
            parts: list[Argument | None] = [Argument(name, OneOf(tuple(fields)))]
            for other in rest:
                only = compared(self.arguments.offers, kind) if other in free else None
                made = self.arguments.argument(other, required=True, only=only)
                parts.append(_unordered(made) if kind in UNORDERED and other not in free else made)
            whole = [part for part in parts if part is not None]
            if len(whole) == len(parts):
                ways.append(tuple(whole))
        return Fork(tuple(ways))

    def _held(
        self, name: str, fields: tuple[Value, ...], rest: list[str], free: list[str]
    ) -> Iterator[tuple[Part, ...]]:
        """The comparisons of columns whose cells are known."""
        offers = self.arguments.offers
        for way in offers.held.ways(fields, *figures_and_times(offers)):
            parts: list[Argument | None] = [Argument(name, OneOf((way.field,)))]
            for other in rest:
                values = tuple(value for value in way.values if str(value.data) not in offers.rows.spoken)
                only = values if other in free else None
                found = self.arguments.argument(other, required=True, only=only) if only != () else None
                if found is not None and other not in free and isinstance(found.node, OneOf):
                    ops = tuple(value for value in found.node.values if value.data in way.ops)
                    found = Argument(other, OneOf(ops)) if ops else None
                parts.append(found)
            whole = [part for part in parts if part is not None]
            if len(whole) == len(parts):
                yield tuple(whole)

    def _is_free(self, name: str) -> bool:
        """It takes values of several types, so the field decides."""
        schema = self.arguments.properties.get(name)
        named = schema.get("type") if is_object(schema) else None
        return isinstance(named, list) and "string" in named and ("number" in named or "integer" in named)


def _unordered(argument: Argument | None) -> Argument | None:
    """A comparison of words that have no order."""
    if argument is None or not isinstance(argument.node, OneOf):
        return argument
    values = tuple(value for value in argument.node.values if value.data not in ORDERING)
    return msgspec.structs.replace(argument, node=OneOf(values)) if values else None


def scoped(form: Form) -> Form | None:
    """The form with one argument at least that says where or which; None: it has none, so it would look at everything."""
    ways: list[tuple[Part, ...]] = []
    for at, part in enumerate(form.parts):
        if _is_switch(part):
            continue
        said = _said(part)
        if said is None:
            return form
        ways += [(said, *form.parts[at + 1 :])]
    return msgspec.structs.replace(form, parts=(Fork(tuple(ways)),)) if ways else None


def _is_switch(part: Part) -> bool:
    """Whether it only turns something on or off."""
    if not isinstance(part, Argument) or part.required or not isinstance(part.node, OneOf):
        return False
    return all(isinstance(value.data, bool) for value in part.node.values)


def _said(part: Part) -> Part | None:
    """A part that may be left out as one that may not; None: it never may."""
    if isinstance(part, Argument) and not part.required:
        return msgspec.structs.replace(part, required=True)
    if isinstance(part, Fork) and () in part.ways:
        return Fork(tuple(way for way in part.ways if way))
    return None


def without(form: Form, masked: frozenset[Choice]) -> Form | None:
    """The form without the choices that are closed; None: nothing is left of something that it needs."""
    closed = [choice for choice in masked if choice.tool == form.tool and choice.argument not in ("", SOURCE)]
    if not closed:
        return form
    parts: list[Part] = []
    for part in form.parts:
        kept = _open(part, closed)
        if kept is not None:
            parts.append(kept)
        elif not isinstance(part, Argument) or part.required:
            return None
    return Form(form.tool, form.sources, tuple(parts), form.each)


def _open(part: Part, closed: list[Choice]) -> Part | None:
    if isinstance(part, Argument):
        gone = {choice.written for choice in closed if choice.argument == part.name}
        if not gone:
            return part
        if not isinstance(part.node, OneOf):
            return None  # what it was made of is not told apart: the argument goes as a whole
        values = tuple(value for value in part.node.values if value.json not in gone)
        return Argument(part.name, OneOf(values), part.required) if values else None
    if isinstance(part, Group):
        members = [kept for each in part.arguments if isinstance(kept := _open(each, closed), Argument)]
        return Group(tuple(members)) if members else None
    ways = [_way(way, closed) for way in part.ways]
    left = tuple(way for way in ways if way is not None)
    return Fork(left) if left else None


def _way(way: tuple[Part, ...], closed: list[Choice]) -> tuple[Part, ...] | None:
    found = [_open(part, closed) for part in way]
    return None if None in found else tuple(part for part in found if part is not None)
