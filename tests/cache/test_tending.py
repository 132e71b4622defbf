"""Looking after the store: lists, counts, eviction that keeps what earns its place, and other owners' rows left alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from metnos.cache.entries.disk import Tampered
from metnos.cache.entries.memory import MemoryStore
from metnos.cache.entries.store import Alarm, StoreFault
from metnos.cache.entries.validity import DAY
from metnos.cache.model import Match
from metnos.cache.plancache import PlanCache
from metnos.cache.tending import _shard_key
from metnos.contracts.catalog import Catalog
from tests.support.caching import ASKING, AT, ask, lesson, opened, plan, step, told


def listing(path: str) -> dict[str, Any]:
    """A plan with a literal of its own, which stays in `l0`."""
    return plan(step("find_files", path=path, include_hidden=True))


def learn(cache: PlanCache, name: str, owner: str = "anna", at: int = AT) -> None:
    asking = msgspec.structs.replace(ASKING, owner=owner, now=at)
    assert cache.learn(lesson(f"list the files in {name}/", listing(name), asking=asking)).admitted


def serves(cache: PlanCache, name: str) -> bool:
    found = ask(cache, f"list the files in {name}/")
    return isinstance(found, Match) and found.layer == "l0"


@pytest.fixture(params=["memory", "disk"])
def cache(request: pytest.FixtureRequest, catalog: Catalog, tmp_path: Path) -> Any:
    made = opened(None if request.param == "memory" else tmp_path / "cache", catalog)
    yield made
    made.close()


def test_where_there_are_too_many_what_was_never_used_goes_first(catalog: Catalog) -> None:
    cache = PlanCacheOf(catalog, most=20)
    for number in range(20):
        learn(cache, f"d{number}")
    for name in ("d0", "d3") * 8:
        assert serves(cache, name)
    cache.tending.flush()
    for number in range(20, 30):
        learn(cache, f"d{number}")
    cache.tending.evict()
    left = [number for number in range(30) if serves(cache, f"d{number}")]
    assert {0, 3, 29} <= set(left)
    assert len(left) <= 20
    assert 1 not in left
    assert cache.tending.evict() == 0


def PlanCacheOf(catalog: Catalog, most: int) -> PlanCache:  # noqa: N802 - reads like the class
    made = opened(MemoryStore(), catalog)
    return PlanCache(made.store, made.front._keys, made.world, made.library, most=most)


def test_uses_are_counted_over_processes_and_a_wrong_count_is_only_a_wrong_number(
    cache: PlanCache, catalog: Catalog
) -> None:
    learn(cache, "a")
    for _ in range(3):
        assert serves(cache, "a")
    cache.tending.flush()
    cache.tending.flush()
    assert serves(cache, "a")
    assert cache.tending.stats().uses == 4
    (entry,) = [one for one in cache.tending.entries(ASKING) if one.layer == "l0"]
    assert (entry.uses, entry.state, entry.tools, entry.read_only) == (4, "valid", ("find_files",), True)
    for shard in range(16):
        cache.store.put(_shard_key(shard), b'{"l0:x": "many"}')
    assert cache.tending.stats().uses == 1
    for shard in range(16):
        cache.store.put(_shard_key(shard), b'{"l0:x": 99999999999, "l0:y": -5}')
    assert cache.tending.stats().uses == 1
    assert serves(cache, "a")


def test_each_owner_sees_ones_own_and_nobody_harms_anothers(cache: PlanCache) -> None:
    learn(cache, "a")
    learn(cache, "b", owner="bruno")
    bruno = msgspec.structs.replace(ASKING, owner="bruno")
    (mine,), (other,) = list(cache.tending.entries(ASKING)), list(cache.tending.entries(bruno))
    assert (mine.scope, other.scope) == ("anna", "bruno")
    assert list(cache.tending.entries(ASKING, "read_files")) == []
    assert len(list(cache.tending.entries(ASKING, "find_files"))) == 1
    assert cache.tending.show(other.entry, ASKING) is None
    assert cache.tending.show("l0:", bruno) is not None
    assert cache.tending.show("", bruno) is None
    assert cache.tending.verify(AT).ok
    assert cache.store.alarms() == ()
    assert serves(cache, "a")


def test_a_verification_finds_what_does_not_hold(cache: PlanCache) -> None:
    learn(cache, "a")
    (key, *_) = (str(key) for key in cache.store.every_key() if str(key).startswith("l0"))
    cache.store.put(key, b"rubbish")
    found = cache.tending.verify(AT)
    assert (found.ok, found.bad, len(found.alarms)) == (False, {"malformed-row": 1}, 1)
    assert cache.tending.verify(AT).ok


def test_a_key_that_is_none_is_put_aside(cache: PlanCache) -> None:
    from metnos.cache.entries.front import Bad

    found = cache.front.examine(Tampered("a key that is no digest", 1, b"\x80"), AT)
    assert isinstance(found, Bad)
    assert cache.front.examine(f"l0:{'0' * 64}", AT) is None


def test_looking_at_rows_of_uses_is_no_alarm(cache: PlanCache) -> None:
    learn(cache, "a")
    assert serves(cache, "a")
    cache.tending.flush()
    uses = [str(key) for key in cache.store.every_key() if str(key).startswith("uses:")]
    assert uses
    assert (cache.tending.prune(ASKING), cache.tending.prune(ASKING, older=400)) == (0, 0)
    assert cache.tending.show(uses[0], ASKING) is None
    assert cache.tending.verify(AT).alarms == ()
    assert [key for key in cache.store.every_key() if str(key).startswith("uses:")] == uses
    assert sum(cache.tending.counts().values()) == 1


def test_pruning(cache: PlanCache, catalog: Catalog) -> None:
    learn(cache, "a")
    learn(cache, "b", at=AT - 10 * DAY)
    assert cache.tending.prune(ASKING) == 0
    assert cache.tending.prune(ASKING, older=5) == 2  # its own entry, and the one of its form
    assert (serves(cache, "a"), serves(cache, "b")) == (True, False)
    cache.feedback(lesson("list the files in c/", listing("c")), good=False)
    assert cache.tending.prune(ASKING, older=0) >= 3
    elsewhere = opened(cache.store, catalog, rules="sha256:others")
    learn(cache, "d")
    assert {one.state for one in elsewhere.tending.entries(ASKING)} == {"rules-changed"}
    assert elsewhere.tending.prune(ASKING) >= 1
    learn(cache, "e")
    assert cache.tending.prune(ASKING, everything=True) >= 1
    assert cache.tending.stats().rows == 0


class Broken(MemoryStore):
    """A disk that has failed."""

    def get(self, key: str) -> Any:
        raise StoreFault("cache-store", "no space left")

    def every_key(self) -> Any:
        raise StoreFault("cache-store", "no space left")


def test_a_store_that_fails_costs_a_miss_and_nothing_else(catalog: Catalog) -> None:
    cache = opened(Broken(), catalog)
    assert told(ask(cache, "list the files in a/")) == "store-unusable"
    given = lesson("list the files in a/", listing("a"))
    assert cache.learn(given).held == ("store-unusable",)
    assert cache.feedback(given, good=True).held == ("store-unusable",)
    assert cache.feedback(given, good=False).held == ("store-unusable",)
    assert cache.demote(given, "x") == ()
    from metnos.request.understand import understand

    assert cache.explain(understand("list the files", "en"), ASKING).tried == ()
    cache.front.used("l0:" + "0" * 64)
    cache.close()


def test_alarms_are_kept_in_bounds(tmp_path: Path, catalog: Catalog) -> None:
    for cache in (opened(None, catalog), opened(tmp_path / "cache", catalog)):
        learn(cache, "a")
        for number in range(103):
            cache.store.quarantine(Alarm(at=number, key="", reason="malformed-row"), b"x")
        assert [alarm.at for alarm in cache.store.alarms()] == list(range(3, 103))
        cache.close()
    assert len(list((tmp_path / "cache" / "quarantine").iterdir())) == 100
    with (tmp_path / "cache" / "alarms.jsonl").open("a") as log:
        log.write("rubbish\n")
    assert len(opened(tmp_path / "cache", catalog).store.alarms()) == 99


WORKER = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from metnos.cache.model import Match
from metnos.contracts.catalog import Catalog
from metnos.contracts.manifest import read_manifest
from tests.support.caching import ask, lesson, opened, plan, step

me = int(sys.argv[1])
root = Path({root!r})
names = ("find_files", "read_files")
catalog = Catalog().with_contracts([read_manifest((root / "manifests" / f"{{name}}.toml").read_bytes()) for name in names])
cache = opened(Path(sys.argv[2]), catalog)
served = 0
for turn in range(40):
    for number in (turn % 7, (turn * 3 + me) % 11):
        name = f"d{{number}}"
        text, right = f"list the files in {{name}}/", plan(step("find_files", path=name, include_hidden=True))
        found = ask(cache, text)
        if isinstance(found, Match):
            assert found.plan == right, (text, found.plan)
            served += 1
        else:
            assert found.reason in ("no-library", "demoted", "unbound-slot"), found
            cache.learn(lesson(text, right))
    if turn % 10 == me:
        cache.demote(lesson(text, right), "x")
assert cache.store.alarms() == ()
cache.close()
print("served", served > 0)
"""


def test_eight_processes_read_and_write_one_store(tmp_path: Path, root: Path, catalog: Catalog) -> None:
    program = WORKER.format(root=str(root))
    folder = tmp_path / "cache"
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(number), str(folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    for worker in workers:
        out, err = worker.communicate(timeout=55)
        assert (out, err, worker.returncode) == ("served True\n", "", 0)
    found = opened(folder, catalog).tending.verify(AT)
    assert found.ok
    assert found.rows > 10
