"""The world moves on: each part of it that an entry was made under, changed alone, is a miss of its own name."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from metnos.cache.entries.entry import Entry, from_bytes, to_bytes
from metnos.cache.entries.key import DATABASE
from metnos.cache.entries.memory import MemoryStore
from metnos.cache.entries.signing import Keys, unpack
from metnos.cache.entries.validity import DAY, MAX_AGE
from metnos.cache.model import Match, Miss
from metnos.cache.plancache import PlanCache
from metnos.contracts.catalog import Catalog
from metnos.contracts.model import Contract, EffectRule, Intent
from tests.support.caching import ASKING, AT, PLACE, ask, lesson, opened, plan, seed, step, told

TEXT = "read the file a.txt"
PLAN = plan(step("read_files", path="a.txt"), text="${step1.text}")
CHANGED = "read_files"


def without(catalog: Catalog, name: str) -> list[Contract]:
    return [one for one in catalog.contracts().values() if one.name != name]


def tool(name: str, **more: Any) -> Contract:
    return Contract(
        name=name, version="1.0.0", families=(Intent("read", "files"),), effects=(EffectRule(effect="read"),), **more
    )


def moved(world: str, catalog: Catalog) -> dict[str, Any]:
    """A world that differs from the one that was learned in, in one part."""
    contract = catalog.get(CHANGED)
    assert contract is not None
    rest = without(catalog, CHANGED)
    again = msgspec.structs.replace
    catalogs: dict[str, list[Contract]] = {
        "digest": [*rest, again(contract, digest="sha256:other")],
        "version": [*rest, again(contract, version="9.0.0")],
        "removed": rest,
        "added": [*catalog.contracts().values(), tool("read_files_fast", digest="sha256:new")],
        "beside": [*catalog.contracts().values(), msgspec.structs.replace(tool("sing_songs"), families=())],
    }
    settings: dict[str, dict[str, Any]] = {
        "unavailable": {"unavailable": lambda: {CHANGED}},
        "sibling unavailable": {"unavailable": lambda: {"read_files_lines", "find_files"}},
        "guard": {"rules": "sha256:others"},
        "policy": {"policy": "sha256:others"},
        "lexicon": {"lexicon": "sha256:mine"},
    }
    if world in catalogs:
        return {"catalog": Catalog().with_contracts(catalogs[world])}
    return {"catalog": catalog, **settings[world]}


WORLDS = {
    "digest": Miss(reason="executor-changed", detail=CHANGED),
    "version": Miss(reason="executor-changed", detail=CHANGED),
    "removed": Miss(reason="executor-removed", detail=CHANGED),
    "added": Miss(reason="family-changed", detail="read files"),
    "unavailable": Miss(reason="executor-unavailable", detail=CHANGED),
    "guard": Miss(reason="rules-changed"),
    "policy": Miss(reason="policy-changed"),
    "lexicon": Miss(reason="lexicon-changed"),
}


@pytest.mark.parametrize("text", [TEXT, "read the file b.txt"], ids=["l0", "l1"])
@pytest.mark.parametrize("world", list(WORLDS))
def test_a_world_that_differs_in_one_part(catalog: Catalog, world: str, text: str) -> None:
    store = MemoryStore()
    before = opened(store, catalog)
    before.learn(lesson(TEXT, PLAN))
    assert isinstance(ask(before, text), Match)
    assert ask(opened(store, **moved(world, catalog)), text) == WORLDS[world]
    assert isinstance(ask(before, text), Match)  # and nothing was lost by it


def test_a_tool_of_another_family_changes_nothing(catalog: Catalog) -> None:
    store = MemoryStore()
    opened(store, catalog).learn(lesson(TEXT, PLAN))
    assert told(ask(opened(store, **moved("beside", catalog)), TEXT)) == "l0"


def test_where_the_lexicon_finds_no_intent_every_tool_counts(catalog: Catalog) -> None:
    store = MemoryStore()
    saying = "blorb the quux"
    assert opened(store, catalog).learn(lesson(saying, PLAN)).held == ()
    assert told(ask(opened(store, catalog), saying)) == "l0"
    assert told(ask(opened(store, **moved("beside", catalog)), saying)) == "family-changed"


def test_a_manifest_that_another_key_signed_is_not_admitted_and_so_gone(catalog: Catalog) -> None:
    """Who may sign is the catalog's matter (`contracts.trust`): what it does not admit is not there."""
    store = MemoryStore()
    opened(store, catalog).learn(lesson(TEXT, PLAN))
    refused = Catalog().with_contracts(without(catalog, CHANGED))
    assert told(ask(opened(store, refused), TEXT)) == "executor-removed"


CIRCUMSTANCES: list[tuple[dict[str, Any], str]] = [
    ({"channel": "chat"}, "channel-differs"),
    ({"now": AT - 1}, "clock-moved-back"),
    ({"now": AT - 400 * DAY}, "clock-moved-back"),
    ({"now": AT + MAX_AGE + 1}, "expired"),
    ({"now": AT + MAX_AGE}, "l0"),
    ({"place": msgspec.structs.replace(PLACE, folder="/elsewhere")}, "l0"),
]


@pytest.mark.parametrize(("asking", "told_of"), CIRCUMSTANCES, ids=lambda value: str(value)[:40])
def test_circumstances(catalog: Catalog, asking: dict[str, Any], told_of: str) -> None:
    cache = opened(None, catalog)
    cache.learn(lesson(TEXT, PLAN))
    assert told(ask(cache, TEXT, **asking)) == told_of
    assert told(ask(cache, TEXT)) == "l0"


def test_a_plan_that_names_a_place_unsaid_is_for_that_place(catalog: Catalog) -> None:
    cache = opened(None, catalog)
    cache.learn(lesson("read the file a.txt", plan(step("read_files", path="/home/anna/work/a.txt"))))
    assert told(ask(cache, TEXT)) == "l0"
    for place in ({"folder": "/x"}, {"home": "/x"}, {"roots": ("/x",)}):
        elsewhere = msgspec.structs.replace(PLACE, **place)
        assert ask(cache, TEXT, place=elsewhere) == Miss(reason="place-differs")


# --- what stands in the file ----------------------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path: Path, catalog: Catalog) -> Any:
    """With one entry learned, and nothing of it in memory."""
    made = opened(tmp_path / "cache", catalog)
    made.learn(lesson(TEXT, PLAN))
    yield made
    made.close()


def key_of(cache: PlanCache, kind: str) -> str:
    return next(str(key) for key in cache.store.every_key() if str(key).startswith(kind))


def rewrite(cache: PlanCache, folder: Path, change: Any, kind: str = "l0") -> str:
    """Change the value of a row behind the cache's back."""
    key = key_of(cache, kind)
    with closing(sqlite3.connect(folder / "cache" / DATABASE)) as connection, connection:
        (value,) = connection.execute("SELECT value FROM Cache WHERE key = ?", (key,)).fetchone()
        connection.execute("UPDATE Cache SET value = ? WHERE key = ?", (change(value), key))
    return key


def with_body(value: bytes, change: Any, keys: Keys | None = None) -> bytes:
    row = unpack(value)
    assert row is not None
    entry = from_bytes(row.body)
    assert isinstance(entry, Entry)
    body = to_bytes(change(entry))
    return keys.seal(body) if keys is not None else value[: -len(row.body)] + body


def evil(entry: Entry) -> Entry:
    return msgspec.structs.replace(entry, plan=plan(step("read_files", path="/etc/shadow")))


def bruno(entry: Entry) -> Entry:
    return msgspec.structs.replace(entry, scope="bruno")


OURS, THEIRS = Keys(lambda: seed("ours")), Keys(lambda: seed("theirs"))
TAMPERED: list[tuple[str, Any, str]] = [
    ("one byte", lambda value: value[:-9] + bytes([value[-9] ^ 1]) + value[-8:], "bad-signature"),
    ("another plan", lambda value: with_body(value, evil), "bad-signature"),
    ("another signature", lambda value: value.replace(b"ed25519:", b"ed25519:0", 2)[: len(value)], "malformed-row"),
    ("somebody else's", lambda value: with_body(value, evil, THEIRS), "signer-unknown"),
    ("another owner's", lambda value: with_body(value, bruno, OURS), "foreign-scope"),
    ("cut short", lambda value: value[:100], "malformed-row"),
    ("empty", lambda value: b"", "malformed-row"),
    ("no JSON", lambda value: OURS.seal(b"{"), "malformed-row"),
    ("another kind", lambda value: OURS.seal(b'{"is":"other"}'), "malformed-row"),
    ("a field more", lambda value: OURS.seal(unpack(value).body[:-1] + b',"more":1}'), "malformed-row"),  # type: ignore[union-attr]
    (
        "another version",
        lambda value: with_body(value, lambda e: msgspec.structs.replace(e, version=9), OURS),
        "malformed-row",
    ),
    ("text", lambda value: value.decode(), "malformed-row"),
]


@pytest.mark.parametrize(("change", "reason"), [row[1:] for row in TAMPERED], ids=[row[0] for row in TAMPERED])
@pytest.mark.parametrize("stamped", [False, True])
def test_a_row_that_was_tampered_with(
    cache: PlanCache, tmp_path: Path, catalog: Catalog, change: Any, reason: str, stamped: bool
) -> None:
    if stamped:
        assert told(ask(opened(tmp_path / "cache", catalog), TEXT)) == "l0"
    key = rewrite(cache, tmp_path, change)
    other = opened(tmp_path / "cache", catalog)
    tried = next(one for one in other.explain(_request(), ASKING).tried if one.key == key)
    assert isinstance(tried.result, Miss)
    assert tried.result.reason == reason
    assert [alarm.reason for alarm in other.store.alarms()] == [reason]
    assert other.store.get(key) is None
    assert len(list((tmp_path / "cache" / "quarantine").iterdir())) == 1
    other.close()


def _request() -> Any:
    from metnos.request.understand import understand

    return understand(TEXT, "en")


def test_a_valid_row_under_the_key_of_another_request(cache: PlanCache, tmp_path: Path, catalog: Catalog) -> None:
    cache.learn(lesson('read the file "other.txt"', plan(step("read_files", path="other.txt"))))
    rows = {key: cache.store.get(str(key)) for key in cache.store.every_key()}
    first, second = (str(key) for key in rows if str(key).startswith("l0"))
    for stamped in (False, True):
        cache.store.put(first, rows[second])  # type: ignore[arg-type]
        fresh = opened(tmp_path / "cache", catalog)
        assert [one.result for one in fresh.explain(_request(), ASKING).tried if one.key == first] == [
            Miss(reason="key-differs")
        ]
        fresh.close()
        if not stamped:
            cache.store.put(second, rows[second])  # type: ignore[arg-type]
            assert isinstance(ask(opened(tmp_path / "cache", catalog), 'read the file "other.txt"'), Match)
            rows[second] = cache.store.get(second)


def test_an_entry_of_another_owner_under_the_key_of_ones_own(
    cache: PlanCache, tmp_path: Path, catalog: Catalog
) -> None:
    other = opened(tmp_path / "cache", catalog)
    asking = msgspec.structs.replace(ASKING, owner="bruno")
    other.learn(lesson(TEXT, plan(step("read_files", path="b/a.txt")), asking=asking))
    before, now = (str(key) for key in other.store.every_key() if str(key).startswith("l0"))
    row = other.store.get(now)
    assert isinstance(row, bytes)
    other.store.put(before, row)
    other.close()
    assert [
        one.result for one in opened(tmp_path / "cache", catalog).explain(_request(), ASKING).tried if one.key == before
    ] == [Miss(reason="foreign-scope", detail="bruno")]


def test_what_is_in_memory_is_taken_back_when_another_process_takes_it_back(
    cache: PlanCache, tmp_path: Path, catalog: Catalog
) -> None:
    other = opened(tmp_path / "cache", catalog)
    assert (told(ask(cache, TEXT)), told(ask(other, TEXT))) == ("l0", "l0")
    other.demote(lesson(TEXT, PLAN), "wrong-type")
    assert told(ask(cache, TEXT)) == "demoted"
    other.learn(lesson(TEXT, PLAN))
    assert told(ask(cache, TEXT)) == "l0"
    other.close()


def test_a_seed_of_ones_own_is_needed_to_be_believed(cache: PlanCache, tmp_path: Path, catalog: Catalog) -> None:
    assert told(ask(opened(tmp_path / "cache", catalog), TEXT)) == "l0"
    trusting = opened(tmp_path / "cache", catalog, key="another", trusted=(OURS.public,))
    assert told(ask(trusting, TEXT)) == "l0"
    stranger = opened(tmp_path / "cache", catalog, key="another")
    assert told(ask(stranger, TEXT)) == "signer-unknown"


def test_a_first_look_leaves_a_stamp_and_the_next_needs_no_signature(
    cache: PlanCache, tmp_path: Path, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = key_of(cache, "l0")
    assert b"-" * 64 in cache.store.get(key)  # type: ignore[operator]
    assert told(ask(opened(tmp_path / "cache", catalog), TEXT)) == "l0"
    assert b"-" * 64 not in cache.store.get(key)  # type: ignore[operator]
    monkeypatch.setattr(Keys, "signature_holds", lambda *_: pytest.fail("looked at again"))
    assert told(ask(opened(tmp_path / "cache", catalog), TEXT)) == "l0"
