"""The gate of a model that somebody added: set, kept, found again by the planner's gate; and what cannot be calibrated."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from metnos.cli.main import main
from metnos.contracts.load import load_catalog
from metnos.propose.calibrating import Unweighed, calibrate_model
from metnos.propose.models.config import read_models
from metnos.propose.models.ports import ModelFault, Stop
from metnos.propose.models.registry import Registry
from metnos.propose.prompt.gate import Gate, calibration_cases
from metnos.propose.prompt.gauge import Case
from metnos.settings import load_settings, shipped_catalog

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from metnos.contracts.catalog import Catalog
    from metnos.settings import Settings

DIGEST = hashlib.sha256(b"weights").hexdigest()
POSSIBLE = {case.text: case.possible for case in calibration_cases()}


class Knows:
    """A model of scripted weights: it is sure of what can be done, by so many nats and around so high a level."""

    digest = DIGEST

    def __init__(self, sure: float, level: float = 0.0, ends_after: int | None = None) -> None:
        self.sure = sure
        self.level = level
        self.left = ends_after
        self.said = ""

    def session(self, prefix: Sequence[Any], *, stop: Stop) -> Knows:
        assert "Tools:" in prefix[0].content or "other:" in prefix[0].content
        return self

    def mark(self) -> int:
        return 1

    def rewind(self, mark: int) -> None: ...

    def ask(self, text: str) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise ModelFault("model-stalled", "no token came", "")
        self.said = text

    def choose(self, texts: Sequence[str]) -> tuple[float, ...]:
        able = POSSIBLE.get(self.said, True)
        if "other" in texts:
            return tuple((-self.sure if able else self.sure) if text == "other" else 0.0 for text in texts)
        return (self.level + (self.sure if able else -self.sure), 0.0)

    def close(self) -> None: ...


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    home = tmp_path / "home"
    home.mkdir()
    (home / "w.gguf").write_bytes(b"weights")
    (home / "models.toml").write_text(
        '[models.mine]\nadapter = "llama"\nfile = "w.gguf"\n'
        '[models.told]\nadapter = "scripted"\nfile = "w.gguf"\n[roles]\nmiddle = ["mine", "told"]\n'
    )
    return load_settings(home=home)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(shipped_catalog(), home=None)


def playing(monkeypatch: pytest.MonkeyPatch, model: Knows) -> None:
    monkeypatch.setattr(Registry, "opened", lambda _self, _name: model)


def test_a_gauge_is_kept_and_found_by_the_gate(
    settings: Settings, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    playing(monkeypatch, Knows(sure=2.0, level=-7.0))
    told: list[tuple[int, int]] = []
    found = calibrate_model(settings, "mine", catalog, lambda done, whole: told.append((done, whole)))
    assert (found.rates.refused, found.rates.false, found.separates) == (1.0, 0.0, True)
    assert told[0] == (0, 2 * found.cases)
    assert told[-1] == (2 * found.cases, 2 * found.cases)
    config = read_models(settings.home)
    assert config.models["mine"].sha256 == DIGEST  # else the gate would not find it
    assert config.roles == {"middle": ("mine", "told")}
    gauge = Gate(catalog, settings.home / "models").gauge(config.models["mine"].sha256)
    assert gauge == found.gauge
    assert gauge.admits(Case(-5.0, False, True))
    assert not gauge.admits(Case(-9.0, False, False))
    assert not gauge.admits(Case(-5.0, False, False, other=2.0))


def test_nothing_is_kept_of_one_that_was_broken_off(
    settings: Settings, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    playing(monkeypatch, Knows(sure=2.0, ends_after=30))
    before = (settings.home / "models.toml").read_bytes()
    with pytest.raises(ModelFault):
        calibrate_model(settings, "mine", catalog, lambda _done, _whole: None)
    assert (settings.home / "models.toml").read_bytes() == before
    assert not (settings.home / "models").exists()


@pytest.mark.parametrize(("name", "why"), [("told", "answers in text"), ("nobody", "no model is called 'nobody'")])
def test_what_cannot_be_weighed_is_said(settings: Settings, catalog: Catalog, name: str, why: str) -> None:
    with pytest.raises(Unweighed, match=why):
        calibrate_model(settings, name, catalog, lambda _done, _whole: None)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (Knows(sure=2.0), ("no to 100% of what cannot be done", "to 0% of what can")),
        (Knows(sure=0.0), ("no to ", "of what can", "tells them apart badly")),
    ],
)
def test_the_command_says_what_came_of_it(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    model: Knows,
    says: tuple[str, ...],
) -> None:
    playing(monkeypatch, model)

    def ran(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(["--home", str(settings.home), "--lang", "en", *arguments])
        told = capfd.readouterr()
        return int(ended.value.code or 0), told.out + told.err

    status, told = ran("model", "calibrate", "mine")
    assert status == 0, told
    assert all(one in told for one in says)
    assert f'"sha256": "{DIGEST}"' in ran("--json", "model", "calibrate", "mine")[1]
    for name in ("told", "nobody"):
        status, told = ran("model", "calibrate", name)
        assert (status, "Traceback" in told) == (2, False)
