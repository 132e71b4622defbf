"""The site of `make docs-html`: every page of docs/ can be reached from its index."""

from __future__ import annotations

import re
from pathlib import Path

TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_each_page_is_in_the_index_once(root: Path) -> None:
    index = (root / "docs" / "index.md").read_text(encoding="utf-8")
    lines = [line for block in TOCTREE.findall(index) for line in block.splitlines()]
    names = [line for line in lines if line and not line.startswith(":")]
    assert len(names) == len(set(names))
    pages = {path.stem for path in (root / "docs").glob("*.md")} - {"index"} | {"adr/README"}
    assert pages <= set(names), "add the page to a toctree of docs/index.md"
