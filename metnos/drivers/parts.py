"""What turns are driven with: the rooms and ports of one engine, each room opened when it is first needed.

Law: `Engine` is the public door, this is what stands behind it. Nothing here knows a turn.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from metnos.drivers import assembly
from metnos.drivers.ports import Boundary, Clock, Progress, no_boundary, no_progress

if TYPE_CHECKING:
    from metnos.cache.templates import TemplateLibrary
    from metnos.context import OwnerContext
    from metnos.contracts.catalog import Catalog
    from metnos.execute.runner import Runners
    from metnos.record.store import Journal
    from metnos.settings import Settings
    from metnos.turn.rules import Rules


class EnginePorts(msgspec.Struct, frozen=True, kw_only=True):
    """The edges of the world that a caller may give (`drivers.ports` says what each is)."""

    approve: Any = None
    answer: Any = None
    proposer: Any = None
    progress: Progress = no_progress
    clock: Clock = assembly.wall_clock
    boundary: Boundary = no_boundary


class Parts:
    """Rooms of one engine, opened lazily, and its ports."""

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
    ) -> None:
        self.settings = settings
        self.context = context
        self.ports = ports
        self.interrupts = assembly.Interrupts()
        self._executors = executors
        self._contracts = contracts
        self._memory = memory
        self._shipped = shipped

    @cached_property
    def catalog(self) -> Catalog:
        """Every admitted contract, and what was refused and why."""
        return assembly.open_catalog(self.settings, self._executors, self._contracts, shipped=self._shipped)

    @cached_property
    def library(self) -> TemplateLibrary:
        """Publisher-signed templates."""
        return assembly.open_library(self.settings, shipped=self._shipped)

    @cached_property
    def rules(self) -> Rules:
        """Normaliser, validator, guards and policy, with one digest."""
        from metnos.drivers.rules import make_rules

        return make_rules(self.catalog)

    @cached_property
    def journal(self) -> Journal:
        """Where turns are recorded."""
        return assembly.open_journal(self.settings, memory=self._memory)

    @cached_property
    def runners(self) -> Runners:
        """Where steps run."""
        return assembly.open_runners(self.settings, self.catalog, memory=self._memory)

    def close(self) -> None:
        """Stop workers and close the journal; safe to repeat."""
        opened = self.__dict__
        if "runners" in opened:
            opened.pop("runners").close_now()
        if "journal" in opened:
            opened.pop("journal").close()
