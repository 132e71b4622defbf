"""Who provides what an executor does: the last part of `verb_object_PROVIDER`, or the server of a foreign tool.

Law: read from a contract's name and families alone; a name that has no such part has no provider.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metnos.contracts.vocabulary import exists

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.contracts.model import Contract

_SERVER = re.compile(r"([A-Za-z][A-Za-z0-9-]*)(?:\.|__|:|/)(?=[A-Za-z])")


def provider_of(contract: Contract) -> str:
    """The provider's name, folded; `""` if the contract names none."""
    for family in contract.families:
        stem = f"{family.verb}_{family.object}_"
        if exists(family.verb, family.object) and contract.name.startswith(stem):
            return contract.name.removeprefix(stem).casefold()
    if contract.origin != "foreign":
        return ""
    found = _SERVER.match(contract.original or contract.name)
    return found.group(1).casefold() if found else ""


def families_of(contract: Contract) -> tuple[str, ...]:
    """The families of the vocabulary that a contract has, `verb object`."""
    pairs = ((family.verb, family.object) for family in contract.families)
    return tuple(f"{verb} {thing}" for verb, thing in pairs if exists(verb, thing))


def providers_of(contracts: Iterable[Contract]) -> dict[str, tuple[str, ...]]:
    """Provider → the families of its executors, sorted; none for a provider of foreign tools alone."""
    found: dict[str, set[str]] = {}
    for contract in contracts:
        provider = provider_of(contract)
        if provider:
            found.setdefault(provider, set()).update(families_of(contract))
    return {provider: tuple(sorted(families)) for provider, families in sorted(found.items())}
