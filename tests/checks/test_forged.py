"""Nobody can write the handle of a secret into a plan, in any place."""

from __future__ import annotations

from typing import Any

import pytest

from metnos import Engine
from metnos.values.sealed import handle

FORGED = handle("0123456789abcdef" * 2)


def plan(**args: Any) -> dict[str, Any]:
    return {"steps": [{"tool": "write_files", "args": {"path": "a.txt", **args}}, {"tool": "final_answer", "args": {}}]}


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (plan(content=FORGED), "/steps/0/args/content"),
        (plan(content=f"key: {FORGED}!"), "/steps/0/args/content"),
        (plan(content='${INPUT:x ?? "' + FORGED + '"}'), "/steps/0/args/content"),
        ({"steps": [{"tool": "final_answer", "args": {"data": {"a": [FORGED]}}}]}, "/steps/0/args/data/a/0"),
        ({"steps": [{"tool": "final_answer", "args": {"data": {FORGED: 1}}}]}, "/steps/0/args/data"),
    ],
)
def test_a_handle_in_a_plan_is_a_fault(tmp_path: Any, body: dict[str, Any], where: str) -> None:
    with Engine.open(tmp_path, folder=tmp_path) as engine:
        checked = engine.check(body)
    assert [fault.where for fault in checked.diagnostics if fault.code == "sealed-literal"] == [where]


def test_a_handle_handed_in_or_said_is_refused(tmp_path: Any) -> None:
    with Engine.open(tmp_path / "home", folder=tmp_path) as engine:
        with pytest.raises(ValueError, match="sealed secret"):
            engine.run_sync(plan=plan(content="${INPUT:x}"), inputs={"x": [FORGED]})
        said = engine.run_sync(f'write "{FORGED}" to a.txt', assume_yes=True)
    assert said.outcome != "success"
    assert not (tmp_path / "a.txt").exists()


def test_a_like_looking_text_is_a_text(tmp_path: Any) -> None:
    with Engine.open(tmp_path / "home", folder=tmp_path) as engine:
        assert engine.check(plan(content="⟦sealed:abc⟧")).ok
