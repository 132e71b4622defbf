"""The table of attacks, walked."""

from __future__ import annotations

import os
import re

import pytest

from tests.attack import disks, homes, outputs, places, plans, signed
from tests.attack.table import KINDS, ROWS, Case, Shared, Stage

CASES: tuple[Case, ...] = plans.CASES + signed.CASES + outputs.CASES + places.CASES + disks.CASES + homes.CASES


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.row}: {case.kind}: {case.name}")
def test_attack(case: Case, shared: Shared) -> None:
    if case.root and os.geteuid() != 0:
        pytest.skip(f"only root can set up: {case.name}")
    stage = Stage(shared, re.sub(r"\W+", "-", f"{case.row} {case.kind} {case.name}"))
    stage.changed.update(f"work/{name}" for name in case.changes)
    stage.hold(case, case.attack(stage))


def test_every_row_and_every_kind_has_its_cases() -> None:
    assert {case.row for case in CASES} == set(ROWS)
    assert {case.kind for case in CASES} == set(KINDS)
    assert len({(case.kind, case.name) for case in CASES}) == len(CASES) >= 100
