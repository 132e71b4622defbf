"""Near matching behind the plan cache: off by default, asked about, proven on disk, and believed no more than an entry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from metnos.cache.entries.signing import Keys
from metnos.cache.entries.store import DiskStore
from metnos.cache.entries.validity import World
from metnos.cache.keeping import Keeping
from metnos.cache.model import Match, Miss
from metnos.cache.plancache import PlanCache
from metnos.cache.templates.library import TemplateLibrary
from metnos.contracts.catalog import Catalog
from tests.support.caching import ask, lesson, plan, seed, step, told

LEARNED = "list the pdf files in src"
NEAR = "show the pdf files in src"
FOUND = plan(step("find_files", path="src", pattern="*.pdf"))


class Confirmer:
    """Says `answer` and remembers what it read."""

    def __init__(self, *, answer: bool = True) -> None:
        self.answer = answer
        self.read: list[tuple[str, str]] = []

    def __call__(self, said: str, learned: str) -> bool:
        self.read.append((said, learned))
        return self.answer


def cache_of(where: Path, catalog: Catalog, confirm: Confirmer | None = None, **world: Any) -> PlanCache:
    settings = {"rules": "sha256:rules", "policy": "sha256:policy"} | world
    keys = Keys(lambda: seed("ours"), ())
    return PlanCache(DiskStore(where), keys, World(catalog, **settings), TemplateLibrary(), confirm=confirm)


def test_nothing_near_is_served_unless_the_operator_wants_it(tmp_path: Path, catalog: Catalog) -> None:
    cache = cache_of(tmp_path / "cache", catalog)
    cache.learn(lesson(LEARNED, FOUND))
    assert isinstance(ask(cache, NEAR), Miss)
    cache.close()


def test_what_is_confirmed_is_served_and_called_near(tmp_path: Path, catalog: Catalog) -> None:
    confirm = Confirmer()
    cache = cache_of(tmp_path / "cache", catalog, confirm)
    cache.learn(lesson(LEARNED, FOUND))
    found = ask(cache, NEAR)
    assert isinstance(found, Match)
    assert (found.layer, found.plan) == ("near", FOUND)
    assert confirm.read == [(NEAR, "list the {glob} files in {path}")]
    for other in ("do not show the pdf files in src", "show all the pdf files in src", "count the pdf files in src"):
        assert not isinstance(ask(cache, other), Match), other
    assert len(confirm.read) == 1
    cache.close()


def test_new_values_are_bound(tmp_path: Path, catalog: Catalog) -> None:
    cache = cache_of(tmp_path / "cache", catalog, Confirmer())
    cache.learn(lesson(LEARNED, FOUND))
    found = ask(cache, "show the csv files in docs")
    assert isinstance(found, Match)
    assert found.plan == plan(step("find_files", path="docs", pattern="*.csv"))
    cache.close()


def test_a_refusal_is_a_miss(tmp_path: Path, catalog: Catalog) -> None:
    cache = cache_of(tmp_path / "cache", catalog, Confirmer(answer=False))
    cache.learn(lesson(LEARNED, FOUND))
    assert isinstance(ask(cache, NEAR), Miss)
    cache.close()


def test_what_an_entry_depends_on_is_compared_for_a_near_one_too(tmp_path: Path, catalog: Catalog) -> None:
    cache = cache_of(tmp_path / "cache", catalog, Confirmer())
    cache.learn(lesson(LEARNED, FOUND))
    cache.close()
    changed = cache_of(tmp_path / "cache", catalog, Confirmer(), rules="sha256:other")
    assert isinstance(ask(changed, NEAR), Miss)
    changed.close()


def test_another_owner_is_served_nothing(tmp_path: Path, catalog: Catalog) -> None:
    cache = cache_of(tmp_path / "cache", catalog, Confirmer())
    cache.learn(lesson(LEARNED, FOUND))
    assert isinstance(ask(cache, NEAR, owner="bruno"), Miss)
    cache.close()


def test_a_proof_outlives_the_process_and_nobody_can_write_one(tmp_path: Path, catalog: Catalog) -> None:
    rest = (
        "the pdf files in src with owner, group, size, age, lines and title of each and every one of them, newest first"
    )
    asked = Confirmer()
    cache = cache_of(tmp_path / "cache", catalog, asked, near_error=0.4)
    cache.learn(lesson(f"list {rest}", FOUND))
    near = f"show {rest}"
    for _ in range(40):
        assert told(ask(cache, near)) == "near"
    proven = len(asked.read)
    assert 0 < proven < 40  # from then on it was served without asking
    cache.close()

    again = cache_of(tmp_path / "cache", catalog, None, near_error=0.4)
    assert told(ask(again, near)) == "near"
    again.close()

    for path in (tmp_path / "cache").glob("*.db*"):
        data = path.read_bytes()
        path.write_bytes(data.replace(b'"is":"near"', b'"is":"neat"'))
    tampered = cache_of(tmp_path / "cache", catalog, None, near_error=0.4)
    assert isinstance(ask(tampered, near), Miss)
    tampered.close()


def test_a_person_who_says_bad_is_heard(tmp_path: Path, catalog: Catalog) -> None:
    cache = cache_of(tmp_path / "cache", catalog, Confirmer())
    assert isinstance(cache.keeping, Keeping)
    cache.learn(lesson(LEARNED, FOUND))
    cache.feedback(lesson(NEAR, FOUND), good=False)
    assert told(ask(cache, NEAR)) == "negative-feedback"
    cache.close()


@pytest.mark.parametrize("text", ["delete the pdf files in src", "show the pdf files in src and delete them"])
def test_effects_are_never_near(text: str, tmp_path: Path, catalog: Catalog) -> None:
    confirm = Confirmer()
    cache = cache_of(tmp_path / "cache", catalog, confirm)
    cache.learn(lesson(LEARNED, FOUND))
    assert isinstance(ask(cache, text), Miss)
    assert confirm.read == []
    cache.close()


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError


def raises(fault: BaseException) -> Any:
    def confirm(_said: str, _learned: str) -> bool:
        raise fault

    return confirm


@pytest.mark.parametrize(
    ("confirm", "said"),
    [
        (raises(RuntimeError("out\n of paper")), "RuntimeError: out of paper"),
        (raises(OSError("\udc80" * 500)), "OSError: ???"),
        (raises(Unprintable()), "Unprintable"),
        (lambda: True, "TypeError"),
        (lambda _said, _learned, _more: True, "TypeError"),
        ("yes", "TypeError"),
    ],
    ids=["raises", "half-characters", "unprintable", "too-few", "too-many", "no-function"],
)
def test_a_confirm_that_fails_confirms_nothing_and_the_miss_says_so(
    confirm: Any, said: str, tmp_path: Path, catalog: Catalog
) -> None:
    cache = cache_of(tmp_path / "cache", catalog, confirm)
    cache.learn(lesson(LEARNED, FOUND))
    found = ask(cache, NEAR)
    assert isinstance(found, Miss)
    assert (found.reason, found.detail.isprintable()) == ("confirm-failed", True)
    assert said in found.detail
    assert len(found.detail) <= 200
    assert cache.nearby._thresholds.outcomes(next(iter(cache.nearby._stored))) == ()
    assert told(ask(cache, LEARNED)) == "l0"
    cache.close()


@pytest.mark.parametrize("fault", [KeyboardInterrupt, SystemExit])
def test_who_interrupts_a_confirm_stops_the_turn(fault: type[BaseException], tmp_path: Path, catalog: Catalog) -> None:
    cache = cache_of(tmp_path / "cache", catalog, raises(fault()))
    cache.learn(lesson(LEARNED, FOUND))
    with pytest.raises(fault):
        ask(cache, NEAR)
    cache.close()
