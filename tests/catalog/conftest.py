"""The shipped executors, run as they are run in a turn: by their manifests, in a real worker or inline."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from metnos.contracts.manifest import read_manifest
from metnos.contracts.model import Contract
from metnos.contracts.schemas import validator_for
from metnos.execute.runner import Grant, Runners, StepOutcome
from metnos.turn.commands import ProbeEffect, StartStep

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]


class Catalog:
    """Manifests and code of the source tree."""

    def __init__(self) -> None:
        self.contracts: dict[str, Contract] = {}
        for path in sorted((ROOT / "manifests").glob("*.toml")):
            contract = read_manifest(path.read_bytes())
            assert isinstance(contract, Contract), contract
            self.contracts[contract.name] = contract

    def code(self, name: str) -> dict[str, bytes]:
        folder = ROOT / "catalog" / "executors" / name
        return {path.name: path.read_bytes() for path in folder.glob("*.py")}

    def function(self, name: str) -> None:
        return None


class Shipped:
    """Runs a shipped executor in a folder of its own."""

    def __init__(self, folder: Path, runners: Runners, catalog: Catalog) -> None:
        self.folder = folder
        self.catalog = catalog
        self.runners = runners
        self.grant = Grant(turn="t", folder=str(folder), roots=(str(folder),), now="2026-11-30T12:00:00+01:00")

    def __call__(self, name: str, **args: Any) -> StepOutcome:
        return self.operation("op", name, **args)

    def operation(self, operation: str, name: str, **args: Any) -> StepOutcome:
        contract = self.catalog.contracts[name]
        assert validator_for(contract.args)(args) == []
        command = StartStep(
            step="1.1",
            operation=operation,
            executor=contract.reference,
            args=args,
            digest="",
            effect=contract.effects[-1].effect,
            placement=contract.placement,
            timeout_s=contract.limits.timeout_s,
        )
        if contract.placement == "inline":
            return self.runners.run_now(command, contract, self.grant)
        return asyncio.run(self.runners.run(command, contract, self.grant))

    def probe(self, name: str, **args: Any) -> StepOutcome | str:
        """What the probe says about operation `op`: its outcome if it was done, else `absent` or `unknown`."""
        contract = self.catalog.contracts[name]
        command = ProbeEffect(step="1.1", operation="op", executor=contract.reference, args=args)
        found, outcome = asyncio.run(self.runners.probe(command, contract, self.grant))
        return outcome if found == "done" and outcome is not None else found

    def data(self, name: str, **args: Any) -> Any:
        outcome = self(name, **args)
        assert outcome.status == "finished", outcome.error
        return outcome.data

    def error(self, name: str, **args: Any) -> tuple[str, str, str]:
        outcome = self(name, **args)
        assert outcome.error is not None, outcome.data
        return outcome.error.cls, outcome.error.code, outcome.error.where


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog()


@pytest.fixture(scope="session")
def shared(catalog: Catalog) -> Iterator[Runners]:
    runners = Runners(catalog, workers=1)
    yield runners
    runners.close_now()


@pytest.fixture
def shipped(tmp_path: Path, shared: Runners, catalog: Catalog) -> Shipped:
    return Shipped(tmp_path, shared, catalog)
