"""Engines on real folders, with the signed catalog of this checkout and functions of a host."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from metnos import Engine
from tests.support import hosted

if TYPE_CHECKING:
    from collections.abc import Iterator


class Opens(Protocol):
    def __call__(self, **settings: Any) -> Engine: ...


@pytest.fixture(autouse=True)
def _fresh_gates() -> Iterator[None]:
    hosted.gates.__init__()
    yield
    hosted.gates.leave.set()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the user stands: three files and a folder."""
    made = tmp_path / "work"
    (made / "sub").mkdir(parents=True)
    (made / "a.txt").write_text("alpha\n")
    (made / "b.txt").write_text("beta beta\n")
    (made / "sub" / "c.md").write_text("# gamma\n")
    return made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def opens(folder: Path, home: Path) -> Iterator[Opens]:
    """Open engines on `folder` and `home`; all are closed at the end."""
    opened: list[Engine] = []

    def open_one(**settings: Any) -> Engine:
        engine = Engine.open(**({"home": home, "folder": folder, "executors": hosted.ALL, "zone": "UTC"} | settings))
        opened.append(engine)
        return engine

    yield open_one
    for engine in opened:
        engine.close()


@pytest.fixture(params=["memory", "durable"])
def engine(opens: Opens, request: pytest.FixtureRequest) -> Engine:
    """Both kinds of journal."""
    return opens(memory=request.param == "memory")


@pytest.fixture
def light(opens: Opens) -> Engine:
    """In memory, functions only."""
    return opens(memory=True, shipped=False)
