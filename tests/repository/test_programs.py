"""What docs show of programs uses promised names only; the names for a loop of one's own are these, in full."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import metnos.turn
from metnos.turn import commands, facts, inputs
from tests.support.pages import blocks

DOCS = Path(__file__).parents[2] / "docs"
PROGRAMS = {path.name: path.read_text(encoding="utf-8") for path in sorted((DOCS / "programs").glob("*.py"))}
SHOWN = {f"embedding-{n}": one.text for n, one in enumerate(blocks(DOCS / "embedding.md")) if one.language == "python"}

MACHINE = [
    "AnyCommand", "AnyFact", "AnyInput", "Machine", "ProtocolError", "Reaction", "ResumeRefused", "Rules",
    "commands", "facts", "inputs",
]  # fmt: skip
COMMANDS = [
    "AnyCommand", "AskApproval", "Close", "Command", "Compose", "Judge", "Learn", "LookUpPlan", "OpenDialog",
    "ProbeEffect", "Propose", "ResolveFiller", "SetTimer", "StartStep", "StopStep",
]  # fmt: skip
INPUTS = [
    "AnswerComposed", "AnyInput", "ApprovalExpired", "ApprovalGiven", "ApprovalRefused", "Budget", "Cancelled",
    "CommandFailed", "DialogAnswered", "DialogExpired", "EffectProbed", "FillerResolved", "Input", "Judged", "Learned",
    "PlanFound", "PlanMissed", "PlanProposed", "StepFailed", "StepFinished", "StepStarted", "StepStopped", "TargetsSeen",
    "TimerFired", "TurnOpened", "TurnResumed", "VirtualInput",
]  # fmt: skip
FACTS = [
    "AnyFact", "Fact", "PlanAccepted", "PlanRejected", "PlanRewritten", "PolicyDecided", "StepSkipped", "StepUnknown",
    "TurnClosed", "TurnSuspended",
]  # fmt: skip


@pytest.mark.parametrize(
    ("door", "names"), [(metnos.turn, MACHINE), (commands, COMMANDS), (inputs, INPUTS), (facts, FACTS)]
)
def test_the_names_of_the_machine_are_the_promised_ones(door: Any, names: list[str]) -> None:
    assert door.__all__ == names
    assert all(getattr(door, name) is not None for name in names)
    assert set(names) <= set(dir(door))


def test_another_name_does_not_open() -> None:
    with pytest.raises(AttributeError, match="no attribute 'steps'"):
        _ = import_module("metnos.turn").steps


@pytest.mark.parametrize(
    "kind", [getattr(commands, name) for name in COMMANDS if name not in ("AnyCommand", "Command")]
)
def test_a_command_says_its_kind(kind: Any) -> None:
    """As the tables of the machine name it."""
    fields = dict.fromkeys(kind.__struct_fields__, "")
    assert kind(**fields).kind == kind.__struct_config__.tag


def is_promised(module: str, name: str) -> bool:
    door = import_module(module)
    if module == "metnos.sdk":
        return not name.startswith("_")
    return name in getattr(door, "__all__", ())


@pytest.mark.parametrize("program", [*PROGRAMS, *SHOWN])
def test_a_program_uses_promised_names_only(program: str) -> None:
    """Imports, and what is taken from a module of the machine."""
    tree = ast.parse((PROGRAMS | SHOWN)[program])
    modules: dict[str, str] = {}
    seen = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "metnos":
            for one in node.names:
                assert is_promised(str(node.module), one.name), f"{node.module}.{one.name}"
                modules[one.asname or one.name] = f"{node.module}.{one.name}"
                seen += 1
        elif isinstance(node, ast.Import):
            assert all(one.name in ("metnos", "metnos.testing") or "metnos" not in one.name for one in node.names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = modules.get(node.value.id, "")
            if module.startswith("metnos.turn."):
                assert is_promised(module, node.attr), f"{module}.{node.attr}"
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_") or node.attr.startswith("__"), node.attr
            assert node.attr != "parts", "what stands behind an engine is private"
    assert seen or program == "notes_server.py"
