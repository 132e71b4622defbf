"""Which values of the request a plan has used, and which it still has to.

Law: what a person says narrows what they want, so a plan that leaves a value out is an answer to another request. A
value that no argument of any line could have taken is part of the sentence, and asks for nothing. And it is used once:
a number that says how many is not a size as well. Names of files and folders may come again, and everything may behind
a step with an effect, since what is there has changed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from metnos.plan.jsondata import is_list, is_object
from metnos.propose.decode.choices import Argument, Fork, Form, Group, Node, OneOf, Part, Several, Value
from metnos.propose.decode.offers import KIND_FORMS, TYPED
from metnos.propose.decode.said import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from metnos.checks.bound import Bound
    from metnos.propose.decode.offers import Offers
    from metnos.propose.decode.state import Sofar

ONCE: Final = TYPED | {"quoted"}
"""Kinds of slots whose value is used once."""
NAMES: Final = frozenset({"path", "glob"})
"""Kinds of slots that say which files."""
TIME: Final = "time"
"""The kind of what a clock says: who asks which day today is has had the day."""
TIMES: Final = frozenset({"date", "period", "duration"})
INPUTS: Final = frozenset({"from_step", "from_steps"})
Forms = frozenset[str]
"""JSON of all forms of one value."""


class Must(NamedTuple):
    """What a line has to say."""

    forms: Forms
    tool: str = ""
    """By this tool; empty: by any."""
    named: bool = False
    """It is a name: it says which file or folder, and never what a field of it holds."""
    held: bool = False
    """It stands in the cells of a table: it says which rows, and never which file."""


class Told(NamedTuple):
    """A value of the request."""

    kind: str
    text: str
    """As said; empty: it stands nowhere by itself."""
    forms: Forms


class Values:
    """The values of one request."""

    def __init__(self, offers: Offers) -> None:
        self._held = offers.held
        self._rows = {start: Must(forms, held=True) for start, forms in offers.held.owed.items()}
        slots = [slot for slot in offers.slots if not offers.held.covers(slot.start)]
        typed = [Told(slot.kind, slot.text, forms) for slot in slots if (forms := offers.forms(slot))]
        slotted = {form for told in typed for form in told.forms}
        places = [str(value.data) for value in offers.places if value.json not in slotted]
        bare = [Told("path", name, frozenset({plain(name).json, plain(f"*{name}*").json})) for name in places]
        kinds = [
            Told("glob", word, frozenset(plain(form.format(word.lower())).json for form in KIND_FORMS))
            for word in offers.kinds
        ]
        kinds += [Told("glob", "", frozenset({plain(glob).json})) for glob in dict.fromkeys(offers.families.values())]
        empty = [Told("size", "", frozenset({Value(0).json}))] if offers.mentions("zero") else []
        self.all: tuple[Told, ...] = (*typed, *bare, *kinds, *empty)
        self._cut = offers.cut
        self.once: Counter[Forms] = Counter(told.forms for told in typed if told.kind in ONCE)

    def left(self, sofar: Sofar) -> tuple[Must, ...]:
        """Those that no step has used, as what a line has to say."""
        used = {each for step in sofar.steps for each in _written(step)}
        texts = [json.loads(each) for each in used if each.startswith('"')]
        timed = any(made.kind == TIME for made in sofar.made)
        wanted = [told for told in self.all if not (timed and told.kind in TIMES)]
        left = [told for told in wanted if used.isdisjoint(told.forms) and not any(_stands_in(told, t) for t in texts)]
        rows = (must for must in self._rows.values() if used.isdisjoint(must.forms))
        return tuple(dict.fromkeys((*(Must(told.forms, named=told.kind in NAMES) for told in left), *rows)))

    def rows(self, sofar: Sofar) -> Must | None:
        """What says which rows of the table that was read are meant, and no step has used; None: nothing, or it can wait."""
        used = {each for step in sofar.steps for each in _written(step)}
        if len(self._held.tables) != 1 or plain(self._held.tables[0]).json not in used:
            return None
        return next((must for must in self._rows.values() if used.isdisjoint(must.forms)), None)

    def cut(self, sofar: Sofar) -> int:
        """How many names are written that may be only a part of what was said."""
        return len(self._cut & {each for step in sofar.steps for each in _written(step)})

    def spent(self, sofar: Sofar) -> frozenset[str]:
        """Forms of those that have been used as often as they were said, since something was changed."""
        if not self.once or not sofar.steps:
            return frozenset()
        last = max((at for at in range(1, sofar.number) if sofar.effect(at) != "read"), default=0)
        used = [set(_written(step)) for step in sofar.steps[last:]]
        return frozenset(
            each
            for forms, said in self.once.items()
            if sum(not forms.isdisjoint(written) for written in used) >= said
            for each in forms
        )


def unspent(form: Form, bound: Bound, spent: frozenset[str]) -> Form | None:
    """The form without values that were used already; None: nothing is left of what it needs."""
    if not spent:
        return form
    contract = bound.contract
    properties = cast("dict[str, Any]", contract.args.get("properties", {}))
    kept = {*contract.targets, *contract.trusted, *contract.field_of_input}
    kept |= {name for name, schema in properties.items() if is_object(schema) and "enum" in schema}

    def keep(argument: Argument) -> Argument | None:
        if argument.name in kept:
            return argument
        return _with(argument, lambda value: value.json not in spent)

    parts = _each(form.parts, keep)
    return None if parts is None else Form(form.tool, form.sources, parts, form.each)


def saying(form: Form, must: Must) -> list[Form]:
    """The ways to write a form that say a value: one for each argument that can."""
    if must.tool not in ("", form.tool):
        return []
    if form.each is not None and not must.forms.isdisjoint(_leaves(form.each.data)):
        return [form]
    return [Form(form.tool, form.sources, parts, form.each) for parts in _saying(form.parts, must.forms)]


def _saying(parts: tuple[Part, ...], forms: Forms) -> Iterator[tuple[Part, ...]]:
    for at, part in enumerate(parts):
        for way in _told(part, forms):
            yield (*parts[:at], *way, *parts[at + 1 :])


def _told(part: Part, forms: Forms) -> Iterator[tuple[Part, ...]]:
    if isinstance(part, Argument):
        found = _with(part, forms.__contains__, by_json=True)
        if found is not None and _holds(found.node, forms):
            yield (Argument(part.name, found.node),)
    elif isinstance(part, Group):
        for each in part.arguments:
            yield from _told(each, forms)
    else:
        for way in part.ways:
            yield from _saying(way, forms)


def _with(argument: Argument, wanted: Callable[[Any], bool], *, by_json: bool = False) -> Argument | None:
    node = argument.node
    if isinstance(node, OneOf):
        values = tuple(value for value in node.values if wanted(value.json if by_json else value))
        return Argument(argument.name, OneOf(values), argument.required) if values else None
    if isinstance(node, Several) and not by_json:
        items = tuple(value for value in node.items if wanted(value))
        if len(items) < node.least:
            return None
        return Argument(argument.name, Several(items, node.least, min(node.most, len(items))), argument.required)
    return argument


def _holds(node: Node, forms: Forms) -> bool:
    """Whether all that may be written there says the value; of a list, whether its only item does."""
    if isinstance(node, OneOf):
        return all(value.json in forms for value in node.values)
    return isinstance(node, Several) and len(node.items) == 1 and node.items[0].json in forms


def _each(parts: tuple[Part, ...], keep: Callable[[Argument], Argument | None]) -> tuple[Part, ...] | None:
    found: list[Part] = []
    for part in parts:
        if isinstance(part, Argument):
            kept = keep(part)
            if kept is not None:
                found.append(kept)
            elif part.required:
                return None
        elif isinstance(part, Group):
            members = [kept for each in part.arguments if (kept := keep(each)) is not None]
            if not members:
                return None
            found.append(Group(tuple(members)))
        else:
            ways = tuple(way for each in part.ways if (way := _each(each, keep)) is not None)
            if not ways:
                return None
            found.append(Fork(ways))
    return tuple(found)


def _stands_in(told: Told, text: str) -> bool:
    """Whether a text that is written holds the value: a passage, or a file of that kind."""
    if told.kind == "glob":
        return any(text.endswith(json.loads(form).lstrip("*")) for form in told.forms if "." in form)
    words = told.text.strip("\"'`“”‘’«»„ ")
    return bool(words) and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None


def _written(step: dict[str, Any]) -> Iterator[str]:
    args = cast("dict[str, Any]", step["args"])
    values = [value for name, value in args.items() if name not in INPUTS]
    yield from _leaves([*values, step.get("for_each")])


def _leaves(data: Any) -> Iterator[str]:
    if is_list(data):
        for each in data:
            yield from _leaves(each)
    elif is_object(data):
        for each in data.values():
            yield from _leaves(each)
    elif isinstance(data, str) or (isinstance(data, int | float) and not isinstance(data, bool)):
        yield Value(data).json


def once_each(musts: Iterable[Must], form: Form) -> list[Form]:
    """The ways to write a form that say all of these."""
    forms = [form]
    for must in musts:
        forms = [said for each in forms for said in saying(each, must)]
    return forms
