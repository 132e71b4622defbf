"""Tests with real weights: `make test-model`. Nothing here is collected unless `METNOS_TEST_MODELS` names a folder of GGUF
files, so `make test` needs neither llama.cpp nor a download.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from metnos.propose.models.llama import open_model
from metnos.propose.models.llama.model import LlamaModel

FOLDER = os.environ.get("METNOS_TEST_MODELS", "")
collect_ignore_glob = [] if FOLDER else ["test_*.py"]
SMALL, LARGER = "smollm2", "qwen*0.5b"
"""What their files are called, up to what follows."""


class Weights(NamedTuple):
    name: str
    file: Path
    sha256: str = ""
    context: int = 2_048
    threads: int | None = None


def weights(name: str) -> Weights:
    [file] = sorted(Path(FOLDER).glob(f"{name}*.gguf"))
    return Weights(name, file)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.model)
            item.add_marker(pytest.mark.timeout(300))


@pytest.fixture(scope="session")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("states")


@pytest.fixture(scope="session")
def small(states: Path) -> Iterator[LlamaModel]:
    model = open_model(weights(SMALL), state_folder=states)
    yield model
    model.close()


@pytest.fixture(scope="session", params=[SMALL, LARGER])
def model(request: pytest.FixtureRequest, states: Path) -> Iterator[LlamaModel]:
    made = open_model(weights(request.param), state_folder=states)
    yield made
    made.close()
