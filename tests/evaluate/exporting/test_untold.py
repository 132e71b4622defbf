"""What comes back of a turn that did not end by itself, or in which a person said no, is no success."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from metnos import Engine
from metnos.evaluate.collections.opening import open_collection
from metnos.evaluate.exporting.writing import export_collection
from metnos.propose.model import Proposal
from tests.support.trajectories import imported, views_of

SAYING = "could you figure out which of them are texts"
FINDS = '1 find_files pattern="*.txt"\nend data="${step1.count}"\n'
ONLY_ASKS = 'ask question="Which of them?"\n'
ASKS = '1 find_files\nask question="Which of them?"\n'


@pytest.fixture
def asked(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """Turns by what was said to their plans: nothing, no, yes; and one whose plan asks."""
    turns: dict[str, str] = {}
    (folder := tmp_path / "here").mkdir()
    (folder / "a.txt").write_text("alpha")

    def engine(plan: str, *, unsure: bool) -> Engine:
        given: Any = lambda *_asked: Proposal(plan, unsure=unsure)  # noqa: E731
        return Engine.open(tmp_path / "home", folder=folder, proposer=given)

    with engine(FINDS, unsure=True) as shown:
        for said in ("waits", "no", "yes"):
            result = shown.run_sync(SAYING)
            assert result.status == "suspended"
            turns[said] = result.turn
            if said != "waits":
                shown.resume_sync(result.turn, answers={"go_on": said})
    for name, plan in (("asks", ASKS), ("only asks", ONLY_ASKS), ("empty", 'end text=""\n')):
        with engine(plan, unsure=False) as asks:
            turns[name] = asks.run_sync(f"{SAYING} {name}").turn
    return tmp_path / "home", turns


@pytest.mark.parametrize("form", ["otel", "trace"])
def test_only_what_succeeded_comes_back_as_a_success(
    form: str, asked: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    place, turns = asked
    items = (item for shard in open_collection(place).shards() for item in shard.read())
    export_collection(form, ((item, None) for item in items), tmp_path / f"{form}.jsonl")
    imported(form, tmp_path / f"{form}.jsonl", tmp_path / "again")
    views = views_of(tmp_path / "again")
    came = {said: (views[turn].outcome, views[turn].code) if turn in views else None for said, turn in turns.items()}
    assert came == {
        "waits": ("error", "not-recorded"),
        "no": ("error", "not-recorded"),
        "yes": ("success", ""),
        "asks": ("partial", "not-recorded"),
        "only asks": ("error", "not-recorded"),
        "empty": ("success", ""),
    }
