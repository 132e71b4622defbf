from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys

import pytest

from metnos.record import connection
from metnos.record.ddl import CREATE, SCHEMA_VERSION
from metnos.record.faults import RecordFault
from metnos.record.sqlite import SqliteJournal

DRIVER = connection.load_driver()


def test_the_statements_are_those_of_the_tables():
    pytest.importorskip("sqlmodel")
    from metnos.record.tables import ddl

    assert ddl() == CREATE


def test_writing_imports_neither_tables_nor_keys_nor_models(root):
    code = (
        "import sys, metnos.record.sqlite, metnos.record.memory, metnos.record.replay, metnos.record.reading\n"
        "print([n for n in ('sqlmodel', 'sqlalchemy', 'pydantic', 'cryptography', 'asyncio') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(root)}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ((3, 7, 0), False),
        ((3, 40, 1), False),
        ((3, 44, 5), False),
        ((3, 44, 6), True),
        ((3, 45, 0), False),
        ((3, 50, 6), False),
        ((3, 50, 7), True),
        ((3, 51, 2), False),
        ((3, 51, 3), True),
        ((3, 53, 4), True),
        ((4, 0, 0), True),
    ],
)
def test_wal_is_trusted_only_where_it_was_mended(version, safe):
    assert connection.wal_is_safe(version) is safe


def pragma(opened, name):
    return opened.execute(f"PRAGMA {name}").fetchone()[0]


def test_a_sound_library_gives_wal_and_full(tmp_path):
    if not connection.wal_is_safe(DRIVER.sqlite_version_info):
        pytest.skip("no sound SQLite here")
    opened, mode = connection.open_database(tmp_path / "new" / "a.db", DRIVER)
    assert (pragma(opened, "journal_mode"), pragma(opened, "synchronous")) == ("wal", 2)
    assert (mode.journal, mode.reason) == ("wal", "")
    opened.close()


def test_an_unsound_library_gives_delete_and_extra_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(connection, "wal_is_safe", lambda version: False)
    opened, mode = connection.open_database(tmp_path / "a.db", DRIVER)
    assert (pragma(opened, "journal_mode"), pragma(opened, "synchronous")) == ("delete", 3)
    assert mode.journal == "delete"
    assert "pysqlite3" in mode.reason
    opened.close()


def test_the_standard_library_is_the_fallback(monkeypatch):
    monkeypatch.setitem(sys.modules, "pysqlite3", None)
    monkeypatch.setitem(sys.modules, "pysqlite3.dbapi2", None)
    assert connection.load_driver() is sqlite3


def test_files_are_for_the_owner_alone(journal, home, world, effects):
    world.begin(journal, world.opened("t1", "create_a", "big_b"), effects)
    modes = {str(path.relative_to(home)): stat.S_IMODE(path.stat().st_mode) for path in (home, *home.rglob("*"))}
    folders = {name: mode for name, mode in modes.items() if (home / name).is_dir()}
    assert set(folders.values()) == {0o700}
    assert {mode for name, mode in modes.items() if name not in folders} == {0o600}
    assert {"metnos.db", "anchors.log", "keys/log.ed25519"} <= modes.keys()


def test_another_schema_is_refused_by_name(home):
    journal = SqliteJournal(home)
    journal.turns()
    journal.close()
    raw = DRIVER.connect(str(home / "metnos.db"))
    raw.execute("UPDATE schema_version SET version = ?", (SCHEMA_VERSION + 1,))
    raw.commit()
    raw.close()
    with pytest.raises(RecordFault) as caught:
        journal.turns()
    assert caught.value.code == "record-schema"
    assert f"schema {SCHEMA_VERSION + 1}" in caught.value.message


@pytest.mark.parametrize(
    "content", [b"this is no database, however long it may be" * 100, b"SQLite format 3\0" + b"\xff" * 4080]
)
def test_what_is_no_database_is_named(home, content):
    home.mkdir()
    (home / "metnos.db").write_bytes(content)
    journal = SqliteJournal(home)
    with pytest.raises(RecordFault, match="record-store"):
        journal.mode()
    assert journal.verify("t1").code == "record-store"


def test_a_foreign_database_is_not_written_to(home):
    home.mkdir()
    raw = DRIVER.connect(str(home / "metnos.db"))
    raw.execute("CREATE TABLE theirs (a)")
    raw.commit()
    raw.close()
    with pytest.raises(RecordFault, match="record-schema"):
        SqliteJournal(home).turns()


def test_a_home_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordFault, match="record-store"):
        SqliteJournal(tmp_path / "file" / "home").mode()
