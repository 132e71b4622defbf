"""No space, I/O errors, short writes, failed syncs, at the n-th call for every n: no effect without a durable intent."""

# ruff: noqa: B023 - each function made in a loop is used up in its round
from __future__ import annotations

import os
import resource

import pytest

from metnos.record import connection as connections
from metnos.record import database as databases
from metnos.record.faults import RecordFault
from metnos.record.keys import KEY_FILE, open_key
from metnos.record.replay import replay
from metnos.record.sqlite import SqliteJournal

TOOLS = ("create_a", "big_b", "again_c", "create_d")


def attempt(world, journal, effects, turn, before_effect=lambda: None):
    """Run it; the code of the fault that ended it, or empty."""
    try:
        world.begin(journal, world.opened(turn, *TOOLS), effects)
    except RecordFault as fault:
        return fault.code
    return ""


def go_on(world, journal, effects, turn):
    """Resume or begin, on a disk that works again; everything that must hold."""
    intents = {}
    try:
        log = journal.load(turn)
    except RecordFault as fault:
        if fault.code != "turn-missing":
            raise
        assert world.lines(effects) == []
        world.begin(journal, world.opened(turn, *TOOLS), effects)
    else:
        rows = journal._database.connection().execute("SELECT id, step FROM operation WHERE turn = ?", (turn,))
        intents = dict(rows.fetchall())
        assert set(world.lines(effects)) <= intents.keys()
        if log.status != "closed":
            world.resume(journal, turn, effects)
    assert journal.verify(turn).ok
    assert replay(journal.load(turn), world.RULES).status == "identical"
    done = world.lines(effects)
    repeatable = {operation for operation, step in intents.items() if step == "1.3"}
    assert all(done.count(operation) == 1 for operation in set(done) - repeatable)


class Failing:
    """A connection whose n-th COMMIT, INSERT or BEGIN fails; `done` tells whether it was carried out all the same."""

    def __init__(self, real, driver, word, left, carried_out) -> None:
        self._real, self._driver, self._word, self.left, self._carried_out = real, driver, word, left, carried_out

    def __getattr__(self, name):
        return getattr(self._real, name)

    def _fails(self, sql):
        self.left[0] -= sql.startswith(self._word)
        return self.left[0] == 0 and sql.startswith(self._word)

    def execute(self, sql, *values):
        if self._fails(sql):
            if self._carried_out:
                self._real.execute(sql, *values)
            raise self._driver.OperationalError("disk I/O error")
        return self._real.execute(sql, *values)

    def executemany(self, sql, values):
        if self._fails(sql):
            raise self._driver.OperationalError("database or disk is full")
        return self._real.executemany(sql, values)


@pytest.mark.parametrize(
    ("word", "carried_out"), [("COMMIT", False), ("COMMIT", True), ("BEGIN IM", False), ("INSERT", False)]
)
def test_a_fault_at_the_nth_statement(world, place, monkeypatch, word, carried_out):
    real_open, faults = databases.open_database, 0
    for number in range(1, 25):
        home, effects = place / f"home{number}", place / f"effects{number}"
        left = [number]

        def open_database(path, driver):
            made, mode = real_open(path, driver)
            return Failing(made, driver, word, left, carried_out), mode

        with monkeypatch.context() as patch:
            patch.setattr(databases, "open_database", open_database)
            journal = SqliteJournal(home)
            generation = journal._database.generation
            code = attempt(world, journal, effects, "t1")
            if code:
                faults += 1
                assert code == "record-write"
                assert journal._database.generation == generation + 1  # the connection is dropped
                assert journal._database._connection is None
        go_on(world, journal, effects, "t1")
        journal.close()
    assert faults >= 6


@pytest.mark.parametrize("call", ["fdatasync", "fsync", "write"])
def test_a_fault_at_the_nth_call_of_the_system(world, place, monkeypatch, call):
    real, faults = getattr(os, call), 0
    for number in range(1, 14):
        home, effects = place / f"home{number}", place / f"effects{number}"
        SqliteJournal(home).mode()
        left = [number]

        def failing(file, *data):
            if data and len(data[0]) == 65:
                return real(file, *data)  # the effect itself or the key
            left[0] -= 1
            if left[0] == 0:
                if call == "write":
                    return real(file, data[0][: len(data[0]) // 2])  # a short write; a blob's goes on
                raise OSError(5, "Input/output error")
            return real(file, *data)

        journal = SqliteJournal(home)
        with monkeypatch.context() as patch:
            patch.setattr(os, call, failing)
            code = attempt(world, journal, effects, "t1")
        assert code in ("", "anchor-write", "record-write", "key-unusable")
        faults += code != ""
        go_on(world, journal, effects, "t1")
        journal.close()
    assert faults >= 2


def test_a_writer_is_dead_after_a_fault_and_so_are_its_neighbours(world, home, effects, monkeypatch):
    journal = SqliteJournal(home)
    one, two = (journal.begin(world.opened(turn)) for turn in ("t1", "t2"))
    for writer, turn in ((one, "t1"), (two, "t2")):
        writer.append(
            world.opened(turn), world.Machine(world.RULES).receive(world.opened(turn, "read_a")), durable=True
        )
    journal._database.drop()
    for writer in (one, two):
        for act in (lambda w: w.append(world.TurnResumed(), None), lambda w: w.finish("closed")):
            with pytest.raises(RecordFault, match="writer-unusable"):
                act(writer)
    assert list((home / "locks").iterdir()) == []
    assert world.resume(journal, "t1", effects).outcome == "success"
    journal.close()


@pytest.mark.kill
def test_a_full_disk_at_every_size(world, place):
    """RLIMIT_FSIZE in a process of its own: real writes of SQLite fail, at every page in turn."""
    codes = set()
    for number, limit in enumerate(range(33_000, 130_000, 4_100)):
        home, effects = place / f"home{number}", place / f"effects{number}"
        ready = SqliteJournal(home)
        ready._database.key()
        ready.mode()
        ready.close()

        def work():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            code = attempt(world, SqliteJournal(home), effects, "t1")
            (place / f"code{number}").write_text(code)

        assert world.forked(work) == 0
        codes.add((place / f"code{number}").read_text())
        journal = SqliteJournal(home)
        go_on(world, journal, effects, "t1")
        journal.close()
    assert codes == {"", "record-write"}


def test_keys_are_made_once_and_a_bad_one_is_named(place):
    first, second = open_key(place / "keys"), open_key(place / "keys")
    assert first.public == second.public
    assert [path.name for path in (place / "keys").iterdir()] == [KEY_FILE]
    for content in ("", "zz", "00" * 31):
        (place / "keys" / KEY_FILE).write_text(content)
        with pytest.raises(RecordFault, match="key-unusable"):
            open_key(place / "keys")


def test_of_two_that_make_the_key_at_once_both_use_one(place, monkeypatch):
    real = os.link
    theirs = []

    def link(source, target):
        if not theirs:
            theirs.append("aa" * 32 + "\n")
            target.write_text(theirs[0])
        real(source, target)

    monkeypatch.setattr(os, "link", link)
    public = open_key(place / "keys").public
    monkeypatch.undo()
    assert open_key(place / "keys").public == public
    assert (place / "keys" / KEY_FILE).read_text() == theirs[0]


def test_delete_mode_keeps_the_same_promises(world, home, effects, monkeypatch):
    monkeypatch.setattr(connections, "wal_is_safe", lambda version: False)
    journal = SqliteJournal(home)
    assert journal.mode().journal == "delete"
    world.begin(journal, world.opened("t1", "create_a", "ask_b"), effects, consent=False)
    assert world.resume(journal, "t1", effects).outcome == "success"
    assert journal.verify("t1").ok
    journal.close()
