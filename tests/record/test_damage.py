"""Bytes flipped, cut off, exchanged, forged: the log is refused, or it is the one that was written. Nothing between."""

from __future__ import annotations

import random
import shutil

import msgspec
import pytest

from metnos.record import chain
from metnos.record.chain import recompute
from metnos.record.connection import load_driver
from metnos.record.faults import RecordFault
from metnos.record.model import Head, Verified
from metnos.record.replay import replay
from metnos.record.sqlite import SqliteJournal
from metnos.record.verify import verify_log

TOOLS = ("read_a", "create_b", "big_c")


@pytest.fixture
def written(world, journal, home, effects):
    """A closed turn, a suspended one and one that was broken off, in one home."""
    world.begin(journal, world.opened("closed", *TOOLS), effects)
    world.begin(journal, world.opened("suspended", "create_a", "big_b", "ask_c"), effects, consent=False)

    class Broken(Exception):
        pass

    def boundary(name):
        if name == "effect 1.1":
            raise Broken

    with pytest.raises(Broken):
        world.begin(journal, world.opened("broken", "create_a"), effects, boundary=boundary)
    return {turn: journal.load(turn) for turn in ("closed", "suspended", "broken")}


def judge(home, good):
    """Every turn: refused, or what was written. Returns how many were refused."""
    journal = SqliteJournal(home)
    refused = 0
    for turn, log in good.items():
        found = journal.verify(turn)
        if found.ok:
            there = journal.load(turn)
            assert (there.records, there.blobs) == (log.records, log.blobs), turn
            # the last commit of a suspension holds no record: without it the turn is as if killed just before
            assert (there.status, there.head) in ((log.status, log.head), ("open", None)), turn
        else:
            refused += 1
            assert found.code
            with pytest.raises(RecordFault):
                journal.resume(turn)
    journal.close()
    return refused


def flipped(path, position, bit):
    with path.open("r+b") as file:
        file.seek(position)
        byte = file.read(1)
        file.seek(position)
        file.write(bytes([byte[0] ^ bit]))


@pytest.mark.parametrize("name", ["metnos.db", "metnos.db-wal"])
def test_a_flipped_byte_is_found_or_harmless(written, journal, home, place, name):
    if name == "metnos.db":
        journal.close()  # all of it goes to the main file
    size = (home / name).stat().st_size
    assert size > 20_000
    draw = random.Random(11)
    offsets = [page + draw.randrange(4096) for page in range(0, size - 4096, 4096) for _ in range(6)]
    offsets += [*list(range(0, 100, 9)), size - 1, size // 2]
    refused = 0
    for number, offset in enumerate(offsets):
        copy = place / f"copy{number}"
        shutil.copytree(home, copy, ignore=shutil.ignore_patterns("*-shm", "locks"))
        flipped(copy / name, offset, 1 << draw.randrange(8))
        refused += judge(copy, written)
        shutil.rmtree(copy)
    assert refused > 5


@pytest.mark.parametrize("keep", [0, 10, 32, 5_000, 9_000, 0.3, 0.6, 0.9, 0.999])
def test_a_cut_or_deleted_wal_is_found(written, home, place, keep):
    copy = place / "copy"
    shutil.copytree(home, copy, ignore=shutil.ignore_patterns("*-shm", "locks"))
    wal = copy / "metnos.db-wal"
    size = wal.stat().st_size
    if keep == 0:
        wal.unlink()
    else:
        with wal.open("r+b") as file:
            file.truncate(int(size * keep) if keep < 1 else keep)
    assert judge(copy, written) > 0


def test_an_old_backup_is_refused(world, journal, home, effects, place):
    world.begin(journal, world.opened("t1", "create_a", "ask_b"), effects, consent=False)
    journal.close()
    backup = place / "backup.db"
    shutil.copy(home / "metnos.db", backup)
    world.resume(journal, "t1", effects)
    world.begin(journal, world.opened("t2", "create_a"), effects)
    journal.close()
    shutil.copy(backup, home / "metnos.db")
    assert (journal.verify("t1").code, journal.verify("t2").code) == ("log-behind-anchor", "log-missing")
    for turn, code in (("t1", "log-behind-anchor"), ("t2", "log-missing")):
        with pytest.raises(RecordFault) as caught:
            journal.resume(turn)
        assert caught.value.code == code
    assert len(world.lines(effects)) == 3


def test_another_history_of_the_same_length_is_refused(world, journal, home, effects, place):
    """A backup from which the turn went on in another way."""
    world.begin(journal, world.opened("t1", "ask_a", "ask_b"), effects, consent=False)
    journal.close()
    shutil.copytree(home, place / "other")
    world.resume(journal, "t1", effects)
    other = SqliteJournal(place / "other")
    writer, log = other.resume("t1")
    machine = world.Machine(world.RULES)
    for item in world.fold(log):
        machine.receive(item)
    driver = world.Driver(writer, machine, place / "other_effects")
    driver.clock = iter(range(77_777, 99_999))
    driver.run(world.TurnResumed(at=5, fence=writer.fence))
    other.close()
    journal.close()
    shutil.copy(place / "other" / "metnos.db", home / "metnos.db")
    assert journal.verify("t1").code == "anchor-mismatch"


# --- an attacker who knows the format, has the files and not the key --------------------------------------------------


def rechain(records):
    """The records with every hash made right again."""
    prev, made = chain.first(records[0].turn), []
    for number, record in enumerate(records, 1):
        record = msgspec.structs.replace(record, seq=number, prev=prev)
        record = msgspec.structs.replace(record, hash=recompute(record))
        made.append(record)
        prev = record.hash
    return tuple(made)


def store(journal, turn, records, **columns):
    connection = journal._database.connection()
    connection.execute("BEGIN")
    connection.execute("DELETE FROM record WHERE turn = ?", (turn,))
    connection.executemany(
        "INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [msgspec.structs.astuple(record) for record in records]
    )
    for name, value in columns.items():
        connection.execute(f"UPDATE turn SET {name} = ? WHERE turn = ?", (value, turn))
    connection.execute("COMMIT")


def altered(record):
    return msgspec.structs.replace(record, body=record.body.replace(b'"n":1', b'"n":7'))


def without(records, seq):
    return tuple(record for record in records if record.seq != seq)


def edits(log):
    """name → (records, code, record that is named)."""
    records, last = log.records, log.seq
    place = next(record.seq for record in records if b'"n":1' in record.body and record.kind == "step_finished")
    changed = tuple(altered(record) if record.seq == place else record for record in records)
    one_hash = list(changed)
    one_hash[place - 1] = msgspec.structs.replace(changed[place - 1], hash=recompute(changed[place - 1]))
    swapped = (*records[: place - 1], records[place], records[place - 1], *records[place + 1 :])
    return {
        "altered": (changed, "record-altered", place),
        "altered, its own hash made right": (tuple(one_hash), "record-altered", place + 1),
        "altered, rechained": (rechain(changed), "head-mismatch", last),
        "removed": (without(records, place), "record-missing", place),
        "first removed": (without(records, 1), "record-missing", 1),
        "removed, rechained": (rechain(without(records, place)), "log-cut-off", last),
        "swapped, renumbered": (
            tuple(msgspec.structs.replace(record, seq=number) for number, record in enumerate(swapped, 1)),
            "record-altered",
            place,
        ),
        "cut off": (records[:-1], "log-cut-off", last),
        "cut off by half": (records[: last // 2], "log-cut-off", last // 2 + 1),
        "emptied": ((), "record-missing", 1),
        "continued": (rechain((*records, records[-1])), "record-altered", last + 1),
        "of another turn": (
            tuple(msgspec.structs.replace(record, turn="x") if record.seq == 1 else record for record in records),
            "record-altered",
            1,
        ),
        "of another kind": (
            rechain(tuple(msgspec.structs.replace(r, kind="no_such") if r.seq == 2 else r for r in records)),
            "record-malformed",
            2,
        ),
        "commands exchanged": (
            tuple(msgspec.structs.replace(r, commands=chain.NO_COMMANDS) if r.seq == 1 else r for r in records),
            "record-altered",
            1,
        ),
    }


NAMES = [
    "altered",
    "altered, its own hash made right",
    "altered, rechained",
    "removed",
    "first removed",
    "removed, rechained",
    "swapped, renumbered",
    "cut off",
    "cut off by half",
    "emptied",
    "continued",
    "of another turn",
    "of another kind",
    "commands exchanged",
]


@pytest.mark.parametrize("name", NAMES)
def test_every_edit_is_named_with_its_record(written, journal, world, name):
    log = written["closed"]
    records, code, seq = edits(log)[name]
    found = verify_log(msgspec.structs.replace(log, records=records))
    assert (found.ok, found.code, found.seq) == (False, code, seq)
    result = replay(msgspec.structs.replace(log, records=records), world.RULES)
    assert (result.status, result.kind, result.seq) == ("broken", code, seq)
    assert set(NAMES) == set(edits(log))


@pytest.mark.parametrize(
    "name", [name for name in NAMES if name not in ("emptied", "first removed", "of another turn")]
)
def test_every_edit_in_the_database_is_refused_however_the_rows_are_mended(written, journal, name):
    log = written["suspended"]
    records, _code, _seq = edits(log)[name]
    store(journal, "suspended", records, seq=len(records))
    assert not journal.verify("suspended").ok
    # the head taken away, as if the turn had been broken off: only the anchor knows better
    store(journal, "suspended", records, seq=len(records), status="open", head_seq=0, head_hash="", signature="")
    found = journal.verify("suspended")
    expected = {"altered, rechained": "anchor-mismatch", "continued": "ok"}.get(name)
    if name in ("cut off", "cut off by half", "removed, rechained"):
        assert found.code == "log-behind-anchor"
    elif expected == "ok":
        assert found.code in ("", "anchor-mismatch", "ledger-mismatch", "head-missing")
    else:
        assert not found.ok
        assert expected in (None, found.code)


def forged_head(log, key, **changes):
    fields = {"turn": log.turn, "status": "closed", "seq": log.records[-1].seq, "hash_": log.records[-1].hash} | changes
    signature = key.sign(chain.head_payload(**fields))
    return Head(
        turn=fields["turn"],
        seq=fields["seq"],
        hash=fields["hash_"],
        signature=signature,
        key=key.public,
        status=fields["status"],
    )


def test_heads(written, place):
    from metnos.record.keys import open_key

    log = written["closed"]
    stranger = open_key(place / "stranger")
    mended = msgspec.structs.replace(log, records=rechain(edits(log)["altered"][0]), anchor=None)
    real = log.head
    cases = {
        "head-missing": msgspec.structs.replace(log, head=None),
        "head-key": msgspec.structs.replace(mended, head=forged_head(mended, stranger)),
        "head-signature": msgspec.structs.replace(
            mended, head=msgspec.structs.replace(real, hash=mended.records[-1].hash)
        ),
        "head-mismatch": msgspec.structs.replace(log, status="suspended"),
        "log-version": msgspec.structs.replace(log, version=2),
        "anything": msgspec.structs.replace(log, defects=(Verified(ok=False, code="anything"),)),
    }
    assert {code: verify_log(case).code for code, case in cases.items()} == {code: code for code in cases}
    for signature in ("", "ed25519:", "ed25519:zz", "ed25519:" + "00" * 64, "rsa:00"):
        broken = msgspec.structs.replace(log, head=msgspec.structs.replace(real, signature=signature))
        assert verify_log(broken).code == "head-signature"
    # a closed turn cannot be opened again by a flipped status
    assert verify_log(msgspec.structs.replace(log, status="open")).code == "head-mismatch"
    # with nothing known of the installation, the head's own key counts: a fixture that was recorded elsewhere
    assert verify_log(msgspec.structs.replace(log, key="")).ok
    assert verify_log(msgspec.structs.replace(mended, head=forged_head(mended, stranger), key="")).ok


def test_a_signature_is_over_the_status_too(written, home):
    from metnos.record.keys import open_key

    log = written["suspended"]
    key = open_key(home / "keys")
    assert key.public == log.key
    as_closed = msgspec.structs.replace(log, status="closed", head=msgspec.structs.replace(log.head, status="closed"))
    assert verify_log(as_closed).code == "head-signature"


@pytest.mark.parametrize("damage", ["missing", "altered", "longer"])
def test_blobs_are_held_against_their_digest(written, journal, home, world, damage):
    (blob,) = written["closed"].blobs
    path = home / "blobs" / blob[7:9] / blob[7:]
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes() + b"x" if damage == "longer" else b"y" + path.read_bytes()[1:])
    code = "blob-missing" if damage == "missing" else "blob-altered"
    place = next(record.seq for record in written["closed"].records if b"$blob" in record.body)
    found = journal.verify("closed")
    assert (found.code, found.seq) == (code, place)
    with pytest.raises(RecordFault, match=code):
        journal.resume("suspended")
    with pytest.raises(RecordFault, match=code):
        journal._database.blobs.fetch(blob)
    world.begin(journal, world.opened("next", "big_a"), home.parent / "effects")  # writes the same blob: mends it
    assert journal.verify("closed").ok
    assert journal._database.blobs.fetch(blob)


def test_a_blob_folder_knows_digests_only(journal):
    for name in ("sha256:../../x", "sha256:" + "A" * 64, "md5:" + "a" * 64, ""):
        with pytest.raises(RecordFault, match="record-malformed"):
            journal._database.blobs.path(name)
    journal._database.blobs.remove("sha256:" + "a" * 64)
    assert journal._database.blobs.read("sha256:" + "a" * 64) is None


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE record SET seq = 'x' WHERE seq = 2",
        "UPDATE record SET body = 'text' WHERE seq = 2",
        "UPDATE record SET at = 'never' WHERE seq = 2",
        "UPDATE record SET kind = x'ff' WHERE seq = 2",
        "UPDATE turn SET status = 'odd'",
        "UPDATE turn SET fence = 'x'",
        "UPDATE turn SET head_status = 'odd'",
        "UPDATE turn SET seq = 99",
        "UPDATE turn SET seq = 2",
        "UPDATE turn SET version = 9",
        "UPDATE operation SET intent_seq = 'x'",
        "UPDATE approval SET expires = 'x'",
        "DROP TABLE record",
        "UPDATE record SET kind = cast(x'ff' AS TEXT) WHERE seq = 2",
    ],
)
def test_columns_of_the_wrong_type_are_refused_and_never_a_traceback(written, journal, change):
    raw = load_driver().connect(str(journal._database.home / "metnos.db"), isolation_level=None)
    raw.execute(change)
    raw.close()
    found = journal.verify("suspended")
    assert not found.ok
    assert found.code in (
        "record-malformed",
        "record-store",
        "log-cut-off",
        "record-altered",
        "log-version",
        "head-mismatch",
    )
    journal.turns()
    with pytest.raises(RecordFault):
        journal.resume("suspended")


def test_damaged_anchors_refuse_what_they_might_hide(written, journal, home):
    path = home / "anchors.log"
    content = path.read_bytes()
    path.write_bytes(content[:-40] + b"#" + content[-39:])
    assert {journal.verify(turn).code for turn in written} == {"anchor-malformed"}
    with pytest.raises(RecordFault, match="anchor-malformed"):
        journal.resume("suspended")
    path.write_bytes(content)
    assert all(journal.verify(turn).ok for turn in written)


def test_an_old_backup_is_refused_with_the_anchors_or_without_them(world, journal, home, effects, place):
    """The checker checked: only with the anchors of that time, too, nothing can tell."""
    world.begin(journal, world.opened("t1", "create_a", "ask_b"), effects, consent=False)
    journal.close()
    shutil.copy(home / "metnos.db", place / "backup.db")
    shutil.copy(home / "anchors.log", place / "anchors.log")
    world.resume(journal, "t1", effects)
    journal.close()
    shutil.copy(place / "backup.db", home / "metnos.db")
    assert journal.verify("t1").code == "log-behind-anchor"
    for content in (None, b""):
        (home / "anchors.log").unlink(missing_ok=True)
        if content is not None:
            (home / "anchors.log").write_bytes(content)
        assert journal.verify("t1").code == "anchor-missing"
        with pytest.raises(RecordFault, match="anchor-missing"):
            journal.resume("t1")
        journal.close()
    shutil.copy(place / "anchors.log", home / "anchors.log")
    assert journal.verify("t1").ok


def test_an_effect_that_was_made_needs_the_anchor_of_its_intent(world, journal, home, effects):
    world.begin(journal, world.opened("t1", "create_a", "read_b"), effects)
    journal.close()
    assert journal.verify("t1").ok
    (home / "anchors.log").unlink()
    assert journal.verify("t1").code == "anchor-missing"


@pytest.mark.parametrize(
    ("statement", "detail"),
    [
        ("UPDATE turn SET outcome = 'success', request = 'evil'", "request"),
        ("UPDATE turn SET owner = 'eve'", "owner"),
        ("DELETE FROM operation", "operation"),
    ],
)
def test_rows_beside_the_chain_are_held_against_it(world, journal, home, effects, statement, detail):
    world.begin(journal, world.opened("t1", "create_a"), effects)
    assert journal.verify("t1").ok
    journal.close()
    connection = load_driver().connect(home / "metnos.db")
    connection.execute(statement)
    connection.commit()
    connection.close()
    found = journal.verify("t1")
    assert (found.code, detail in found.detail) == ("ledger-mismatch", True), found
