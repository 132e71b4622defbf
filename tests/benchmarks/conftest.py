"""The shipped templates, verified once for all benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from metnos import Engine

if TYPE_CHECKING:
    from metnos.cache.templates.library import TemplateLibrary


@pytest.fixture(scope="session")
def library() -> TemplateLibrary:
    with Engine.open(memory=True) as engine:
        return engine.parts.library
