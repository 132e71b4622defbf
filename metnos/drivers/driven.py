"""Turns that a host watches, or drives itself: what `Engine` has beside running them whole.

Law: as for `Engine`; apart from it because it is another way to use the same parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.drivers.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metnos.drivers.learning import Caching
    from metnos.drivers.ports import Approve
    from metnos.drivers.results import Planned
    from metnos.drivers.streams import SyncStream, TurnStream
    from metnos.plan.jsondata import JSON
    from metnos.turn.inputs import TurnOpened
    from metnos.turn.turn import Machine


class Driven(Reader):
    """Between `Reader` and `Engine`."""

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
            ValueError: As for `run`; also a plan that is no JSON object or line notation at all, and a slash command
                that only tells something.
        """
        from metnos.drivers import turns
        from metnos.drivers.results import Refused
        from metnos.turn.inputs import TurnOpened
        from metnos.turn.turn import Machine

        opened = turns.open_turn(
            self.parts, request, plan=plan, inputs=inputs, assume_yes=assume_yes, language=language, mode="run"
        )
        if not isinstance(opened, (Refused, TurnOpened)):
            raise ValueError(f"/{opened.command.word.name} opens no turn")  # noqa: TRY004 - it is of a right type
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
        cache: Caching = "use",
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
        return streams.of_opened(self.parts, opened, approve, cache)

    def stream_sync(
        self,
        request: str | Planned | None = None,
        *,
        plan: JSON | bytes | None = None,
        inputs: Mapping[str, JSON] | None = None,
        approve: Approve | None = None,
        assume_yes: bool = False,
        language: str | None = None,
        cache: Caching = "use",
    ) -> SyncStream:
        """`stream` as a plain iterator: the turn goes on only inside `next`."""
        from metnos.drivers import streams

        return streams.SyncStream(
            self.stream(
                request,
                plan=plan,
                inputs=inputs,
                approve=approve,
                assume_yes=assume_yes,
                language=language,
                cache=cache,
            )
        )

    def stream_resume(
        self,
        turn: str,
        *,
        approve: Iterable[str] = (),
        deny: Iterable[str] = (),
        answers: Mapping[str, JSON] | None = None,
    ) -> TurnStream:
        """`resume` as a stream: its first event is `TurnResumedEvent`. Arguments as for `resume`.

        The turn is claimed when the first event is asked for: what `resume` raises is raised there.
        """
        from metnos.drivers import streams, turns

        yes, no = tuple(approve), tuple(deny)
        return streams.TurnStream(
            self.parts, lambda: turns.reopen(self.parts, turn, approve=yes, deny=no, answers=answers)
        )

    def stream_resume_sync(
        self,
        turn: str,
        *,
        approve: Iterable[str] = (),
        deny: Iterable[str] = (),
        answers: Mapping[str, JSON] | None = None,
    ) -> SyncStream:
        """`stream_resume` as a plain iterator."""
        from metnos.drivers import streams

        return streams.SyncStream(self.stream_resume(turn, approve=approve, deny=deny, answers=answers))

    def stream_undo(self, turn: str, *, approve: Approve | None = None) -> TurnStream:
        """`undo` as a stream. Arguments and faults as for `undo`."""
        from metnos.drivers import streams, undoing

        opened = undoing.opened_for(self.parts, undoing.trusted_view(self.parts, turn))
        return streams.of_opened(self.parts, opened, approve)

    def stream_undo_sync(self, turn: str, *, approve: Approve | None = None) -> SyncStream:
        """`stream_undo` as a plain iterator."""
        from metnos.drivers import streams

        return streams.SyncStream(self.stream_undo(turn, approve=approve))
