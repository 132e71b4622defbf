"""`metnos ask` on a home with a model: what it cost in one line, by name, without, and away."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.terminal import Metnos

SAYING = "could you figure out which of them are texts"
PLAN = '1 find_files pattern="*.txt"\nend data="${step1.count}"\n'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    models = "".join(f'[models.{name}]\nadapter = "scripted"\nfile = "{name}.json"\n' for name in ("tiny", "away"))
    (made / "models.toml").write_text(f'{models}[roles]\nmiddle = ["tiny"]\n')
    (made / "tiny.json").write_text(json.dumps([PLAN]))
    (made / "away.json").write_text(json.dumps([{"fault": "model-unreachable", "message": "nobody there"}]))
    return made


@pytest.mark.usefixtures("home")
def test_a_miss_is_planned_and_its_cost_told_in_a_line_and_a_hit_is_not(metnos: Metnos) -> None:
    first = metnos("ask", SAYING)
    assert (first.status, first.out.strip()) == (0, "2"), first.err
    (line,) = [one for one in first.err.splitlines() if "tiny" in one]
    assert line.startswith("planned by tiny in ")
    again = metnos("ask", SAYING)
    assert (again.status, again.out) == (0, first.out)
    assert "tiny" not in again.err
    shown: Any = metnos("--json", "log", "--limit", "2")
    assert shown.status == 0
    assert "proposal     tiny" in metnos("log", json.loads(shown.out)["turns"][1]["turn"]).out


@pytest.mark.usefixtures("home")
def test_without_a_model_and_with_one_that_is_away(metnos: Metnos) -> None:
    none = metnos("ask", "--no-model", SAYING)
    assert none.status == 1
    away = metnos("ask", "--model", "away", SAYING)
    assert (away.status, "nobody there" in away.out) == (3, True), away.out
    assert metnos("ask", "--model", "nobody", SAYING).status == 2
    assert metnos("ask", "--model", "tiny", "--no-model", SAYING).status == 2
    planned = metnos("plan", SAYING)
    assert (planned.status, "find_files" in planned.out) == (0, True)
