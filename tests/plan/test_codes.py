from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import metnos.plan
from metnos.plan.codes import CODES
from metnos.plan.diagnostics import Family
from metnos.plan.schema import BEYOND_SCHEMA

ROOM = Path(metnos.plan.__file__).parent


def test_codes_are_spelled_alike_and_say_something() -> None:
    for name, code in CODES.items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name), name
        assert code.family in get_args(Family)
        assert code.title
        assert not code.title.endswith(".")
        assert code.hint.endswith((".", "`"))


def test_every_code_that_these_rooms_write_is_in_the_table() -> None:
    used: set[str] = set()
    for folder in (ROOM, ROOM.parent / "values"):
        for file in folder.glob("*.py"):
            if file.name != "codes.py":
                text = file.read_text(encoding="utf-8")
                used.update(re.findall(r'(?:\.add|_bad|JSONFault|_Stop|_Missing)\(\s*"([a-z0-9-]+)"', text))
                used.update(re.findall(r'\bcode(?:: str)? ?= ?"([a-z0-9-]+)"', text))
    assert len(used) > 30
    assert used <= set(CODES)
    assert set(BEYOND_SCHEMA) <= set(CODES)


def written(tree: ast.AST) -> Iterator[str]:
    """The codes that are written into `Result.failed(class, code, …)` and `FilesError(class, code, …)`."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func) in {"Result.failed", "FilesError"}:
            code = call.args[1] if len(call.args) > 1 else None
            if isinstance(code, ast.Constant):
                yield str(code.value)


def test_every_code_that_an_executor_or_its_files_give_is_in_the_table() -> None:
    files = [*(ROOM.parents[1] / "catalog" / "executors").rglob("*.py"), *(ROOM.parent / "execute").rglob("*.py")]
    used = {code for file in files for code in written(ast.parse(file.read_text(encoding="utf-8")))}
    assert len(used) > 20
    assert used <= set(CODES)
