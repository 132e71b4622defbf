"""Executors from text, and runners around them: real processes, real files."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from metnos.contracts.model import Contract, Limits
from metnos.execute.runner import Grant, Runners, StepOutcome
from metnos.turn.commands import StartStep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class World:
    """One `Runners` over executors written in the test."""

    def __init__(self, folder: Path) -> None:
        self.code_by_name: dict[str, dict[str, bytes]] = {}
        self.hosts: dict[str, Any] = {}
        self.told: list[tuple[str, int, int | None, str]] = []
        self.grant = Grant(turn="t", folder=str(folder), roots=(str(folder),), now="2026-11-30T12:00:00+01:00")
        self.runners = Runners(self, workers=2, progress=lambda *note: self.told.append(note))
        self._contracts: dict[str, Contract] = {}

    def code(self, name: str) -> dict[str, bytes]:
        return self.code_by_name[name]

    def function(self, name: str) -> Any:
        return self.hosts.get(name)

    def executor(self, source: str | dict[str, str], **fields: Any) -> str:
        """A worker's (or inline) executor; its name."""
        name = f"x{len(self._contracts)}"
        files = {"executor.py": source} if isinstance(source, str) else source
        self.code_by_name[name] = {file: text.encode() for file, text in files.items()}
        limits = Limits(**fields.pop("limits", {}))
        fields = {"placement": "worker", **fields}
        self._contracts[name] = Contract(name=name, version="1", digest=f"sha256:{name}", limits=limits, **fields)
        return name

    def host(self, function: Callable[..., Any], *, is_async: bool = False, **fields: Any) -> str:
        """A registered function `function(args, ctx)`; its name."""
        name = f"h{len(self._contracts)}"
        self.hosts[name] = _Host(function, is_async=is_async)
        self._contracts[name] = Contract(name=name, version="1", origin="host", placement="host", **fields)
        return name

    def start(self, name: str, args: dict[str, Any] | None = None, **fields: Any) -> tuple[StartStep, Contract, Grant]:
        contract = self._contracts[name]
        given = {"step": "1.1", "effect": "read", "timeout_s": 20.0, **fields}
        command = StartStep(
            operation="op",
            executor=contract.reference,
            args=args or {},
            digest="",
            placement=contract.placement,
            **given,
        )
        return command, contract, self.grant

    def now(self, name: str, args: dict[str, Any] | None = None, **fields: Any) -> StepOutcome:
        return self.runners.run_now(*self.start(name, args, **fields))

    async def run(self, name: str, args: dict[str, Any] | None = None, **fields: Any) -> StepOutcome:
        return await self.runners.run(*self.start(name, args, **fields))

    def once(self, name: str, args: dict[str, Any] | None = None, **fields: Any) -> StepOutcome:
        """`run`, on a loop of its own."""
        return asyncio.run(self.run(name, args, **fields))


class _Host:
    def __init__(self, function: Callable[..., Any], *, is_async: bool) -> None:
        self.call = function
        self.is_async = is_async


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.runners.close_now()
