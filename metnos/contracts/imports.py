"""What the code of an executor may import: `metnos.sdk`, the standard library, its own files, its distributions.

Law: judged on the syntax tree when it is signed, never by running it; a way around the import statement
(`__import__`, `eval`, importlib …) is refused by name, so that what is signed is all that can be loaded.
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from typing import TYPE_CHECKING

from metnos.contracts.versions import distribution_of
from metnos.plan.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FORBIDDEN_MODULES = frozenset(
    {
        "builtins",
        "code",
        "codeop",
        "imp",
        "importlib",
        "marshal",
        "pickle",
        "pkgutil",
        "runpy",
        "shelve",
        "zipimport",
    }
)
"""Of the standard library: they load code, or revive objects."""
_FORBIDDEN_NAMES = frozenset({"__import__", "__builtins__", "__loader__", "__spec__", "compile", "eval", "exec"})
_SDK = "metnos.sdk"


def check_imports(name: str, data: bytes, own: Iterable[str], distributions: Iterable[str]) -> list[Diagnostic]:
    """Every import (or way around one) that an executor may not have.

    Args:
        name: The file, as diagnostics name it; `where` is `name:line`.
        data: Its bytes.
        own: The executor's code files, whose modules it may import.
        distributions: Requirements of its manifest.
    """
    try:
        tree = ast.parse(data, filename=name)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        return [Diagnostic(code="code-syntax", where=f"{name}:{line}", found=str(error)[:200], expected="Python")]
    allowed = {file.removesuffix(".py") for file in own if file.endswith(".py")} | _modules_of(distributions)
    return [
        Diagnostic(
            code="import-forbidden",
            where=f"{name}:{line}",
            found=found,
            expected="metnos.sdk, the standard library, its own files, or a distribution that its manifest declares",
        )
        for line, found in sorted(_forbidden(tree, allowed))
    ]


def _forbidden(tree: ast.AST, allowed: set[str]) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if not _may(alias.name, allowed))
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0 and not _may_from(node, allowed):
                yield node.lineno, str(node.module)
        elif isinstance(node, ast.Name) and node.id in _FORBIDDEN_NAMES:
            yield node.lineno, node.id


def _may_from(node: ast.ImportFrom, allowed: set[str]) -> bool:
    if node.module == "metnos":
        return all(alias.name == "sdk" for alias in node.names)
    return _may(str(node.module), allowed)


def _may(module: str, allowed: set[str]) -> bool:
    top = module.partition(".")[0]
    if top == "metnos":
        return module == _SDK
    return top in allowed or (top in sys.stdlib_module_names and top not in _FORBIDDEN_MODULES)


def _modules_of(distributions: Iterable[str]) -> set[str]:
    """Top-level modules that the declared distributions install here; the importable ones are what counts."""
    wanted = {distribution_of(requirement).replace("_", "-").replace(".", "-").lower() for requirement in distributions}
    if not wanted:
        return set()
    return {module for module, owners in _installed(tuple(sys.path)) if not wanted.isdisjoint(owners)}


@cache
def _installed(_path: tuple[str, ...]) -> tuple[tuple[str, frozenset[str]], ...]:
    """Each top-level module that can be found along `_path`, and the distributions that bring it. Looked up once: it
    reads the list of files of all that is installed, which takes longer than to sign a manifest.
    """
    from importlib.metadata import packages_distributions

    return tuple(
        (module, frozenset(owner.replace("_", "-").replace(".", "-").lower() for owner in owners))
        for module, owners in packages_distributions().items()
    )
