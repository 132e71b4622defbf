"""The next line: which tools may stand there, what each may be handed, and whether the plan may end.

Law: a tool may stand there if routing names it, its effect is asked for and not done yet, and all that it needs can be
had. Of results that it could be handed, those that nothing has used come first; what a search has found is only
deleted or changed where something narrowed the search, or the request says "all".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.checks.guards.asked import actions_of
from metnos.checks.guards.effects import mildest
from metnos.checks.lowering import takes
from metnos.checks.shapes import Kind
from metnos.contracts.kinds import accepts, is_open, reader_for
from metnos.plan.jsondata import is_object
from metnos.plan.spelling import is_plain
from metnos.propose.decode.arguments import Arguments, Entry, Known, compared, type_class
from metnos.propose.decode.choices import (
    END,
    SOURCE,
    Argument,
    Choice,
    Fork,
    Form,
    Group,
    Line,
    OneOf,
    Part,
    Value,
)
from metnos.propose.decode.offers import is_file_name
from metnos.propose.decode.state import admits, may_answer
from metnos.request.tokens import tokenise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.checks.bound import Bound
    from metnos.checks.guards.asked import Action
    from metnos.propose.decode.offers import Offers
    from metnos.propose.decode.state import Sofar
    from metnos.request.model import Request
    from metnos.sdk import EffectClass

MOST_STEPS: Final = 8
WIDE: Final = frozenset({"change", "delete", "send", "execute"})
"""Effects that do not happen to all that a search without a condition finds, unless "all" was said."""
FOLDERS: Final = frozenset({"folder", "dir", "directory"})
"""What an argument is called that takes a folder where another takes a path."""
OBJECTS: Final[frozenset[Kind]] = frozenset({"object"})
ITEM: Final = Value("${item}")
ALL: Final[dict[str, frozenset[str]]] = {
    "en": frozenset({"all", "every", "each", "any", "both", "everything"}),
    "it": frozenset({
        "tutto", "tutta", "tutti", "tutte", "ogni", "ciascun", "ciascuno", "ciascuna", "qualsiasi", "qualunque",
        "entrambi", "entrambe",
    }),
}  # fmt: skip
"""Language → words that say that nothing is left out."""


class Tools:
    """The tools of one request; made once a plan."""

    def __init__(self, bounds: Iterable[Bound], offers: Offers) -> None:
        self.offers = offers
        request = offers.request
        self.bounds = tuple(bound for bound in bounds if admits(request, mildest(bound.contract)))
        self.all = says_all(request)
        self.actions = actions_of(request)
        self.known: Known = {}

    def _admits(self, effect: EffectClass) -> bool:
        return admits(self.offers.request, effect)

    def line(self, sofar: Sofar, masked: frozenset[Choice] = frozenset()) -> Line:
        """What may come next.

        Args:
            sofar: The plan so far.
            masked: Choices that are closed at this line.
        """
        ends = sofar.covered and Choice(END) not in masked
        if sofar.number > MOST_STEPS:
            return Line(sofar.number, (), ends)
        left = MOST_STEPS - len(sofar.steps)
        bounds = [bound for bound in self.bounds if self._is_due(bound, sofar, hurry=left <= len(sofar.missing))]
        forms = [form for bound in bounds for form in self.forms(bound, sofar, masked)]
        return Line(sofar.number, tuple(forms), ends)

    def _is_due(self, bound: Bound, sofar: Sofar, *, hurry: bool) -> bool:
        """An effect is done as often as it was asked for; with few lines left only what is missing."""
        contract = bound.contract

        def may(action: Action) -> bool:
            return may_answer(action, bound, self._admits)

        if hurry and sofar.missing and not any(map(may, sofar.missing)):
            return False
        if mildest(contract) == "read":
            return True
        asked = [action for action in self.actions if action.effectful and may(action) and self.is_meant(action, bound)]
        return any(action in sofar.missing for action in asked) or sofar.done(asked) < len(asked)

    def is_meant(self, action: Action, bound: Bound) -> bool:
        """Where some tool acts on just what was said (files, folders), the others are not meant."""
        said = action.intent.object
        if not said or _acts_on(bound, said):
            return True
        return not any(may_answer(action, other, self._admits) and _acts_on(other, said) for other in self.bounds)

    # --- one tool

    def forms(self, bound: Bound, sofar: Sofar, masked: frozenset[Choice] = frozenset()) -> list[Form]:
        """The ways to write a step of a tool here; none: something that it needs cannot be had."""
        name = bound.contract.name
        if Choice(name) in masked:
            return []
        sources = self._sources(bound, sofar, masked)
        groups = [(number,) for number in sources] if bound.contract.field_of_input else [sources] if sources else []
        found = [self._handed(bound, sofar, each) for each in groups]
        consumes = bound.contract.consumes
        ready = consumes is not None and consumes.into in bound.contract.own_text and not self.offers.quoted
        if not (ready and any(number not in sofar.consumed for number in sources)):
            found.append(self._worded(bound, sofar))
        found.append(self._each(bound, sofar))
        return [form for each in found if each is not None and (form := without(each, masked)) is not None]

    def can_feed(self, bound: Bound) -> bool:
        """Whether another tool makes what this one is handed, and the request says which of it."""
        kinds = bound.contract.consumes.kinds if bound.contract.consumes is not None else ()
        makers = (other.contract for other in self.bounds if other is not bound)
        made = any(
            maker.produces is not None
            and (accepts(kinds, maker.produces.kind) or reader_for(maker.produces.kind, kinds) is not None)
            for maker in makers
        )
        return made and (self.all or self.offers.narrows or mildest(bound.contract) not in WIDE)

    def can_write(self, bound: Bound, name: str, sofar: Sofar) -> bool:
        """Whether something may be written for an argument, in words."""
        return Arguments(bound, sofar, self.offers, known=self.known).argument(name, required=True) is not None

    def _sources(self, bound: Bound, sofar: Sofar, masked: frozenset[Choice]) -> tuple[int, ...]:
        name = bound.contract.name
        fitting = [
            number
            for number, made in enumerate(sofar.made, start=1)
            if takes(bound, made)
            and not made.runs_if
            and Choice(name, SOURCE, str(number)) not in masked
            and name not in sofar.consumed.get(number, ())
            and not (sofar.steps[number - 1]["tool"] == name and not bound.contract.field_of_input)
            and self._is_narrow(bound, sofar, number)
        ]
        fresh = [each for each in fitting if each not in sofar.consumed and sofar.effect(each) == "read"]
        return tuple(fresh or fitting)

    def _is_narrow(self, bound: Bound, sofar: Sofar, number: int) -> bool:
        if self.all or mildest(bound.contract) not in WIDE:
            return True
        return any(
            not isinstance(value, bool)
            for step in sofar.behind(number)
            for name, value in sofar.steps[step.number - 1]["args"].items()
            if name not in ("from_step", "from_steps")
        )

    def _handed(self, bound: Bound, sofar: Sofar, sources: tuple[int, ...]) -> Form | None:
        made = sofar.made[sources[0] - 1]
        entry = Entry(made.entry, made.kind is not None and is_open(made.kind))
        parts = _Parts(Arguments(bound, sofar, self.offers, entry, self.known), left_out=bound.words).parts()
        if parts is None:
            return None
        form = Form(bound.contract.name, sources, parts)
        if mildest(bound.contract) == "read":
            return form
        # What was searched for, or searched in, is not where it goes.
        naming = {*bound.contract.targets, *bound.contract.trusted}
        behind = {step.number for number in sources for step in sofar.behind(number)}
        used = {
            Value(each).json for at in behind for each in sofar.steps[at - 1]["args"].values() if isinstance(each, str)
        }
        return without(form, frozenset(Choice(form.tool, name, value) for name in naming for value in used))

    def _worded(self, bound: Bound, sofar: Sofar) -> Form | None:
        """The input, if there is one, is named in words."""
        parts = _Parts(Arguments(bound, sofar, self.offers, known=self.known)).parts()
        return None if parts is None else Form(bound.contract.name, (), parts)

    def _each(self, bound: Bound, sofar: Sofar) -> Form | None:
        """One step for every name of a list that was said."""
        consumes = bound.contract.consumes
        if (
            consumes is None
            or consumes.many
            or not self.offers.lists
            or "string" not in bound.args[consumes.into].kinds
        ):
            return None
        parts = _Parts(Arguments(bound, sofar, self.offers, known=self.known), fixed={consumes.into: ITEM}).parts()
        return None if parts is None else Form(bound.contract.name, (), parts, each=self.offers.lists[0])


class _Parts:
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
        optional = [self._argument(name, required=False) for name in self.arguments.properties if name not in skipped]
        return (*found, *(each for each in optional if each is not None))

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
            parts: list[Argument | None] = [Argument(name, OneOf(tuple(fields)))]
            for other in rest:
                only = compared(self.arguments.offers, kind) if other in free else None
                parts.append(self.arguments.argument(other, required=True, only=only))
            whole = [part for part in parts if part is not None]
            if len(whole) == len(parts):
                ways.append(tuple(whole))
        return Fork(tuple(ways))

    def _is_free(self, name: str) -> bool:
        """It takes values of several types, so the field decides."""
        schema = self.arguments.properties.get(name)
        named = schema.get("type") if is_object(schema) else None
        return isinstance(named, list) and "string" in named and ("number" in named or "integer" in named)


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


def _acts_on(bound: Bound, thing: str) -> bool:
    return any(family.object == thing for family in bound.contract.families)


def says_all(request: Request) -> bool:
    """Whether the request says "all", "every" and the like."""
    words = ALL.get(request.language, frozenset())
    return any(token.key in words for token in tokenise(request.text) if token.kind == "word")
