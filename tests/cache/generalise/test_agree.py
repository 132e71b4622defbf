"""Two proposals agree if they are one plan with other values; a third one tells readings apart."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from metnos.cache.generalise.agree import agree
from metnos.cache.generalise.general import bind_general, generalise
from metnos.cache.generalise.uses import Disagree, General
from metnos.cache.templates.library import TemplateLibrary
from metnos.cache.templates.template import Refusal
from metnos.contracts.catalog import Catalog
from metnos.plan.jsondata import canonical
from metnos.request.model import Request
from metnos.request.understand import understand
from tests.cache.generated import requests_by_form

SOME = ["files-larger-than", "save-files-sorted", "files-containing", "copy-file", "largest-files", "files-modified"]


def pair(text: str, *steps: dict[str, Any]) -> tuple[Request, dict[str, Any]]:
    return understand(text, "en"), {"steps": [*steps, {"tool": "final_answer", "args": {}}]}


def find(**args: Any) -> dict[str, Any]:
    return {"tool": "find_files", "args": args}


def table(title: str) -> dict[str, Any]:
    return {"tool": "render_table", "args": {"from_step": 1, "title": title}}


def served(general: General | Disagree, text: str) -> dict[str, Any] | str:
    assert isinstance(general, General), general
    found = bind_general(general, understand(text, "en").slots)
    return found.detail if isinstance(found, Refusal) else found.plan


@pytest.mark.parametrize("name", SOME)
def test_what_two_requests_agree_on_is_right_for_every_other(
    name: str, library: TemplateLibrary, catalog: Catalog
) -> None:
    template = next(template for template in library.templates if template.id == name)
    counted: Counter[str] = Counter()
    for pairs in requests_by_form(library, template, "en", ways=1, values=7):
        for first, second, third in zip(pairs, pairs[1:], pairs[2:], strict=False):
            general = agree(first, second, catalog)
            widened = agree(general, third, catalog) if isinstance(general, General) else general
            for learned in (general, widened):
                for request, expected in pairs if isinstance(learned, General) else ():
                    assert isinstance(learned, General)
                    found = bind_general(learned, request.slots)
                    if isinstance(found, Refusal):
                        counted["refused"] += 1
                        continue
                    assert canonical(found.plan) == canonical(expected), (first[0].text, second[0].text, request.text)
                    counted["right"] += 1
                if isinstance(learned, Disagree):
                    counted[learned.reason] += 1
    assert counted["right"] > 20, counted


def test_a_second_proposal_tells_what_was_meant(catalog: Catalog) -> None:
    first = pair("files over 512 bytes in src", find(min_size=512, path="src"), table("Over 512 bytes"))
    second = pair("files over 1 MB in lib", find(min_size=1_000_000, path="lib"), table("Over 1000000 bytes"))
    alone = generalise(*first, catalog)
    assert isinstance(alone, General)
    assert served(alone, "files over 1 MB in lib") == "1 MB: n ≠ bytes"
    both = agree(first, second, catalog)
    assert (
        served(both, "files over 3 KiB in docs/a")
        == pair("", find(min_size=3072, path="docs/a"), table("Over 3072 bytes"))[1]
    )


def test_shapes_are_those_that_were_seen(catalog: Catalog) -> None:
    def read(path: str) -> dict[str, Any]:
        return {"tool": "read_files", "args": {"path": path}}

    both = agree(pair("read a.txt", read("a.txt")), pair("read b.md", read("b.md")), catalog)
    assert served(both, "read c.md") == pair("", read("c.md"))[1]
    assert served(both, "read c.csv") == "c.csv: .csv csv ≠ .txt | .md"
    assert isinstance(both, General)
    third = agree(both, pair("read d.log", read("d.log")), catalog)
    assert served(third, "read c.log") == pair("", read("c.log"))[1]


def test_what_did_not_vary_stays_in_the_key_where_something_is_unexplained(catalog: Catalog) -> None:
    both = agree(
        pair("the 5 largest files in src", find(path="src", limit=5), table("Mine")),
        pair("the 9 largest files in src", find(path="src", limit=9), table("Mine")),
        catalog,
    )
    assert isinstance(both, General)
    assert both.fixed == {1: "src"}
    assert served(both, "the 7 largest files in src") == pair("", find(path="src", limit=7), table("Mine"))[1]
    assert isinstance(served(both, "the 7 largest files in lib"), str)
    plain = agree(
        pair("the 5 largest files in src", find(path="src", limit=5)),
        pair("the 9 largest files in src", find(path="src", limit=9)),
        catalog,
    )
    assert isinstance(plain, General)
    assert plain.fixed == {}


def test_one_value_twice_is_told_apart_by_the_other_pair(catalog: Catalog) -> None:
    def move(path: str, to: str) -> dict[str, Any]:
        return {"tool": "move_files", "args": {"path": path, "to": to}}

    pairs = (
        pair("move a.txt to a.txt", move("a.txt", "a.txt")),
        pair("move b.txt to c.txt", move("b.txt", "c.txt")),
    )
    for both in (agree(*pairs, catalog), agree(*pairs[::-1], catalog)):
        assert served(both, "move d.txt to e.txt") == pair("", move("d.txt", "e.txt"))[1]


def test_words_of_a_fixed_slot_that_the_plan_does_not_repeat(catalog: Catalog) -> None:
    general = generalise(*pair("the five largest files", find(), table("Mine")), catalog)
    assert isinstance(general, General)
    assert served(general, "the 5 largest files") == "5 ≠ five"
    wider = agree(general, pair("the 5 largest files", find(), table("Mine")), catalog)
    assert served(wider, "the 5 largest files") == pair("", find(), table("Mine"))[1]


FIRST = pair("the 5 largest files in src", find(path="src", limit=5), table("Five"))
DISAGREE: list[tuple[tuple[Request, dict[str, Any]], str]] = [
    (pair("the 9 smallest files in lib", find(path="lib", limit=9), table("Five")), "form"),
    (pair("the 5 largest files in src", find(path="src", limit=5), table("Five")), "same-values"),
    (pair("the 9 largest files in lib", find(path="lib", limit=9), table("Nine")), "plan"),
    (pair("the 9 largest files in lib", find(path="lib", limit=9, hidden=True), table("Five")), "plan"),
    (pair("the 9 largest files in lib", find(path="lib", limit=8), table("Five")), "fixed"),
    (pair("the 9 largest files in lib", find(path="lib", limit=9)), "plan"),
    (pair("the 9 largest files in lib", find(path="2026-01-01", limit=9), table("Five")), "not-general"),
]


@pytest.mark.parametrize(("second", "reason"), DISAGREE)
def test_disagreement_has_a_reason(second: tuple[Request, dict[str, Any]], reason: str, catalog: Catalog) -> None:
    found = agree(FIRST, second, catalog)
    assert isinstance(found, Disagree)
    assert found.reason == reason


def test_another_plan_for_another_shape_is_no_contradiction(catalog: Catalog) -> None:
    def save(path: str, layout: str) -> dict[str, Any]:
        return {"tool": "render_table", "args": {"from_step": 1, "format": layout, "title": path}}

    general = generalise(*pair("save the files to a.txt", find(), save("a.txt", "text")), catalog)
    assert isinstance(general, General)
    found = agree(general, pair("save the files to b.csv", find(), save("b.csv", "csv")), catalog)
    assert found == Disagree("shape", "b.csv: .csv")


def test_a_learned_plan_and_a_pair_that_does_not_fit(catalog: Catalog) -> None:
    general = generalise(*FIRST, catalog)
    assert isinstance(general, General)
    assert agree(general, pair("files over 1 MB", find()), catalog) == Disagree("kinds")
    found = agree(general, pair("the 9 largest files in lib", find(path="lib", limit=8), table("Five")), catalog)
    assert found == Disagree("plan", "/steps/0/args/limit")
    fixed = generalise(*pair("the 5 largest files in src", find(limit=5)), catalog)
    assert isinstance(fixed, General)
    other = agree(fixed, pair("the 9 largest files in lib", find(limit=9)), catalog)
    assert other == Disagree("fixed", "lib ≠ src")
