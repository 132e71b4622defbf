"""A template whose signature does not hold is named by whoever is asked, never silently missing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from metnos import Engine

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "build" / "catalog", tmp_path / "catalog")
    return tmp_path / "catalog"


def test_an_altered_template_is_named(catalog: Path, tmp_path: Path) -> None:
    path = catalog / "plans" / "count-files.dsse.json"
    envelope = json.loads(path.read_bytes())
    envelope["payload"] = envelope["payload"][:-8] + "AAAA" + envelope["payload"][-4:]
    path.write_text(json.dumps(envelope))
    with Engine.open(tmp_path / "home", folder=tmp_path, catalog=catalog) as engine:
        assert [(one.name, one.diagnostic.code) for one in engine.refused] == [
            ("plan/count-files", "signature-invalid")
        ]
        assert engine.run_sync("how many files are there").outcome == "not_understood"
        (plans,) = [finding for finding in engine.doctor() if finding.name == "plans"]
        assert not plans.ok
        assert "plan/count-files: signature-invalid" in plans.found


def test_one_envelope_under_another_name_is_named(catalog: Path, tmp_path: Path) -> None:
    shutil.copy(catalog / "plans" / "count-files.dsse.json", catalog / "plans" / "largest-file.dsse.json")
    with Engine.open(tmp_path / "home", folder=tmp_path, catalog=catalog) as engine:
        assert [one.name for one in engine.refused] == ["plan/largest-file"]


def test_a_whole_catalog_refuses_nothing(catalog: Path, tmp_path: Path) -> None:
    with Engine.open(tmp_path / "home", folder=tmp_path, catalog=catalog) as engine:
        assert engine.refused == ()
