"""Broken plans: every fault, at its place, in one pass, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from metnos.checks.validator import Validator
from metnos.plan.codes import CODES

FOLDER = Path(__file__).parent / "broken"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


def test_every_file_has_its_expectation() -> None:
    assert {path.name for path in FOLDER.glob("[0-9]*.json")} == set(EXPECTED)
    assert len(EXPECTED) >= 25


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_fault_is_named_in_one_pass(name: str, validator: Validator) -> None:
    checked = validator((FOLDER / name).read_bytes())
    assert not checked.ok
    assert checked.steps == ()
    found = sorted((fault.code, fault.where) for fault in checked.diagnostics)
    assert found == sorted(map(tuple, EXPECTED[name]["faults"]))
    for fault in checked.diagnostics:
        assert fault.code in CODES
        assert fault.found or fault.expected, "a fault says what it found or what it wants"


def test_each_kind_of_fault_is_among_them() -> None:
    shown = {code for each in EXPECTED.values() for code, _ in each["faults"]}
    source = Path("metnos/plan/codes.py")
    section = (FOLDER.parents[2] / source).read_text(encoding="utf-8").split("# --- checks/: ")[1].split("# --- ")[0]
    codes = {code for code in CODES if f'"{code}":' in section}
    # Lifting and for_each at once needs a consumer of single records; handles are in test_forged.
    assert codes - shown == {"for-each-nested", "sealed-literal"}
