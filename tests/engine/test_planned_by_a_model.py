"""From a sentence that nobody knows, through a model of the home, to an answer; then the same, and the like, with no model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from metnos.testing import ScriptedProposer

if TYPE_CHECKING:
    from tests.engine.conftest import Opens

SAYING = "which files here are bigger than 5 bytes, largest first"
ALIKE = "which files here are bigger than 7 bytes, largest first"
PLAN = """\
1 find_files min_size=5
2 sort_entries <1 by="size" order="desc"
end data="${step2.entries}"
"""


def give(home: Path, *answers: Any) -> None:
    """One model, which gives these answers."""
    home.mkdir(exist_ok=True)
    (home / "models.toml").write_text(
        '[models.tiny]\nadapter = "scripted"\nfile = "answers.json"\n[roles]\nmiddle = ["tiny"]\n'
    )
    (home / "answers.json").write_text(json.dumps(answers))


def test_it_is_planned_once_and_known_from_then_on(opens: Opens, home: Path) -> None:
    give(home, PLAN)
    engine = opens()
    first = engine.run_sync(SAYING)
    assert first.outcome == "success", first
    assert (first.source, first.model, first.usage["planning_calls"]) == ("model", "tiny", 1)
    assert first.usage["tokens_out"] > 0
    assert [row["path"] for row in first.data] == ["b.txt", "sub/c.md", "a.txt"][: len(first.data)]
    view = engine.read_turn(first.turn)
    assert [(one.model, one.usage["planning_calls"]) for one in view.proposals] == [("tiny", 1)]
    again = engine.run_sync(SAYING)
    assert (again.source, again.usage, again.data) == ("cache", {"planning_calls": 0}, first.data)
    alike = engine.run_sync(ALIKE)
    assert (alike.source, alike.usage) == ("cache", {"planning_calls": 0}), alike
    assert len(alike.data) < len(first.data)
    for turn in (first, again, alike):
        assert engine.replay(turn.turn).status == "identical"


def test_what_it_wrote_wrong_is_sent_back_once(opens: Opens, home: Path) -> None:
    give(home, PLAN.replace("min_size", "min"), PLAN)
    result = opens(memory=True).run_sync(SAYING)
    assert (result.outcome, result.usage["planning_calls"]) == ("success", 2)


@pytest.mark.parametrize("answer", [{"fault": "model-refused", "message": "the key is old"}])
def test_a_model_that_is_away_is_named(opens: Opens, home: Path, answer: Any) -> None:
    give(home, answer)
    result = opens(memory=True).run_sync(SAYING)
    assert (result.outcome, result.code) == ("not_understood", "model-refused")
    assert "the key is old" in result.answer


def test_a_host_s_proposer_learns_in_the_same_way(opens: Opens) -> None:
    engine = opens(proposer=ScriptedProposer(PLAN))
    assert engine.run_sync(SAYING).ok
    assert engine.run_sync(ALIKE).source == "cache"
