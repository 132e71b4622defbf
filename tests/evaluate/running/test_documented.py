"""The page on evaluation says what the code takes."""

from __future__ import annotations

import re
from pathlib import Path

from metnos.evaluate.comparing.regressed import KINDS
from metnos.evaluate.running.runfile import run_from


def test_the_run_file_of_the_page_holds(root):
    text = (root / "docs" / "evaluation.md").read_text("utf-8")
    (block,) = re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    run = run_from(block.encode(), Path("RUN.toml"))
    assert run.file.parts.guards.off == ("grounding",)
    assert run.file.budget.early.width == 0.05


def test_every_kind_of_regression_is_on_the_page(root):
    text = (root / "docs" / "evaluation.md").read_text("utf-8")
    assert {kind for kind in KINDS if f"| `{kind}` |" not in text} == {"measure"}
