"""The shipped templates, as the bytes that are signed."""

from __future__ import annotations

from pathlib import Path

import pytest

from metnos.cache.templates.library import TemplateLibrary
from metnos.checks.validator import Validator
from metnos.contracts.catalog import Catalog
from metnos.contracts.manifest import read_manifest
from metnos.contracts.model import Contract

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def payloads() -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in sorted((ROOT / "catalog" / "plans").glob("*.toml"))}


@pytest.fixture(scope="session")
def library(payloads: dict[str, bytes]) -> TemplateLibrary:
    return TemplateLibrary.from_signed(payloads)


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    contracts = [read_manifest(path.read_bytes()) for path in sorted((ROOT / "manifests").glob("*.toml"))]
    assert all(isinstance(contract, Contract) for contract in contracts)
    return Catalog().with_contracts(contracts)


@pytest.fixture(scope="session")
def validator(catalog: Catalog) -> Validator:
    return Validator(catalog)
