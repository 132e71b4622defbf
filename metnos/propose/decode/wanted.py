"""What a plan still owes the words of a request: the tools that they call for, and when the plan may end.

Law: each duty is met by kinds, families and the order of steps, never by a tool's name; a duty that nothing here can
meet is none (the line is made without it).

| the request | what it owes |
|---|---|
| asks how many | a figure over things of the kind that is counted |
| asks how much they come to | a figure over a field |
| asks for figures of rows "per region" | the rows in groups, and the figures of each |
| asks for the most of all | sorted, and of one or of a number the first ones taken (`ranking.py`) |
| asks for what is there twice | digests of files, and all that is equal to another (`repeated.py`) |
| asks for things and for a figure of them | what the figure was made of, shown behind it (`listed.py`) |
| looks for a text in files | the search in texts first; names are not looked at for it |
| asks of all rows, and then of some | a figure of each (`segments.py`) |
| goes on behind an effect | a reading of its own behind the effect |
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec

from metnos.checks.guards.asked import Action, actions_of, answers
from metnos.checks.guards.effects import mildest
from metnos.plan.jsondata import spell
from metnos.propose.decode.called import Called
from metnos.propose.decode.choices import Argument, Choice, Form, Part
from metnos.propose.decode.enough import FIGURES, MATCHES, READING, Enough, still_to_find
from metnos.propose.decode.listed import Listed
from metnos.propose.decode.parts import without
from metnos.propose.decode.ranking import PLACES, Ranking, steps_of
from metnos.propose.decode.repeated import Repeated
from metnos.propose.decode.segments import is_first_of_all
from metnos.propose.decode.state import RENDERING, is_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.checks.bound import Bound
    from metnos.checks.model import CheckedStep
    from metnos.propose.decode.offers import Offers
    from metnos.propose.decode.state import Sofar
    from metnos.request.model import Clause

COPYING: Final = "copy"
GROUPS: Final = "group"
FIELD: Final = "field"
PICKING: Final = "select"
COLUMNS: Final = "columns"
"""Verb of what leaves some fields out, and what chooses them where all is shown: once is enough."""
LAST: Final = frozenset({"read", "render", "get", "select"})
"""Verbs of what may be done with one result, where it is all that was asked for."""
SHOWING: Final = frozenset({"render", "select"})
"""Of these, what leaves nothing to be reckoned with or put in order."""


class Wanted:
    """The duties of one request, over the tools that it may name."""

    def __init__(self, offers: Offers, bounds: Iterable[Bound], formats: frozenset[str] = frozenset()) -> None:
        self.offers = offers
        self.called = Called(offers, formats)
        self.bounds = tuple(bounds)
        self.actions = actions_of(offers.request)
        self.ranking = Ranking(self.called, self._can)
        self.repeated = Repeated(self.called, self._can)
        self.enough = Enough(self.called)
        self.listed = Listed(self.called, self._can)

    def _can(self, verb: str, thing: str) -> bool:
        return any(is_for(bound, verb, thing) for bound in self.bounds)

    # --- tools

    def is_due(self, bound: Bound, sofar: Sofar) -> bool:
        """Whether the words call for a tool at this line."""
        called = self.called.calls(bound) or self.repeated.calls(bound)
        if (
            not called
            or (self._asks_groups() and is_for(bound, "compute", FIGURES))
            or self.enough.is_done(bound, sofar)
        ):
            return False
        following = self._following(sofar)
        if following and following not in {family.verb for family in bound.contract.families}:
            return False
        if (
            self._copies_all(bound)
            or self._is_elsewhere(bound, sofar)
            or self._is_early(bound, sofar)
            or not self.repeated.is_due(bound)
        ):
            return False
        if self._seeks_texts(sofar):
            return self._feeds_search(bound)
        if self._is_said(sofar) and mildest(bound.contract) == "read":
            return self._is_last(bound) or self.called.special(bound)
        if self._is_behind(sofar) and mildest(bound.contract) == "read":
            return self._begins_anew(bound)
        return True

    def _is_last(self, bound: Bound) -> bool:
        """Whether a tool may still do something with what is all that was asked for: read it, where its contents are spoken of;
        show it in another way.
        """
        verbs = {family.verb for family in bound.contract.families}
        if READING in verbs:
            return self.called.has("contents")
        return bool(verbs & LAST) and not is_for(bound, "get", "now")

    def _following(self, sofar: Sofar) -> str:
        """The verb of the only step that makes sense here: some are taken of what was sorted for it, and what is there
        twice is found by what was made of it. Where nothing is to be chosen the model is not asked, nor surprised.
        """
        return self.repeated.following(sofar) or self.ranking.following(sofar) or self.listed.following(sofar)

    def _copies_all(self, bound: Bound) -> bool:
        """Whether a tool copies a table whole, where only some of its rows are to be written somewhere."""
        if all(family.verb != COPYING for family in bound.contract.families) or not self.called.rows.reads:
            return False
        if any(intent.verb == COPYING for intent in self.offers.request.intents):
            return False
        rows, columns = self.called.rows, self.offers.columns
        return bool(rows.mosts or self.offers.held.texts or columns.limits) or rows.end is not None

    def _is_elsewhere(self, bound: Bound, sofar: Sofar) -> bool:
        """Whether a tool looks for files or folders, where rows of tables that are named are all that is read; or reads one
        more time than there are tables.
        """
        contract = bound.contract
        if not self.called.rows.alone or contract.produces is None:
            return False
        read = any(family.verb == READING for family in contract.families)
        again = read and len(steps_of(sofar, READING)) >= len(set(self.offers.held.tables))
        if still_to_find(self.offers, sofar) and is_for(bound, "find", "files"):
            return False
        return again or (contract.produces.kind in PLACES and contract.consumes is None)

    def _is_early(self, bound: Bound, sofar: Sofar) -> bool:
        """Whether rows are only shown, kept in part or written, while what is asked of them is still owed; are reckoned
        with where one of them is asked for; or put into groups that nothing tells apart.
        """
        rows, verbs = self.called.rows, {family.verb for family in bound.contract.families}
        if not rows.reads or not sofar.steps:
            return False
        if rows.mosts and is_for(bound, "compute", FIGURES):
            return not rows.reckons and self.called.counted is None
        if rows.alone and GROUPS in verbs:
            return not self._asks_groups() and self.called.only_lesser
        acts = bound.contract.consumes is not None and mildest(bound.contract) != "read"
        ranked = bool(rows.mosts) or rows.end is not None
        return (bool(verbs & SHOWING) or acts) and (rows.alone or ranked) and not verbs.issuperset(self.owed(sofar))

    def may_be_handed(self, bound: Bound, sofar: Sofar, number: int) -> bool:
        """Whether what the words say of an order, or of what is equal, lets a tool be handed that."""
        parts = (self.ranking, self.repeated, self.listed, self.enough)
        return all(part.may_be_handed(bound, sofar, number) for part in parts)

    def _begins_anew(self, bound: Bound) -> bool:
        """Whether a tool looks at how things are then: at those that are counted, if any are."""
        counted = self.called.counted
        made = bound.contract.produces
        if made is None or bound.contract.consumes is not None:
            return self.called.has("inside") and is_for(bound, "find", "texts")
        return counted is None or not counted[1] or made.kind in counted[1]

    def _seeks_texts(self, sofar: Sofar) -> bool:
        """A text is looked for in files, and no step has done it."""
        if not self.called.inside or not self._can("find", "texts"):
            return False
        return not any(made.kind == MATCHES for made in sofar.made)

    def _feeds_search(self, bound: Bound) -> bool:
        """The search itself; files that are narrowed by what it cannot say; what needs no reading."""
        if is_for(bound, "find", "texts"):
            return True
        if is_for(bound, "find", "files"):
            return any(slot.kind in ("size", "period", "date", "duration") for slot in self.offers.slots)
        return mildest(bound.contract) != "read" and bound.contract.consumes is None

    def _is_said(self, sofar: Sofar) -> bool:
        """All that was asked for is a figure, or the most of all, and it is there."""
        if len(self.offers.request.clauses) != 1 or any(action.effectful for action in self.actions):
            return False
        mosts = self.called.mosts
        if self._asks_figure():
            return not mosts and self._has_figure(sofar)
        return bool(mosts) and all(most.one for most in mosts) and not self.ranking.unmet(sofar)

    def _is_behind(self, sofar: Sofar) -> bool:
        """All effects are done, and a clause behind them is still to be read for itself."""
        if sofar.missing or not self._last(sofar) or sofar.context.earlier_steps:
            return False
        return not all(self._has_own(clause, sofar) for clause in self.offers.request.clauses)

    def _last(self, sofar: Sofar) -> int:
        return max((step.number for step in sofar.checked.steps if step.worst_effect != "read"), default=0)

    def owed(self, sofar: Sofar) -> tuple[str, ...]:
        """Verbs of the families that the next steps must have, in order."""
        if sofar.context.earlier_steps:
            return ()
        found: list[str] = []
        found += [*self.repeated.owed(sofar), *self.ranking.owed(sofar)]
        if self._asks_groups():
            found += [] if self.has_groups(sofar) else ["group"]
        elif self._asks_figure() and not self._has_figure(sofar):
            found.append("compute")
        return (*found, *self.listed.owed(sofar))

    def _asks_groups(self) -> bool:
        """Figures are asked for each value of a column of a table."""
        return self.called.groups_rows and self._can("group", "entries")

    def has_groups(self, sofar: Sofar) -> bool:
        return any(made.kind == GROUPS for made in sofar.made)

    def _asks_figure(self) -> bool:
        asked = self.called.counted is not None or self.called.amount is not None or self.called.rows.reckons
        return asked and self._can("compute", FIGURES)

    def _only_counts(self) -> bool:
        """Rows are counted, and no column of the table that is named is reckoned with."""
        columns = self.offers.columns
        counts = self.called.counted is not None and self.called.amount is None
        return counts and columns.confirmed is not None and not columns.figures and not self.called.rows.reckons

    def _is_of_field(self) -> bool:
        """Whether a figure of a field is asked for."""
        return self.called.amount is not None or self.called.rows.reckons

    # --- values

    def shaped(self, form: Form, bound: Bound, sofar: Sofar) -> Form | None:
        """The form with what the words say of its values; None: what it would be handed is not meant any more."""
        if form.sources and self._is_behind(sofar) and min(form.sources) <= self._last(sofar):
            return None
        if self._is_of_field() and bound.contract.produces and bound.contract.produces.kind == FIGURES:
            return msgspec.structs.replace(form, parts=tuple(map(_required, form.parts)))
        if self._only_counts() and bound.contract.produces and bound.contract.produces.kind == FIGURES:
            kept = tuple(part for part in form.parts if not (isinstance(part, Argument) and part.name == FIELD))
            form = msgspec.structs.replace(form, parts=kept)
        if self._asks_groups() and bound.contract.produces and bound.contract.produces.kind == GROUPS:
            measure = bound.contract.produces.roles.get("measure", "")
            counts = self._only_counts()
            kept = (each for each in form.parts if not (counts and isinstance(each, Argument) and each.name == measure))
            form = msgspec.structs.replace(form, parts=tuple(_required(part, measure) for part in kept))
        if any(family.verb == RENDERING for family in bound.contract.families) and form.sources:
            chosen = all(_has_behind(sofar, number, PICKING) for number in form.sources)
            kept = tuple(part for part in form.parts if not (isinstance(part, Argument) and part.name == COLUMNS))
            form = msgspec.structs.replace(form, parts=kept) if chosen else form
        form, closed = self.ranking.shaped(self.repeated.shaped(form, bound), bound, sofar)
        if self._texts_only(bound):
            patterns = {spell(f"*{text}*") for text in self.called.sought}
            closed |= {Choice(form.tool, name, value) for name in bound.args for value in patterns}
        return without(form, frozenset(closed)) if closed else form

    def _texts_only(self, bound: Bound) -> bool:
        return self.called.inside and self._can("find", "texts") and is_for(bound, "find", "files")

    # --- the end

    def may_end(self, sofar: Sofar) -> bool:
        """Whether every duty is met."""
        if sofar.context.earlier_steps:
            return True
        if self._seeks_texts(sofar) or bool(self.ranking.unmet(sofar)) or not self.ranking.has_end(sofar):
            return False
        if self.repeated.owed(sofar) or self.listed.owed(sofar):
            return False
        if self._asks_groups() and not self.has_groups(sofar):
            return False
        if self._asks_figure() and not self._asks_groups() and not self._has_figure(sofar):
            return False
        return all(self._has_own(clause, sofar) for clause in self.offers.request.clauses)

    @cached_property
    def _of_all_first(self) -> bool:
        return self._asks_figure() and is_first_of_all(self.called)

    def waits(self, sofar: Sofar) -> bool:
        """Whether something is still to be asked of all rows, before some are kept."""
        return self._of_all_first and not self._has_figure_of(sofar, narrowed=False)

    def _has_figure(self, sofar: Sofar) -> bool:
        if self._of_all_first:
            return all(self._has_figure_of(sofar, narrowed=each) for each in (False, True))
        return self._has_figure_of(sofar)

    def _has_figure_of(self, sofar: Sofar, *, narrowed: bool | None = None) -> bool:
        """Whether a figure is there; of rows that were narrowed, or that were not."""
        counted, amount = self.called.counted, self.called.amount
        at = counted[0] if counted is not None else amount or self.called.rows.reckoned or 0
        after = self._last_effect(self._clause_of(at), sofar)
        each = self.called.has("each")
        for number, made in enumerate(sofar.made, start=1):
            if made.kind != FIGURES and not (each and made.kind == GROUPS):
                continue
            behind = sofar.behind(number)
            if any(step.number < after for step in behind):
                continue
            verbs = {family.verb for step in behind for family in step.contract.families}
            if narrowed is not None and ("filter" in verbs) != narrowed:
                continue
            if self._is_of_field() and made.kind == FIGURES and "field" not in sofar.steps[number - 1]["args"]:
                continue
            if counted is None or self._is_kind(counted[1], behind, sofar):
                return True
        return False

    def _is_kind(self, kinds: frozenset[str], behind: list[CheckedStep], sofar: Sofar) -> bool:
        """Whether what was counted is of such a kind; several matches in a file are one file only where told apart."""
        made = {sofar.made[step.number - 1].kind for step in behind}
        if not kinds or not kinds.isdisjoint(made):
            return True
        if MATCHES in made and "file" in kinds:
            shapes = {f.verb for step in behind for f in step.contract.families}
            return bool(shapes & {"dedupe", "group"})
        return False

    # --- clauses behind an effect

    def _clause_of(self, at: int) -> int:
        start = self.called.words[at].start
        clauses = self.offers.request.clauses
        return next((number for number, clause in enumerate(clauses) if clause.start <= start < clause.end), 0)

    def _last_effect(self, clause: int, sofar: Sofar) -> int:
        """The last step that answers an effect of an earlier clause, if that one is to be read after it; else 0."""
        if not self._is_afterwards(self.offers.request.clauses[clause]):
            return 0
        asked = [action for action in self.actions if action.effectful and action.clause < clause]
        steps = [step.number for step in sofar.checked.steps if any(_does(action, step) for action in asked)]
        return max(steps, default=0)

    def _is_afterwards(self, clause: Clause) -> bool:
        """Whether a clause speaks of how things are then: of what is left, or of things of its own."""
        if self.called.has("remaining", clause):
            return True
        own = any(self.called.has(kind, clause) for kind in ("file", "dir"))
        return own and not self.called.has("pronoun", clause)

    def _has_own(self, clause: Clause, sofar: Sofar) -> bool:
        number = self.offers.request.clauses.index(clause)
        asked = [action for action in self.actions if action.clause == number]
        if not asked or any(action.effectful for action in asked):
            return True
        before = [action for action in self.actions if action.effectful and action.clause < number]
        if not before or not self._is_afterwards(clause):
            return True
        after = self._last_effect(number, sofar)
        return any(
            step.worst_effect == "read" and all(each.number > after for each in sofar.behind(step.number))
            for step in sofar.checked.steps
        )


def _has_behind(sofar: Sofar, number: int, verb: str) -> bool:
    """Whether a step of a family's verb is behind a result."""
    return any(family.verb == verb for step in sofar.behind(number) for family in step.contract.families)


def _does(action: Action, step: CheckedStep) -> bool:
    return step.worst_effect != "read" and answers(action, step)


def _required(part: Part, name: str = "field") -> Part:
    """A field that is reckoned with is named."""
    if isinstance(part, Argument) and part.name == name:
        return msgspec.structs.replace(part, required=True)
    return part
