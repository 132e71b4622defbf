"""What an import tells in numbers, read off the turns that it made.

Law: counted from the log alone (`measures`), as anybody else could; nothing is taken from the importer's word.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from metnos.evaluate.importing.model import ImportReport
from metnos.evaluate.measures.figures import figures_of
from metnos.record.codec import decode_tolerant

if TYPE_CHECKING:
    from metnos.evaluate.importing.model import Notes
    from metnos.record.model import TurnLog


class Counts:
    """Over all turns of an import."""

    def __init__(self) -> None:
        self.turns = self.calls = self.repeated = self.plans = 0
        self.outcomes: Counter[str] = Counter()
        self.causes: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.rejected: Counter[str] = Counter()
        self.rewards: Counter[str] = Counter()

    def add(self, log: TurnLog, labels: dict[str, Any]) -> None:
        """One more turn."""
        figures = figures_of(log)
        self.turns += 1
        self.plans += figures.plans
        self.calls += figures.steps
        self.repeated += figures.repeated_calls
        self.outcomes[figures.outcome] += 1
        self.failures.update(figures.error_codes)
        if figures.cause:
            self.causes[figures.cause] += 1
        self.rejected.update(_rejections(log))
        reward = labels.get("reward")
        if isinstance(reward, int | float):
            self.rewards[f"{reward:g}"] += 1

    def report(self, form: str, source: str, tools: int, notes: Notes) -> ImportReport:
        """The report; `to` is filled in by whoever knows it."""
        return ImportReport(
            form=form,
            source=source,
            turns=self.turns,
            calls=self.calls,
            repeated_calls=self.repeated,
            plans=self.plans,
            tools=tools,
            outcomes=_sorted(self.outcomes),
            causes=_sorted(self.causes),
            failures=_sorted(self.failures),
            rejected=_sorted(self.rejected),
            dropped=_sorted(notes.dropped),
            rewards=_sorted(self.rewards),
            faults=tuple(
                {"code": one.code, "where": one.where, "found": one.found, "expected": one.expected, "hint": one.hint}
                for one in notes.faults
            ),
            unread=notes.unread,
        )


def _rejections(log: TurnLog) -> list[str]:
    """Code of the first diagnostic of each plan that was rejected."""
    bodies = [decode_tolerant(record.body) for record in log.records if record.kind == "plan_rejected"]
    return [str(one["diagnostics"][0].get("code", "")) for one in bodies if one.get("diagnostics")]


def _sorted(counted: Counter[str]) -> dict[str, int]:
    return dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))
