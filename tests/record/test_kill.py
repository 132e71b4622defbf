"""`kill -9`, really, at every durable boundary and at arbitrary moments: no effect twice, and every log verifies."""

# ruff: noqa: B023 - each function made in a loop is used up in its round
from __future__ import annotations

import os
import random
import signal
import warnings

import pytest

from metnos.record import anchor as anchors
from metnos.record import database as databases
from metnos.record.faults import RecordFault
from metnos.record.replay import replay
from metnos.record.sqlite import SqliteJournal

TOOLS = ("read_a", "create_b", "probe_c", "again_d", "ask_e")
EFFECTS = ("1.2", "1.3", "1.4", "1.5")
BOUNDARIES = (
    "begun",
    "asked",
    *(f"{at} {step}" for step in EFFECTS for at in ("before", "intent", "effect", "outcome")),
    "closed",
)
INSIDE = ("before-commit", "after-commit", "half-anchor", "after-anchor")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def at(boundary):
    return lambda name: die() if name == boundary else None


def attempt(world, home, effects, turn, boundary=None):
    """Begin the turn, or resume it if it was recorded; what the next process after a crash does."""
    journal = SqliteJournal(home)
    call = at(boundary)
    try:
        world.resume(journal, turn, effects, boundary=call)
    except RecordFault as fault:
        if fault.code == "turn-closed":
            return
        if fault.code != "turn-missing":
            raise
        world.begin(journal, world.opened(turn, *TOOLS), effects, boundary=call)


def settle(world, home, effects, turn):
    """Go on until it is closed; then everything that must hold."""
    journal = SqliteJournal(home)
    attempt(world, home, effects, turn)
    log = journal.load(turn)
    assert journal.verify(turn).ok
    assert log.status == "closed"
    assert replay(log, world.RULES).status == "identical"
    outcome = next(line.outcome for line in journal.turns(100) if line.turn == turn)
    intents = [
        row[:2]
        for row in journal._database.connection().execute("SELECT id, step FROM operation WHERE turn = ?", (turn,))
    ]
    journal.close()
    done = world.lines(effects)
    assert set(done) <= {operation for operation, _step in intents}  # no effect without an intent
    again = {operation for operation, step in intents if step == "1.4"}
    assert all(done.count(operation) == 1 for operation in set(done) - again)  # the idempotent one may be repeated
    assert outcome in ("success", "partial", "effect_unknown")
    if outcome == "success":
        assert len(set(done)) == len(EFFECTS)
    return outcome


@pytest.mark.kill
@pytest.mark.parametrize("first", BOUNDARIES)
def test_killed_once_and_twice_at_every_boundary(world, place, first):
    unsure = {f"{when} {step}" for step in ("1.2", "1.5") for when in ("intent", "effect")}
    for number, second in enumerate((None, *BOUNDARIES[BOUNDARIES.index(first) :: 2])):
        home, effects = place / f"home{number}", place / f"effects{number}"
        status = world.forked(lambda: attempt(world, home, effects, "t1", first))
        assert status == -signal.SIGKILL
        if second is not None:
            assert world.forked(lambda: attempt(world, home, effects, "t1", second)) in (0, -signal.SIGKILL)
        outcome = settle(world, home, effects, "t1")
        if second is None:
            # an effect that cannot be probed nor repeated is never tried again, and said to be unknown
            assert (outcome == "effect_unknown") == (first in unsure)


class Dying:
    """A connection that dies around its n-th COMMIT."""

    def __init__(self, real, left, after) -> None:
        self._real, self._left, self._after = real, left, after

    def __getattr__(self, name):
        return getattr(self._real, name)

    def execute(self, sql, *values):
        if sql != "COMMIT":
            return self._real.execute(sql, *values)
        self._left -= 1
        if self._left == 0 and not self._after:
            die()
        found = self._real.execute(sql)
        if self._left == 0:
            die()
        return found


def rig(where, number):
    """In this process, die at the `number`-th commit or anchor."""
    if where.endswith("commit"):
        real_open = databases.open_database

        def open_database(path, driver):
            made, mode = real_open(path, driver)
            return Dying(made, number, where == "after-commit"), mode

        databases.open_database = open_database
        return
    real_write, left = os.write, [number]

    def write(file, data):
        if not bytes(data).startswith(b"metnos.anchor"):
            return real_write(file, data)
        left[0] -= 1
        if left[0] == 0:
            real_write(file, data[: len(data) // 2] if where == "half-anchor" else data)
            die()
        return real_write(file, data)

    anchors.os.write = write


@pytest.mark.kill
@pytest.mark.parametrize("where", INSIDE)
def test_killed_inside_a_commit_and_between_it_and_its_anchor(world, place, where):
    killed = 0
    for number in range(1, 12):
        home, effects = place / f"home{number}", place / f"effects{number}"

        def work():
            rig(where, number)
            attempt(world, home, effects, "t1")

        status = world.forked(work)
        assert status in (0, -signal.SIGKILL)
        killed += status != 0
        settle(world, home, effects, "t1")
    assert killed >= 5


@pytest.mark.kill
def test_killed_at_arbitrary_moments(world, place):
    home, draw = place / "home", random.Random(7)
    for number in range(25):
        turn, effects = f"t{number}", place / f"effects{number}"
        reader, writer = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            os.close(reader)
            journal = SqliteJournal(home)
            world.begin(
                journal, world.opened(turn, *TOOLS, at=number), effects, boundary=lambda name: os.write(writer, b".")
            )
            os._exit(0)
        os.close(writer)
        for _ in range(draw.randrange(len(BOUNDARIES))):
            os.read(reader, 1)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(reader)
        settle(world, home, effects, turn)


@pytest.mark.kill
def test_another_interpreter_is_killed_and_another_goes_on(child, world, home, effects):
    assert child("t1", "new", "effect 1.1", "again_a", "create_b") is None
    assert child("t1", "resume", "outcome 1.1") is None
    assert child("t1", "resume", "") == {"outcome": "success", "suspended": False}
    assert len(world.lines(effects)) == 3
    assert len(set(world.lines(effects))) == 2
    assert child("t1", "resume", "") == {"code": "turn-closed"}


@pytest.mark.kill
def test_the_claim_of_a_killed_process_is_free_and_that_of_a_living_one_is_not(world, home, effects):
    ready, go = os.pipe(), os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:

        def boundary(name):
            if name == "intent 1.1":
                os.write(ready[1], b".")
                os.read(go[0], 1)

        world.begin(SqliteJournal(home), world.opened("t1", "again_a"), effects, boundary=boundary)
        os._exit(0)
    os.read(ready[0], 1)
    journal = SqliteJournal(home)
    try:
        with pytest.raises(RecordFault, match="turn-busy"):
            journal.resume("t1")
        assert journal.load("t1").status == "open"  # reading is free
        assert journal.verify("t1").ok
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert world.resume(journal, "t1", effects).outcome == "success"
    assert list((home / "locks").iterdir()) == []
    for end in (*ready, *go):
        os.close(end)
    journal.close()


# --- the checker itself -----------------------------------------------------------------------------------------------


@pytest.mark.kill
def test_without_the_intent_a_second_effect_would_be_found(world, place):
    """Skip the durable intent, and the matrix above must fail."""
    home, effects = place / "home", place / "effects"

    class Careless(world.Driver):
        def feed(self, item, *, durable=False, anchor=False):
            super().feed(item)

    def work(boundary):
        journal = SqliteJournal(home)
        opened = world.opened("t1", *TOOLS)
        machine = world.Machine(world.RULES)
        Careless(journal.begin(opened), machine, effects, boundary=at(boundary)).run(opened)

    assert world.forked(lambda: work("effect 1.2")) == -signal.SIGKILL
    with pytest.raises(AssertionError):
        settle(world, home, effects, "t1")
