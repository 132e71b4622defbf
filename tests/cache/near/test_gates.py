"""Near matches: what the words do not allow is never served, whatever the scores say."""

from __future__ import annotations

import math
from typing import Any

import pytest

from metnos.cache.generalise.general import generalise
from metnos.cache.generalise.uses import General
from metnos.cache.near.gates import Agrees, Candidate, Differs, Near, NearEntry, NearMatch, gate
from metnos.cache.near.retrieval import Embeddings, Letters, Words
from metnos.cache.near.thresholds import Thresholds, upper_bound
from metnos.contracts.catalog import Catalog
from metnos.request.understand import understand


def entry(text: str, catalog: Catalog, *steps: dict[str, Any], plan: str = "", language: str = "en") -> NearEntry:
    request = understand(text, language)
    data = {"steps": [*steps, {"tool": "final_answer", "args": {}}]}
    general = generalise(request, data, catalog)
    assert isinstance(general, General), general
    return NearEntry(entry=text, plan=plan or text, text=text, form=request.loose_form, general=general)


def find(**args: Any) -> dict[str, Any]:
    return {"tool": "find_files", "args": args}


@pytest.fixture(scope="module")
def learned(catalog: Catalog) -> tuple[NearEntry, ...]:
    count = {"tool": "compute_stats", "args": {"from_step": 1, "field": "size"}}
    return (
        entry("list the pdf files in src", catalog, find(pattern="*.pdf", path="src")),
        entry("how many pdf files are in src", catalog, find(pattern="*.pdf", path="src"), count),
        entry("which files did i change yesterday", catalog, find(modified_from="${RUNTIME:day-1.start}")),
        entry("copy a.txt to b.txt", catalog, {"tool": "copy_files", "args": {"path": "a.txt", "to": "b.txt"}}),
        entry("elenca i file pdf in src", catalog, find(pattern="*.pdf", path="src"), language="it"),
    )


def asked(near: Near, text: str, language: str = "en") -> NearMatch | Differs:
    return near.serve(understand(text, language))


def yes(_said: str, _learned: str) -> bool:
    return True


def test_off_unless_the_operator_wants_it(learned: tuple[NearEntry, ...]) -> None:
    assert asked(Near(learned), "show the pdf files in src") == Differs("off")


def test_a_verb_of_showing_is_served_when_confirmed_with_the_new_values(learned: tuple[NearEntry, ...]) -> None:
    heard: list[tuple[str, str]] = []

    def confirm(said: str, known: str) -> bool:
        heard.append((said, known))
        return True

    found = asked(Near(learned, confirm=confirm), "show the zip files in lib")
    assert isinstance(found, NearMatch)
    assert found.bound.plan["steps"][0]["args"] == {"pattern": "*.zip", "path": "lib"}
    assert found.confirmed
    assert heard == [("show the zip files in lib", "list the pdf files in src")]


NEVER = [
    ("do not list the pdf files in src", "words"),
    ("list the pdf files outside src", "slots"),
    ("list all the pdf files in src", "words"),
    ("list the first pdf files in src", "words"),
    ("list the pdf files from src", "words"),
    ("list the hidden pdf files in src", "words"),
    ("list the pdf files in src if there are any", "words"),
    ("list the pdf folders in src", "words"),
    ("sort the pdf files in src", "verbs"),
    ("delete the pdf files in src", "effects"),
    ("list the pdf files in src and lib", "slots"),
    ("list the pdf files in src over 5 MB", "slots"),
    ("list your pdf files in src", "words"),
    ("which files did you change yesterday", "words"),
    ("which files did i change before yesterday", "words"),
]


SAID_AND_LEARNED = [
    ("how many pdf files were in src", "how many pdf files are in src", "words"),
    ("how many notes were there", "how many notes are there", "words"),
    ("pay ada 5 dollars", "pay ada 5 euros", "unit"),
    ("pay ada 5", "pay ada 5 euros", "unit"),
    ("pay ada usd 5", "pay ada eur 5", "unit"),
    ("turn on the lights", "turn on the light", "form"),
    ("turn on the light", "turn on the lights", "form"),
    ("ring the cities", "ring the city", "form"),
    ("ring bob instead of ada", "ring ada instead of bob", "order"),
    ("ring bob and then ada", "ring ada and then bob", "order"),
    ("ring bob 5 times", "ring 5 bob times", "order"),
    ("ring ada ada bob", "ring ada bob", "order"),
    ("paga ada 5 dollari", "paga ada 5 euro", "unit"),
    ("saluta papa", "saluta papà", "form"),
    ("saluta i gatti", "saluta il gatto", "form"),
    ("saluta un pastore", "saluta i pastore", "form"),
]


@pytest.mark.parametrize(("said", "known", "reason"), SAID_AND_LEARNED)
def test_what_says_something_else_is_never_asked_about(said: str, known: str, reason: str, catalog: Catalog) -> None:
    language = "it" if said.partition(" ")[0] in {"paga", "saluta"} else "en"
    candidate = Candidate(entry(known, catalog, find(pattern="*.pdf"), language=language), 1.0)
    found = gate(understand(said, language), candidate)
    assert isinstance(found, Differs), found
    assert found.reason == reason
    back = Candidate(entry(said, catalog, find(pattern="*.pdf"), language=language), 1.0)
    assert isinstance(gate(understand(known, language), back), Differs)


def test_names_and_articles_are_asked_about(catalog: Catalog) -> None:
    for said, known, differing in (
        ("ring the zorp", "ring a zorp", ("the", "a")),
        ("ring bob and then carl", "ring bob and then ada", ("carl", "ada")),
        ("ring bob and ada", "ring zed and ada", ("bob", "zed")),
    ):
        found = gate(understand(said, "en"), Candidate(entry(known, catalog, find(pattern="*.pdf")), 1.0))
        assert isinstance(found, Agrees), (said, found)
        assert found.differing == differing


@pytest.mark.parametrize(("text", "reason"), NEVER)
def test_what_the_words_forbid_is_not_served_even_if_somebody_says_yes(
    text: str, reason: str, learned: tuple[NearEntry, ...]
) -> None:
    request = understand(text, "en")
    for known in learned[:3]:
        found = gate(request, Candidate(known, 1.0))
        assert isinstance(found, Differs), (known.text, found)
    served = asked(Near(learned, confirm=yes), text)
    assert isinstance(served, Differs)
    if served.reason not in {"retrievers", "no-candidate"}:
        assert served.reason in {reason, "words", "slots", "verbs"}


def test_plans_with_effects_are_no_candidates(learned: tuple[NearEntry, ...]) -> None:
    near = Near(learned, confirm=yes)
    assert all(found.entry.general.read_only for found in near.candidates(understand("copy c.txt to d.txt", "en")))
    assert asked(near, "copy c.txt to d.txt") == Differs("effects")
    assert gate(understand("copy c.txt to d.txt", "en"), Candidate(learned[3], 1.0)) == Differs("effects")


def test_a_word_that_nobody_knows_may_be_a_value(learned: tuple[NearEntry, ...]) -> None:
    text = "list the zorp pdf files in src"
    found = gate(understand(text, "en"), Candidate(learned[0], 1.0))
    assert isinstance(found, Agrees)
    assert found.differing == ("zorp",)
    assert asked(Near(learned, bound=0.5), text) == Differs("unconfirmed", "zorp")
    assert isinstance(asked(Near(learned, confirm=yes), text), NearMatch)
    assert asked(Near(learned, confirm=lambda *_: False), text) == Differs("refused", "list the pdf files in src")
    # Digits and marks in it: a value for sure.
    assert gate(understand("list the x-25 pdf files in src", "en"), Candidate(learned[0], 1.0)) == Differs(
        "words", "x-25"
    )


@pytest.mark.parametrize("answer", [None, 1, "no", object()], ids=["none", "one", "text", "object"])
def test_only_true_confirms(learned: tuple[NearEntry, ...], answer: Any) -> None:
    near = Near(learned, confirm=lambda *_: answer)
    found = asked(near, "show the zip files in lib")
    assert isinstance(found, Differs)
    assert found.reason == "refused"


def test_a_value_that_the_plan_cannot_take(learned: tuple[NearEntry, ...]) -> None:
    found = gate(understand("show the pdf files in .git", "en"), Candidate(learned[0], 1.0))
    assert isinstance(found, Differs)
    assert found.reason == "values"


def test_languages_are_apart(learned: tuple[NearEntry, ...]) -> None:
    near = Near(learned, confirm=yes)
    found = asked(near, "mostra i file zip in lib", "it")
    assert isinstance(found, NearMatch)
    assert found.candidate.entry is learned[4]
    assert asked(Near(learned[:4], confirm=yes), "mostra i file zip in lib", "it") == Differs("no-candidate")
    assert Near(learned[:4]).candidates(understand("mostra i file zip in lib", "it")) == ()


def test_two_retrievers_must_name_one_plan(learned: tuple[NearEntry, ...]) -> None:
    rows = {known.form: index for index, known in enumerate(learned)}

    class Rows(list[list[float]]):
        def __matmul__(self, other: list[float]) -> Any:
            class Scores(list[float]):
                def tolist(self) -> list[float]:
                    return list(self)

            return Scores(sum(a * b for a, b in zip(row, other, strict=True)) for row in self)

    def embed(texts: list[str]) -> Rows:
        """A model that takes every request for the third entry."""
        return Rows([[float(rows.get(text, 2) == index) for index in range(len(learned))] for text in texts])

    near = Near(learned, confirm=yes, embed=embed)
    found = asked(near, "show the zip files in lib")
    assert isinstance(found, Differs)
    assert found.reason == "retrievers"
    assert Embeddings([], embed).nearest("x", 1) == []


def test_nothing_is_near(learned: tuple[NearEntry, ...]) -> None:
    assert asked(Near(learned, confirm=yes), "zzz qqq") == Differs("no-candidate")
    far = asked(Near(learned, confirm=yes), "zorp the glorp pdf files of frob")
    assert isinstance(far, Differs)
    assert far.reason == "no-candidate"


# --- proof ----------------------------------------------------------------------------------------------------


def test_proven_plans_are_served_without_asking(learned: tuple[NearEntry, ...]) -> None:
    text = "show the zip files in lib"
    [best, *_] = Near(learned).candidates(understand(text, "en"))
    thresholds = Thresholds()
    near = Near(learned, bound=0.05, thresholds=thresholds)
    assert asked(near, text) == Differs("unproven")
    for _ in range(512):
        thresholds.record(best.entry.plan, 1.0, right=True)
    # All outcomes lie higher than this score: the steps below them hold too.
    found = asked(near, text)
    assert isinstance(found, NearMatch) == (best.score >= 0.8)
    assert asked(Near(learned, confirm=lambda *_: False, thresholds=thresholds), text) == Differs(
        "refused", best.entry.text
    )


def test_outcomes_that_were_confirmed_are_learned(learned: tuple[NearEntry, ...]) -> None:
    near = Near(learned, confirm=yes)
    for _ in range(3):
        asked(near, "show the zip files in lib")
    assert [right for _, right in near.thresholds.outcomes("list the pdf files in src")] == [True] * 3


def test_no_zero_is_trusted() -> None:
    thresholds = Thresholds()
    proven = 0
    while thresholds.threshold("p", 0.01) is None:
        thresholds.record("p", 0.97, right=True)
        proven += 1
    # 299 would do if it had been looked at once, and nobody had looked before.
    assert proven == 1024
    assert thresholds.threshold("p", 0.001) is None
    assert thresholds.threshold("other", 0.9) is None


def test_a_step_holds_only_if_those_above_hold() -> None:
    thresholds = Thresholds()
    for _ in range(256):
        thresholds.record("p", 0.97, right=True)
        thresholds.record("p", 0.86, right=False)
    assert thresholds.threshold("p", 0.1) == 0.9


@pytest.mark.parametrize(("errors", "count"), [(0, 1), (0, 100), (3, 100), (50, 100), (99, 100)])
def test_the_bound_is_where_the_tail_says(errors: int, count: int) -> None:
    rate = upper_bound(errors, count, 0.05)
    tail = sum(math.comb(count, k) * rate**k * (1 - rate) ** (count - k) for k in range(errors + 1))
    assert tail == pytest.approx(0.05, rel=1e-6)
    assert upper_bound(count, count, 0.05) == 1.0


def test_retrievers_rank_by_what_is_rare() -> None:
    texts = ["list the {glob} files", "count the {glob} files", "list the folders"]
    for retriever in (Letters(texts), Words(texts)):
        assert retriever.nearest("list the {glob} files", 1)[0] == (0, pytest.approx(1.0))
        assert [number for number, _ in retriever.nearest("count the folders", 3)][-1] == 0
        assert retriever.nearest("xyzzy", 3) == []
