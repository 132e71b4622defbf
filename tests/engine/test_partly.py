"""What a host's functions did is told, also where the rest was refused."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from metnos import Effect, Engine, Result, executor
from metnos.turn.commands import AskApproval


class Done(TypedDict):
    ok: bool


@executor(version="1.0.0", effect="change", targets=("name",), resources=())
def touch(name: str) -> Done:
    """Changes one thing and gives no receipt."""
    return {"ok": bool(name)}


@executor(version="1.0.0", effect="change", resources=())
def keep() -> Result:
    """Finds that there is nothing to change, and says so."""
    return Result.done({"ok": True})


def plan(*tools: str) -> dict[str, object]:
    steps: list[dict[str, object]] = [
        {"tool": tool, "args": {"name": f"thing {number}"} if tool == "touch" else {}}
        for number, tool in enumerate(tools)
    ]
    return {"steps": [*steps, {"tool": "final_answer", "args": {}}]}


def test_a_function_without_a_receipt_is_told_by_its_contract(tmp_path: Path) -> None:
    with Engine.open(tmp_path, folder=tmp_path, shipped=False, executors=[touch, keep]) as engine:
        result = engine.run_sync(plan=plan("touch", "keep"), approve=lambda _: True)
        assert result.effects == (Effect(cls="change", target="thing 0"),)
        assert "Changed thing 0" in result.answer
        assert engine.replay(result.turn).status == "identical"


def test_refusing_the_rest_does_not_deny_what_was_done(tmp_path: Path) -> None:
    def first_only(asked: AskApproval) -> bool:
        return asked.step == "1.1"

    with Engine.open(tmp_path, folder=tmp_path, shipped=False, executors=[touch]) as engine:
        result = engine.run_sync(plan=plan("touch", "touch"), approve=first_only)
    assert result.outcome == "user_aborted"
    assert [effect.target for effect in result.effects] == ["thing 0"]
    assert "Not done" not in result.explained
    assert "Changed thing 0" in result.explained
