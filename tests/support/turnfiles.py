"""Turns that are really recorded, as a JSONL file with their contracts beside. Import as `from tests.support.turnfiles import …`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from metnos import Engine
from metnos.contracts.model import Contract
from metnos.evaluate.collections.contracts import NAME, encode_contracts
from metnos.evaluate.collections.turnlog import encode_turn
from metnos.record.model import TurnLog


def write_turns(
    path: Path,
    logs: Iterable[TurnLog],
    contracts: Iterable[Contract] | None = None,
    labels: dict[str, dict[str, Any]] | None = None,
) -> Path:
    """The file, and `contracts.json` beside it, if contracts are given."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [encode_turn(log, (labels or {}).get(log.turn)) for log in logs]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    if contracts is not None:
        (path.parent / NAME).write_bytes(encode_contracts(contracts))
    return path


def record(engine: Engine, *requests: str, **more: Any) -> list[TurnLog]:
    """What the engine makes of each request, as it was recorded."""
    made = [engine.run_sync(request, **more).turn for request in requests]
    return [engine.parts.journal.load(turn) for turn in made]
