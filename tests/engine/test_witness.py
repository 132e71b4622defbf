"""A yes is to what the person saw: what changed while the question was open is not replaced, moved or deleted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from metnos import Engine
from metnos.execute import witness as looking
from metnos.execute.grant import Grant
from metnos.turn.commands import AskApproval
from tests.engine.conftest import Opens
from tests.support.hosted import plan, step

OVERWRITE = plan(step("write_files", path="a.txt", content="mine", overwrite=True))
DELETE = plan(step("delete_files", path="a.txt"))
MOVE = plan(step("move_files", path="a.txt", folder="sub", overwrite=True))
COPY = plan(step("copy_files", path="a.txt", folder="sub", overwrite=True))


def newer(path: Path) -> None:
    path.write_text("somebody's newer text")


@pytest.mark.parametrize(
    ("given", "name"),
    [(OVERWRITE, "a.txt"), (DELETE, "a.txt"), (MOVE, "a.txt"), (MOVE, "sub/a.txt"), (COPY, "sub/a.txt")],
    ids=["overwrite", "delete", "move", "moved over", "copied over"],
)
def test_what_changed_since_it_was_asked_is_left_alone(opens: Opens, folder: Path, given: Any, name: str) -> None:
    (folder / "sub" / "a.txt").write_text("old")
    first = opens().run_sync(plan=given)
    newer(folder / name)
    other = opens()  # another process, much later
    result = other.resume_sync(first.turn, approve=[first.needs[0].id])
    assert (result.outcome, result.code) == ("error", "changed-since")
    assert result.steps[0].error is not None
    assert result.steps[0].error.where == str(folder / name)
    assert (folder / name).read_text() == "somebody's newer text"
    assert result.effects == ()
    assert other.replay(first.turn).status == "identical"
    assert other.verify(first.turn).ok


@pytest.mark.parametrize("given", [OVERWRITE, DELETE, MOVE, COPY], ids=["overwrite", "delete", "move", "copy"])
def test_what_is_as_it_was_is_done(opens: Opens, folder: Path, given: Any) -> None:
    first = opens().run_sync(plan=given)
    engine = opens()
    assert engine.resume_sync(first.turn, approve=[first.needs[0].id]).ok
    assert engine.replay(first.turn).status == "identical"


def test_it_holds_for_an_answer_in_line_and_for_what_was_not_there(engine: Engine, folder: Path) -> None:
    def meanwhile(_asked: AskApproval) -> bool:
        newer(folder / "new.txt")
        return True

    given = plan(step("write_files", path="new.txt", content="mine", overwrite=True))
    result = engine.run_sync(plan=given, approve=meanwhile)
    assert (result.outcome, result.code) == ("error", "changed-since")
    assert (folder / "new.txt").read_text() == "somebody's newer text"


def test_asking_again_does_not_look_again(opens: Opens, folder: Path) -> None:
    """What was shown first is what a yes is to; who wants the newer one replaced asks anew."""
    first = opens().run_sync(plan=OVERWRITE)
    newer(folder / "a.txt")
    again = opens().resume_sync(first.turn)
    assert again.status == "suspended"
    assert opens().resume_sync(first.turn, approve=[first.needs[0].id]).code == "changed-since"
    fresh = opens(approve=lambda _asked: True).run_sync(plan=OVERWRITE)
    assert fresh.ok
    assert (folder / "a.txt").read_text() == "mine"


def test_one_of_many_that_changed_is_left_alone(opens: Opens, folder: Path) -> None:
    steps = [step("find_files", pattern="*.txt"), step("delete_files", from_step=1)]
    first = opens().run_sync(plan=plan(*steps))
    (need,) = first.needs
    assert need.count == 2
    newer(folder / "b.txt")
    result = opens().resume_sync(first.turn, approve=[need.id])
    assert result.code == "changed-since"
    assert (folder / "b.txt").exists()


def test_two_items_of_one_list_may_touch_one_file(opens: Opens, folder: Path) -> None:
    """The second finds the work of the first, which is no change by somebody else."""
    given = plan(step("write_files", path="a.txt", content="${item}", overwrite=True) | {"for_each": ["x", "y"]})
    engine = opens(approve=lambda _asked: True)
    assert engine.run_sync(plan=given).ok
    assert (folder / "a.txt").read_text() == "y"


def test_a_word_for_whatever_lies_at_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    grant = Grant(folder=str(tmp_path), roots=(str(tmp_path),))
    paths = [str(tmp_path / name) for name in ("file", "none", "", "link", "pipe", "file/below")] + ["/etc/passwd"]
    found = looking.witness(grant, paths)
    words = [found[path] for path in paths]
    assert words[0].startswith("sha256:")
    assert words[1:4] == ["absent", "folder", "symlink"]
    assert words[5] == "absent"
    assert words[6] == "outside-roots"
    assert looking.changed(grant, found) is None
    monkeypatch.setattr(looking, "DIGESTED", 0)
    large = looking.witness(grant, paths[:1])
    assert large[paths[0]].startswith("size 1 time ")
    monkeypatch.undo()
    assert looking.changed(grant, large) is None
    (tmp_path / "file").write_text("xy")
    assert looking.changed(grant, large) == looking.changed(grant, found) == paths[0]
