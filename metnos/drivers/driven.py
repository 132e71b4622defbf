"""Turns that a host watches, or drives itself: what `Engine` has beside running them whole.

Law: as for `Engine`; apart from it because it is another way to use the same parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metnos.drivers.parts import Parts
    from metnos.drivers.ports import Approve
    from metnos.drivers.results import Planned
    from metnos.drivers.streams import SyncStream, TurnStream
    from metnos.plan.jsondata import JSON
    from metnos.turn.inputs import TurnOpened
    from metnos.turn.rules import Rules
    from metnos.turn.turn import Machine


class Driven:
    """The base of `Engine`."""

    def __init__(self, parts: Parts) -> None:
        """Prefer `Engine.open`, which reads the settings."""
        self.parts = parts

    @property
    def rules(self) -> Rules:
        """Normaliser, validator, guards and policy over this engine's catalog: pure, safe between threads."""
        return self.parts.rules

    def open_machine(
        self,
        request: str | Planned | None = None,
        *,
        plan: JSON | bytes | None = None,
        inputs: Mapping[str, JSON] | None = None,
        assume_yes: bool = False,
        language: str | None = None,
    ) -> tuple[Machine, TurnOpened]:
        """A turn machine of one's own to drive, and its first input. Nothing is run and nothing is recorded.

            machine, opened = engine.open_machine("the five largest files here")
            commands = machine.receive(opened).commands  # obey each, and report what came of it

        Args:
            request: As for `run`.
            plan: As for `run`.
            inputs: As for `run`.
            assume_yes: As for `run`.
            language: As for `run`.

        Raises:
            TypeError: As for `run`.
            ValueError: As for `run`; also a plan that is no JSON object or line notation at all.
        """
        from metnos.drivers import turns
        from metnos.drivers.results import Refused
        from metnos.turn.turn import Machine

        opened = turns.open_turn(
            self.parts, request, plan=plan, inputs=inputs, assume_yes=assume_yes, language=language, mode="run"
        )
        if isinstance(opened, Refused):
            first = opened.diagnostics[0]
            raise ValueError(f"no plan at all: {first.code} at {first.where or '/'}: {first.found}")  # noqa: TRY004 - it is of a right type
        return Machine(self.parts.rules), opened

    def stream(
        self,
        request: str | Planned | None = None,
        *,
        plan: JSON | bytes | None = None,
        inputs: Mapping[str, JSON] | None = None,
        approve: Approve | None = None,
        assume_yes: bool = False,
        language: str | None = None,
    ) -> TurnStream:
        """`run` as an async iterator of its events; the last holds the `TurnResult`. Arguments as for `run`.

        No step starts while an event is unread. Closing the stream early cancels the turn.

            async with engine.stream("the five largest files here") as events:
                async for event in events:
                    print(event.seq, type(event).__name__)

        Raises:
            TypeError: As for `run`.
            ValueError: As for `run`.
        """
        from metnos.drivers import streams, turns

        opened = turns.open_turn(
            self.parts, request, plan=plan, inputs=inputs, assume_yes=assume_yes, language=language, mode="run"
        )
        return streams.TurnStream(self.parts, opened, approve)

    def stream_sync(
        self,
        request: str | Planned | None = None,
        *,
        plan: JSON | bytes | None = None,
        inputs: Mapping[str, JSON] | None = None,
        approve: Approve | None = None,
        assume_yes: bool = False,
        language: str | None = None,
    ) -> SyncStream:
        """`stream` as a plain iterator: the turn goes on only inside `next`."""
        from metnos.drivers import streams

        return streams.SyncStream(
            self.stream(request, plan=plan, inputs=inputs, approve=approve, assume_yes=assume_yes, language=language)
        )
