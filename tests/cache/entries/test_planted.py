"""Rows that somebody else wrote into the file, with plain sqlite3: none runs code, opens or deletes a file, or is served."""

from __future__ import annotations

import os
import pickle  # noqa: TID251 - what the attacker has
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from metnos.cache.entries import disk
from metnos.cache.entries.disk import SETTINGS, HardenedCache, Tampered
from metnos.cache.entries.key import DATABASE
from metnos.cache.entries.signing import MAX_ROW
from metnos.cache.entries.store import DiskStore, StoreFault

KEY = f"l0:{'0' * 64}"
OTHER = f"l0:{'1' * 64}"


class Runs:
    """Makes a file when it is unpickled."""

    def __init__(self, proof: Path) -> None:
        self.proof = proof

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.proof),)


@pytest.fixture
def store(tmp_path: Path) -> Any:
    made = DiskStore(tmp_path / "cache")
    made.put(OTHER, b"row")
    made.close()
    yield made
    made.close()


def plant(store: DiskStore, **columns: Any) -> None:
    """A row as `diskcache` would have it, with these columns instead."""
    row = {"key": KEY, "raw": 1, "store_time": 1.0, "mode": 1, "filename": None, "value": b"x"} | columns
    with closing(sqlite3.connect(store._folder / DATABASE)) as connection, connection:
        names = ", ".join(row)
        connection.execute(f"INSERT INTO Cache({names}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))


def test_a_row_is_what_was_put(store: DiskStore) -> None:
    assert (store.get(OTHER), store.get(KEY), store.size()[0]) == (b"row", None, 1)
    store.put(KEY, b"first")
    store.put(KEY, b"second")
    assert (store.get(KEY), list(store.every_key())) == (b"second", [OTHER, KEY])
    store.drop(KEY)
    store.drop(KEY)
    assert list(store.every_key()) == [OTHER]
    assert (store._folder.stat().st_mode & 0o777, (store._folder / DATABASE).stat().st_mode & 0o777) == (0o700, 0o600)


@pytest.mark.parametrize(
    "value", ["text", 5, 1.5, None, b"x" * (MAX_ROW + 1)], ids=["text", "int", "float", "none", "long"]
)
@pytest.mark.parametrize("mode", [0, 1, 2, 3, 4, 9, None, "one"], ids=str)
def test_what_is_not_inline_bytes_is_tampering(store: DiskStore, mode: Any, value: Any) -> None:
    plant(store, mode=mode, value=value)
    assert isinstance(store.get(KEY), Tampered)
    assert store.get(OTHER) == b"row"
    many = store.get_many((KEY, OTHER, f"l1:{'3' * 64}"))
    assert many == {KEY: many[KEY], OTHER: b"row"}
    assert isinstance(many[KEY], Tampered)


def test_a_pickled_value_is_not_loaded(store: DiskStore, tmp_path: Path) -> None:
    proof = tmp_path / "ran"
    plant(store, mode=4, value=pickle.dumps(Runs(proof)))
    found = store.get(KEY)
    assert isinstance(found, Tampered)
    assert found.found
    assert not proof.exists()


def test_a_pickled_key_is_not_loaded_and_can_be_taken_away(store: DiskStore, tmp_path: Path) -> None:
    proof = tmp_path / "ran"
    plant(store, key=pickle.dumps(Runs(proof)), raw=0)
    plant(store, key=b"\x80", raw=1)
    plant(store, key=7, raw=1)
    plant(store, key="no digest", raw=1)
    found = [key for key in store.every_key() if isinstance(key, Tampered)]
    assert len(found) == 4
    assert not proof.exists()
    for key in found:
        store.drop(key)
    assert list(store.every_key()) == [OTHER]
    assert not proof.exists()


@pytest.mark.parametrize("mode", [1, 2, 3, 4])
def test_a_file_that_a_row_names_is_neither_read_nor_deleted(store: DiskStore, tmp_path: Path, mode: int) -> None:
    precious = tmp_path / "precious"
    precious.write_bytes(pickle.dumps(Runs(tmp_path / "ran")))
    plant(store, mode=mode, filename=str(precious), value=None)
    found = store.get(KEY)
    assert isinstance(found, Tampered)
    assert found.found == b""
    store.put(KEY, b"row")
    plant(store, key=f"l1:{'2' * 64}", mode=mode, filename=str(precious), value=None, expire_time=1.0)
    for key in store.every_key():
        store.drop(key)
    cache = store._open(make=True)
    plant(store, mode=mode, filename=str(precious), value=None, expire_time=1.0)
    cache.expire()
    cache.cull()
    cache.clear()
    assert precious.exists()
    assert not (tmp_path / "ran").exists()


def test_orders_in_the_table_of_settings_are_not_followed(tmp_path: Path) -> None:
    store = DiskStore(tmp_path / "cache")
    store.put(OTHER, b"row")
    store.close()
    orders = {
        "sqlite_journal_mode": "wal",
        "sqlite_user_version": 77,
        "disk_min_file_size": 0,
        "disk_unknown": 1,
        "get": "broken",
        "_disk": "broken",
        "eviction_policy": "least-recently-used",
        "statistics": 1,
        "count": "many",
        "size_limit": 0,
        "cull_limit": 1000,
    }
    with closing(sqlite3.connect(tmp_path / "cache" / DATABASE)) as connection, connection:
        connection.executemany("INSERT OR REPLACE INTO Settings VALUES (?, ?)", list(orders.items()))
    assert store.get(OTHER) == b"row"
    store.put(KEY, b"row")
    assert isinstance(store.size()[0], int)
    cache: Any = store._open(make=True)
    assert {name: getattr(cache, name) for name in SETTINGS} == SETTINGS
    assert cache._sql("PRAGMA journal_mode").fetchone() == ("truncate",)
    assert cache._sql("PRAGMA user_version").fetchone() == (0,)
    assert list(store.every_key()) == [OTHER, KEY]
    store.close()


def test_only_keys_and_bytes_are_written(tmp_path: Path) -> None:
    cache = HardenedCache(tmp_path)
    for key, value in ((1, b""), ("x", b""), (("a",), b""), (KEY, "text"), (KEY, 1), (KEY, b"x" * (MAX_ROW + 1))):
        with pytest.raises(TypeError):
            cache.set(key, value)
    with pytest.raises(TypeError):
        cache.disk.filename()
    assert cache.disk.fetch(1, None, b"x", True) == Tampered("a value in a file", found=b"x")
    cache.close()
    cache.close()


def test_a_file_that_is_no_database_is_set_aside(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    store = DiskStore(folder)
    store.put(KEY, b"row")
    store.close()
    (folder / DATABASE).write_bytes(b"this is no database at all, " * 400)
    assert store.get(KEY) is None
    store.put(KEY, b"row")
    assert store.get(KEY) == b"row"
    assert [alarm.reason for alarm in store.alarms()] == ["malformed-row"]
    assert len(list((folder / "quarantine").iterdir())) == 1
    store.close()


def test_a_folder_that_others_could_write_to_is_made_ones_own_or_refused(tmp_path: Path) -> None:
    loose = tmp_path / "loose"
    loose.mkdir()
    loose.chmod(0o777)
    assert DiskStore(loose).get(KEY) is None
    assert loose.stat().st_mode & 0o777 == 0o700
    (tmp_path / "link").symlink_to(loose)
    (tmp_path / "file").write_text("x")
    for name in ("link", "file"):
        store = DiskStore(tmp_path / name)
        for act in (store.state, store.size, store.took_back, lambda: store.put(KEY, b"row")):  # noqa: B023 - called here
            with pytest.raises(StoreFault) as fault:
                act()
            assert fault.value.code == "cache-folder"


def test_a_database_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir(mode=0o700)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"")
    (tmp_path / "cache" / DATABASE).symlink_to(elsewhere)
    store = DiskStore(tmp_path / "cache")
    with pytest.raises(StoreFault):
        store.put(KEY, b"row")
    assert elsewhere.read_bytes() == b""


@pytest.mark.parametrize("name", [b"Cache", b"Settings", b"count", b"key", b"CREATE"], ids=bytes.decode)
@pytest.mark.parametrize("nth", range(3))
def test_a_database_whose_names_are_no_text_costs_rows_and_nothing_else(
    store: DiskStore, name: bytes, nth: int
) -> None:
    file = store._folder / DATABASE
    pieces = file.read_bytes().split(name)
    damaged = b"\xd4".join((name[:1], name[2:]))
    file.write_bytes(name.join(pieces[: nth + 1]) + damaged + name.join(pieces[nth + 1 :]))
    for act in (lambda: store.get(OTHER), lambda: store.put(KEY, b"new"), lambda: list(store.every_key()), store.size):
        with suppress(StoreFault):
            act()
    with suppress(StoreFault):
        assert store.get(KEY) in {b"new", None}


@pytest.mark.parametrize("row", [
    {"rowid": 2**63 - 1}, {"rowid": -5}, {"rowid": 2**63 - 1, "key": "no digest"}, {"key": None}, {"expire_time": 1.0},
    {"key": b"\xff", "raw": 1},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("text", [False, True])
def test_every_row_is_seen_and_can_be_taken_away(store: DiskStore, row: dict[str, Any], text: bool) -> None:
    plant(store, **row)
    if text:  # what SQLite calls text need not be any
        with closing(sqlite3.connect(store._folder / DATABASE)) as connection, connection:
            connection.execute(
                "UPDATE Cache SET value = CAST(x'ff' AS TEXT), key = CASE typeof(key) WHEN 'blob' THEN CAST(key AS TEXT)"
                " ELSE key END WHERE key IS NOT ?",
                (OTHER,),
            )
    found = [key for key in store.every_key() if key != OTHER]
    assert len(found) == 1
    assert isinstance(store.get(KEY), (bytes, Tampered, type(None)))
    store.drop(found[0])
    assert list(store.every_key()) == [OTHER]


def altered(store: DiskStore, *orders: str) -> None:
    """The file as somebody else left it, with plain sqlite3."""
    with closing(sqlite3.connect(store._folder / DATABASE)) as connection, connection:
        for order in orders:
            connection.execute(order)


TWICE = "INSERT INTO Cache(key, raw, mode, value) SELECT key, raw, mode, x'00' FROM Cache"
ALTERED = {
    "column dropped": ["ALTER TABLE Cache DROP COLUMN mode"],
    "needed column dropped": ["ALTER TABLE Cache DROP COLUMN value"],
    "settings dropped": ["DROP TABLE Settings", "CREATE TABLE Settings (key TEXT NOT NULL UNIQUE)"],
    "column added": ["ALTER TABLE Cache ADD COLUMN more"],
    "view": ["ALTER TABLE Cache RENAME TO Other", "CREATE VIEW Cache AS SELECT * FROM Other"],
    "view beside": ["CREATE VIEW more AS SELECT * FROM Cache"],
    "rows twice": ["DROP INDEX Cache_key_raw", TWICE],
    "rows twice, index less": ["DROP INDEX Cache_key_raw", TWICE, "CREATE INDEX Cache_key_raw ON Cache(key, raw)"],
    "trigger": ["CREATE TRIGGER t AFTER INSERT ON Cache BEGIN UPDATE Cache SET value = x'00'; END"],
    "own trigger": [
        "DROP TRIGGER Settings_count_insert",
        "CREATE TRIGGER Settings_count_insert AFTER INSERT ON Cache BEGIN DELETE FROM Cache; END",
    ],
}


@pytest.mark.parametrize("orders", ALTERED.values(), ids=ALTERED)
@pytest.mark.parametrize("open_meanwhile", [False, True], ids=["closed", "open"])
def test_a_database_that_somebody_altered_is_set_aside(
    store: DiskStore, orders: list[str], open_meanwhile: bool
) -> None:
    if open_meanwhile:
        assert store.get(OTHER) == b"row"
    altered(store, *orders)
    if open_meanwhile:  # it is looked at when it is opened; whoever has it open meets at most a fault
        with suppress(StoreFault):
            assert store.get(OTHER) in {b"row", b"\x00"}
        store.close()
    assert store.get(OTHER) is None
    assert [alarm.reason for alarm in store.alarms()] == ["malformed-row"]
    assert [path.name[:9] for path in (store._folder / "quarantine").iterdir()] == ["cache.db-"]
    store.put(KEY, b"new")
    assert (store.get(KEY), list(store.every_key()), store.size()[0]) == (b"new", [KEY], 1)
    store.close()
    assert (store.get(KEY), len(store.alarms())) == (b"new", 1)


def test_who_meets_a_broken_file_while_it_is_open_begins_anew_at_the_next_use(store: DiskStore) -> None:
    assert store.get(OTHER) == b"row"
    altered(store, "ALTER TABLE Cache DROP COLUMN filename")
    with pytest.raises(StoreFault):
        store.get(OTHER)
    store.put(KEY, b"new")
    assert (store.get(KEY), store.get(OTHER), len(store.alarms())) == (b"new", None, 1)


@pytest.mark.parametrize("half", ["Cache_key_raw", "Cache_expire_time", "Settings_count_insert"])
def test_a_database_that_was_only_half_made_is_made_whole(store: DiskStore, half: str) -> None:
    altered(store, f"DROP {'TRIGGER' if half.startswith('S') else 'INDEX'} {half}")
    assert (store.get(OTHER), store.alarms()) == (b"row", ())
    store.put(OTHER, b"more")
    assert list(store.every_key()) == [OTHER]


def test_the_schema_is_that_of_the_library(tmp_path: Path) -> None:
    found = disk._library_schema()
    assert found == disk._SCHEMA
    disk._library_schema.cache_clear()


def test_another_version_of_the_library_may_make_other_tables(
    store: DiskStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "_SCHEMA", frozenset[str]())
    assert (store.get(OTHER), store.alarms()) == (b"row", ())


def test_a_name_that_is_no_text_does_not_keep_a_row_from_being_written(store: DiskStore) -> None:
    plant(store)
    altered(store, f"UPDATE Cache SET filename = CAST(x'ff80' AS TEXT) WHERE key = '{KEY}'")
    assert isinstance(store.get(KEY), Tampered)
    store.put(KEY, b"row")
    assert (store.get(KEY), store.get(OTHER), store.size()[0]) == (b"row", b"row", 2)


@pytest.mark.parametrize("name", ["", "-journal", "-wal"])
def test_a_pipe_in_place_of_the_database_is_not_waited_for(store: DiskStore, name: str) -> None:
    store.close()
    place = store._folder / f"{DATABASE}{name}"
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    with pytest.raises(StoreFault, match="not a plain file"):
        store.get(OTHER)


def test_the_count_of_what_was_taken_back_has_no_end(store: DiskStore) -> None:
    store.took_back()
    (store._folder / "version").write_bytes(b"\xff" * 16)
    before = store.state()
    store.took_back()
    store.added()
    assert store.state() == (0, 0) != before
