"""A recorded turn replays identical; with one record altered, removed or cut off, everything that reads it says so.

The SQLite file is edited as anybody with an editor could; `log --verify`, `log`, `replay` and `resume` name the record
and leave with 4.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from metnos import Engine
from metnos.cli.main import main
from metnos.record.connection import load_driver
from tests.support.terminal import Metnos

if TYPE_CHECKING:
    from collections.abc import Callable

TIME = "UPDATE record SET at = at + 1 WHERE turn = ? AND seq = ?"
REMOVE = "DELETE FROM record WHERE turn = ? AND seq = ?"
CUT = "DELETE FROM record WHERE turn = ? AND seq >= ?"


class Recorded:
    """A home with one closed turn that wrote a file, and one that is suspended."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home = home
        with Engine.open(home, folder=folder) as engine:
            self.closed = engine.run_sync('write "hello" to hello.txt', assume_yes=True).turn
            self.suspended = engine.run_sync('write "hello" to other.txt').turn
            self.need = f"{self.suspended}.1.1"
            self.records = engine.read_turn(self.closed).records

    def edit(self, sql: str, *values: Any) -> None:
        connection = load_driver().connect(str(self.home / "metnos.db"))
        assert connection.execute(sql, values).rowcount > 0
        connection.commit()
        connection.close()

    def kinds(self, turn: str) -> list[str]:
        connection = load_driver().connect(str(self.home / "metnos.db"))
        found = [row[0] for row in connection.execute("SELECT kind FROM record WHERE turn = ? ORDER BY seq", (turn,))]
        connection.close()
        return found


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    place = tmp_path_factory.mktemp("recorded")
    (place / "work").mkdir()
    return Recorded(place / "home", place / "work")


@pytest.fixture
def recorded(original: Recorded, tmp_path: Path) -> Recorded:
    copy = Recorded.__new__(Recorded)
    vars(copy).update(vars(original))
    copy.home = tmp_path / "home"
    shutil.copytree(original.home, copy.home)
    return copy


@pytest.fixture
def command(recorded: Recorded, capsysbinary: pytest.CaptureFixture[bytes]) -> Callable[..., tuple[int, Any, str]]:
    """Run a command in this process: exit code, JSON, stderr."""

    def run(*arguments: str) -> tuple[int, Any, str]:
        with pytest.raises(SystemExit) as left:
            main(["--home", str(recorded.home), "--json", *arguments])
        told = capsysbinary.readouterr()
        return int(left.value.code or 0), json.loads(told.out), told.err.decode()

    return run


def test_untouched_it_verifies_and_replays_identical(recorded: Recorded, command: Any) -> None:
    for turn in (recorded.closed, recorded.suspended):
        assert command("log", turn, "--verify")[:2] == (0, command("log", turn, "--verify")[1])
        status, told, _ = command("replay", turn)
        assert (status, told["status"]) == (0, "identical")
    assert command("replay", recorded.closed)[1]["records"] == recorded.records


def refused_everywhere(recorded: Recorded, command: Any, turn: str, seq: int, *codes: str) -> None:
    """`log --verify`, `log`, `replay`, `resume`: each names the record, and 4."""
    for arguments in (["log", turn, "--verify"], ["log", turn]):
        status, told, err = command(*arguments)
        assert (status, err) == (4, "")
        assert told["error"]["code"] in codes
        assert told["error"]["where"] == f"{turn} record {seq}"
    status, told, _ = command("replay", turn)
    assert (status, told["status"], told["seq"]) == (4, "broken", seq)
    assert told["kind"] in codes
    resume = ["--approve", recorded.need] if turn == recorded.suspended else []
    for more in ([], resume):
        status, told, err = command("resume", turn, *more)
        assert (status, err, told["error"]["code"] in codes) == (4, "", True)
        assert told["error"]["where"] == f"record {seq}"
    assert not (recorded.home.parent / "work" / "other.txt").exists()


@pytest.mark.parametrize("which", ["closed", "suspended"])
@pytest.mark.parametrize("sql", [TIME, REMOVE, CUT], ids=["altered", "removed", "cut"])
@pytest.mark.parametrize("place", ["second", "middle", "before last"])
def test_a_record_that_was_touched_is_named(recorded: Recorded, command: Any, which: str, sql: str, place: str) -> None:
    turn = getattr(recorded, which)
    last = len(recorded.kinds(turn))
    seq = {"second": 2, "middle": last // 2, "before last": last - 1}[place]
    recorded.edit(sql, turn, seq)
    code = {TIME: "record-altered", REMOVE: "record-missing", CUT: "log-cut-off"}[sql]
    refused_everywhere(recorded, command, turn, seq, code)


def test_the_last_record_cut_off_is_missed(recorded: Recorded, command: Any) -> None:
    """Nothing inside the chain is wrong: the signed head and the anchor know how far it went."""
    recorded.edit(CUT, recorded.closed, recorded.records)
    refused_everywhere(recorded, command, recorded.closed, recorded.records, "log-cut-off")


def test_cut_off_with_its_row_made_to_fit_is_behind_its_anchor(recorded: Recorded, command: Any) -> None:
    last = recorded.records
    recorded.edit(CUT, recorded.closed, last - 1)
    recorded.edit(
        "UPDATE turn SET seq = ?, head_seq = 0, status = 'open', outcome = '' WHERE turn = ?", last - 2, recorded.closed
    )
    refused_everywhere(recorded, command, recorded.closed, last - 1, "log-behind-anchor")


def test_an_outcome_that_was_removed_with_everything_after_it_never_runs_the_effect_again(
    recorded: Recorded, command: Any
) -> None:
    started = recorded.kinds(recorded.closed).index("step_started") + 1
    recorded.edit(CUT, recorded.closed, started)
    recorded.edit("UPDATE turn SET seq = ?, head_seq = 0, status = 'open' WHERE turn = ?", started - 1, recorded.closed)
    refused_everywhere(recorded, command, recorded.closed, started, "log-behind-anchor")


def test_a_whole_turn_that_is_gone_is_missed(recorded: Recorded, command: Any) -> None:
    for table in ("record", "turn"):
        recorded.edit(f"DELETE FROM {table} WHERE turn = ?", recorded.closed)
    for arguments in (["log", recorded.closed], ["replay", recorded.closed], ["resume", recorded.closed]):
        status, told, _ = command(*arguments)
        assert (status, told["error"]["code"]) == (4, "log-missing")


def test_an_old_copy_of_the_database_is_refused(recorded: Recorded, command: Any, folder: Path) -> None:
    shutil.copy(recorded.home / "metnos.db", recorded.home.parent / "old.db")
    with Engine.open(recorded.home, folder=folder) as engine:
        assert engine.resume_sync(recorded.suspended, deny=[recorded.need]).outcome == "user_aborted"
    for name in ("metnos.db-wal", "metnos.db-shm"):
        (recorded.home / name).unlink(missing_ok=True)
    shutil.copy(recorded.home.parent / "old.db", recorded.home / "metnos.db")
    status, told, _ = command("resume", recorded.suspended, "--approve", recorded.need)
    assert (status, told["error"]["code"]) == (4, "log-behind-anchor")
    assert command("log", recorded.suspended, "--verify")[0] == 4


def test_a_person_is_told_in_words_by_a_process(recorded: Recorded, folder: Path, tmp_path: Path) -> None:
    recorded.edit(TIME, recorded.closed, 3)
    metnos = Metnos(folder, recorded.home)
    for arguments in (["log", recorded.closed, "--verify"], ["resume", recorded.closed]):
        done = metnos(*arguments)
        assert (done.status, done.out) == (4, "")
        assert done.err.startswith("metnos: record-altered: record 3 (")
    replayed = metnos("replay", recorded.closed)
    assert replayed.status == 4
    assert replayed.out.startswith("The log does not hold at record 3: ")


def test_other_rules_make_a_replay_diverge_and_say_where(
    recorded: Recorded, command: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from metnos.policy.table import TABLE

    monkeypatch.setitem(TABLE["create"], "catalog", "deny")
    status, told, _ = command("replay", recorded.closed)
    assert (status, told["status"]) == (1, "diverged")
    assert told["seq"] > 1
    assert told["kind"]
    assert told["recorded"] != told["computed"]
