"""The next line: which tools may stand there, what each may be handed, and whether the plan may end.

Law: a tool may stand there if routing names it, its effect is asked for and not done yet, and all that it needs can be
had. Of results that it could be handed, those that nothing has used come first; what a search has found is only
deleted or changed where something narrowed the search, or the request says "all"; and what the request says of it (a
size, an age, a kind) must have been looked at on the way.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from metnos.checks.guards.asked import GENERAL, actions_of, verbs_of
from metnos.checks.guards.effects import mildest
from metnos.checks.lowering import takes
from metnos.checks.providers import provider_of
from metnos.contracts.kinds import accepts, is_open, reader_for
from metnos.plan.jsondata import is_list, is_object
from metnos.propose.decode.arguments import Arguments, Known
from metnos.propose.decode.choices import (
    END,
    SOURCE,
    Choice,
    Form,
    Line,
    Value,
)
from metnos.propose.decode.clauses import Afterwards
from metnos.propose.decode.columns import OPEN
from metnos.propose.decode.endings import endings_of
from metnos.propose.decode.entry import Entry, measuring
from metnos.propose.decode.formats import endings_of_siblings, reads
from metnos.propose.decode.offers import HERE
from metnos.propose.decode.parts import Parts, scoped, without
from metnos.propose.decode.placed import Must, Values, once_each, unspent
from metnos.propose.decode.searching import Searching
from metnos.propose.decode.state import admits, is_for, may_answer
from metnos.propose.decode.wanted import Wanted
from metnos.request.tokens import tokenise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metnos.checks.bound import Bound
    from metnos.checks.guards.asked import Action
    from metnos.propose.decode.offers import Offers
    from metnos.propose.decode.state import Plan, Sofar
    from metnos.request.model import Request
    from metnos.sdk import EffectClass

MOST_STEPS: Final = 8
WIDE: Final = frozenset({"change", "delete", "send", "execute"})
"""Effects that do not happen to all that a search without a condition finds, unless "all" was said."""
CASE: Final = "ignore_case"
"""The option by which upper and lower case are the same."""
NARROWING: Final = "filter"
ITEM: Final = Value("${item}")
ALL: Final[dict[str, frozenset[str]]] = {
    "en": frozenset({"all", "every", "each", "any", "everything"}),
    "it": frozenset({
        "tutto", "tutta", "tutti", "tutte", "ogni", "ciascun", "ciascuno", "ciascuna", "qualsiasi", "qualunque",
    }),
}  # fmt: skip
"""Language → words that say that nothing is left out."""


class Tools:
    """The tools of one request; made once a plan."""

    def __init__(self, bounds: Iterable[Bound], offers: Offers, providers: Iterable[str] = ()) -> None:
        self.offers = offers
        request = offers.request
        self.bounds = tuple(bound for bound in bounds if admits(request, mildest(bound.contract)))
        self.all = says_all(request)
        self.actions = actions_of(request)
        self.afterwards = Afterwards(offers)
        self.known: Known = {}
        self.values = Values(offers)
        self.formats = frozenset(ending for provider in providers for ending in endings_of(provider))
        self.siblings = endings_of_siblings(self.bounds)
        self.wanted = Wanted(offers, self.bounds, self.formats)
        self.searching = Searching(self.wanted.called, self.values)

    @cached_property
    def said(self) -> frozenset[str]:
        """JSON of what the request says of which ones: "the first", where no number was said, is none."""
        one = [Value(1).json] if any(most.one for most in self.wanted.called.mosts) else []
        names = (*self.offers.names, *self.offers.folders, *self.offers.globs, *self.offers.extensions)
        return frozenset((*(form for told in self.values.all for form in told.forms), *(n.json for n in names), *one,
                          *(value.json for value in (*self.offers.content, *self.offers.times))))  # fmt: skip

    @cached_property
    def _is_named(self) -> bool:
        """Whether the request names files that are there, and speaks of no others: nothing is to be searched everywhere."""
        offers = self.offers
        patterns = [each for each in offers.globs if each.json not in offers.files_there]
        others = offers.kinds or offers.families or patterns or offers.extensions
        return (
            bool(offers.files_there)
            and not others
            and not any(word.key in offers.lexicon.file_nouns for word in offers.words)
        )

    def _admits(self, effect: EffectClass) -> bool:
        return admits(self.offers.request, effect)

    def line(self, sofar: Sofar, masked: frozenset[Choice] = frozenset(), musts: Sequence[Must] = ()) -> Line:
        """What may come next.

        Args:
            sofar: The plan so far.
            masked: Choices that are closed at this line.
            musts: Values that this line has to say.
        """
        early = bool(musts) or sofar.number >= MOST_STEPS or self.wanted.waits(sofar)
        row = None if early else self.values.rows(sofar)
        if row is not None and (forms := self._said(self.bounds, sofar, masked, (row,))):
            return Line(sofar.number, tuple(forms), False)
        ends = not musts and sofar.covered and Choice(END) not in masked
        if sofar.number > MOST_STEPS:
            return Line(sofar.number, (), ends)
        left = MOST_STEPS - len(sofar.steps)
        bounds = [bound for bound in self.bounds if self._is_due(bound, sofar, hurry=left <= len(sofar.missing))]
        called = [bound for bound in bounds if self.wanted.is_due(bound, sofar)]
        owed = self.wanted.owed(sofar)
        if owed and left <= len(sofar.missing) + len(owed) + 1:
            called = [bound for bound in called if owed[0] in verbs_of(bound.contract)] or called
        forms = self._said(called, sofar, masked, musts)
        last = ends and self.wanted.may_end(sofar)
        if not (forms or last or ends or musts):  # what the words call for cannot be had
            forms = self._said(bounds, sofar, masked, musts)
        return Line(sofar.number, tuple(forms), last or (ends and not forms))

    def _said(
        self, bounds: Iterable[Bound], sofar: Sofar, masked: frozenset[Choice], musts: Sequence[Must]
    ) -> list[Form]:
        named = any(must.named for must in musts)
        bounds = [bound for bound in bounds if not (named and bound.contract.field_of_input)]
        if any(must.held for must in musts):
            bounds = [bound for bound in bounds if may_repeat(bound) and bound.contract.field_of_input]
        forms = (form for bound in bounds for each in self.forms(bound, sofar, masked)
                 for form in (self.searching.forms(each, bound, sofar) if not musts else (each,)))  # fmt: skip
        return [said for form in forms for said in once_each(musts, form)]

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
        verb, said = action.intent.verb, action.intent.object
        able = [other for other in self.bounds if may_answer(action, other, self._admits)]
        just = [other for other in able if is_for(other, verb, said)] if verb != GENERAL else []
        just = just or [other for other in able if verb != GENERAL and verb in verbs_of(other.contract)]
        if verb == GENERAL and self.offers.mentions(GENERAL):
            just = [other for other in able if is_for(other, verb, said)]
        just = just or [other for other in able if said and _acts_on(other, said)]
        return not just or bound in just

    def completed(self, step: Plan) -> Plan:
        """A step with what is never asked about: who says a word or a kind of file does not say its case; with the one of
        several ways that the request names ("md5"), where the step names none; and with what a column that is left open may
        be called.
        """
        bound = next((bound for bound in self.bounds if bound.contract.name == step["tool"]), None)
        if bound is None or mildest(bound.contract) != "read":
            return step
        properties: dict[str, Any] = bound.contract.args.get("properties", {})
        args: dict[str, Any] = in_folder(step["args"], properties, self.offers.below_folders)
        step = {**step, "args": args}
        told = {name: way for name, schema in properties.items() if name not in args and (way := self._way(schema))}
        sought = [
            name
            for name in args
            if name in bound.contract.own_text or "*" in str(properties.get(name, {}).get("default", ""))
        ]
        sought += self._rows_said(bound, args)
        cased = {CASE: True} if sought and CASE in bound.args and CASE not in args else {}
        left = {name: f"{args[name]}{called}" for name in measuring(bound) if args.get(name) == OPEN.data
                and (called := self.offers.rows.called)}  # fmt: skip
        return {**step, "args": {**args, **told, **cased, **left}} if told or cased or left else step

    def _rows_said(self, bound: Bound, args: dict[str, Any]) -> list[str]:
        """The arguments that hold what stands in a table, whatever its case there."""
        if not bound.contract.field_of_input or OPEN.data in args.values():
            return []
        held = frozenset(form for cell in self.offers.held.cells for form in self.offers.held.forms(cell))
        return [name for name, data in args.items() if isinstance(data, str | list) and Value(data).json in held]

    @cached_property
    def names_a_way(self) -> bool:
        """Whether nothing is to be changed, and the request names one of the ways in which some tool reads ("md5")."""
        if self.offers.acts:
            return False
        reading = (bound.contract for bound in self.bounds if mildest(bound.contract) == "read")
        return any(self._way(schema) for each in reading for schema in each.args.get("properties", {}).values())

    def _way(self, schema: Any) -> str:
        """Of several ways the one that the request names by what is no everyday word; empty: none, or more than one."""
        if not is_object(schema):
            return ""
        ways = [each for each in schema.get("enum", ()) if isinstance(each, str) and any(map(str.isdigit, each))]
        said = [each for each in ways if each != schema.get("default") and self.offers.says(each)]
        return said[0] if len(said) == 1 else ""

    def _arguments(self, bound: Bound, sofar: Sofar, entry: Entry | None = None) -> Arguments:
        formats = self.siblings.get(bound.contract.name, frozenset())
        return Arguments(bound, sofar, self.offers, entry, self.known, formats)

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
            found.append(self._elsewhere(self._worded(bound, sofar), bound, sofar, sources))
        found.append(self._each(bound, sofar))
        spent = self.values.spent(sofar)
        if self._is_named and is_for(bound, "find", "files"):
            found = [each and scoped(each) for each in found]
        shaped = (each and self.wanted.shaped(each, bound, sofar) for each in found)
        closed = masked | self._elsewhere_said(bound)
        enough = self.wanted.enough
        left = [without(each, closed | enough.unnamed(each, sofar)) for each in shaped if each is not None]
        kept = (unspent(each, bound, spent) for each in left if each is not None)
        return [form for form in kept if form is not None and not enough.is_old(form, bound, sofar)]

    def _elsewhere_said(self, bound: Bound) -> frozenset[Choice]:
        """What an effect may not be given: names that are said of something asked for after all that it could answer."""
        asked = self._asked_of(bound)
        if mildest(bound.contract) == "read" or not asked:
            return frozenset()
        names = frozenset[str].intersection(*(self.afterwards.names(action) for action in asked))
        naming = {*bound.contract.targets, *bound.contract.trusted}
        return frozenset(Choice(bound.contract.name, name, value) for name in naming for value in names)

    def _asked_of(self, bound: Bound) -> list[Action]:
        """The effects that were asked for and that a tool could be the answer to."""
        return [action for action in self.actions if action.effectful and may_answer(action, bound, self._admits)]

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
        return self._arguments(bound, sofar).argument(name, required=True) is not None

    def _sources(self, bound: Bound, sofar: Sofar, masked: frozenset[Choice]) -> tuple[int, ...]:
        name = bound.contract.name
        fitting = [
            number
            for number, made in enumerate(sofar.made, start=1)
            if takes(bound, made)
            and not made.runs_if
            and Choice(name, SOURCE, str(number)) not in masked
            and (name not in sofar.consumed.get(number, ()) or self.wanted.ranking.may_again(bound, sofar))
            and not (sofar.steps[number - 1]["tool"] == name and not may_repeat(bound))
            and self._is_narrow(bound, sofar, number)
            and self._reads(bound, sofar, number)
            and self.wanted.may_be_handed(bound, sofar, number)
        ]
        fresh = [each for each in fitting if each not in sofar.consumed and sofar.effect(each) == "read"]
        return tuple(fresh or fitting)

    def _reads(self, bound: Bound, sofar: Sofar, number: int) -> bool:
        """Whether a tool is the reader of what a search has found: of a format only where the search is for that one."""
        formats = self.siblings.get(bound.contract.name)
        if formats is None or sofar.made[number - 1].kind != "file":
            return True
        args = [data for step in sofar.behind(number) for data in sofar.steps[step.number - 1]["args"].values()]
        endings = {data.rsplit(".", 1)[-1].casefold() for data in args if isinstance(data, str) and "." in data}
        return reads(provider_of(bound.contract), formats, endings, self.offers)

    def _is_narrow(self, bound: Bound, sofar: Sofar, number: int) -> bool:
        effect = mildest(bound.contract)
        if effect == "read":
            return True
        used = {
            value.json
            for step in sofar.behind(number)
            for name, data in sofar.steps[step.number - 1]["args"].items()
            if name not in ("from_step", "from_steps") and not isinstance(data, bool)
            for value in (Value(data), *(Value(each) for each in (data if is_list(data) else ())))
        }
        asked = self._asked_of(bound)
        if asked and not any(
            all(not used.isdisjoint(forms) for forms in self.offers.conditions(action)) for action in asked
        ):
            return False
        if asked and all(not used.isdisjoint(self.afterwards.later(action)) for action in asked):
            return False
        return self.all or effect not in WIDE or not used.isdisjoint(self.said)

    def _handed(self, bound: Bound, sofar: Sofar, sources: tuple[int, ...]) -> Form | None:
        made = sofar.made[sources[0] - 1]
        entry = Entry(made.entry, made.kind is not None and is_open(made.kind))
        parts = Parts(self._arguments(bound, sofar, entry), left_out=bound.words).parts()
        if parts is None:
            return None
        form = Form(bound.contract.name, sources, parts)
        if mildest(bound.contract) == "read" and not bound.contract.field_of_input:
            return form
        # What was searched for, or searched in, is not where it goes; no row holds the name of a file that is there or is
        # to be made.
        naming = {*bound.contract.targets, *bound.contract.trusted}
        if bound.contract.field_of_input:
            naming = set(bound.args) - {*bound.contract.field_of_input}
        behind = {step.number for number in sources for step in sofar.behind(number)}
        used = {
            Value(each).json for at in behind for each in sofar.steps[at - 1]["args"].values() if isinstance(each, str)
        }
        if bound.contract.field_of_input:
            used |= self.offers.files_there | self.offers.arrivals.keys()
            used |= {
                Value(f"${{step{each}.{sofar.made[each - 1].field}}}").json for each in sources
            }  # joined with itself
        return without(form, frozenset(Choice(form.tool, name, value) for name in naming for value in used))

    def _worded(self, bound: Bound, sofar: Sofar) -> Form | None:
        """The input, if there is one, is named in words."""
        parts = Parts(self._arguments(bound, sofar)).parts()
        return None if parts is None else Form(bound.contract.name, (), parts)

    def _elsewhere(self, form: Form | None, bound: Bound, sofar: Sofar, sources: tuple[int, ...]) -> Form | None:
        """A reading that could be handed what was found somewhere does not look there by itself again."""
        if form is None or mildest(bound.contract) != "read":
            return form
        naming = {*bound.contract.targets, *bound.contract.trusted}
        there = [sofar.steps[at - 1]["args"] for at in sources if at not in sofar.consumed]
        seen = {Value(each).json for args in there for each in args.values() if isinstance(each, str)}
        return without(form, frozenset(Choice(form.tool, name, value) for name in naming for value in seen))

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
        parts = Parts(self._arguments(bound, sofar), fixed={consumes.into: ITEM}).parts()
        return None if parts is None else Form(bound.contract.name, (), parts, each=self.offers.lists[0])


def in_folder(args: dict[str, Any], properties: dict[str, Any], below: frozenset[str]) -> dict[str, Any]:
    """Arguments of a search in a folder that is not here but somewhere below: the pattern says it, wherever it is."""
    path = next((name for name in args if properties.get(name, {}).get("default") == HERE and args[name] in below), "")
    pattern = next((name for name, schema in properties.items() if schema.get("default") == "*"), "")
    if not path or not pattern or "/" in args.get(pattern, ""):
        return args
    return {
        **{name: data for name, data in args.items() if name != path},
        pattern: f"**/{args[path]}/**/{args.get(pattern, '*')}",
    }


def may_repeat(bound: Bound) -> bool:
    """Whether a tool may be handed what it made itself: only what narrows does more the second time."""
    return any(family.verb == NARROWING for family in bound.contract.families)


def _acts_on(bound: Bound, thing: str) -> bool:
    return any(family.object == thing for family in bound.contract.families)


def says_all(request: Request) -> bool:
    """Whether the request says "all", "every" and the like."""
    words = ALL.get(request.language, frozenset())
    return any(token.key in words for token in tokenise(request.text) if token.kind == "word")
