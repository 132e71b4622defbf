"""Executor and family signatures: what a cached plan compares at each use (architecture, sections 5 and 8).

Law: pure functions of contracts. No routing, no model, no disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.plan.jsondata import digest
from metnos.sdk import SDK_VERSION

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from metnos.contracts.catalog import Catalog, Named
    from metnos.contracts.model import Contract
    from metnos.plan.jsondata import JSON


def executor_signature(contract: Contract) -> str:
    """`sha256:…` over the contract, its own files, the SDK version and its distributions at their versions."""
    files: list[JSON] = [[file.name, file.sha256, file.length] for file in contract.files]
    distributions: list[JSON] = [*sorted(contract.distributions)]
    return digest(["metnos.executor/1", contract.reference, contract.digest, files, SDK_VERSION, distributions])


def family_signature(catalog: Catalog, intents: Iterable[Named], *, unavailable: Collection[str] = ()) -> str:
    """`sha256:…` over sorted (name, contract digest, available, placement) of all executors in these families.

    Args:
        catalog: What is admitted now.
        intents: The request intents that the lexicon finds; order and repetition do not matter.
        unavailable: Names that are admitted but cannot run now.
    """
    found = {contract.name: contract for intent in intents for contract in catalog.in_family(intent)}
    rows: list[JSON] = [
        [name, found[name].digest, name not in unavailable, found[name].placement] for name in sorted(found)
    ]
    return digest(["metnos.family/1", rows])
