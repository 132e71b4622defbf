"""`kill -9` at every durable boundary, single and double: no second effect, and the turn ends well or says that nobody knows.

The matrix runs real `write_files` steps in real workers, and functions of the host that may not be repeated. A turn is
begun in a process that kills itself; the next process resumes it. The last tests leave a safety out, and the matrix
must notice.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from metnos.drivers.ports import BOUNDARIES
from metnos.record.connection import load_driver
from metnos.record.faults import RecordFault
from tests.support.crashing import Crashes
from tests.support.hosted import lines, plan, step

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from metnos import Engine, TurnResult
    from tests.engine.conftest import Opens

pytestmark = pytest.mark.kill
KILLED = -9
WRITES = plan(
    step("find_files"),
    step("write_files", path="new.txt", content="${step1.count} files"),
    step("write_files", path="a.txt", content="${step2.path} is ${step2.bytes} bytes", overwrite=True),
    step("read_files", path="${step3.path}"),
    text='${step4.entries[0].text ?? "nothing"}',
)
"""A read, two effects of which the second is asked about, a read: every boundary is passed, most of them twice."""
ONCE = {"turn-opened", "approval-committed", "turn-finished"}
VISITS = [(name, visit) for name in BOUNDARIES for visit in (1, 2) if visit == 1 or name not in ONCE]


@pytest.fixture(scope="module")
def server() -> Iterator[Crashes]:
    with Crashes() as one:
        yield one


@pytest.fixture
def crashes(server: Crashes, home: Path, folder: Path) -> Crashes:
    return server.at(home, folder)


def rows(home: Path, sql: str, *values: Any) -> list[tuple[Any, ...]]:
    connection = load_driver().connect(str(home / "metnos.db"))
    found = connection.execute(sql, values).fetchall()
    connection.close()
    return found


def operations(home: Path, turn: str) -> dict[str, tuple[str, str]]:
    """Step → (operation id, state); one row for each step, whatever was repeated."""
    found = rows(home, "SELECT step, id, state FROM operation WHERE turn = ?", turn)
    assert len({step for step, _, _ in found}) == len(found)
    assert len({operation for _, operation, _ in found}) == len(found)
    return {step: (operation, state) for step, operation, state in found}


def settle(opens: Opens, given: Any) -> tuple[Engine, TurnResult | None, str]:
    """What the next process does: go on with the turn, begin it anew if nothing of it was recorded, or find it closed."""
    engine = opens(approve=lambda _asked: True)
    recorded = engine.turns(1)
    if not recorded:
        result = engine.run_sync(plan=given, assume_yes=True)
        return engine, result, result.turn
    turn = recorded[0].turn
    assert engine.verify(turn).ok  # as the crash left it
    try:
        return engine, engine.resume_sync(turn), turn
    except RecordFault as fault:
        assert fault.code == "turn-closed"
        return engine, None, turn


def check_log(engine: Engine, home: Path, turn: str) -> None:
    """Chain, head, anchor, replay; every start of an effect under the operation id that was promised."""
    assert engine.verify(turn).ok
    assert engine.replay(turn).status == "identical"
    view = engine.read_turn(turn)
    assert view.status == "closed"
    assert view.head is not None
    known = operations(home, turn)
    for log_step in view.steps:
        if log_step.step in known:
            assert log_step.operation == known[log_step.step][0]
    anchors = (home / "anchors.log").read_text().splitlines()
    assert sum(line.split()[1] == turn for line in anchors) >= 1
    assert not (home / "locks").exists() or list((home / "locks").iterdir()) == []


# --- write_files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "visit"), VISITS, ids=[f"{name}-{visit}" for name, visit in VISITS])
def test_write_files_killed_once_and_twice(
    opens: Opens, crashes: Crashes, home: Path, folder: Path, name: str, visit: int
) -> None:
    assert crashes.run(WRITES, die=(name, visit)) == KILLED
    recorded = rows(home, "SELECT turn, status FROM turn")
    if recorded and recorded[0][1] == "open":
        assert crashes.resume(recorded[0][0], die=("effect-done", 1)) in (KILLED, 0)
    engine, result, turn = settle(opens, WRITES)
    assert result is None or result.outcome == "success", result
    check_log(engine, home, turn)
    assert engine.read_turn(turn).outcome == "success"
    done = operations(home, turn)
    assert {key: state for key, (_, state) in done.items()} == {"1.2": "done", "1.3": "done"}
    assert (folder / "new.txt").read_text() == "3 files"
    assert (folder / "a.txt").read_text() == "new.txt is 7 bytes"
    assert sorted(os.listdir(folder)) == [".metnos-trash", "a.txt", "b.txt", "new.txt", "sub"]


@pytest.mark.parametrize("name", ["intent-committed", "effect-done"])
def test_append_files_killed_adds_once(opens: Opens, crashes: Crashes, home: Path, folder: Path, name: str) -> None:
    adds = plan(*(step("append_files", path=path, content="x") for path in ("new.txt", "new.txt", "a.txt")))
    old = (folder / "a.txt").read_text()
    for visit in (1, 2):
        assert crashes.run(adds, die=(name, visit)) == KILLED
        _, result, _ = settle(opens, adds)
        assert result is None or result.outcome == "success", result
        assert (folder / "new.txt").read_text() == "x\n" * 2 * visit
    assert (folder / "a.txt").read_text() == f"{old}\nx\nx\n".replace("\n\n", "\n")


def test_a_turn_that_dies_while_it_suspends_waits_all_the_same(
    opens: Opens, crashes: Crashes, home: Path, folder: Path
) -> None:
    """Nobody can be asked: the turn suspends. Whenever it dies, it asks again, and what was done stays done."""
    for visit, name in enumerate(("approval-committed", "turn-finished")):
        assert crashes.run(WRITES, die=(name, 1), ask=False) == KILLED
        engine = opens()
        turn = engine.turns(1)[0].turn
        waiting = engine.resume_sync(turn)
        assert (waiting.status, [need.step for need in waiting.needs]) == ("suspended", ["1.3"])
        assert [one.status for one in waiting.steps] == ["done", "done", "asking", "waiting"]
        assert crashes.resume(turn, die=("effect-done", 1)) == KILLED
        assert opens(approve=lambda _asked: False).resume_sync(turn).outcome == "success"  # it was allowed before
        check_log(engine, home, turn)
        (folder / "new.txt").unlink()
        assert visit < 2


# --- what may not be repeated ---------------------------------------------------------------------------------------------

AFTER = ["before-intent", "intent-committed", "effect-done", "outcome-recorded", "turn-finished"]


@pytest.mark.parametrize("tool", ["append_line", "append_later"])
@pytest.mark.parametrize("last", [False, True], ids=["then-a-read", "last"])
@pytest.mark.parametrize("name", AFTER)
def test_an_effect_that_may_not_be_repeated(
    opens: Opens, crashes: Crashes, home: Path, folder: Path, name: str, last: bool, tool: str
) -> None:
    path = folder / "lines"
    given = plan(
        step(tool, path=str(path)),
        *([] if last else [step("read_files", path="${step1.path ?? 'lines'}".replace("'", '"'))]),
    )
    assert crashes.run(given, die=(name, 1)) == KILLED
    made = lines(path)
    assert made == (0 if name in ("before-intent", "intent-committed") else 1)
    known = [state for _, state in operations(home, rows(home, "SELECT turn FROM turn")[0][0]).values()] if rows(
        home, "SELECT turn FROM turn"
    ) else []  # fmt: skip
    unsure = known == ["intent"]
    assert unsure == (name in ("intent-committed", "effect-done") or (last and name == "outcome-recorded"))
    engine, result, turn = settle(opens, given)
    check_log(engine, home, turn)
    outcome = engine.read_turn(turn).outcome
    assert outcome == ("effect_unknown" if unsure else "success")
    assert lines(path) == (made if unsure else 1)
    if unsure:
        assert result is not None
        for word in ("1.1", tool, str(path)):
            assert word in result.answer
        assert result.answer.startswith("An action may or may not have happened: ")
        assert operations(home, turn)["1.1"][1] == "unknown"
        with pytest.raises(RecordFault, match="turn-closed"):
            engine.resume_sync(turn)
        assert lines(path) == made


@pytest.mark.parametrize("name", ["intent-committed", "effect-done", "outcome-recorded"])
def test_an_effect_that_may_be_repeated_is_under_its_one_operation(
    opens: Opens, crashes: Crashes, home: Path, folder: Path, name: str
) -> None:
    path = folder / "lines"
    given = plan(step("append_again", path=str(path)))
    assert crashes.run(given, die=(name, 1)) == KILLED
    engine, result, turn = settle(opens, given)
    assert result is not None
    assert result.outcome == "success"
    check_log(engine, home, turn)
    assert list(operations(home, turn)) == ["1.1"]
    assert lines(path) == (1 if name == "intent-committed" else 2)


# --- the checker itself ---------------------------------------------------------------------------------------------------


def test_without_the_intent_on_disk_an_effect_is_made_twice(opens: Opens, crashes: Crashes, folder: Path) -> None:
    path = folder / "lines"
    given = plan(step("append_line", path=str(path)))
    assert crashes.run(given, die=("effect-done", 1), break_="intent") == KILLED
    settle(opens, given)
    assert lines(path) == 2, "the matrix above would not notice that the intent is missing"


def test_an_older_database_is_behind_the_anchor_of_the_intent(
    opens: Opens, crashes: Crashes, home: Path, folder: Path
) -> None:
    """The anchor is on disk before the effect: put the database of a moment ago back, and nothing runs again."""
    given = plan(step("append_line", path=str(folder / "lines")), step("append_line", path=str(folder / "lines")))
    assert crashes.run(given, die=("before-intent", 2)) == KILLED
    names = ("metnos.db", "metnos.db-wal", "metnos.db-shm")
    old = {name: (home / name).read_bytes() for name in names if (home / name).exists()}
    turn = rows(home, "SELECT turn FROM turn")[0][0]
    assert crashes.resume(turn, die=("intent-committed", 1)) == KILLED
    for name in names:
        (home / name).unlink(missing_ok=True)
    for name, data in old.items():
        (home / name).write_bytes(data)
    engine = opens()
    assert engine.verify(turn).code == "log-behind-anchor"
    with pytest.raises(RecordFault, match="log-behind-anchor"):
        engine.resume_sync(turn)
    assert lines(folder / "lines") == 1


def test_without_its_anchor_an_effect_is_not_believed(opens: Opens, crashes: Crashes, folder: Path) -> None:
    given = plan(step("append_line", path=str(folder / "lines")), step("append_line", path=str(folder / "lines")))
    assert crashes.run(given, die=("before-intent", 2), break_="anchor") == KILLED
    engine = opens()
    assert engine.verify(engine.turns(1)[0].turn).code == "anchor-missing", "the matrix above would not notice"
