"""create_dirs, copy_files, move_files, delete_files: on real files, on one file system and across two."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.execute.runner import StepOutcome
    from tests.catalog.conftest import Shipped


def sha(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def tree(top: Path) -> dict[str, str]:
    """Every file below `top` that is not in the trash, with its content."""
    return {
        str(path.relative_to(top)): path.read_text()
        for path in sorted(top.rglob("*"))
        if path.is_file() and ".metnos-trash" not in path.parts
    }


def trashed(top: Path) -> dict[str, str]:
    """Name → content of what lies in the trash of `top`."""
    return {path.name: path.read_text() for path in (top / ".metnos-trash").glob("*/*")}


def undo(shipped: Shipped, outcome: StepOutcome) -> list[StepOutcome]:
    """Run the actions of an outcome's receipts, as `metnos undo` does."""
    made: list[StepOutcome] = []
    for effect in reversed(outcome.effects):
        assert effect.undo is not None
        for number, action in enumerate(effect.undo["actions"]):
            made.append(shipped.operation(f"undo{number}{outcome.digest}", "undo_effects", **action))
    return made


@pytest.fixture(autouse=True)
def _long_ago(shipped: Shipped) -> None:
    """The turn began before any file of the test was made, whatever the machine's clock says."""
    shipped.grant = replace(shipped.grant, now="2001-01-01T00:00:00+00:00")


@pytest.fixture
def two(shipped: Shipped, tmp_path: Path) -> Iterator[Path]:
    """A folder on another file system, granted too."""
    if not os.access("/dev/shm", os.W_OK) or os.stat("/dev/shm").st_dev == tmp_path.stat().st_dev:
        pytest.skip("no second file system here")
    other = Path(tempfile.mkdtemp(dir="/dev/shm"))
    before = shipped.grant
    shipped.grant = replace(before, roots=(*before.roots, str(other)))
    yield other
    shutil.rmtree(other)


# --- folders -----------------------------------------------------------------------------------------------------


def test_folders_are_made_with_those_above_and_undone_while_they_are_empty(shipped: Shipped) -> None:
    outcome = shipped("create_dirs", path="a/b/c")
    assert outcome.data == {"path": "a/b/c", "made": True}
    assert (shipped.folder / "a/b/c").is_dir()
    (effect,) = outcome.effects
    assert (effect.cls, effect.target) == ("create", "a/b/c")
    again = shipped("create_dirs", path="a/b/c")
    assert (again.data, again.effects) == ({"path": "a/b/c", "made": False}, ())
    (shipped.folder / "a" / "mine").write_text("x")
    done = undo(shipped, outcome)
    assert [one.error.code if one.error else "" for one in done] == ["", "", "not-empty"]
    assert tree(shipped.folder) == {"a/mine": "x"}
    assert not (shipped.folder / "a/b").exists()


def test_folders_that_cannot_be_made(shipped: Shipped) -> None:
    (shipped.folder / "file").write_text("x")
    (shipped.folder / "link").symlink_to("/tmp")
    assert shipped.error("create_dirs", path="file") == ("missing", "not-a-folder", "/path")
    assert shipped.error("create_dirs", path="new/../file/x") == ("missing", "not-a-folder", "/path")
    assert shipped.error("create_dirs", path="link/x")[0] in ("denied", "missing")
    assert shipped.error("create_dirs", path="/etc/x") == ("denied", "outside-roots", "/path")
    assert shipped.error("create_dirs", path=".metnos-trash/x") == ("denied", "in-trash", "/path")
    assert shipped.error("create_dirs", path="n" * 300) == ("arguments", "name-too-long", "/path")
    assert sorted(os.listdir(shipped.folder)) == ["file", "link"]


# --- copies ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("args", [{"to": "sub/a.txt"}, {"folder": "sub"}, {"folder": "./sub/"}])
def test_a_copy_keeps_time_and_bits_and_is_undone_into_the_trash(shipped: Shipped, args: dict[str, Any]) -> None:
    source = shipped.folder / "a.txt"
    source.write_text("alpha")
    source.chmod(0o4750)
    os.utime(source, ns=(10**18, 10**18))
    outcome = shipped("copy_files", path={"path": "a.txt", "name": "a.txt"}, **args)
    assert outcome.data == {"path": "sub/a.txt", "name": "a.txt", "from": "a.txt", "size": 5, "digest": sha(b"alpha")}
    (effect,) = outcome.effects
    assert (effect.cls, effect.target, effect.before, effect.after) == ("create", "sub/a.txt", None, sha(b"alpha"))
    made = (shipped.folder / "sub/a.txt").stat()
    assert (made.st_mode & 0o7777, made.st_mtime_ns) == (0o750, 10**18)
    assert tree(shipped.folder) == {"a.txt": "alpha", "sub/a.txt": "alpha"}
    assert undo(shipped, outcome)[0].status == "finished"
    assert (tree(shipped.folder), trashed(shipped.folder)) == ({"a.txt": "alpha"}, {"a.txt": "alpha"})


def test_what_was_there_with_the_same_content_before_the_turn_is_not_taken_away(shipped: Shipped) -> None:
    for name in ("a", "b"):
        (shipped.folder / name).write_text("same")
    (effect,) = shipped("copy_files", path="a", to="b").effects
    assert (effect.cls, effect.before, effect.undo is None) == ("create", None, False), (
        "made in this turn: its own work"
    )
    shipped.grant = replace(shipped.grant, now="2999-01-01T00:00:00+00:00")
    for name, args in (("copy_files", {"path": "a", "to": "b"}), ("write_files", {"path": "b", "content": "same"})):
        (effect,) = shipped(name, **args).effects
        assert (effect.before, effect.undo) == (sha(b"same"), None)


def test_a_copy_replaces_only_if_asked_and_what_it_replaced_comes_back(shipped: Shipped) -> None:
    for name, text in (("a", "new"), ("b", "old")):
        (shipped.folder / name).write_text(text)
    assert shipped.error("copy_files", path="a", to="b") == ("conflict", "exists", "/to")
    outcome = shipped("copy_files", path="a", to="b", overwrite=True)
    assert (outcome.effects[0].cls, outcome.effects[0].before) == ("change", sha(b"old"))
    assert (tree(shipped.folder), trashed(shipped.folder)) == ({"a": "new", "b": "new"}, {"b": "old"})
    again = shipped("copy_files", path="a", to="b", overwrite=True)
    assert again.effects == outcome.effects, "the same operation again finds what it kept"
    (undone,) = undo(shipped, outcome)
    assert tree(shipped.folder) == {"a": "new", "b": "old"}
    (redone,) = undo(shipped, undone)
    assert redone.status == "finished"
    assert tree(shipped.folder) == {"a": "new", "b": "new"}


def test_what_cannot_be_copied(shipped: Shipped) -> None:
    (shipped.folder / "a").write_text("x")
    (shipped.folder / "sub").mkdir()
    (shipped.folder / "link").symlink_to("a")
    os.link(shipped.folder / "a", shipped.folder / "same")
    os.mkfifo(shipped.folder / "pipe")
    for args, expected in (
        ({"path": "gone", "to": "b"}, ("missing", "not-found", "/path")),
        ({"path": "link", "to": "b"}, ("denied", "symlink", "/path")),
        ({"path": "pipe", "to": "b"}, ("denied", "not-a-file", "/path")),
        ({"path": "sub", "to": "b"}, ("arguments", "is-a-folder", "/path")),
        ({"path": "a", "to": "sub"}, ("arguments", "is-a-folder", "/to")),
        ({"path": "a", "to": "same", "overwrite": True}, ("arguments", "same-file", "/to")),
        ({"path": "a", "to": "a", "overwrite": True}, ("arguments", "same-file", "/path")),
        ({"path": "a", "to": "link", "overwrite": True}, ("denied", "symlink", "/to")),
        ({"path": "a", "to": "pipe", "overwrite": True}, ("denied", "not-a-file", "/to")),
        ({"path": "a", "to": "/etc/b"}, ("denied", "outside-roots", "/to")),
        ({"path": "/etc/passwd", "to": "b"}, ("denied", "outside-roots", "/path")),
        ({"path": "a", "to": ".metnos-trash/b"}, ("denied", "in-trash", "/to")),
        ({"path": "gone", "folder": "new"}, ("missing", "not-found", "/path")),
    ):
        for name in ("copy_files", "move_files"):
            assert shipped.error(name, **args) == expected, (name, args)
    assert sorted(os.listdir(shipped.folder)) == ["a", "link", "pipe", "same", "sub"]


# --- moves -------------------------------------------------------------------------------------------------------


def test_a_move_and_back(shipped: Shipped) -> None:
    (shipped.folder / "a").write_text("alpha")
    outcome = shipped("move_files", path="a", folder="sub/deep")
    assert outcome.data == {"path": "sub/deep/a", "name": "a", "from": "a", "size": 5, "digest": sha(b"alpha")}
    assert tree(shipped.folder) == {"sub/deep/a": "alpha"}
    (undone,) = undo(shipped, outcome)
    assert tree(shipped.folder) == {"a": "alpha"}
    undo(shipped, undone)
    assert tree(shipped.folder) == {"sub/deep/a": "alpha"}


def test_a_move_over_another_file_and_back(shipped: Shipped) -> None:
    for name, text in (("a", "new"), ("b", "old")):
        (shipped.folder / name).write_text(text)
    assert shipped.error("move_files", path="a", to="b") == ("conflict", "exists", "/to")
    outcome = shipped("move_files", path="a", to="b", overwrite=True)
    assert (tree(shipped.folder), trashed(shipped.folder)) == ({"b": "new"}, {"b": "old"})
    assert [one.status for one in undo(shipped, outcome)] == ["finished", "finished"]
    assert tree(shipped.folder) == {"a": "new", "b": "old"}
    assert os.listdir(shipped.folder / ".metnos-trash") == [".gitignore"]


@pytest.mark.parametrize("direction", ["out", "in"])
def test_a_move_between_file_systems(shipped: Shipped, two: Path, direction: str) -> None:
    source, target = (shipped.folder / "a", two / "b") if direction == "out" else (two / "a", shipped.folder / "b")
    source.write_text("alpha")
    source.chmod(0o640)
    os.utime(source, ns=(10**18, 10**18))
    outcome = shipped("move_files", path=str(source), to=str(target))
    assert outcome.data["digest"] == sha(b"alpha")
    assert (target.read_text(), target.stat().st_mode & 0o777, target.stat().st_mtime_ns) == ("alpha", 0o640, 10**18)
    assert [path.name for path in (*shipped.folder.iterdir(), *two.iterdir())] == ["b"]
    undo(shipped, outcome)
    assert [path.name for path in (*shipped.folder.iterdir(), *two.iterdir())] == ["a"]


def test_a_move_between_file_systems_that_was_cut_off_is_finished(shipped: Shipped, two: Path) -> None:
    """The copy is on disk, the source is still there: what `kill -9` leaves between the two."""
    for place in (shipped.folder / "a", two / "a"):
        place.write_text("alpha")
    assert shipped.probe("move_files", path="a", folder=str(two)) == "absent"
    assert shipped("move_files", path="a", folder=str(two)).status == "finished"
    assert (tree(shipped.folder), tree(two)) == ({}, {"a": "alpha"})


def test_another_file_of_that_name_on_the_other_file_system_stays(shipped: Shipped, two: Path) -> None:
    (shipped.folder / "a").write_text("alpha")
    (two / "a").write_text("other")
    assert shipped.error("move_files", path="a", folder=str(two)) == ("conflict", "exists", "/folder")
    assert (tree(shipped.folder), tree(two)) == ({"a": "alpha"}, {"a": "other"})
    outcome = shipped("move_files", path="a", folder=str(two), overwrite=True)
    assert (tree(shipped.folder), tree(two), trashed(two)) == ({}, {"a": "alpha"}, {"a": "other"})
    assert [one.status for one in undo(shipped, outcome)] == ["finished", "finished"]
    assert (tree(shipped.folder), tree(two)) == ({"a": "alpha"}, {"a": "other"})


# --- the probe ---------------------------------------------------------------------------------------------------


def test_what_the_probe_of_a_move_says(shipped: Shipped) -> None:
    folder = shipped.folder
    (folder / "a").write_text("alpha")
    assert shipped.probe("move_files", path="a", to="b") == "absent"
    (folder / "b").write_text("other")
    assert shipped.probe("move_files", path="a", to="b") == "absent", "running it again says what is in the way"
    (folder / "b").unlink()
    done = shipped("move_files", path="a", to="b")
    probed = shipped.probe("move_files", path="a", to="b")
    assert not isinstance(probed, str)
    assert (probed.data, probed.effects) == (done.data, done.effects)
    assert shipped.probe("move_files", path={"path": "a", "size": 4}, to="b") == "unknown", "another file"
    (folder / "b").unlink()
    assert shipped.probe("move_files", path="a", to="b") == "unknown"
    shipped.grant = replace(shipped.grant, now="2999-01-01T00:00:00+00:00")
    (folder / "b").write_text("there before the turn began")
    assert shipped.probe("move_files", path="a", to="b") == "unknown"


def test_an_executor_without_a_probe_says_that_nobody_knows(shipped: Shipped) -> None:
    assert shipped.probe("delete_files", path="a") == "unknown"


# --- the trash ---------------------------------------------------------------------------------------------------


def test_what_is_deleted_lies_in_the_trash_and_comes_back(shipped: Shipped) -> None:
    (shipped.folder / "sub").mkdir()
    (shipped.folder / "sub/a").write_text("alpha")
    outcome = shipped("delete_files", path="sub/a")
    (effect,) = outcome.effects
    assert (effect.cls, effect.target, effect.before) == ("delete", "sub/a", sha(b"alpha"))
    assert Path(outcome.data["trash"]).read_text() == "alpha"
    assert (shipped.folder / ".metnos-trash").stat().st_mode & 0o777 == 0o700
    (note,) = (shipped.folder / ".metnos-trash").glob("*.json")
    assert str(shipped.folder / "sub/a") in note.read_text()
    assert shipped("delete_files", path="sub/a").effects == outcome.effects, "the same operation again"
    (undone,) = undo(shipped, outcome)
    assert (undone.effects[0].cls, tree(shipped.folder)) == ("create", {"sub/a": "alpha"})
    assert os.listdir(shipped.folder / ".metnos-trash") == [".gitignore"]


def test_a_delete_that_is_repeated_spares_a_new_file_of_the_same_name(shipped: Shipped) -> None:
    (shipped.folder / "a").write_text("alpha")
    shipped("delete_files", path="a")
    (shipped.folder / "a").write_text("new")
    assert shipped("delete_files", path="a").status == "finished"
    assert (tree(shipped.folder), trashed(shipped.folder)) == ({"a": "new"}, {"a": "alpha"})


def test_the_trash_is_not_found_and_not_acted_on_but_can_be_read(shipped: Shipped) -> None:
    (shipped.folder / "a").write_text("alpha")
    place = shipped("delete_files", path="a").data["trash"]
    found = shipped("find_files", hidden=True)
    assert (found.data["entries"], found.counters["trash"]) == ([], 1)
    assert shipped.data("read_files", path=place)["entries"][0]["text"] == "alpha"
    for name, args in (
        ("delete_files", {}), ("move_files", {"to": "b"}), ("write_files", {"content": "", "overwrite": True}),
    ):  # fmt: skip
        assert shipped.error(name, path=place, **args)[:2] == ("denied", "in-trash"), name
    assert shipped("copy_files", path=place, to="again").status == "finished"
    assert trashed(shipped.folder) == {"a": "alpha"}


def test_a_symlink_in_place_of_the_trash_leads_nowhere(
    shipped: Shipped, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (shipped.folder / ".metnos-trash").symlink_to(elsewhere)
    (shipped.folder / "a").write_text("alpha")
    assert shipped.error("delete_files", path="a")[:2] == ("denied", "symlink")
    assert (tree(shipped.folder), list(elsewhere.iterdir())) == ({"a": "alpha"}, [])


def test_what_cannot_be_deleted(shipped: Shipped) -> None:
    (shipped.folder / "sub").mkdir()
    (shipped.folder / "link").symlink_to("sub")
    os.mkfifo(shipped.folder / "pipe")
    for path, expected in (
        ("gone", ("missing", "not-found")), ("sub", ("arguments", "is-a-folder")), ("link", ("denied", "symlink")),
        ("pipe", ("denied", "not-a-file")), (".", ("arguments", "is-a-folder")), ("/etc/passwd", ("denied", "outside-roots")),
    ):  # fmt: skip
        assert shipped.error("delete_files", path=path)[:2] == expected, path
    assert sorted(os.listdir(shipped.folder)) == ["link", "pipe", "sub"]


def test_names_that_are_not_utf8_are_acted_on_by_their_bytes(shipped: Shipped) -> None:
    odd = os.fsencode(shipped.folder) + b"/caf\xe9"
    Path(os.fsdecode(odd)).write_text("x")
    (entry,) = shipped.data("find_files")["entries"]
    moved = shipped("move_files", path=entry, folder="sub")
    assert moved.data["path_bytes"].endswith("/sub/caf%E9")
    assert os.listdir(os.fsencode(shipped.folder / "sub")) == [b"caf\xe9"]
    undo(shipped, moved)
    deleted = shipped("delete_files", path=entry)
    assert not os.path.exists(odd)
    (undone,) = undo(shipped, deleted)
    assert undone.status == "finished"
    assert os.path.exists(odd)


# --- undoing what has changed ------------------------------------------------------------------------------------


def test_nothing_that_has_changed_since_is_touched(shipped: Shipped) -> None:
    folder = shipped.folder
    for name in ("copied", "moved", "deleted", "over"):
        (folder / name).write_text(name)
    outcomes = [
        shipped.operation("1", "copy_files", path="copied", to="copy"),
        shipped.operation("2", "move_files", path="moved", to="away"),
        shipped.operation("3", "delete_files", path="deleted"),
        shipped.operation("4", "copy_files", path="copied", to="over", overwrite=True),
    ]
    for name in ("copy", "away", "deleted", "over"):
        (folder / name).write_text("changed by hand")
    before = (tree(folder), trashed(folder))
    codes = [undo(shipped, one)[0].error for one in outcomes]
    assert [error and error.code for error in codes] == ["changed-since", "changed-since", "exists", "changed-since"]
    assert (tree(folder), trashed(folder)) == before
    for name in ("copy", "away", "over"):
        (folder / name).unlink()
    codes = [undo(shipped, one)[0].error for one in (outcomes[0], outcomes[1], outcomes[3])]
    assert [error and error.code for error in codes] == [None, "not-found", "changed-since"]


def test_what_is_tampered_with_in_the_trash_does_not_come_back(shipped: Shipped) -> None:
    (shipped.folder / "a").write_text("alpha")
    deleted = shipped("delete_files", path="a")
    place = Path(deleted.data["trash"])
    place.write_text("other")
    error = undo(shipped, deleted)[0].error
    assert error is not None
    assert error.code == "changed-since"
    place.unlink()
    error = undo(shipped, deleted)[0].error
    assert error is not None
    assert error.code == "not-found"
    assert tree(shipped.folder) == {}


def test_an_undo_that_is_repeated_finds_its_own_work(shipped: Shipped) -> None:
    folder = shipped.folder
    for name in ("a", "b", "c"):
        (folder / name).write_text(name)
    outcomes = [
        shipped.operation("1", "copy_files", path="a", to="copy"),
        shipped.operation("2", "move_files", path="b", to="away"),
        shipped.operation("3", "delete_files", path="c"),
        shipped.operation("4", "create_dirs", path="d"),
    ]
    first = [undo(shipped, one)[0] for one in outcomes]
    again = [undo(shipped, one)[0] for one in outcomes]
    assert [one.status for one in (*first, *again)] == ["finished"] * 8
    assert tree(folder) == {"a": "a", "b": "b", "c": "c"}
    assert not (folder / "d").exists()


def test_what_was_written_is_undone_too(shipped: Shipped) -> None:
    (shipped.folder / "old").write_text("old")
    made = shipped.operation("1", "write_files", path="sub/new", content="new")
    changed = shipped.operation("2", "write_files", path="old", content="new", overwrite=True)
    assert trashed(shipped.folder) == {"old": "old"}
    again = shipped.operation("2", "write_files", path="old", content="new", overwrite=True)
    assert (again.data, again.effects) == (changed.data, changed.effects)
    assert [one.status for outcome in (made, changed) for one in undo(shipped, outcome)] == ["finished", "finished"]
    assert tree(shipped.folder) == {"old": "old"}
