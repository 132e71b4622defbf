"""The one door: what `metnos` promises by name, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import metnos

PROMISED = [
    "Candidates",
    "Consumes",
    "Context",
    "Declined",
    "Diagnostic",
    "Effect",
    "EffectRule",
    "Engine",
    "Failure",
    "Limits",
    "NeedEvent",
    "NeedsInputs",
    "PlanAcceptedEvent",
    "PlanRejectedEvent",
    "PlanRequest",
    "Planned",
    "Produces",
    "Proposal",
    "Refused",
    "Reply",
    "Resource",
    "Result",
    "StepFailedEvent",
    "StepFinishedEvent",
    "StepSkippedEvent",
    "StepStartedEvent",
    "StepStoppedEvent",
    "SyncStream",
    "TurnBrokenEvent",
    "TurnEndedEvent",
    "TurnEvent",
    "TurnOpenedEvent",
    "TurnResult",
    "TurnResumedEvent",
    "TurnStream",
    "__version__",
    "executor",
    "read_reply",
]


def test_the_names_are_the_promised_ones() -> None:
    assert metnos.__all__ == PROMISED


@pytest.mark.parametrize("name", PROMISED)
def test_a_promised_name_opens(name: str) -> None:
    assert getattr(metnos, name) is not None
    assert name in dir(metnos)


def test_another_name_does_not_open() -> None:
    with pytest.raises(AttributeError, match="no attribute 'steps'"):
        _ = metnos.steps  # type: ignore[attr-defined]


def test_the_version_is_said_once(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert metnos.__version__ == project["version"]


def test_the_door_loads_no_room(root: Path) -> None:
    code = "import sys, metnos; print(sorted(name for name in sys.modules if name.startswith('metnos')))"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['metnos']"


HEAVY = ("pydantic", "sqlmodel", "sqlalchemy", "jsonschema", "cryptography", "securesystemslib", "asyncio")


@pytest.mark.parametrize("module", ["metnos.sdk", "metnos.cli.main", "metnos.plan.model"])
def test_a_light_module_stays_light(root: Path, module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
