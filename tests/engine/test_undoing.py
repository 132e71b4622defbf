"""`Engine.undo`: what a turn did is undone in a turn of its own, asked about once, refused where files have changed since.

The last tests kill processes between the intent of an effect and its outcome: what was cut off is found by the next
process, done once, and can still be undone.
"""

from __future__ import annotations

import asyncio
import os
import re
from typing import TYPE_CHECKING, Any

import pytest

from metnos.drivers.undoing import NothingToUndo
from metnos.record.faults import RecordFault
from tests.support.crashing import Crashes
from tests.support.hosted import plan, step

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from metnos import Engine, TurnResult
    from tests.engine.conftest import Opens

KILLED = -9
ORIGINAL = {"a.txt": "alpha\n", "b.txt": "beta beta\n", "sub/c.md": "# gamma\n"}
EFFECTS = plan(
    step("copy_files", path="a.txt", to="copy.txt"),
    step("move_files", path="b.txt", folder="moved"),
    step("delete_files", path="sub/c.md"),
    step("write_files", path="a.txt", content="new", overwrite=True),
    step("create_dirs", path="x/y"),
)
AFTER = {"a.txt": "new", "copy.txt": "alpha\n", "moved/b.txt": "beta beta\n"}


BEGUN = re.compile(r"(^|/)\.metnos-[0-9a-f]+\.tmp$")


def tree(top: Path) -> dict[str, str]:
    """Every file that is not in the trash."""
    return {
        str(path.relative_to(top)): path.read_text()
        for path in sorted(top.rglob("*"))
        if path.is_file() and ".metnos-trash" not in path.parts
    }


def tree_after_a_kill(top: Path) -> dict[str, str]:
    """As `tree`; a kill may leave the hidden beginning of a write beside its target."""
    return {name: text for name, text in tree(top).items() if not BEGUN.search(name)}


def yes(_asked: Any) -> bool:
    return True


def codes(result: TurnResult) -> list[str]:
    return [one.error.code for one in result.steps if one.error is not None]


def done(engine: Engine, folder: Path) -> str:
    """The turn of `EFFECTS`."""
    result = engine.run_sync(plan=EFFECTS)
    assert result.outcome == "success", result
    assert tree(folder) == AFTER
    return result.turn


def test_all_that_a_turn_did_is_undone_and_that_again_by_other_processes(opens: Opens, folder: Path) -> None:
    turn = done(opens(approve=yes), folder)
    asked: list[Any] = []
    undone = opens(approve=lambda one: bool(asked.append(one)) or True).undo_sync(turn)
    assert undone.outcome == "success", undone
    assert tree(folder) == ORIGINAL
    assert not (folder / "x").exists()
    (one,) = asked
    assert (one.count, one.executor) == (6, "undo_effects@1.0.0")
    assert str(folder / "sub/c.md") in one.targets
    again = opens(approve=yes).undo_sync(undone.turn)
    assert again.outcome == "success", again
    assert tree(folder) == AFTER
    assert (folder / "x/y").is_dir()
    assert opens(approve=yes).undo_sync(again.turn).outcome == "success"
    assert tree(folder) == ORIGINAL


def test_files_that_changed_places_go_back(opens: Opens, folder: Path) -> None:
    engine = opens(approve=yes)
    moves = [("a.txt", "t"), ("b.txt", "a.txt"), ("t", "b.txt")]
    turn = engine.run_sync(plan=plan(*(step("move_files", path=path, to=to) for path, to in moves))).turn
    swapped = ORIGINAL | {"a.txt": ORIGINAL["b.txt"], "b.txt": ORIGINAL["a.txt"]}
    assert tree(folder) == swapped
    undone = engine.undo_sync(turn)
    assert (undone.outcome, tree(folder)) == ("success", ORIGINAL)
    again = engine.undo_sync(undone.turn)
    assert (again.outcome, tree(folder)) == ("success", swapped)


def test_many_files_of_one_step_are_asked_about_once_and_undone(opens: Opens, folder: Path) -> None:
    engine = opens(approve=yes)
    found = step("find_files", pattern="*.txt")
    result = engine.run_sync(plan=plan(found, step("delete_files", from_step=1)))
    assert (result.outcome, tree(folder)) == ("success", {"sub/c.md": "# gamma\n"})
    assert engine.undo_sync(result.turn).outcome == "success"
    assert tree(folder) == ORIGINAL


def test_it_asks_and_suspends_where_nobody_can_say(opens: Opens, folder: Path) -> None:
    turn = done(opens(approve=yes), folder)
    waiting = opens().undo_sync(turn)
    assert (waiting.status, [need.count for need in waiting.needs]) == ("suspended", [6])
    assert tree(folder) == AFTER
    with pytest.raises(NothingToUndo) as caught:
        opens().undo_sync(waiting.turn)
    assert caught.value.code == "turn-open"
    assert opens().resume_sync(waiting.turn, approve=[waiting.needs[0].id]).outcome == "success"
    assert tree(folder) == ORIGINAL
    refused = opens(approve=lambda _asked: False).undo_sync(waiting.turn)
    assert (refused.outcome, tree(folder)) == ("user_aborted", ORIGINAL)


def test_on_a_loop(opens: Opens, folder: Path) -> None:
    async def run() -> None:
        async with opens(approve=yes, memory=True) as engine:
            result = await engine.run(plan=plan(step("delete_files", path="a.txt")))
            assert (await engine.undo(result.turn)).outcome == "success"

    asyncio.run(run())
    assert tree(folder) == ORIGINAL


def test_what_has_changed_since_stays_and_ends_the_undo(opens: Opens, folder: Path) -> None:
    engine = opens(approve=yes)
    turn = done(engine, folder)
    (folder / "moved/b.txt").write_text("changed by hand")
    result = engine.undo_sync(turn)
    assert (result.outcome, codes(result)) == ("partial", ["changed-since"])
    assert (folder / "moved/b.txt").read_text() == "changed by hand"
    assert not (folder / "b.txt").exists()


def test_undoing_twice_is_refused(opens: Opens, folder: Path) -> None:
    engine = opens(approve=yes)
    turn = engine.run_sync(plan=plan(step("delete_files", path="a.txt"))).turn
    assert engine.undo_sync(turn).outcome == "success"
    twice = engine.undo_sync(turn)
    assert tree(folder) == ORIGINAL
    assert twice.outcome == "success", "it is there already, as it was: nothing to do"
    (folder / "a.txt").write_text("other")
    thrice = engine.undo_sync(turn)
    assert (thrice.outcome, codes(thrice)) == ("error", ["not-found"])
    assert (folder / "a.txt").read_text() == "other"


def test_what_cannot_be_undone(opens: Opens, folder: Path, home: Path) -> None:
    engine = opens(approve=yes)
    read = engine.run_sync(plan=plan(step("find_files")))
    with pytest.raises(NothingToUndo, match="changed nothing"):
        engine.undo_sync(read.turn)
    same = engine.run_sync(plan=plan(step("write_files", path="a.txt", content="alpha\n")))
    with pytest.raises(NothingToUndo, match="can be undone"):
        engine.undo_sync(same.turn)
    with pytest.raises(RecordFault):
        engine.undo_sync("20260101-000000-00000000")
    turn = engine.run_sync(plan=plan(step("delete_files", path="a.txt"))).turn
    elsewhere = home.parent / "elsewhere"
    elsewhere.mkdir()
    outside = opens(folder=elsewhere, approve=yes).undo_sync(turn)
    assert codes(outside) == ["outside-roots"]
    assert opens(folder=elsewhere, roots=(folder,), approve=yes).undo_sync(turn).outcome == "success"
    assert tree(folder) == ORIGINAL


def test_something_else_bears_the_name_of_the_trash(opens: Opens, folder: Path) -> None:
    (folder / ".metnos-trash").write_text("not a folder")
    over = step("copy_files", path="b.txt", to="a.txt", overwrite=True)
    for one in (step("delete_files", path="a.txt"), over):
        result = opens(approve=yes, memory=True).run_sync(plan=plan(one))
        (failed,) = (step.error for step in result.steps if step.error is not None)
        assert (result.outcome, failed.code) == ("error", "symlink")
        assert "name of the trash" in failed.message
        assert ".metnos-trash" in failed.hint
    assert tree(folder) == ORIGINAL


# --- kill -9 ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[Crashes]:
    with Crashes() as one:
        yield one


@pytest.mark.kill
@pytest.mark.parametrize("visit", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("name", ["intent-committed", "effect-done"])
def test_killed_between_intent_and_outcome(
    opens: Opens, server: Crashes, home: Path, folder: Path, name: str, visit: int
) -> None:
    crashes = server.at(home, folder)
    assert crashes.run(EFFECTS, die=(name, visit)) == KILLED
    engine = opens(approve=yes)
    turn = engine.turns(1)[0].turn
    result = engine.resume_sync(turn)
    assert (result.outcome, tree_after_a_kill(folder)) == ("success", AFTER)
    assert engine.replay(turn).status == "identical"
    assert len(list((folder / ".metnos-trash").glob("*/*"))) == 2, "each was put there once"
    undone = engine.undo_sync(turn)
    assert (undone.outcome, tree_after_a_kill(folder)) == ("success", ORIGINAL)


@pytest.mark.kill
@pytest.mark.parametrize("name", ["intent-committed", "effect-done"])
def test_what_was_moved_away_meanwhile_ends_unknown(
    opens: Opens, server: Crashes, home: Path, folder: Path, name: str
) -> None:
    given = plan(step("move_files", path="b.txt", to="c.txt"))
    assert server.at(home, folder).run(given, die=(name, 1)) == KILLED
    (folder / ("b.txt" if name == "intent-committed" else "c.txt")).unlink()
    engine = opens(approve=yes)
    result = engine.resume_sync(engine.turns(1)[0].turn)
    assert result.outcome == "effect_unknown"
    assert os.listdir(folder).count("c.txt") == 0


@pytest.mark.kill
@pytest.mark.parametrize("name", ["intent-committed", "effect-done"])
def test_an_undo_that_is_killed_goes_on(opens: Opens, server: Crashes, home: Path, folder: Path, name: str) -> None:
    engine = opens(approve=yes)
    turn = done(engine, folder)
    engine.close()
    assert server.at(home, folder).undo(turn, die=(name, 3)) == KILLED
    engine = opens(approve=yes)
    result = engine.resume_sync(engine.turns(1)[0].turn)
    assert (result.outcome, tree_after_a_kill(folder)) == ("success", ORIGINAL)
