"""The page about caching: its tables name every reason and no other, its program prints what it shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from metnos.cache.admission import HELD
from metnos.cache.model import LEARNED_REASONS

CODE = re.compile(r"`([a-z]+(?:-[a-z]+)+|demoted|expired|sensitive|unfit|resumed|refresh|disagreed|attachments)`")


def table(text: str, heading: str) -> set[str]:
    """Codes in the first column of the table of reasons below a heading."""
    part = text.partition(f"## {heading}")[2].partition("\n## ")[0]
    rows = part.partition("| reason | means |")[2].splitlines()[2:]
    return {code for row in rows if row.startswith("|") for code in CODE.findall(row.split("|")[1])}


def test_the_tables_are_the_coded_reasons(root: Path) -> None:
    text = (root / "docs" / "caching.md").read_text("utf-8")
    assert table(text, "What is kept when") == set(HELD)
    assert table(text, "Why a request misses") == set(LEARNED_REASONS)


def test_the_program_prints_what_is_shown(root: Path, tmp_path: Path) -> None:
    text = (root / "docs" / "caching.md").read_text("utf-8")
    program, shown, *_ = re.findall(r"^```(?:python|text)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=50, check=False
    )
    assert (done.stdout, done.stderr) == (shown, "")
