"""Reading what is to be done with a model: when it is asked, what of its answer counts, and what becomes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from metnos.propose.acts import (
    CERTAIN,
    FURTHER,
    NOTHING,
    SURE,
    ActReader,
    Reading,
    has_gap,
    prefix,
    wording,
)
from metnos.propose.model import Declined, Proposal
from metnos.propose.models.ports import Message, ModelFault, Stop, Usage
from metnos.propose.planner import Planner
from metnos.request.model import ACTS
from metnos.request.understand import understand
from metnos.testing import RandomSession
from tests.propose.test_planner import Chatting, Decoding, OneModel, candidates, catalog, request

__all__ = ["candidates", "catalog"]

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metnos.contracts.catalog import Catalog
    from metnos.propose.candidates import Candidates

GAP = "notes.md ought to be in backup as well"
WORDS = tuple(wording().words)


class Weighing(RandomSession):
    """A session that weighs words as it is told, one dictionary a choice."""

    def __init__(self, weights: Sequence[dict[str, float]], stop: Stop) -> None:
        super().__init__(0, stop=stop)
        self.weights = [
            *weights[:1],
            *weights,
        ]  # the first choice is weighed twice: what is asked, and whether it is anything
        self.fed: list[str] = []
        self.offered: list[tuple[str, ...]] = []

    def choose(self, texts: Sequence[str]) -> tuple[float, ...]:
        super().choose(texts)
        self.offered.append(tuple(texts))
        weights = self.weights.pop(0)
        return tuple(weights.get(text.strip(), -20.0) for text in texts)

    def feed(self, text: str) -> None:
        self.fed.append(text)


class Reads(Decoding):
    """A model whose sessions weigh as they are told."""

    def __init__(self, *weights: dict[str, float]) -> None:
        super().__init__()
        self.weights = weights
        self.sessions: list[Weighing] = []
        self.prefixes: list[tuple[Message, ...]] = []

    def session(self, prefix: Sequence[Message], *, stop: Stop) -> Any:
        self.prefixes.append(tuple(prefix))
        self.sessions.append(Weighing(self.weights, stop))
        return self.sessions[-1]


def read(model: Any, text: str = GAP) -> Reading:
    return ActReader(OneModel(model))(understand(text, "en"), Stop())


@pytest.mark.parametrize(
    ("text", "gap"),
    [
        (GAP, True),
        ("I'd like a.css to be called b.css from now on", True),
        ("copy notes.md into backup", False),  # the lexicon knows
        ("don't let notes.md be in backup", False),  # negated
        ("list the files", False),  # nothing is left open
        ("how many files are there in docs?", False),
    ],
)
def test_what_is_read_counts_only_where_the_lexicon_leaves_a_gap(text: str, gap: bool) -> None:
    assert has_gap(understand(text, "en")) is gap
    assert read(Reads({"copy": -0.1}, {"done": -0.1}), text).acts == (("copy",) if gap else ())


def test_the_likeliest_words_in_order_are_what_is_asked_for() -> None:
    model = Reads({"folder": -0.1, "move": -3.0}, {"move": -0.1, "done": -0.1 - FURTHER}, {"done": -0.1})
    assert read(model).acts == ("make_folder", "move")
    (session,) = model.sessions
    assert session.fed == ["folder", " move"]
    assert session.offered[0] == session.offered[1] == WORDS
    assert set(session.offered[2]) == {f" {word}" for word in (*WORDS, "done") if word != "folder"}


@pytest.mark.parametrize(
    ("weights", "acts", "sure"),
    [
        ([{"copy": -0.1, "other": -0.1 - SURE}, {"done": -0.1}], ("copy",), True),
        ([{"copy": -0.1, "other": -0.09 - SURE}, {"done": -0.1}], ("copy",), False),
        (
            [{"copy": -0.1}, {"delete": -0.5, "done": -0.49 - FURTHER}],
            ("copy",),
            True,
        ),  # not likely enough to be a second
        ([{"look": -0.1}], (), True),  # whatever would follow
        ([{"other": -0.1}], (), True),
        ([{"copy": -0.1}, {"look": -0.1}], ("copy",), True),
    ],
)
def test_what_counts(weights: list[dict[str, float]], acts: tuple[str, ...], sure: bool) -> None:
    said = read(Reads(*weights))
    assert (said.acts, said.sure) == (acts, sure)


def test_no_more_than_four() -> None:
    row = ["copy", "move", "rename", "delete", "folder"]
    assert read(Reads(*({word: -0.1} for word in row))).acts == ("copy", "move", "rename", "delete")


def test_a_model_that_only_answers_is_asked_nothing() -> None:
    model = Chatting("copy")
    assert (read(model), model.asked) == (NOTHING, [])


def test_where_no_model_can_be_asked_nothing_is_read() -> None:
    class Nobody(OneModel):
        def attempt(self, work: Any, *, stop: Stop) -> Any:
            raise ModelFault("model-away", "no", usage=Usage(calls=1, tokens_in=7))

    said = ActReader(Nobody(None))(understand(GAP, "en"), Stop())
    assert (said.acts, said.certain, said.usage.tokens_in) == ((), False, 7)


def test_the_prefix_is_the_same_bytes_and_holds_no_request() -> None:
    model = Reads({"look": -0.1})
    read(model)
    read(model, "the minutes should rather be under old")
    assert model.prefixes[0] == model.prefixes[1] == prefix()
    assert GAP not in "".join(message.content for message in model.prefixes[0])


def test_every_worked_reading_is_of_the_list_and_every_act_has_a_word() -> None:
    words = wording().words
    assert {act for act in words.values() if act} == set(ACTS)
    for each in wording().examples:
        assert set(each.read.split()) <= set(words)
    assert {word for each in wording().examples for word in each.read.split()} == set(words)
    assert all(f"{word}:" in wording().about for word in words)
    assert prefix()[2] == Message("assistant", f"{wording().examples[0].read} done")


# --- in the planner


def propose(catalog: Catalog, candidates: Candidates, reading: Reading, text: str = GAP, **known: Any) -> Any:
    planner = Planner(OneModel(Decoding()), catalog, reader=lambda _request, _stop: reading, there=lambda _name: True)
    return planner(request(text, **known), candidates)


def test_a_plan_may_do_what_was_read_and_says_so(catalog: Catalog, candidates: Candidates) -> None:
    spent = Usage(calls=1, tokens_in=500)
    said = propose(catalog, candidates, Reading(acts=("copy",), usage=spent))
    assert isinstance(said, Proposal)
    assert (said.acts, said.unsure) == (("copy",), False)
    assert said.usage["reading_tokens_in"] == 500
    assert "copy_files" in [step["tool"] for step in said.plan["steps"]]


def test_without_it_the_plan_reads(catalog: Catalog, candidates: Candidates) -> None:
    said = propose(catalog, candidates, NOTHING)
    tools = [step["tool"] for step in said.plan["steps"]] if isinstance(said, Proposal) else []
    assert "copy_files" not in tools
    assert "reading_calls" not in said.usage


def test_what_was_read_by_a_narrow_margin_is_a_guess(catalog: Catalog, candidates: Candidates) -> None:
    assert propose(catalog, candidates, Reading(acts=("copy",), lead=SURE - 0.01)).unsure


def test_what_is_refused_cost_its_reading_too() -> None:
    said = Declined(tokens_in=1, reading={"reading_calls": 1, "reading_tokens_in": 5})
    assert said.usage == {
        "planning_calls": 1,
        "tokens_in": 1,
        "tokens_out": 0,
        "reading_calls": 1,
        "reading_tokens_in": 5,
    }


@pytest.mark.parametrize("acts", [("send",), ("execute",), ("copy", "shred")])
def test_a_proposal_of_other_acts_is_none(acts: Any) -> None:
    with pytest.raises(TypeError, match="acts are of"):
        Proposal({}, acts=acts)


@pytest.mark.parametrize(("lead", "asked"), [(CERTAIN - 0.01, 1), (CERTAIN, 0)])
def test_what_is_certain_needs_no_gate(catalog: Catalog, candidates: Candidates, lead: float, asked: int) -> None:
    weighed: list[str] = []

    def gate(_session: Any, request: Any, _config: Any, _other: Any) -> float:
        weighed.append(request.text)
        return -99.0

    reading = Reading(acts=("copy",), lead=lead)
    planner = Planner(
        OneModel(Decoding()), catalog, gate=gate, reader=lambda _request, _stop: reading, there=lambda _name: True
    )
    said = planner(request(GAP), candidates)
    assert (len(weighed), isinstance(said, Declined)) == (asked, bool(asked))


def test_no_gate_is_left_out_for_what_asks_for_nothing() -> None:
    assert not Reading(lead=99.0).certain


@pytest.mark.parametrize(
    ("weights", "other"), [({"look": -0.5, "other": -2.5}, -2.0), ({"write": -3.0, "other": -0.5, "look": -4.0}, 2.5)]
)
def test_how_likely_it_is_none_of_these(weights: dict[str, float], other: float) -> None:
    assert read(Reads(weights, {"done": -0.1})).other == pytest.approx(other)
    assert NOTHING.other is None
