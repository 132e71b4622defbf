"""Which plans of a model are shown before they run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from metnos.propose.decode.model import Written
from metnos.propose.doubt import DOUBT, NEAR, SECOND, WIDE, is_doubtful
from metnos.propose.model import Proposal
from metnos.propose.planner import Planner
from metnos.testing import RandomSession
from tests.propose.test_planner import Decoding, OneModel, candidates, catalog, request

__all__ = ["candidates", "catalog"]

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metnos.contracts.catalog import Catalog
    from metnos.propose.candidates import Candidates
    from metnos.propose.model import Purpose
    from metnos.propose.models.config import ModelConfig
    from metnos.propose.models.ports import Decoded, Message, Stop

LINES = ("1 find_files\n", "end\n")


@pytest.mark.parametrize(
    ("surprise", "unplaced", "wide", "lines", "purpose", "doubtful"),
    [
        (0.1, 0, False, LINES, "first", False),
        (DOUBT - 0.01, 0, False, LINES, "first", False),
        (DOUBT, 0, False, LINES, "first", True),
        (DOUBT, 0, False, LINES, "repair", True),
        (DOUBT, 0, False, LINES, "continuation", True),
        (0.1, 1, False, LINES, "first", True),
        (DOUBT * WIDE, 0, True, LINES, "first", True),
        (DOUBT * WIDE, 0, False, LINES, "first", False),
        (DOUBT * SECOND, 0, False, LINES, "first", False),
        (DOUBT * SECOND, 0, False, LINES, "recovery", True),
        (99.0, 3, False, (), "first", False),  # a question that code asks
    ],
)
def test_a_plan_is_a_guess(
    surprise: float, unplaced: int, wide: bool, lines: tuple[str, ...], purpose: Purpose, doubtful: bool
) -> None:
    plan = Written(plan={"steps": []}, lines=lines, surprise=surprise, unplaced=unplaced, wide=wide)
    assert is_doubtful(plan, DOUBT, purpose) is doubtful


class _Surprised(RandomSession):
    """A session whose every line was another than the model would have written."""

    def decode(self, grammar: str, *, most_tokens: int) -> Decoded:
        return msgspec.structs.replace(super().decode(grammar, most_tokens=most_tokens), surprise=5.0)


class _Decoding(Decoding):
    def session(self, prefix: Sequence[Message], *, stop: Stop) -> Any:
        del prefix
        return _Surprised(0, stop=stop)


@pytest.mark.parametrize(("doubt", "unsure"), [(5.0, True), (5.1, False), (None, False)])
def test_the_planner_says_that_it_guesses(
    catalog: Catalog, candidates: Candidates, doubt: float | None, unsure: bool
) -> None:
    limit = None if doubt is None else (lambda _config: doubt)
    planner = Planner(OneModel(_Decoding()), catalog, doubt=limit)
    done = planner(request("list the pdf files"), candidates)
    assert isinstance(done, Proposal)
    assert done.unsure is unsure


def test_a_gauge_is_of_the_weights_whether_they_are_pinned_or_not(catalog: Catalog, candidates: Candidates) -> None:
    class Weighed(_Decoding):
        digest = "d" * 64

    asked: list[str] = []

    def limit(config: ModelConfig) -> float:
        asked.append(config.sha256)
        return 5.0

    Planner(OneModel(Weighed()), catalog, doubt=limit)(request("list the pdf files"), candidates)
    assert asked == ["d" * 64]


def test_a_question_of_code_is_no_guess(catalog: Catalog, candidates: Candidates) -> None:
    planner = Planner(OneModel(_Decoding()), catalog, doubt=lambda _config: 0.0)
    done = planner(request("delete"), candidates)
    assert not getattr(done, "unsure", False)


@pytest.mark.parametrize(
    ("lead", "surprise", "doubtful"), [(NEAR, 1.0, False), (NEAR - 0.1, 1.0, True), (0.0, 0.5, False)]
)
def test_what_the_gate_only_just_let_through_must_be_surer(lead: float, surprise: float, doubtful: bool) -> None:
    assert is_doubtful(Written(plan={}, lines=LINES, surprise=surprise), DOUBT, "first", lead) is doubtful


@pytest.mark.parametrize(
    ("lead", "limit", "shown"), [(-1.9, 3.0, True), (-2.1, 3.0, None), (-0.1, None, None), (1.5, 9.0, False)]
)
def test_what_the_gate_only_just_held_back_is_shown(
    catalog: Catalog, candidates: Candidates, lead: float, limit: float | None, shown: bool | None
) -> None:
    def gate(*_: object) -> float:
        return lead

    doubt = None if limit is None else (lambda _config: limit)
    planner = Planner(OneModel(Decoding()), catalog, gate=gate, doubt=doubt)
    done = planner(request("list the pdf files nicely"), candidates)
    assert getattr(done, "unsure", None) is shown
