"""The shipped executors, verified once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from metnos import Engine

if TYPE_CHECKING:
    from metnos.contracts.catalog import Catalog


@pytest.fixture(scope="module")
def shipped() -> Catalog:
    with Engine.open(memory=True) as engine:
        return engine.catalog
