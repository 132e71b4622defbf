"""A home into which real servers are imported, and an engine on it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from metnos import Engine
from metnos.drivers.results import TurnResult
from metnos.foreign import Import, import_mcp, store
from metnos.sdk import EffectClass
from tests.support.hosted import plan

ROOT = Path(__file__).resolve().parents[2]
SERVER = str(ROOT / "tests" / "support" / "mcp_server.py")
RAW = str(ROOT / "tests" / "support" / "raw_mcp.py")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def command() -> Callable[..., list[str]]:
    return lambda *variant: [sys.executable, SERVER, "stdio", *variant]


@pytest.fixture
def raw() -> Callable[[Path], list[str]]:
    return lambda file: [sys.executable, RAW, str(file)]


READS = ("add", "list_notes", "say", "read page/now", "fail", "hang", "letters", "environment", "not_a_number")
EFFECTS: dict[str, EffectClass] = {**dict.fromkeys((*READS, "huge_number"), "read"), "append_line": "create"}
MOST = 100_000


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Import:
    """The import of the real server, made once: starting it takes seconds."""
    home = tmp_path_factory.mktemp("real")
    return import_mcp(home, "t", command=[sys.executable, SERVER, "stdio"], effects=EFFECTS, output_bytes=MOST)


class World:
    """An engine that knows the imports alone."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._engine: Engine | None = None

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            self._engine = Engine.open(self._home, shipped=False, imports=True, memory=True)
        return self._engine

    def run(self, *steps: dict[str, Any], approve: Any = None, **end: Any) -> TurnResult:
        return self.engine.run_sync(plan=plan(*steps, **end), approve=approve)

    def error(self, *steps: dict[str, Any], approve: Any = None) -> tuple[str, str]:
        """(class, code) of the last step's failure."""
        error = self.run(*steps, approve=approve).steps[-1].error
        assert error is not None
        return error.cls, error.code

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None


@pytest.fixture(scope="module")
def shared(real: Import, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One engine for every test that leaves its server alive."""
    home = tmp_path_factory.mktemp("shared")
    store.save(home, real)
    made = World(home)
    yield made
    made.close()


@pytest.fixture
def world(home: Path) -> Iterator[World]:
    made = World(home)
    yield made
    made.close()
