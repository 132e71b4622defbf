"""What an engine says without running anything: its catalog, plans as they stand, and turns as they were recorded.

Law: nothing here begins a turn or goes on with one, and no record is written; labels are kept beside the records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metnos.cache.model import Example
    from metnos.checks.model import Checked
    from metnos.contracts.catalog import Catalog
    from metnos.contracts.catalog import Refused as Withheld
    from metnos.drivers.doctor import Finding
    from metnos.drivers.parts import Parts
    from metnos.plan.jsondata import JSON
    from metnos.propose.candidates import Candidates
    from metnos.record.labels import Label
    from metnos.record.reading import TurnView
    from metnos.record.replay import ReplayResult
    from metnos.record.store import TurnSummary, Verified
    from metnos.settings import Settings
    from metnos.turn.rules import Rules


class Reader:
    """The first floor of `Engine`: below what watches turns (`Driven`), and that below what runs them."""

    def __init__(self, parts: Parts) -> None:
        """Prefer `Engine.open`, which reads the settings."""
        self.parts = parts

    @property
    def settings(self) -> Settings:
        """What was decided at opening, all paths absolute."""
        return self.parts.settings

    @property
    def catalog(self) -> Catalog:
        """Every admitted contract, and what was refused and why."""
        return self.parts.catalog

    @property
    def candidates(self) -> Candidates:
        """What a proposer is given to choose from: the whole catalog, by name."""
        return self.parts.candidates

    @property
    def refused(self) -> tuple[Withheld, ...]:
        """What is in the catalog folder and stays out, tools and plan templates, each with its reason."""
        return self.parts.refused

    @property
    def rules(self) -> Rules:
        """Normaliser, validator, guards and policy over this engine's catalog: pure, safe between threads."""
        return self.parts.rules

    def check(self, plan: JSON | bytes, *, inputs: Mapping[str, JSON] | None = None) -> Checked:
        """Every fault of a plan (object, JSON bytes, or line notation), in one pass.

        Args:
            plan: The plan.
            inputs: The values that it will be run with; left out, whatever it refers to is taken to be given.
        """
        from metnos.drivers import offline

        return offline.check(self.parts, plan, inputs)

    def inputs_wanted(self, plan: JSON | bytes) -> dict[str, str]:
        """Names of the inputs that a plan refers to → JSON pointer of the first place; empty for what is no plan."""
        from metnos.drivers import offline

        return offline.wanted(plan)

    def draw(self, plan: JSON | bytes) -> str:
        """A plan as a Mermaid flowchart, valid or not; empty for what cannot be read as one."""
        from metnos.drivers import offline

        return offline.draw(self.parts, plan)

    def examples(self, word: str = "", language: str | None = None) -> list[Example]:
        """Sentences that work without a model."""
        return self.parts.library.examples(word, language or self.settings.language or "en")

    def language_of(self, request: str) -> str:
        """The language that a sentence is understood in: the engine's, or the one whose lexicon explains more.

        Raises:
            CommandFault: It begins as a slash command, and is none.
            RequestFault: It is too long.
        """
        from metnos.drivers.opening import require_short
        from metnos.drivers.slash import command_of, may_be_command

        require_short(request)
        command = command_of(request) if may_be_command(request) else None
        if command is not None and command.language is not None:
            return self.settings.language or command.language
        return self.parts.rules.normalise(request, self.settings.language).language

    def turns(self, limit: int = 20) -> tuple[TurnSummary, ...]:
        """Recorded turns, newest first."""
        return self.parts.journal.turns(limit)

    def find_turn(self, text: str) -> str:
        """The turn id that `text` means: an id, an unambiguous prefix, or `last`.

        Raises:
            RecordFault: There is none, or more than one.
        """
        from metnos.drivers import offline

        return offline.find_turn(self.parts, text)

    def read_turn(self, turn: str) -> TurnView:
        """One recorded turn as people read it."""
        from metnos.record.reading import view

        return view(self.parts.journal.load(turn))

    def labels(self, turn: str) -> dict[str, Label]:
        """What people said of a recorded turn."""
        return self.parts.labels.of(turn)

    def label(self, turn: str, put: Mapping[str, Label], remove: Iterable[str] = ()) -> dict[str, Label]:
        """Say something of a recorded turn, or take it back. It is kept beside the log, which stays as it is.

        Args:
            turn: Turn id.
            put: Name → text, number, true or false.
            remove: Names.

        Returns:
            What the turn has now.

        Raises:
            RecordFault: `turn-missing`, `label-invalid`, `labels-damaged`, or the disk.
        """
        self.parts.journal.load(turn)
        return self.parts.labels.change(turn, put, remove)

    def verify(self, turn: str) -> Verified:
        """Whether chain, signed head and anchor of a turn hold, and where not."""
        return self.parts.journal.verify(turn)

    def replay(self, turn: str) -> ReplayResult:
        """Feed the recorded inputs to a fresh machine and compare; runs nothing."""
        from metnos.drivers import offline

        return offline.replay(self.parts, turn)

    def doctor(self) -> list[Finding]:
        """Look at this installation: what was found, and how to mend it."""
        from metnos.drivers.doctor import examine

        return examine(self.parts)
