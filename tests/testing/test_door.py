"""What `metnos.testing` promises, and that it needs nothing that Metnos does not need itself."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import metnos.testing

if TYPE_CHECKING:
    from pathlib import Path

PROMISED = [
    "Asked",
    "BadDisk",
    "Call",
    "DurableJournalSuite",
    "FakeClock",
    "FullDisk",
    "JournalSuite",
    "ModelReply",
    "ModelServer",
    "RandomSession",
    "ScriptedProposer",
    "StandIns",
    "StoreBroken",
    "check_store",
]
NOT_NEEDED = ("pytest", "_pytest", "hypothesis")


def test_the_names_are_the_promised_ones() -> None:
    assert metnos.testing.__all__ == PROMISED


@pytest.mark.parametrize("name", PROMISED)
def test_a_promised_name_opens(name: str) -> None:
    assert getattr(metnos.testing, name) is not None
    assert name in dir(metnos.testing)


def test_another_name_does_not_open() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Hammer'"):
        _ = metnos.testing.Hammer  # type: ignore[attr-defined]


def test_it_opens_without_pytest(root: Path) -> None:
    code = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({NOT_NEEDED!r}))\n"  # None: importing it fails
        "import metnos.testing as t, metnos.testing.simulation\n"
        "print(len([getattr(t, name) for name in t.__all__]))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(len(PROMISED)), done.stderr
