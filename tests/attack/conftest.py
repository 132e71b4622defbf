"""The stage of the attacks: one home and one engine for all that need none of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.attack.table import Shared

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    made = Shared(tmp_path_factory.mktemp("attack"))
    yield made
    made.close()
