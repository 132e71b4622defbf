"""What is admitted when, what is served to whom, what a person's word does: the table of `admission`, row by row."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from metnos.cache.model import Match, Miss
from metnos.cache.plancache import PlanCache
from metnos.cache.templates.library import TemplateLibrary
from metnos.contracts.catalog import Catalog
from tests.support.caching import ASKING, ask, lesson, opened, plan, step, told


def reading(path: str) -> dict[str, Any]:
    return plan(step("read_files", path=path), text="${step1.text}")


def writing(path: str, content: str = "x") -> dict[str, Any]:
    return plan(step("write_files", path=path, content=content))


def found(cache: PlanCache, text: str, **asking: Any) -> dict[str, Any]:
    match = ask(cache, text, **asking)
    assert isinstance(match, Match), match
    return match.plan


@pytest.fixture(params=["memory", "disk"])
def cache(request: pytest.FixtureRequest, catalog: Catalog, tmp_path: Path) -> Any:
    made = opened(None if request.param == "memory" else tmp_path / "cache", catalog)
    yield made
    made.close()


def test_one_success_that_reads_and_says_nothing_of_its_own_serves_every_request_of_its_form(cache: PlanCache) -> None:
    learned = cache.learn(lesson("read the file a.txt", reading("a.txt")))
    assert [one.partition(":")[0] for one in learned.admitted] == ["l0", "l1"]
    assert learned.held == ()
    assert told(ask(cache, "read the file a.txt")) == "l0"
    assert found(cache, "read the file a.txt") == reading("a.txt")
    assert told(ask(cache, "Please read the file b.txt")) == "l1"
    assert found(cache, "read the file b.txt") == reading("b.txt")
    for other in ("read the files a.txt", "do not read the file a.txt", "delete the file a.txt", "read the file *.txt"):
        assert not isinstance(ask(cache, other), Match), other


def test_what_is_served_is_nobodys_to_change(cache: PlanCache) -> None:
    cache.learn(lesson("read the file a.txt", reading("a.txt")))
    for text in ("read the file a.txt", "read the file b.txt"):
        found(cache, text)["steps"].clear()
        assert found(cache, text)["steps"]


def test_a_literal_that_nobody_said_waits_for_a_second_success_that_agrees(cache: PlanCache) -> None:
    def limited(path: str, count: int) -> dict[str, Any]:
        return plan(step("find_files", path=path, include_hidden=True), step("take_entries", from_step=1, count=count))

    first = cache.learn(lesson("list the files in docs/", limited("docs", 17)))
    assert [one[:2] for one in first.admitted] == ["l0"]
    assert first.held == ("second-needed",)
    assert told(ask(cache, "list the files in src/")) != "l1"
    same = cache.learn(lesson("list the files in docs/", limited("docs", 17)))
    assert same.held == ("second-needed",)
    second = cache.learn(lesson("list the files in src/", limited("src", 17), turn="t2"))
    assert [one[:2] for one in second.admitted] == ["l0", "l1"]
    assert found(cache, "list the files in tests/") == limited("tests", 17)


def test_two_successes_that_disagree_admit_nothing(cache: PlanCache) -> None:
    def limited(path: str, count: int) -> dict[str, Any]:
        return plan(step("find_files", path=path), step("take_entries", from_step=1, count=count))

    cache.learn(lesson("list the files in docs/", limited("docs", 17)))
    assert cache.learn(lesson("list the files in src/", limited("src", 18))).held == ("disagreed",)
    assert told(ask(cache, "list the files in tests/")) != "l1"


def test_a_form_whose_plan_changes_waits_anew(cache: PlanCache) -> None:
    cache.learn(lesson("read the file a.txt", reading("a.txt")))
    other = plan(step("read_files", path="b.txt"))
    assert cache.learn(lesson("read the file b.txt", other)).held == ("disagreed",)
    assert told(ask(cache, "read the file c.txt")) == "demoted"
    assert found(cache, "read the file b.txt") == other
    assert cache.learn(lesson("read the file c.txt", plan(step("read_files", path="c.txt")))).held == ("second-needed",)
    cache.learn(lesson("read the file d.txt", plan(step("read_files", path="d.txt"))))
    assert found(cache, "read the file e.txt") == plan(step("read_files", path="e.txt"))


def test_an_effect_waits_for_a_person(cache: PlanCache) -> None:
    text = 'write "x" to a.txt'
    learned = cache.learn(lesson(text, writing("a.txt")))
    assert ([one[:2] for one in learned.admitted], learned.held) == (["l0"], ("good-needed",))
    assert told(ask(cache, text)) == "l0"
    assert told(ask(cache, f"please, {text}")) == "l0"
    assert not isinstance(ask(cache, f"{text}?"), Match)  # a question is no order
    assert not isinstance(ask(cache, 'write "x" to b.txt'), Match)
    good = cache.feedback(lesson(text, writing("a.txt"), evidence="feedback"), good=True)
    assert [one[:2] for one in good.admitted] == ["l0", "l1"]
    assert found(cache, 'write "y" to b.txt') == writing("b.txt", "y")


def test_a_bad_plan_is_not_served_not_learned_and_no_template_takes_its_place(
    catalog: Catalog, library: TemplateLibrary
) -> None:
    cache = opened(None, catalog)
    cache.library = library
    text = "how many files are here"
    template = ask(cache, text)
    assert isinstance(template, Match)
    assert template.layer == "template"
    assert cache.feedback(lesson(text, template.plan), good=False).held == ("negative-feedback",)
    assert ask(cache, text) == Miss(reason="negative-feedback")
    assert told(ask(cache, text, owner="bruno")) == "template"
    assert cache.learn(lesson(text, template.plan)).held == ("negative-feedback",)
    other = plan(step("find_files", path="."), text="${step1.count}")
    assert cache.learn(lesson(text, other)).admitted
    assert found(cache, text) == other


def test_bad_strikes_out_all_that_would_give_the_plan_and_good_takes_it_back(cache: PlanCache) -> None:
    cache.learn(lesson("read the file a.txt", reading("a.txt")))
    told_bad = cache.feedback(lesson("read the file b.txt", reading("b.txt")), good=False)
    assert "negative-feedback" in told_bad.held
    assert told(ask(cache, "read the file b.txt")) == "negative-feedback"
    assert told(ask(cache, "read the file c.txt")) == "negative-feedback"  # the form gave it
    assert found(cache, "read the file a.txt") == reading("a.txt")  # and this one was not said to be bad
    assert cache.learn(lesson("read the file c.txt", reading("c.txt"))).held == ("negative-feedback",)
    cache.feedback(lesson("read the file b.txt", reading("b.txt"), evidence="feedback"), good=True)
    assert found(cache, "read the file b.txt") == reading("b.txt")
    assert found(cache, "read the file c.txt") == reading("c.txt")


def test_a_plan_that_failed_is_demoted_until_it_succeeds_anew(cache: PlanCache) -> None:
    cache.learn(lesson("read the file a.txt", reading("a.txt")))
    struck = cache.demote(lesson("read the file a.txt", reading("a.txt")), "wrong-type")
    assert [one[:2] for one in struck] == ["l0", "l1"]
    assert ask(cache, "read the file a.txt") == Miss(reason="demoted", detail="wrong-type")
    assert told(ask(cache, "read the file b.txt")) == "demoted"
    cache.learn(lesson("read the file a.txt", reading("a.txt")))
    assert told(ask(cache, "read the file a.txt")) == "l0"


BYPASSES = ["attachments", "open-dialog", "unresolved-device", "resumed", "no-cache", "refresh"]


@pytest.mark.parametrize("bypass", BYPASSES)
def test_turns_that_read_nothing(cache: PlanCache, bypass: str) -> None:
    cache.learn(lesson("read the file a.txt", reading("a.txt")))
    assert ask(cache, "read the file a.txt", bypass=bypass) == Miss(reason=bypass)  # pyright: ignore[reportArgumentType]
    given = msgspec.structs.replace(ASKING, bypass=bypass)  # pyright: ignore[reportArgumentType]
    learned = cache.learn(lesson("read the file b.txt", reading("b.txt"), asking=given))
    assert bool(learned.admitted) == (bypass in {"resumed", "refresh"})


def test_owners_languages_and_an_empty_request(cache: PlanCache) -> None:
    cache.learn(lesson("read the file a.txt", reading("a.txt")))
    assert told(ask(cache, "read the file a.txt", owner="bruno")) == "no-library"
    assert told(ask(cache, "read the file a.txt", language="it")) != "l0"
    assert told(ask(cache, " ")) == "empty-request"


def test_an_explanation_names_each_key_and_what_stands_there(cache: PlanCache) -> None:
    cache.learn(lesson("read the file a.txt", reading("a.txt")))
    from metnos.request.understand import understand

    told_of = cache.explain(understand("read the file b.txt", "en"), ASKING)
    assert [(one.layer, one.grade, bool(one.entry)) for one in told_of.tried] == [
        ("l0", "strict", False),
        ("l0", "loose", False),
        ("l1", "loose", True),
    ]
    assert isinstance(told_of.result, Match)
    assert cache.explain(understand("", "en"), ASKING).tried == ()


def test_threads_share_one_cache(cache: PlanCache) -> None:
    wrong: list[Any] = []

    def work(number: int) -> None:
        for turn in range(25):
            name = f"f{number}x{turn}.txt"
            cache.learn(lesson(f"read the file {name}", reading(name)))
            match = ask(cache, f"read the file {name}")
            if not isinstance(match, Match) or match.plan != reading(name):
                wrong.append((name, match))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_belongs_to_nobody_is_shared_if_the_operator_says_so(catalog: Catalog, tmp_path: Path) -> None:
    shared = opened(tmp_path / "shared", catalog, share=True)
    shared.learn(lesson("read the file a.txt", reading("a.txt")))
    match = ask(shared, "read the file b.txt", owner="bruno")
    assert isinstance(match, Match)
    assert match.plan == reading("b.txt")
    assert told(ask(shared, "read the file a.txt", owner="bruno")) == "l1"  # the request itself is anna's own
    kept = list(shared.tending.entries(msgspec.structs.replace(ASKING, owner="bruno")))
    assert [(one.scope, one.turns) for one in kept] == [("shared", ())]
    unshared = opened(tmp_path / "shared", catalog)
    assert told(ask(unshared, "read the file b.txt", owner="bruno")) == "no-library"
    own = opened(None, catalog, share=True)
    for name in ("docs", "src"):  # and this one holds a word that is nobody's but anna's
        own.learn(lesson(f"list the files in {name}/", plan(step("find_files", path=name, pattern="*.acmecorp"))))
    assert told(ask(own, "list the files in tests/")) == "l1"
    assert told(ask(own, "list the files in tests/", owner="bruno")) == "no-library"
