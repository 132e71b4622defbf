"""The recorded logs of 0.1 as material, and homes made of real journals."""

from __future__ import annotations

from pathlib import Path

import pytest

from metnos.evaluate.collections.turnlog import decode_turn

LOGS = Path(__file__).parent.parent / "record" / "logs" / "0.1"


@pytest.fixture(scope="session")
def logs() -> Path:
    """The folder of recorded logs, one a file, with the contracts beside."""
    return LOGS


@pytest.fixture(scope="session")
def lines() -> dict[str, bytes]:
    """Name → the line of a recorded log, line end included."""
    return {path.stem: path.read_bytes() for path in sorted(LOGS.glob("*.jsonl"))}


@pytest.fixture(scope="session")
def template(lines):
    """The log of a turn that a template served."""
    return decode_turn(lines["template"]).log
