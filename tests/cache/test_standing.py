"""What could differ between two uses of one sentence, and what is therefore not kept, or kept for one place alone."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from metnos.cache.admission import HELD, decide
from metnos.cache.entries.validity import World
from metnos.cache.standing import AGAINST, judge
from metnos.contracts.catalog import Catalog
from metnos.request.understand import understand
from tests.support.caching import ASKING, PLACE, lesson, opened, plan, step


def found(text: str, given: dict[str, Any], catalog: Catalog, language: str = "en") -> str:
    """What is held against the plan; `placed` where nothing is, but it names a place."""
    standing = judge(understand(text, language), given, catalog, PLACE)
    return standing.against or ("placed" if standing.placed else "")


def files(**args: Any) -> dict[str, Any]:
    return plan(step("find_files", **args))


def file(path: str, **more: Any) -> dict[str, Any]:
    return plan(step("read_files", path=path, **more))


RULES: list[tuple[str, dict[str, Any], str]] = [
    # time: what was made from the clock
    ("files changed since yesterday", files(path=".", modified_after="2026-11-29"), "time-bound"),
    ("files changed since yesterday", files(path=".", modified_after="${RUNTIME:day-1.start}"), ""),
    ("files changed since 2026-11-29", files(path=".", modified_after="2026-11-29"), ""),
    ("files changed since yesterday", files(path="."), "time-bound"),
    ("files changed today", files(path=".", pattern="*2026*"), "time-bound"),
    ("the report of monday", file("monday.txt"), "placed"),
    ("the report of today", file("reports/Monday.txt"), "time-bound"),
    ("the newest files", files(path=".", limit=1_764_500_000), "time-bound"),
    ("read a.txt", file("a.txt", max_bytes=1_764_500_000), "time-bound"),
    ("files older than two weeks", files(path=".", older_days=14), ""),
    ("files older than two weeks", files(path=".", older_days=13), "time-bound"),
    ("files from before the wedding", files(path=".", older_days=411), "time-bound"),
    ("what happens at dusk", plan(step("find_files", path="."), text="At 18:00."), "time-bound"),
    # place: what stands here and not elsewhere
    ("read a.txt", file("a.txt"), ""),
    ("read a.txt", file("/home/anna/work/a.txt"), "placed"),
    ("read a.txt", file("~/a.txt"), "placed"),
    ("read /tmp/a.txt", file("/tmp/a.txt"), ""),
    ("read the report", file("report-v3.txt"), "placed"),
    ("how many files are here", files(path="."), ""),
    ("read the doc", file("do"), "placed"),
    # what was said before
    ("delete it", file("a.txt"), "points-back"),
    ("read a.txt again", file("a.txt"), "points-back"),
    ("read the same file", file("a.txt"), "points-back"),
    ("read those files", file("a.txt"), "points-back"),
    ("open that", file("a.txt"), "points-back"),
    ("read a.txt and show it", file("a.txt"), ""),
    ("files in this folder", files(path="."), ""),
    # the turn
    ("read a.txt", file("${INPUT:path}"), "needs-turn"),
    ("read a.txt", file("${plan1.step1.path}"), "needs-turn"),
    # the answer
    ("how many files are here", plan(text="There are 5."), "no-steps"),
    ("how many files are here", plan(step("find_files", path="."), text="There are 5."), "invented-answer"),
    ("how many files are here", plan(step("find_files", path="."), data={"count": 5}), "invented-answer"),
    ("the 5 largest files", plan(step("find_files", path="."), text="Here are the 5 largest."), ""),
    ("how many files are here", plan(step("find_files", path="."), text="There are ${step1.count}."), ""),
    # the size of it
    ("read a.txt", file("a.txt", note="x" * 70_000), "too-large"),
]


@pytest.mark.parametrize(
    ("text", "given", "against"), RULES, ids=[f"{n}-{row[2] or 'fine'}" for n, row in enumerate(RULES)]
)
def test_a_rule(text: str, given: dict[str, Any], against: str, catalog: Catalog) -> None:
    assert found(text, given, catalog) == against


ITALIAN: list[tuple[str, dict[str, Any], str]] = [
    ("cancellalo", file("a.txt"), "points-back"),
    ("vorrei leggerlo", file("a.txt"), "points-back"),
    ("copialo in archivio", file("a.txt"), "points-back"),
    ("trova a.txt e leggilo", file("a.txt"), ""),
    ("leggi ancora a.txt", file("a.txt"), "points-back"),
    ("leggi quei file", file("a.txt"), "points-back"),
    ("i file modificati ieri", files(path=".", modified_after="2026-11-29"), "time-bound"),
    ("i file di questa cartella", files(path="."), ""),
    ("leggi a.txt", file("a.txt"), ""),
]


@pytest.mark.parametrize(
    ("text", "given", "against"), ITALIAN, ids=[f"{n}-{row[2] or 'fine'}" for n, row in enumerate(ITALIAN)]
)
def test_a_rule_in_italian(text: str, given: dict[str, Any], against: str, catalog: Catalog) -> None:
    assert found(text, given, catalog, "it") == against


def test_every_reason_that_a_rule_gives_is_in_the_table_and_is_tried(catalog: Catalog) -> None:
    tried = {against for _, _, against in RULES} - {"", "placed"}
    assert tried | {"sensitive"} == set(AGAINST)
    assert set(AGAINST) <= set(HELD)


def test_a_literal_in_a_sensitive_argument(catalog: Catalog) -> None:
    contract = catalog.get("read_files")
    assert contract is not None
    secret = msgspec.structs.replace(contract, name="read_secret", sensitive=("token",))
    with_secret = catalog.with_contracts([secret])
    assert found("read a.txt", plan(step("read_secret", path="a.txt", token="x")), with_secret) == "sensitive"
    referred = plan(step("read_files", path="a.txt"), step("read_secret", path="a.txt", token="${step1.count}"))
    assert found("read a.txt", referred, with_secret) == ""


@pytest.mark.parametrize(
    ("text", "given", "against"), RULES, ids=[f"{n}-{row[2] or 'fine'}" for n, row in enumerate(RULES)]
)
def test_nothing_that_is_held_against_a_plan_is_ever_written(
    text: str, given: dict[str, Any], against: str, catalog: Catalog
) -> None:
    cache = opened(None, catalog)
    learned = cache.learn(lesson(text, given))
    if against not in ("", "placed"):
        assert learned.admitted == ()
        assert len(learned.held) == 1
    assert set(learned.held) <= set(HELD)


def test_a_default_that_is_written_out_is_nobodys_invention(catalog: Catalog) -> None:
    contract = catalog.get("find_files")
    assert contract is not None
    defaults = {
        name: schema["default"]
        for name, schema in contract.args["properties"].items()
        if isinstance(schema.get("default"), int) and not isinstance(schema.get("default"), bool)
    }
    assert found("files changed since 2026-11-29", files(path=".", **defaults), catalog) == ""


def test_a_place_is_part_of_what_the_entry_depends_on(catalog: Catalog) -> None:
    world = World(catalog)
    placed = decide(lesson("read the report", file("report-v3.txt")), world).l0
    free = decide(lesson("read a.txt", file("a.txt")), world).l0
    assert placed is not None
    assert free is not None
    assert placed.depends.place.startswith("sha256:")
    assert free.depends.place == ""
    elsewhere = msgspec.structs.replace(ASKING, place=msgspec.structs.replace(PLACE, folder="/x"))
    other = decide(lesson("read the report", file("report-v3.txt"), asking=elsewhere), world).l0
    assert other is not None
    assert other.depends.place != placed.depends.place
