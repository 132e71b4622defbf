"""What was done and is not done again: a search that says nothing new, a figure that nobody asked for twice.

Law: the world is looked at anew only for a value that no step has said yet, behind an effect, or for a clause of its own.
A step that could only repeat another gives a model a wrong way to go, and makes the right way a surprise to it.

| the step | is enough once |
|---|---|
| reads what the request names, by the same tool | every value that it could be given has been given to that tool |
| looks for files, where texts in files have been looked for | there is no further clause that asks to read |
| a figure | there are as many as words that ask for one |
| looks for texts in files, or at the clock | never, where rows of tables are read; where they are all that is read |
| reads the files that a search has found | never, where all that is asked is which files there are |
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from metnos.checks.guards.effects import mildest
from metnos.plan.jsondata import is_list
from metnos.propose.decode.choices import Argument, Choice, Either, Fields, Group, Listed, OneOf, Value
from metnos.propose.decode.state import is_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from metnos.checks.bound import Bound
    from metnos.propose.decode.called import Called
    from metnos.propose.decode.choices import Form, Node, Part
    from metnos.propose.decode.offers import Offers
    from metnos.propose.decode.state import Plan, Sofar

FIGURES: Final = "stats"
MATCHES: Final = "match"
READING: Final = "read"
"""Verb of what reads files."""
MOVING: Final = frozenset({"delete", "move", "copy", "rename"})
"""Verbs of what is done to files without a look into them."""
ORDERING: Final = frozenset({"sort", "take", "group", "dedupe", "join", "filter", "select"})
"""Verbs of what is done with lists, and not with the one file that is named."""
ANEW: Final = "to"
"""The argument that is a new name."""
_INPUTS: Final = frozenset({"from_step", "from_steps"})


class Enough:
    """What one request needs no more than once."""

    def __init__(self, called: Called) -> None:
        self._called = called

    def is_done(self, bound: Bound, sofar: Sofar) -> bool:
        """Whether as many figures are there as words ask for one (none, where the most of all is asked for), or the files are
        there that are all that is asked for.
        """
        if sofar.context.earlier_steps:
            return False
        if is_for(bound, "find", "texts") and self._called.rows.reads and not self._called.inside:
            return True
        if is_for(bound, "get", "now") and self._called.rows.alone:
            return True
        if not sofar.steps:
            return False
        if self._only_lists and any(family.verb == READING for family in bound.contract.families):
            return True
        if not is_for(bound, "compute", FIGURES):
            return False
        called = self._called
        plain = called.counted is None and called.amount is None
        if plain and ((called.mosts and not called.rows.reckons) or not called.figures):
            return True
        made = sum(each.kind == FIGURES for each in sofar.made)
        return 0 < self._called.figures <= made

    @cached_property
    def _only_lists(self) -> bool:
        """Whether the request asks which files there are, perhaps to do something with them, and nothing speaks of what is in
        them.
        """
        called = self._called
        clauses = called.offers.request.clauses
        intents = [intent for clause in clauses for intent in clause.intents]
        reading = [intent for intent in intents if intent.effect == "read"]
        if not intents or any(intent.verb != "find" or intent.object != "files" for intent in reading):
            return False
        lists = called.offers.lexicon.phrasal.lists
        listed = any(word.key in lists for word in called.words)
        if any(intent.effect != "read" and intent.verb not in MOVING and not listed for intent in intents):
            return False
        if len(clauses) > 1 and len(reading) == len(intents):
            return False
        return not called.inside and not called.has("contents") and not called.rows.reads

    def may_be_handed(self, bound: Bound, sofar: Sofar, number: int) -> bool:
        """Files that were looked through for a text are not read once more: what was found is what was asked for. A file that
        was found by its name is read or acted on; nothing is reckoned with it, or put in order.
        """
        if self._is_found_by_name(sofar, number):
            if any(family.verb in ORDERING for family in bound.contract.families):
                return False
            inside = self._called.rows.reads or self._called.has("contents") or bool(self._called.mosts)
            if inside and is_for(bound, "compute", FIGURES):
                return False
        if all(family.verb != READING for family in bound.contract.families):
            return True
        users = (step.number for step in sofar.checked.steps if number in step.waits)
        return all(sofar.made[at - 1].kind != MATCHES for at in users)

    def _is_found_by_name(self, sofar: Sofar, number: int) -> bool:
        args = sofar.steps[number - 1]["args"]
        named = any(isinstance(data, str) and data in self._called.offers.below for data in args.values())
        return named and "from_step" not in args

    def unnamed(self, form: Form, sofar: Sofar) -> frozenset[Choice]:
        """New names that a file may not be given which was found below by its bare name: it would leave its folder for here."""
        if not any(self._is_found_by_name(sofar, number) for number in form.sources):
            return frozenset()
        parts = (part for part in form.parts for part in ((part,) if isinstance(part, Argument) else _arguments(part)))
        return frozenset(
            Choice(form.tool, part.name, value.json)
            for part in parts
            if part.name == ANEW and isinstance(part.node, OneOf)
            for value in part.node.values
            if "/" not in str(value.data)
        )

    def is_plain(self, sofar: Sofar, number: int) -> bool:
        """Whether a step only reads the file that is named and was found before: nothing else could be meant."""
        step = sofar.checked.steps[number - 1]
        reads = any(family.verb == READING for family in step.contract.families)
        return reads and bool(step.waits) and all(self._is_found_by_name(sofar, at) for at in step.waits)

    def is_old(self, form: Form, bound: Bound, sofar: Sofar) -> bool:
        """Whether a step would look at the world for what was looked at already."""
        if form.sources or form.each is not None or not sofar.steps or sofar.context.earlier_steps:
            return False
        if mildest(bound.contract) != "read" or bound.contract.produces is None:
            return False
        before = [step for step in sofar.since_changed if not _INPUTS & step["args"].keys()]
        same = [step for step in before if step["tool"] == bound.contract.name]
        if not same and self._is_looked_into(bound, sofar):
            same = before
        said = {value for step in same for value in _written(step)}
        return bool(same) and said.issuperset(_offered(form.parts))

    def _is_looked_into(self, bound: Bound, sofar: Sofar) -> bool:
        """Texts in files have been looked for, and no further clause asks to look for files."""
        if not is_for(bound, "find", "files") or all(made.kind != MATCHES for made in sofar.made):
            return False
        clauses = self._called.offers.request.clauses
        return sum(any(intent.effect == "read" for intent in clause.intents) for clause in clauses) <= 1


def still_to_find(offers: Offers, sofar: Sofar) -> list[str]:
    """Bare names of files below that no step has looked for."""
    said = {data for step in sofar.steps for data in step["args"].values() if isinstance(data, str)}
    return [name for name in offers.below if name not in said]


def _arguments(part: Part) -> Iterator[Argument]:
    if isinstance(part, Group):
        yield from part.arguments
    elif not isinstance(part, Argument):
        for way in part.ways:
            for each in way:
                yield from (each,) if isinstance(each, Argument) else _arguments(each)


def _written(step: Plan) -> Iterator[str]:
    for data in step["args"].values():
        for each in data if is_list(data) else (data,):
            yield Value(each).json


def _offered(parts: Iterable[Part]) -> Iterator[str]:
    """JSON of every value that may be written, but for options that are on or off."""
    for part in parts:
        if isinstance(part, Argument):
            yield from _of_node(part.node)
        elif isinstance(part, Group):
            yield from _offered(part.arguments)
        else:
            for way in part.ways:
                yield from _offered(way)


def _of_node(node: Node) -> Iterator[str]:
    if isinstance(node, OneOf):
        yield from (value.json for value in node.values if not isinstance(value.data, bool))
    elif isinstance(node, Listed):
        yield from _of_node(node.item)
    elif isinstance(node, Fields):
        for field in node.fields:
            yield from _of_node(field.node)
    elif isinstance(node, Either):
        for each in node.nodes:
            yield from _of_node(each)
    else:
        yield from (item.json for item in node.items)
