"""Fixtures of the checks: the eight shipped contracts, without their signatures."""

from __future__ import annotations

from pathlib import Path

import pytest

from metnos.checks.validator import Validator
from metnos.contracts.catalog import Catalog
from metnos.contracts.manifest import read_manifest
from metnos.contracts.model import Contract

MANIFESTS = Path(__file__).parents[2] / "manifests"


@pytest.fixture(scope="session")
def shipped() -> Catalog:
    contracts = [read_manifest(path.read_bytes()) for path in sorted(MANIFESTS.glob("*.toml"))]
    assert all(isinstance(contract, Contract) for contract in contracts)
    return Catalog().with_contracts(contracts)


@pytest.fixture(scope="session")
def validator(shipped: Catalog) -> Validator:
    return Validator(shipped)
