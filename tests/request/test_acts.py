"""What a model read in a request: where it counts, and what it can never ask for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.request.acts import MOST_ACTS, may_be_read, with_acts
from metnos.request.explained import Explained, lexicon_of
from metnos.request.model import ACTS, Act, Clause, Request, RequestIntent, Told
from metnos.request.understand import understand

GAP = "I'd like sito/style.css to be called main.css from now on"
LEXICON_KNOWS = (
    "copy a.txt into old",
    "delete the empty files",
    "send a.txt to Ada",
    "run backup.sh",
    "crea la cartella b",
)
NEGATED = (
    "a.txt ought not to be in backup, leave it alone and don't touch it",
    "non cancellare niente: quali file sono vuoti?",
)


def effects(request: Request) -> list[str]:
    return [intent.effect for intent in request.intents]


def test_what_is_read_is_asked_for_and_nothing_else_changes() -> None:
    request = understand(GAP, "en")
    read = with_acts(request, ("rename",))
    assert effects(request) == ["read"]
    assert [(each.verb, each.object, each.effect) for each in read.intents] == [("rename", "files", "change")]
    assert (read.text, read.normal_form, read.loose_form, read.slots, read.spans) == (
        request.text, request.normal_form, request.loose_form, request.slots, request.spans,
    )  # fmt: skip
    assert (lexicon_of(read) is lexicon_of(request), effects(request)) == (True, ["read"])
    assert isinstance(read.explanation, Explained)


@pytest.mark.parametrize("text", [*LEXICON_KNOWS, *NEGATED])
def test_the_lexicon_comes_first_and_a_negation_admits_nothing(text: str) -> None:
    request = understand(text)
    assert not may_be_read(request)
    assert all(with_acts(request, (act,)) is request for act in ACTS)


@given(st.lists(st.sampled_from(ACTS), max_size=9))
def test_nothing_that_sends_or_runs_can_be_read(acts: list[Act]) -> None:
    read = with_acts(understand(GAP, "en"), tuple(acts))
    assert not {"send", "execute"} & set(effects(read))
    assert len(effects(read)) <= max(1, MOST_ACTS)
    assert len([one for one in effects(read) if one != "read"]) == len(set(acts[:MOST_ACTS]))


def test_acts_go_to_the_clauses_in_the_order_said() -> None:
    find = RequestIntent(verb="find", object="files")
    sort = RequestIntent(verb="sort", object="entries")
    told = Told(clauses=(Clause(start=0, end=4, intents=(find,)), Clause(start=4, end=9, intents=(sort,))))
    request = Request(text="abcdefghi", language="en", normal_form="", explanation=told)
    read = with_acts(request, ("make_folder", "copy", "delete"))
    assert [[each.verb for each in clause.intents] for clause in read.clauses] == [
        ["write"],
        ["sort", "copy", "delete"],
    ]


def test_where_nothing_was_read_nothing_changes() -> None:
    request = understand(GAP, "en")
    assert with_acts(request, ()) is request
    assert with_acts(Request(text="", language="en", normal_form=""), ("copy",)).intents == ()
