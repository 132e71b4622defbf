"""What a turn takes from whoever opened it: the parts of an engine, as one protocol.

Law: types only. `metnos.engine.Engine` has all of it; a host with an engine of its own can too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from metnos.cache.templates import TemplateLibrary
    from metnos.context import OwnerContext
    from metnos.contracts.catalog import Catalog
    from metnos.drivers.assembly import Interrupts
    from metnos.drivers.ports import Answer, Approve, Boundary, Clock, Progress, Proposer
    from metnos.execute.runner import Runners
    from metnos.record.store import Journal
    from metnos.settings import Settings
    from metnos.turn.rules import Rules


class Parts(Protocol):
    """Rooms and ports of one engine."""

    settings: Settings
    context: OwnerContext
    interrupts: Interrupts
    clock: Clock
    approve: Approve | None
    answer: Answer | None
    proposer: Proposer | None
    progress: Progress
    boundary: Boundary

    @property
    def catalog(self) -> Catalog: ...
    @property
    def library(self) -> TemplateLibrary: ...
    @property
    def rules(self) -> Rules: ...
    @property
    def journal(self) -> Journal: ...
    @property
    def runners(self) -> Runners: ...
