"""What an executor may import, judged on its text."""

from __future__ import annotations

import pytest

from metnos.contracts.imports import check_imports
from metnos.plan.codes import CODES


def found(
    text: str, own: tuple[str, ...] = ("executor.py",), distributions: tuple[str, ...] = ()
) -> list[tuple[str, str]]:
    faults = check_imports("executor.py", text.encode(), own, distributions)
    assert all(fault.code in CODES for fault in faults)
    return [(fault.where, fault.found) for fault in faults]


@pytest.mark.parametrize(
    "text",
    [
        "from metnos.sdk import Result\nimport metnos.sdk\nfrom metnos import sdk\n",
        "import json, os.path\nfrom collections.abc import Iterator\n",
        "from . import words\nfrom .words import X\n",
        "import re as regular\n",
        "def compile_it(): ...\nx = regular.compile('a')\n",
    ],
)
def test_these_are_fine(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("import metnos", "metnos"),
        ("import metnos.engine", "metnos.engine"),
        ("from metnos import Engine", "metnos"),
        ("from metnos import sdk, Engine", "metnos"),
        ("from metnos.contracts import load", "metnos.contracts"),
        ("import yaml", "yaml"),
        ("import msgspec", "msgspec"),
        ("def f():\n    import yaml", "yaml"),
        ("import importlib", "importlib"),
        ("from importlib import metadata", "importlib"),
        ("import pickle", "pickle"),
        ("import builtins", "builtins"),
        ("__import__('yaml')", "__import__"),
        ("eval('1')", "eval"),
        ("f = exec", "exec"),
        ("__builtins__['eval']", "__builtins__"),
    ],
)
def test_these_are_not(text: str, what: str) -> None:
    ((where, name),) = found(text)
    assert name == what
    assert where == f"executor.py:{text.count(chr(10)) + 1}"


def test_own_files_and_declared_distributions_may_be_imported() -> None:
    assert found("import words", ("executor.py", "words.py", "data.toml")) == []
    assert found("import data", ("executor.py", "data.toml"))
    assert found("import re2", distributions=("google-re2>=1.1",)) == []
    assert found("import re2")
    assert found("import msgspec", distributions=("google_re2",))


@pytest.mark.parametrize("text", ["def", "x = '\0'", "(" * 1000, "-" * 100_000 + "1"])
def test_what_is_no_python_is_said(text: str) -> None:
    (fault,) = check_imports("executor.py", text.encode(), (), ())
    assert fault.code == "code-syntax"
    assert fault.where.startswith("executor.py:")
