"""A plan that was proposed once serves the same sentence again, in this process and the next; and nothing else does."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from metnos.drivers.learning import caching_of
from metnos.turn.inputs import PlanMissed
from tests.support.hosted import plan, step

if TYPE_CHECKING:
    from pathlib import Path

    from metnos import Engine
    from tests.engine.conftest import Opens

SAYING = "fold the laundry 7 times"
GOOD = plan(step("add_one", n=7), data="${step1.n}")


class Proposer:
    """Gives one plan to all who ask, and counts them."""

    def __init__(self, given: Any = GOOD) -> None:
        self.given = given
        self.asked = 0

    def __call__(self, command: Any, candidates: Any = ()) -> Any:
        self.asked += 1
        return self.given


@pytest.fixture
def proposer() -> Proposer:
    return Proposer()


def reasons(engine: Engine, turn: str) -> list[str]:
    """Why no known plan served, as the log has it."""
    from metnos.record.replay import fold

    return [item.reason for item in fold(engine.parts.journal.load(turn)) if isinstance(item, PlanMissed)]


@pytest.mark.parametrize("memory", [False, True])
def test_the_same_sentence_again_needs_no_proposal(opens: Opens, proposer: Proposer, memory: bool) -> None:
    engine = opens(proposer=proposer, memory=memory)
    first, again = engine.run_sync(SAYING), engine.run_sync(f"  {SAYING.upper()} ")
    assert (first.outcome, first.source, first.usage, first.entry) == ("success", "model", {"planning_calls": 1}, "")
    assert (again.outcome, again.source, again.data) == ("success", "model", 8)
    once_more = engine.run_sync(SAYING)
    assert (once_more.outcome, once_more.source, once_more.data) == ("success", "cache", 8)
    assert once_more.usage == {"planning_calls": 0}
    assert once_more.entry.startswith("l0:")
    assert engine.read_turn(once_more.turn).plan == GOOD
    for result in (first, again, once_more):
        assert engine.replay(result.turn).status == "identical"
    assert proposer.asked == 2  # a word that nobody knows is compared as it was written


def test_another_process_is_served_too(opens: Opens, proposer: Proposer, folder: Path, home: Path, root: Path) -> None:
    with opens(proposer=proposer) as engine:
        engine.run_sync(SAYING)
    program = (
        "from metnos import Engine; from tests.support.hosted import ALL\n"
        f"with Engine.open({str(home)!r}, folder={str(folder)!r}, executors=ALL, zone='UTC') as engine:\n"
        f"    result = engine.run_sync({SAYING!r})\n"
        "    print(result.outcome, result.source, result.data)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, timeout=50)
    assert (done.stdout, done.stderr) == ("success cache 8\n", "")


def test_what_was_learned_is_for_nobody_else(opens: Opens, proposer: Proposer) -> None:
    opens(proposer=proposer).run_sync(SAYING)
    other = opens(proposer=proposer, owner="anna").run_sync(SAYING)
    assert (other.source, proposer.asked) == ("model", 2)
    engine = opens(proposer=proposer, channel="chat")
    elsewhere = engine.run_sync(SAYING)
    assert (elsewhere.source, reasons(engine, elsewhere.turn)) == ("model", ["channel-differs"])


OTHERS = [
    ("fold the laundry 7 times?", "cache", 8),  # what only reads may be asked for either way
    ("fold the laundry 8 times", "cache", 9),  # the same form, and all in the plan is said
    ("fold the Laundry 7 times", "model", 8),
    ("do not fold the laundry 7 times", "model", 8),
    ("fold the laundry 7 times and again", "model", 8),
    ("unfold the laundry 7 times", "model", 8),
]


@pytest.mark.parametrize(("other", "source", "data"), OTHERS, ids=[row[0] for row in OTHERS])
def test_another_sentence(opens: Opens, proposer: Proposer, other: str, source: str, data: int) -> None:
    engine = opens(proposer=proposer, memory=True)
    engine.run_sync(SAYING)
    result = engine.run_sync(other)
    assert (result.source, result.data) == (source, data)


def test_the_cache_can_be_left_aside_or_made_anew(opens: Opens, proposer: Proposer) -> None:
    engine = opens(proposer=proposer)
    off = engine.run_sync(SAYING, cache="off")
    assert reasons(engine, off.turn) == ["no-cache"]
    assert engine.run_sync(SAYING).source == "model"
    proposer.given = plan(step("add_one", n=7), data=["${step1.n}"])
    assert engine.run_sync(SAYING, cache="off").data == [8]
    assert engine.run_sync(SAYING).data == 8
    refreshed = engine.run_sync(SAYING, cache="refresh")
    assert (refreshed.data, reasons(engine, refreshed.turn)) == ([8], ["refresh"])
    assert (engine.run_sync(SAYING).source, engine.run_sync(SAYING).data) == ("cache", [8])
    assert engine.plan_sync(SAYING).source == "cache"
    assert engine.plan_sync(SAYING, cache="off").source == "model"
    assert caching_of([PlanMissed(reason="no-cache")]) == "off"
    assert caching_of([PlanMissed(reason="no-template")]) == "use"


def test_what_is_handed_in_beside_the_sentence_keeps_it_out_of_the_cache(opens: Opens, proposer: Proposer) -> None:
    engine = opens(proposer=proposer)
    given = engine.run_sync(SAYING, inputs={"n": 3})
    assert reasons(engine, given.turn) == ["attachments"]
    assert engine.run_sync(SAYING).source == "model"
    assert engine.run_sync(SAYING, inputs={"n": 3}).source == "model"


def test_a_plan_that_was_only_shown_or_given_is_no_lesson(opens: Opens, proposer: Proposer) -> None:
    engine = opens(proposer=proposer)
    planned = engine.plan_sync(SAYING)
    engine.run_sync(planned)
    engine.run_sync(plan=GOOD)
    assert engine.run_sync(SAYING).source == "model"


def test_a_failure_teaches_nothing(opens: Opens) -> None:
    failing = Proposer(plan(step("fail"), data=1))
    engine = opens(proposer=failing)
    for _ in range(2):
        result = engine.run_sync("fold the laundry")
        assert (result.outcome, result.source) == ("error", "model")


def test_a_fault_in_learning_leaves_the_turn_as_it_is(
    opens: Opens, proposer: Proposer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from metnos.cache.keeping import Keeping

    def broken(*_: Any) -> Any:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Keeping, "learn", broken)
    engine = opens(proposer=proposer)
    result = engine.run_sync(SAYING)
    assert (result.outcome, result.data) == ("success", 8)
    assert engine.replay(result.turn).status == "identical"
    assert engine.verify(result.turn).ok
