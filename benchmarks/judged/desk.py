"""One engine over the fixture tree, with nothing known beforehand: every request needs a proposal.

Law: starter templates and learned plans are left out; every consent is given, so that what is wrong is done and seen.
"""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING, Any

import msgspec

from benchmarks.judged import tree
from benchmarks.judged.judge import Judged, happened, judge
from metnos import Engine

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.judged.cases import Case
    from metnos.drivers.learning import Caching


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """One request through one arm."""

    case: Case
    judged: Judged
    outcome: str
    code: str
    seconds: float
    usage: dict[str, int]
    plan: Any
    answer: str


class Desk:
    """An engine with a proposer, and the tree that it works on."""

    def __init__(self, place: Path, proposer: Any, source: Path | None = None, *, caching: Caching = "off") -> None:
        """Open an engine in `place`.

        Args:
            place: A folder, empty but for the home.
            proposer: `(PlanRequest, Candidates) -> plan`; None: the models that `place/home` has configured, if any.
            source: A tree to work on copies of, instead of the fixture tree.
            caching: Of what was learned.
        """
        self.source = source
        self.caching: Caching = caching
        self.folder = place / "tree"
        self.folder.mkdir(parents=True)
        with Engine.open(place / "first", folder=self.folder) as shipped:
            shutil.copytree(shipped.settings.catalog, place / "catalog", ignore=shutil.ignore_patterns("plans"))
        self.engine = Engine.open(
            place / "home",
            folder=self.folder,
            catalog=place / "catalog",
            zone="UTC",
            clock=lambda: tree.NOW * 1_000_000,
            approve=lambda _question: True,
            proposer=proposer,
        )

    def run(self, case: Case) -> Ran:
        """One request on a fresh tree."""
        before = tree.copy(self.source, self.folder) if self.source else tree.build(self.folder)
        begin = time.perf_counter()
        result = self.engine.run_sync(case.request, language=case.language, cache=self.caching)
        seconds = time.perf_counter() - begin
        answer = "\n".join([result.answer, *result.notes, "" if result.data is None else str(result.data)])
        came = happened(result.outcome, suspended=result.status == "suspended")
        return Ran(
            case=case,
            judged=judge(case, before, self.folder, answer, came),
            outcome=result.outcome or result.status,
            code=result.code,
            seconds=seconds,
            usage=dict(result.usage),
            plan=result.plan,
            answer=answer,
        )

    def close(self) -> None:
        """Close the engine."""
        self.engine.close()
