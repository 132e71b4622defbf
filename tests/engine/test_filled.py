"""Fillers through a whole engine, by a scripted model of the home."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.support.hosted import step

if TYPE_CHECKING:
    from pathlib import Path

    from tests.engine.conftest import Opens

PLAN = {
    "steps": [
        step("read_files", path="a.txt"),
        step("final_answer", text="${FILLER:t}"),
    ],
    "fillers": {"t": {"prompt": "Sum it up.", "schema": {"type": "string", "maxLength": 40}}},
}


def give(home: Path, *answers: Any) -> None:
    home.mkdir(exist_ok=True)
    (home / "models.toml").write_text(
        '[models.tiny]\nadapter = "scripted"\nfile = "a.json"\n[roles]\nfast = ["tiny"]\n'
    )
    (home / "a.json").write_text(json.dumps(answers))


def test_it_is_written_from_what_was_read_and_counted_apart(opens: Opens, home: Path) -> None:
    give(home, '{"value": "Just alpha."}')
    engine = opens()
    result = engine.run_sync(plan=PLAN)
    assert (result.outcome, result.answer) == ("success", "Just alpha."), result
    assert (result.usage["planning_calls"], result.usage["filler_calls"]) == (0, 1)
    assert engine.read_turn(result.turn).usage == {
        name: n for name, n in result.usage.items() if name != "planning_calls"
    }
    assert engine.replay(result.turn).status == "identical"


def test_one_that_does_not_fit_fails_with_its_code(opens: Opens, home: Path) -> None:
    give(home, '{"value": 3}')
    engine = opens()
    result = engine.run_sync(plan=PLAN)
    assert (result.outcome, result.code, result.detail) == ("partial", "model-reply", "FILLER:t"), result
    assert result.usage["filler_calls"] == 1
    assert engine.replay(result.turn).status == "identical"


def test_without_models_it_says_so(opens: Opens) -> None:
    assert opens(memory=True).run_sync(plan=PLAN).code == "no-model"
