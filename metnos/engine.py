"""`Engine`: the public door. One sentence or one plan in, one frozen `TurnResult` out.

Law: the engine holds ports and no rule. It opens lazily: what a call does not need is never loaded. Every method that
drives a turn exists twice, async and sync, with one meaning; no outcome raises, faults of the caller and of the
environment do. Three floors: what runs nothing is in `drivers.reader`, what watches a turn or hands its machine out in
`drivers.driven`; what runs turns whole is here.

    from metnos import Engine

    with Engine.open() as engine:
        result = engine.run_sync("the five largest files here, as a table")
        print(result.outcome, result.answer)

What may be shared, cancelled and closed: docs/embedding.md, each sentence held by a test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from metnos.drivers import assembly
from metnos.drivers.driven import Driven
from metnos.drivers.parts import EnginePorts, Parts
from metnos.drivers.ports import no_boundary, no_progress
from metnos.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from metnos.cache.near.gates import Confirm
    from metnos.contracts.catalog import HostExecutor
    from metnos.contracts.model import Contract
    from metnos.drivers.cachedoor import CacheDoor
    from metnos.drivers.learning import Caching
    from metnos.drivers.ports import Answer, Approve, Boundary, Clock, Progress, Proposer
    from metnos.drivers.results import NeedsInputs, Planned, Refused, TurnResult
    from metnos.plan.jsondata import JSON


class Engine(Driven):
    """Plans, checks, runs, records. Open it with `Engine.open`, close it with `close` or `with`."""

    @classmethod
    def open(
        cls,
        home: str | Path | None = None,
        *,
        folder: str | Path | None = None,
        roots: Iterable[str | Path] | str | Path = (),
        executors: Iterable[HostExecutor] = (),
        contracts: Iterable[Contract] = (),
        catalog: str | Path | None = None,
        shipped: bool = True,
        imports: bool | None = None,
        memory: bool = False,
        owner: str = "local",
        channel: str = "terminal",
        language: str | None = None,
        zone: str | None = None,
        approve: Approve | None = None,
        answer: Answer | None = None,
        proposer: Proposer | None = None,
        model: str | Literal[False] | None = None,
        confirm: Confirm | None = None,
        progress: Progress | None = None,
        clock: Clock | None = None,
        boundary: Boundary | None = None,
    ) -> Self:
        """Open an engine.

        Args:
            home: Folder of logs, keys, blobs and settings; default `METNOS_HOME`, then the platform's data folder.
            folder: Where relative paths start; default the current folder. Granted unless it is or holds the home folder.
            roots: Further folders that may be read and written.
            executors: Functions decorated with `@executor`.
            contracts: Foreign contracts (stand-ins, other protocols); they can be planned with, not run here.
            catalog: A signed catalog folder instead of the installed one.
            shipped: False: only `executors` and `contracts`, nothing from the catalog.
            imports: Whether tools of other protocols that were imported into this home (`metnos catalog import`) are
                there too; default as `shipped`.
            memory: Record in memory only: nothing is written, turns end with the process.
            owner: Whose turn it is.
            channel: `terminal`, `api`, `chat` or `scheduled`.
            language: `en` or `it`; default the one whose lexicon explains more of the request.
            zone: IANA time zone; default the machine's.
            approve: Asked for each consent: True, False, or None (nobody can say now: the turn suspends).
            answer: Asked for each dialog; None suspends.
            proposer: From a request and the candidates to a plan, where no known plan serves; default the models that
                the home has configured, if it has any (docs/models.md).
            model: Name of the one of them to use; False: none. None: by role.
            confirm: Asked, with both requests, before the plan of a similar one that only reads is served (`near`);
                None: similar requests are served nothing, unless `cache_near_error` is set.
            progress: Told of each step's start and end.
            clock: µs since 1970 UTC; default the machine's.
            boundary: Told of each durable boundary (tests crash there).

        Raises:
            SettingsFault: A setting is wrong.
            TypeError: One of `executors` is none.
        """
        settings = load_settings(home=home, folder=folder, roots=roots, catalog=catalog, language=language, zone=zone)
        context = assembly.owner_context(settings, owner, channel)
        registered = tuple(executors)
        for one in registered:
            if not hasattr(one, "contract"):
                raise TypeError(f"{one!r} is no executor: decorate it with @executor(version=...)")
        ports = EnginePorts(
            approve=approve,
            answer=answer,
            proposer=proposer,
            model=model,
            confirm=confirm,
            progress=progress or no_progress,
            clock=clock or assembly.wall_clock,
            boundary=boundary or no_boundary,
        )
        parts = Parts(
            settings,
            context,
            ports,
            executors=registered,
            contracts=tuple(contracts),
            memory=memory,
            shipped=shipped,
            imports=imports,
        )
        return cls(parts)

    # --- turns -------------------------------------------------------------------------------------------------

    async def run(
        self,
        request: str | Planned | None = None,
        *,
        plan: JSON | bytes | None = None,
        inputs: Mapping[str, JSON] | None = None,
        approve: Approve | None = None,
        assume_yes: bool = False,
        language: str | None = None,
        cache: Caching = "use",
    ) -> TurnResult:
        """Run a sentence, a `Planned`, or a plan (an object, or the bytes of a plan file).

        Args:
            request: What the person said, or what `plan()` gave.
            plan: A plan of the caller's own: literals in it have the source `author`.
            inputs: Values for `${INPUT:name}`.
            approve: Overrides the engine's `approve` for this turn.
            assume_yes: Allow what only creates; changing and deleting still ask.
            language: Overrides the engine's language.
            cache: `use` what was learned; `refresh`: have it proposed and learned anew; `off`: neither read nor learn.

        Returns:
            A closed or suspended turn; every outcome is a value.

        Raises:
            TypeError: Neither or both of `request` and `plan` were given; an input is no JSON value.
            ValueError: There is no such language.
            RecordFault: The log cannot be written.
        """
        from metnos.drivers import turns

        opened = turns.open_turn(
            self.parts, request, plan=plan, inputs=inputs, assume_yes=assume_yes, language=language, mode="run"
        )
        return await turns.drive(self.parts, opened, approve=approve, caching=cache)

    def run_sync(
        self,
        request: str | Planned | None = None,
        *,
        plan: JSON | bytes | None = None,
        inputs: Mapping[str, JSON] | None = None,
        approve: Approve | None = None,
        assume_yes: bool = False,
        language: str | None = None,
        cache: Caching = "use",
    ) -> TurnResult:
        """`run` without an event loop of the caller's; where one runs in this thread it raises `RuntimeError`."""
        from metnos.drivers import turns

        opened = turns.open_turn(
            self.parts, request, plan=plan, inputs=inputs, assume_yes=assume_yes, language=language, mode="run"
        )
        return turns.drive_sync(self.parts, opened, approve=approve, caching=cache)

    async def plan(
        self,
        request: str,
        *,
        inputs: Mapping[str, JSON] | None = None,
        language: str | None = None,
        cache: Caching = "use",
    ) -> Planned | NeedsInputs | Refused:
        """The checked plan for a sentence, not run; never asks anybody anything."""
        from metnos.drivers import turns

        opened = turns.open_turn(self.parts, request, inputs=inputs, language=language, mode="plan")
        return await turns.plan(self.parts, opened, cache)

    def plan_sync(
        self,
        request: str,
        *,
        inputs: Mapping[str, JSON] | None = None,
        language: str | None = None,
        cache: Caching = "use",
    ) -> Planned | NeedsInputs | Refused:
        """`plan` without an event loop of the caller's."""
        from metnos.drivers import turns

        opened = turns.open_turn(self.parts, request, inputs=inputs, language=language, mode="plan")
        return turns.plan_sync(self.parts, opened, cache)

    async def resume(
        self,
        turn: str,
        *,
        approve: Iterable[str] = (),
        deny: Iterable[str] = (),
        answers: Mapping[str, JSON] | None = None,
    ) -> TurnResult:
        """Go on with a turn that is suspended or was cut off.

        Args:
            turn: Turn id.
            approve: Ids of approvals that are given.
            deny: Ids of approvals that are refused.
            answers: Answers of an open dialog, by field name.

        Raises:
            RecordFault: No such turn, it is closed, it is busy, or its log does not hold.
            ResumeRefused: Rules or executors that it uses have changed since.
            NoSuchAnswer: Something is answered that was not asked, or does not fit.
        """
        from metnos.drivers import turns

        live, items = turns.reopen(self.parts, turn, approve=tuple(approve), deny=tuple(deny), answers=answers)
        return await turns.go_on(self.parts, live, items)

    def resume_sync(
        self,
        turn: str,
        *,
        approve: Iterable[str] = (),
        deny: Iterable[str] = (),
        answers: Mapping[str, JSON] | None = None,
    ) -> TurnResult:
        """`resume` without an event loop of the caller's."""
        from metnos.drivers import turns

        turns.require_no_loop()
        live, items = turns.reopen(self.parts, turn, approve=tuple(approve), deny=tuple(deny), answers=answers)
        return turns.go_on_sync(self.parts, live, items)

    async def undo(self, turn: str, *, approve: Approve | None = None) -> TurnResult:
        """Undo the effects of an earlier turn, newest first, in a turn of its own: so an undo can be undone.

        It asks once for all that it touches; what has changed since (by digest) is refused when it is come to.

        Args:
            turn: Turn id.
            approve: Overrides the engine's `approve` for this turn.

        Raises:
            RecordFault: No such turn of this engine's owner, or its log does not hold.
            NothingToUndo: It is not closed, or did nothing that can be undone.
        """
        from metnos.drivers import turns, undoing

        opened = undoing.opened_for(self.parts, undoing.trusted_view(self.parts, turn))
        return await turns.drive(self.parts, opened, approve=approve)

    def undo_sync(self, turn: str, *, approve: Approve | None = None) -> TurnResult:
        """`undo` without an event loop of the caller's."""
        from metnos.drivers import turns, undoing

        opened = undoing.opened_for(self.parts, undoing.trusted_view(self.parts, turn))
        return turns.drive_sync(self.parts, opened, approve=approve)

    @property
    def cache(self) -> CacheDoor:
        """What was learned: explained, listed, verified, pruned, and told that it was good or bad."""
        from metnos.drivers.cachedoor import CacheDoor

        return CacheDoor(self.parts)

    def initialise(self) -> dict[str, str]:
        """Make the home folder, its keys and a settings file; nothing is overwritten. Returns name → path."""
        return assembly.initialise(self.settings)

    def interruptible(self) -> AbstractContextManager[None]:
        """While inside, Ctrl-C ends the running turn `cancelled` and `run_sync` returns; a second one raises."""
        return self.parts.interrupts.caught()

    # --- closing ---------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Stop workers and close the journal; safe to repeat. Afterwards no turn can be run, resumed or read.

        A turn that is under way in another thread or task ends with a fault; it can be resumed from its log.
        """
        self.parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        self.close()


def json_schema(what: str) -> JSON:
    """The JSON Schema of `plan` or `manifest` files."""
    return assembly.json_schema(what)
