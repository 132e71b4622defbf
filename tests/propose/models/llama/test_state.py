"""States on disk: what this installation wrote is given back, and nothing else ever is."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from pathlib import Path

import pytest

from metnos.propose.models.llama.state import FORM, States, named

NAME = named(b"weights", b"version", b"tokens")
BODY = bytes(range(256)) * 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "home" / "states"


def only(folder: Path, suffix: str) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix == suffix)


def test_what_was_saved_is_loaded_by_another_process(folder: Path) -> None:
    assert States(folder).save(NAME, BODY)
    assert States(folder).load(NAME) == BODY
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nothing_is_there_before_it_is_saved(folder: Path) -> None:
    assert States(folder).load(NAME) is None
    assert not folder.exists()


@pytest.mark.parametrize("place", [0, len(FORM), len(FORM) + 31, len(FORM) + 32, -1])
def test_one_changed_bit_anywhere_sets_it_aside(folder: Path, place: int) -> None:
    states = States(folder)
    states.save(NAME, BODY)
    [path] = only(folder, ".state")
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    assert states.load(NAME) is None
    assert not path.exists()
    assert len(only(folder, ".bad")) == 1
    assert states.save(NAME, BODY)  # evaluated anew, kept anew
    assert states.load(NAME) == BODY


@pytest.mark.parametrize("kept", [0, 1, len(FORM), len(FORM) + 32, len(FORM) + 33, len(FORM) + 32 + len(BODY) - 1])
def test_a_torn_file_is_none(folder: Path, kept: int) -> None:
    states = States(folder)
    states.save(NAME, BODY)
    [path] = only(folder, ".state")
    path.write_bytes(path.read_bytes()[:kept])
    assert states.load(NAME) is None


def test_a_state_under_another_name_is_none(folder: Path) -> None:
    states = States(folder)
    states.save(NAME, BODY)
    other = named(b"weights", b"version", b"other tokens")
    shutil.copy(folder / f"{NAME}.state", folder / f"{other}.state")
    assert states.load(other) is None
    assert states.load(NAME) == BODY


def test_a_state_of_another_installation_is_none(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    States(elsewhere).save(NAME, BODY)
    states = States(folder)
    states.save(named(b"own"), b"x")
    shutil.copy(elsewhere / f"{NAME}.state", folder / f"{NAME}.state")
    assert states.load(NAME) is None


def test_a_state_without_its_key_is_none(folder: Path) -> None:
    states = States(folder)
    states.save(NAME, BODY)
    (folder / "key").unlink()
    assert states.load(NAME) is None


def test_a_key_that_is_none_is_made_anew(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "key").write_bytes(b"short")
    states = States(folder)
    assert states.save(NAME, BODY)
    assert len((folder / "key").read_bytes()) == 32
    assert states.load(NAME) == BODY


def test_a_link_and_a_pipe_are_not_read(folder: Path, tmp_path: Path) -> None:
    states = States(folder)
    states.save(NAME, BODY)
    path = folder / f"{NAME}.state"
    path.rename(tmp_path / "away")
    path.symlink_to(tmp_path / "away")
    assert states.load(NAME) is None
    os.mkfifo(path)
    assert states.load(NAME) is None


def test_what_held_and_was_of_no_use_is_forgotten(folder: Path) -> None:
    states = States(folder)
    states.save(NAME, BODY)
    states.forget(NAME)
    assert states.load(NAME) is None


def test_the_folder_stays_below_its_limit_and_the_last_used_stay(folder: Path) -> None:
    states = States(folder, limit=4_000)
    names = [named(bytes([number])) for number in range(6)]
    for number, name in enumerate(names[:3]):
        assert states.save(name, b"x" * 1_000)
        os.utime(folder / f"{name}.state", (number, number))
    assert states.load(names[0]) == b"x" * 1_000  # used now: no longer the oldest
    assert states.save(names[3], b"x" * 1_000)
    assert states.load(names[1]) is None
    assert [states.load(names[number]) is not None for number in (0, 2, 3)] == [True] * 3
    assert sum(path.stat().st_size for path in only(folder, ".state")) <= 4_000


def test_a_state_larger_than_the_folder_may_be_is_not_kept(folder: Path) -> None:
    assert not States(folder, limit=1_000).save(NAME, b"x" * 1_000)
    assert not folder.exists()


def test_what_was_set_aside_goes_first(folder: Path) -> None:
    states = States(folder, limit=3_300)
    for name in (b"one", b"two", b"three"):
        states.save(named(name), b"x" * 1_000)
    states.forget(named(b"three"))
    assert states.save(named(b"four"), b"x" * 1_000)
    assert only(folder, ".bad") == []
    assert len(only(folder, ".state")) == 3


def test_a_folder_that_cannot_be_made_costs_only_the_state(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    states = States(tmp_path / "file" / "states")
    assert not states.save(NAME, BODY)
    assert states.load(NAME) is None


def test_many_that_begin_at_once_agree_on_one_key(folder: Path) -> None:
    names = [named(bytes([number])) for number in range(8)]
    begun = threading.Barrier(8)

    def save(name: str) -> None:
        begun.wait()
        assert States(folder).save(name, name.encode())

    threads = [threading.Thread(target=save, args=(name,)) for name in names]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert [States(folder).load(name) for name in names] == [name.encode() for name in names]


def test_a_name_tells_its_parts_apart() -> None:
    assert named(b"ab", b"c") != named(b"a", b"bc") != named(b"abc")
