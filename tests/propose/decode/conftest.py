"""Catalogs to decode over: the shipped one, and one of a thousand foreign tools."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from metnos.contracts.catalog import Catalog
from metnos.contracts.foreign import foreign_contract
from metnos.contracts.manifest import read_manifest
from metnos.contracts.model import Contract
from metnos.propose.decode.state import Checks

if TYPE_CHECKING:
    from metnos.sdk import EffectClass

MANIFESTS = Path(__file__).parents[3] / "manifests"
THINGS = ("invoice", "ticket", "album", "flight", "recipe", "sensor", "contact", "budget", "meeting", "parcel")
VERBS = ("get", "list", "search", "update", "delete", "send", "create", "rate", "track", "archive")
EFFECTS: dict[str, EffectClass] = {"update": "change", "delete": "delete", "send": "send", "create": "create"}
TYPES: tuple[dict[str, Any], ...] = (
    {"type": "string"},
    {"type": "integer", "minimum": 0, "maximum": 500},
    {"type": "number"},
    {"type": "boolean"},
    {"type": "string", "enum": ["low", "high", "none of these"]},
    {"type": "array", "items": {"type": "string"}, "minItems": 1},
    {"type": "object", "properties": {"from": {"type": "string"}, "to": {"type": "integer"}}, "required": ["from"]},
    {"type": "string", "format": "date"},
    {"type": ["string", "null"]},
)


@pytest.fixture(scope="session")
def shipped() -> Checks:
    contracts = [read_manifest(path.read_bytes()) for path in sorted(MANIFESTS.glob("*.toml"))]
    found = [contract for contract in contracts if isinstance(contract, Contract)]
    return Checks(Catalog().with_contracts(found))


@pytest.fixture(scope="session")
def foreign() -> Checks:
    rng = random.Random(5)
    contracts: list[Contract] = []
    for number in range(1000):
        verb, thing = VERBS[number % 10], THINGS[number // 10 % 10]
        names = ("id", "name of it", "limit", "since", "tags", "filter")
        parameters = {name: rng.choice(TYPES) for name in rng.sample(names, rng.randint(0, 4))}
        outputs = {name: rng.choice(TYPES[:4]) for name in rng.sample(names, rng.randint(0, 3))}
        required = [name for name in parameters if rng.random() < 0.5]
        contracts.append(
            foreign_contract(
                f"{thing}.{verb}.{number}", parameters, outputs, required=required, effect=EFFECTS.get(verb, "read")
            )
        )
    return Checks(Catalog().with_contracts(contracts))
