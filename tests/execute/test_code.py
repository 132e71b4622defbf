"""Loading code from bytes: what runs is what was handed over, and only what is declared can be imported."""

from __future__ import annotations

import sys

import pytest

from metnos.execute.code import CodeFault, NotDeclared, load, modules_of


def loaded(source: str, *modules: str, **files: str) -> object:
    code = {"executor.py": source.encode(), **{f"{name}.py": text.encode() for name, text in files.items()}}
    return load("x", f"sha256:{hash(source) & 0xFFFFFFFF:x}", code, frozenset(modules))({}, None)


def test_what_runs_is_what_was_handed_over() -> None:
    assert loaded("def run(a, c): return 40 + 2") == 42
    assert (
        load(
            "x",
            "sha256:latin",
            {"executor.py": "# coding: latin-1\ndef run(a, c): return 'è'".encode("latin-1")},
            frozenset(),
        )({}, None)
        == "è"
    )


def test_dataclasses_and_enums_work_in_it() -> None:
    source = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\nimport enum, typing\n"
        "@dataclass\nclass P:\n    x: int\nclass E(enum.Enum):\n    A = 1\n"
        "def run(a, c): return [P(1).x, E.A.value, str(typing.get_type_hints(P))]\n"
    )
    assert loaded(source) == [1, 1, "{'x': <class 'int'>}"]


def test_own_files_import_each_other_once_and_in_a_circle() -> None:
    assert loaded(
        "from . import a, b\ndef run(x, c): return [a.n, b.m, a.count]",
        a="from . import b\nn = 1\ncount = len(b.seen)\n",
        b="seen = [1]\nfrom . import a\nm = 2\n",
    ) == [1, 2, 1]


@pytest.mark.parametrize(
    "source",
    [
        "import requests",
        "from metnos import sdk",
        "import metnos",
        "import metnos.engine",
        "from metnos.execute.roots import RootedFiles",
        "from .. import x",
        "from . import nothing",
        "from .nothing import x",
        "__import__('re2')",
    ],
)
def test_undeclared_imports_fail_by_name(source: str) -> None:
    with pytest.raises(CodeFault, match="NotDeclared"):
        loaded(f"{source}\ndef run(a, c): return 1")
    with pytest.raises(NotDeclared):
        loaded(f"def run(a, c):\n    {source}\n")


def test_the_standard_library_the_sdk_and_what_is_declared() -> None:
    assert (
        loaded(
            "import json.decoder, os.path\nfrom metnos.sdk import Result\nimport re2\ndef run(a, c): return os.path.sep",
            "re2",
        )
        == "/"
    )


@pytest.mark.parametrize("source", ["def run(:", "raise ValueError('x')", "run = 3", "", "\0"])
def test_code_that_is_none(source: str) -> None:
    before = set(sys.modules)
    with pytest.raises(CodeFault, match=r"^x"):
        loaded(source)
    left = {name for name in set(sys.modules) - before if name.startswith("metnos_executor")}
    assert not left or source in ("run = 3", "")
    with pytest.raises(CodeFault, match=r"has no executor\.py"):
        load("x", "d", {"other.py": b""}, frozenset())


def test_the_modules_of_distributions() -> None:
    assert modules_of(()) == frozenset()
    assert "re2" in modules_of(("google-re2>=1.1",))
    assert "msgspec" in modules_of(("msgspec",))
    assert "yaml" not in modules_of(("msgspec", "no-such-distribution-at-all"))
