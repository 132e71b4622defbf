"""What turns are driven with: the rooms and ports of one engine, each room opened when it is first needed.

Law: `Engine` is the public door, this is what stands behind it. Nothing here knows a turn. In a process that is forked
from that of an engine, what runs and records is left behind (ADR 0011): nothing of the parent's is used or ended there.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Self, TypeVar, overload
from weakref import WeakSet

import msgspec

from metnos.drivers import assembly
from metnos.drivers.ports import Boundary, Clock, Progress, no_boundary, no_progress
from metnos.settings import SettingsFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.cache.plancache import PlanCache
    from metnos.cache.templates.library import TemplateLibrary
    from metnos.context import OwnerContext
    from metnos.contracts.catalog import Catalog, Refused
    from metnos.contracts.load import Plans
    from metnos.drivers.imports import Imports
    from metnos.drivers.own import Models, OwnProposer
    from metnos.execute.runner import Runners
    from metnos.propose.candidates import Candidates
    from metnos.record.labels import Labels, MemoryLabels
    from metnos.record.store import Journal
    from metnos.request.lexicon import Lexicon
    from metnos.settings import Settings
    from metnos.turn.rules import Rules


class EnginePorts(msgspec.Struct, frozen=True, kw_only=True):
    """The edges of the world that a caller may give (`drivers.ports` says what each is)."""

    approve: Any = None
    answer: Any = None
    proposer: Any = None
    model: str | Literal[False] | None = None
    """Name of the home's model to use; None: by role; False: none of them."""
    confirm: Any = None
    progress: Progress = no_progress
    clock: Clock = assembly.wall_clock
    boundary: Boundary = no_boundary


T = TypeVar("T")
NOT_SHARED: Final = ("runners", "journal", "plan_cache", "imports", "models", "own_proposer")
"""Rooms with processes, files and connections: those of one process."""


class Once(Generic[T]):
    """A room that is opened when it is first asked for: once, whichever threads ask."""

    def __init__(self, opening: Callable[[Parts], T]) -> None:
        self._opening = opening
        self._name = opening.__name__
        self.__doc__ = opening.__doc__

    @overload
    def __get__(self, parts: None, owner: type) -> Self: ...
    @overload
    def __get__(self, parts: Parts, owner: type) -> T: ...
    def __get__(self, parts: Parts | None, owner: type) -> Self | T:
        """The room itself."""
        if parts is None:
            return self
        opened = parts.__dict__  # where the next look-up finds it without asking here
        with parts.lock:
            if self._name not in opened:
                opened[self._name] = self._opening(parts)
            return opened[self._name]


class Parts:
    """Rooms of one engine, opened lazily, and its ports. Safe between threads."""

    def __init__(
        self,
        settings: Settings,
        context: OwnerContext,
        ports: EnginePorts,
        *,
        executors: tuple[Any, ...] = (),
        contracts: tuple[Any, ...] = (),
        memory: bool = False,
        shipped: bool = True,
        imports: bool | None = None,
    ) -> None:
        self.settings = settings
        self.context = context
        self.ports = ports
        self.interrupts = assembly.Interrupts()
        self._executors = executors
        self._contracts = contracts
        self._memory = memory
        self._shipped = shipped
        self._imports = shipped if imports is None else imports
        self._closed = ""
        """Why it cannot be used any more."""
        self.lock = threading.RLock()
        _engines.add(self)
        _ = self.lexicons  # a faulty file is the caller's to know at once
        if ports.model:
            _ = self.models  # and so is a name that no model has

    @Once
    def catalog(self) -> Catalog:
        """Every admitted contract, and what was refused and why."""
        known = assembly.open_catalog(self.settings, self._executors, self._contracts, shipped=self._shipped)
        return known if self.imports is None else self.imports.join(known)

    @Once
    def candidates(self) -> Candidates:
        """What a proposer may choose from: the whole catalog, by name."""
        from metnos.propose.candidates import Candidates

        return Candidates(one for _, one in sorted(self.catalog.contracts().items()))

    @Once
    def imports(self) -> Imports | None:
        """Tools of other protocols that this home has imported; None if it has none."""
        if not self._imports or not assembly.has_imports(self.settings):
            return None
        from metnos.drivers.imports import Imports

        return Imports(self.settings.home)

    @property
    def has_models(self) -> bool:
        """Whether this home has models that may be used; asked without loading anything."""
        return self.ports.model is not False and assembly.has_models(self.settings)

    @Once
    def models(self) -> Models:
        """The models of this home; ask `has_models` before."""
        from metnos.drivers.own import open_models

        self._require_open()
        return open_models(self.settings, self.ports.model or "")

    @Once
    def own_proposer(self) -> OwnProposer:
        """Who plans with them."""
        from metnos.drivers import looking, own

        return own.OwnProposer(lambda: own.open_planner(self.models, self.catalog, there=looking.looks(self.settings)))

    @property
    def proposer(self) -> Any:
        """Who is asked for a plan where no known one serves: the caller's, else the models of this home, else nobody."""
        if self.ports.proposer is not None:
            return self.ports.proposer
        return self.own_proposer if self.has_models else None

    @Once
    def plans(self) -> Plans:
        """The templates that were verified, and what was refused of them."""
        return assembly.read_plans(self.settings, shipped=self._shipped)

    @Once
    def library(self) -> TemplateLibrary:
        """Publisher-signed templates."""
        from metnos.cache.templates.library import TemplateLibrary

        return TemplateLibrary.from_signed(self.plans.verified)

    @Once
    def plan_cache(self) -> PlanCache:
        """What was learned, and the templates, behind one door."""
        self._require_open()
        from metnos.request.lexicon import added_digest

        added = added_digest(self.lexicons or ())
        return assembly.open_plan_cache(
            self.settings,
            self.catalog,
            self.rules,
            self.library,
            lexicon=added,
            memory=self._memory,
            confirm=self.ports.confirm,
        )

    @property
    def refused(self) -> tuple[Refused, ...]:
        """What is in the catalog folder and stays out: tools and templates."""
        found = {one.name: one for one in (*self.catalog.refused, *self.plans.refused)}
        for name, why in self.library.refused.items():
            found[f"plan/{name}"] = assembly.refused_template(name, why)
        return tuple(found.values())

    @Once
    def rules(self) -> Rules:
        """Normaliser, validator, guards and policy, with one digest."""
        from metnos.drivers.rules import make_rules

        return make_rules(self.catalog, self.lexicons)

    @Once
    def lexicons(self) -> tuple[Lexicon, ...] | None:
        """The shipped lexicons with the operator's files; None where there are none to add."""
        if not self.settings.lexicon:
            return None
        from metnos.request.lexicon import LexiconFault, lexicons_with

        try:
            return lexicons_with(self.settings.lexicon)
        except LexiconFault as fault:
            hint = "a lexicon file only adds words; metnos/request/added.py says what it may hold"
            raise SettingsFault("lexicon", str(fault), hint) from fault

    @Once
    def journal(self) -> Journal:
        """Where turns are recorded."""
        self._require_open()
        return assembly.open_journal(self.settings, memory=self._memory)

    @Once
    def labels(self) -> Labels | MemoryLabels:
        """What people said of recorded turns."""
        from metnos.record.labels import Labels, MemoryLabels

        return MemoryLabels() if self._memory else Labels(self.settings.home)

    @Once
    def runners(self) -> Runners:
        """Where steps run."""
        self._require_open()
        externals = None if self.imports is None else self.imports.externals()
        return assembly.open_runners(self.settings, self.catalog, memory=self._memory, externals=externals)

    def _require_open(self) -> None:
        if self._closed:
            raise RuntimeError(self._closed)

    def leave(self) -> None:
        """In a child that was forked: what is the parent's is neither used nor ended."""
        self.lock = threading.RLock()  # the one of another thread is held for ever here
        self._closed = "this engine belongs to the process that this one was forked from: open one here"
        _kept.extend(room for name in NOT_SHARED if (room := self.__dict__.pop(name, None)) is not None)
        self.interrupts.leave()

    def close(self) -> None:
        """Stop workers and close the journal; safe to repeat."""
        with self.lock:
            self._closed = self._closed or "this engine is closed"
            runners, journal = self.__dict__.pop("runners", None), self.__dict__.pop("journal", None)
            plans = self.__dict__.pop("plan_cache", None)
            models: Models | None = self.__dict__.pop("models", None)
            imports: Imports | None = self.__dict__.get("imports")
        if journal is not None:  # first: what a step comes to that is stopped by this is no outcome of its turn
            journal.close()
        if runners is not None:
            runners.close_now()
        if plans is not None:
            plans.close()
        if imports is not None:
            imports.close()
        if models is not None:
            models.close()


_engines: WeakSet[Parts] = WeakSet()
_kept: list[Any] = []
"""Rooms of the parent's: not even to be collected here."""


def _in_child() -> None:
    for parts in list(_engines):
        parts.leave()


os.register_at_fork(after_in_child=_in_child)
