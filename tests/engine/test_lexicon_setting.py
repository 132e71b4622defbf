"""The operator's lexicon reaches the engine; a faulty one is told at once, with its file and word."""

from __future__ import annotations

from pathlib import Path

import pytest

from metnos.drivers.rules import rules_digest
from metnos.engine import Engine
from metnos.settings import SettingsFault, load_settings


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_requests_are_heard_with_the_words_that_were_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    write(home / "words.toml", 'language = "en"\nsynonyms = "largest|hugest"')
    write(home / "settings.toml", 'lexicon = ["words.toml"]')
    (tmp_path / "a.txt").write_text("x")
    with Engine.open(home=home, folder=tmp_path, memory=True) as engine:
        assert engine.settings.lexicon == (home / "words.toml",)
        assert engine.parts.rules.normalise("the hugest file", None).normal_form == "the largest file"
        assert engine.parts.rules.digest != rules_digest()
        first = engine.parts.rules.digest
    other = write(tmp_path / "other.toml", 'language = "en"\nsynonyms = "largest|grandest"')
    monkeypatch.setenv("METNOS_LEXICON", str(other))
    with Engine.open(home=home, folder=tmp_path, memory=True) as engine:
        assert engine.parts.rules.normalise("the grandest file", None).normal_form == "the largest file"
        assert engine.parts.rules.digest not in {first, rules_digest()}
    monkeypatch.delenv("METNOS_LEXICON")
    (home / "settings.toml").unlink()
    with Engine.open(home=home, folder=tmp_path, memory=True) as engine:
        assert engine.parts.rules.digest == rules_digest()


def test_a_faulty_file_is_told_at_once(tmp_path: Path) -> None:
    write(tmp_path / "words.toml", 'language = "en"\nsynonyms = "file|folder"')
    write(tmp_path / "settings.toml", 'lexicon = ["words.toml"]')
    with pytest.raises(SettingsFault, match=r"words\.toml.*'folder'") as caught:
        Engine.open(home=tmp_path, folder=tmp_path, memory=True)
    assert caught.value.where == "lexicon"
    assert caught.value.hint


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsFault, match="is no file"):
        load_settings(home=tmp_path, folder=tmp_path, variables={"METNOS_LEXICON": str(tmp_path / "none.toml")})
