"""A proposer that would rather not guess: how the turn ends, what the person reads, and what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from metnos import Declined
from metnos.testing import ScriptedProposer
from tests.support.hosted import plan, step

if TYPE_CHECKING:
    from tests.engine.conftest import Opens

SAYING = "please fold the laundry"


@pytest.mark.parametrize(
    ("language", "code", "said"),
    [
        ("en", "out-of-scope", "No tool here does this: “fold the laundry”."),
        ("it", "out-of-scope", "Qui nessuno strumento lo fa: «fold the laundry»."),
        ("en", "too-vague", "This does not say enough to act on: “fold the laundry”."),
        ("it", "too-vague", "Questo non basta per agire: «fold the laundry»."),
    ],
)
def test_what_cannot_be_done_is_named(opens: Opens, language: str, code: Any, said: str) -> None:
    proposer = ScriptedProposer(Declined(code=code, about="fold the laundry", model="small", tokens_in=9, tokens_out=1))
    engine = opens(proposer=proposer)
    result = engine.run_sync(SAYING, language=language)
    assert (result.outcome, result.code, result.detail) == ("not_understood", code, "fold the laundry")
    assert said in result.answer
    assert "metnos examples" in result.answer
    assert result.error_class == ("out-of-scope" if code == "out-of-scope" else "missing-input")
    assert (result.usage, result.model) == ({"planning_calls": 1, "tokens_in": 9, "tokens_out": 1}, "small")
    assert engine.replay(result.turn).status == "identical"
    view = engine.read_turn(result.turn)
    assert view.usage == result.usage
    assert [(one.model, one.code) for one in view.proposals] == [("small", code)]


def test_without_a_part_it_is_about_the_whole_request(opens: Opens) -> None:
    result = opens(memory=True, proposer=ScriptedProposer(Declined())).run_sync(SAYING)
    assert f"“{SAYING}”" in result.answer


def test_declining_to_mend_a_plan_has_the_last_word(opens: Opens) -> None:
    proposer = ScriptedProposer(plan(step("add_one", m=1)), Declined(about="laundry"))
    result = opens(memory=True, proposer=proposer).run_sync(SAYING)
    assert (result.outcome, result.code) == ("not_understood", "out-of-scope")
    assert result.usage["planning_calls"] == 2


@pytest.mark.parametrize(
    "given", [{"code": "other"}, {"code": ["too-vague"]}, {"about": 3}, {"model": None}, {"tokens_in": "9"}]
)
def test_what_declines_amiss_is_told_at_once(given: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Declined(**given)


def test_half_a_character_in_it_is_still_a_record(opens: Opens) -> None:
    engine = opens(proposer=ScriptedProposer(Declined(about="a \udc80 b" * 2_000)))
    result = engine.run_sync(SAYING)
    assert result.code == "out-of-scope"
    assert len(result.detail) <= 2_000
    assert engine.verify(result.turn).ok
