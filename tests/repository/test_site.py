"""The site of `make docs-html`: every page of docs/ can be reached from its index."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

import metnos
import metnos.testing
import metnos.turn

TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_each_page_is_in_the_index_once(root: Path) -> None:
    index = (root / "docs" / "index.md").read_text(encoding="utf-8")
    lines = [line for block in TOCTREE.findall(index) for line in block.splitlines()]
    names = [line for line in lines if line and not line.startswith(":")]
    assert len(names) == len(set(names))
    pages = {path.stem for path in (root / "docs").glob("*.md")} - {"index"} | {"adr/README"}
    assert pages == set(names), "add the page to a toctree of docs/index.md"


def shown(value: object) -> bool:
    return callable(value) or isinstance(value, ModuleType)


@pytest.mark.parametrize("door", [metnos, metnos.testing, metnos.turn])
def test_every_exported_name_is_on_the_page_of_the_library(root: Path, door: ModuleType) -> None:
    page = (root / "docs" / "api.md").read_text(encoding="utf-8")
    named = re.findall(rf"^\.\. auto(?:class|function|module):: {door.__name__}\.(\w+)$", page, re.MULTILINE)
    assert named == [name for name in door.__all__ if shown(getattr(door, name))]
    assert named


CODE = re.compile(r"(?:def|async def|class|with|async with|for|return|import|from \w+ import) .*|@\w+|\w+ = .*")


@pytest.mark.parametrize("door", [metnos, metnos.testing, metnos.turn])
def test_an_example_in_a_docstring_is_indented(door: ModuleType) -> None:
    """At the margin it would be running text."""
    for name in door.__all__:
        value = getattr(door, name)
        members = [value, *(vars(value).values() if inspect.isclass(value) else ())]
        for one in members:
            for line in (inspect.getdoc(one) or "").splitlines()[1:]:
                assert not (CODE.fullmatch(line) and line.endswith((":", ")", "}"))), f"{door.__name__}.{name}: {line}"
