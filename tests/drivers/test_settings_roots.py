"""Roots are whole paths, and folders that are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from metnos import Engine
from metnos.settings import SettingsFault


def test_one_root_may_be_given_as_text(tmp_path: Path) -> None:
    (here := tmp_path / "here").mkdir()
    (other := tmp_path / "other").mkdir()
    with Engine.open(tmp_path / "home", folder=here, roots=str(other)) as engine:
        assert engine.settings.roots == (here, other)


def test_a_root_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsFault) as caught:
        Engine.open(tmp_path / "home", folder=tmp_path, roots=[tmp_path / "nope"])
    assert caught.value.where == "root"
