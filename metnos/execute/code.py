"""Code from bytes: the bytes that were verified are compiled and run; nothing is read from disk again.

Law: imports the standard library only, for a worker loads it. An executor's own files may import each other
(`from . import helper`), `metnos.sdk`, the standard library, and the distributions its contract declares; any other
import statement fails by name. This keeps declarations honest; what confines hostile code is the sandbox, not this.
"""

from __future__ import annotations

import builtins
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAIN = "executor.py"
_PREFIX = "metnos_executor_"
_OPEN = frozenset({"metnos"})


class CodeFault(Exception):
    """The code cannot be loaded; `message` says where."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class NotDeclared(ImportError):
    """An executor imports what its contract does not declare."""


def load(name: str, digest: str, files: Mapping[str, bytes], modules: frozenset[str]) -> Callable[[Any, Any], Any]:
    """`run` of the executor whose files these are.

    Args:
        name: the executor's name, for messages.
        digest: of the contract; each digest is a package of its own.
        files: file name → bytes; `executor.py` defines `run(args, ctx)`.
        modules: top-level modules of the declared distributions.

    Raises:
        CodeFault: `executor.py` is missing, does not compile, raises while loading, or has no `run`.
    """
    package = f"{_PREFIX}{digest.rpartition(':')[2][:32]}"
    source = {file.removesuffix(".py"): data for file, data in files.items() if file.endswith(".py")}
    if MAIN.removesuffix(".py") not in source:
        raise CodeFault(f"{name} has no {MAIN}")
    loader = _Package(name, package, source, modules)
    try:
        module = loader.load(MAIN.removesuffix(".py"))
    except CodeFault:
        raise
    except Exception as fault:
        raise CodeFault(f"{name}: {type(fault).__name__}: {fault}") from fault
    run = getattr(module, "run", None)
    if not callable(run):
        raise CodeFault(f"{name}: {MAIN} defines no run(args, ctx)")
    return run


def probe_of(run: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any] | None:
    """`probe` of the module that `load` gave `run` of: whether an operation that was cut off was made."""
    found = getattr(run, "__globals__", {}).get("probe")
    return found if callable(found) else None


class _Package:
    """The files of one executor as modules, each compiled once."""

    def __init__(self, name: str, package: str, source: Mapping[str, bytes], modules: frozenset[str]) -> None:
        self._name = name
        self._package = package
        self._source = source
        self._allowed = modules | _OPEN | sys.stdlib_module_names
        self._loaded: dict[str, ModuleType] = {}
        self._builtins = {**vars(builtins), "__import__": self._import}

    def load(self, stem: str) -> ModuleType:
        known = self._loaded.get(stem)
        if known is not None:
            return known
        module = ModuleType(f"{self._package}.{stem}")
        module.__package__ = self._package
        module.__file__ = f"<{self._name}/{stem}.py>"
        module.__dict__["__builtins__"] = self._builtins
        self._loaded[stem] = module
        # Dataclasses and enums look their module up by name; nothing else finds it there.
        sys.modules[module.__name__] = module
        try:
            compiled = compile(self._source[stem], module.__file__, "exec", dont_inherit=True)
            exec(compiled, module.__dict__)  # noqa: S102 - the verified bytes of an admitted executor
        except BaseException:
            del self._loaded[stem], sys.modules[module.__name__]
            raise
        return module

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002 - the names are those of `__import__`
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        fromlist: tuple[str, ...] | None = (),
        level: int = 0,
    ) -> ModuleType:
        if level:
            return self._own(name, fromlist or (), level)
        top = name.partition(".")[0]
        if top not in self._allowed or (top == "metnos" and name != "metnos.sdk"):
            raise NotDeclared(f"{self._name} imports {name}, which its contract does not declare", name=name)
        return builtins.__import__(name, globals, locals, fromlist or (), 0)

    def _own(self, name: str, fromlist: tuple[str, ...], level: int) -> ModuleType:
        if level > 1:
            raise NotDeclared(f"{self._name} imports from outside its own folder", name=name)
        if name:
            return self._own_module(name)
        holder = ModuleType(self._package)
        for stem in fromlist:
            setattr(holder, stem, self._own_module(stem))
        return holder

    def _own_module(self, stem: str) -> ModuleType:
        if stem not in self._source:
            raise NotDeclared(f"{self._name} has no file {stem}.py", name=stem)
        return self.load(stem)


def modules_of(distributions: tuple[str, ...]) -> frozenset[str]:
    """Top-level modules that the installed distributions of these names bring (`name` or `name>=1.2`).

    A distribution that is not installed brings none: importing it then fails by name.
    """
    if not distributions:
        return frozenset()
    from importlib.metadata import PackageNotFoundError, distribution

    found: set[str] = set()
    for requirement in distributions:
        name = _distribution_name(requirement)
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            continue
        listed = (installed.read_text("top_level.txt") or "").split()
        found.update(listed)
        if not listed:
            found.update(_tops(str(path) for path in installed.files or ()))
    return frozenset(found)


def _distribution_name(requirement: str) -> str:
    end = next(
        (at for at, character in enumerate(requirement) if not (character.isalnum() or character in "._-")), None
    )
    return requirement[:end]


def _tops(paths: Any) -> set[str]:
    tops: set[str] = set()
    for path in paths:
        head, slash, _ = path.partition("/")
        stem = head if slash else head.partition(".")[0] if head.endswith((".py", ".so")) else ""
        if stem.isidentifier():
            tops.add(stem)
    return tops
