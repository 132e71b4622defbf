"""A contract in one short line: what a small model has to know to choose a tool and its arguments.

Law: derived from the contract, never from its name. Types and defaults are left out: the grammar holds to them. Left out
too is what a request never says (`QUIET`), so that a catalog of twenty tools costs a thousand tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.contracts.model import Contract

MOST_CHOICES: Final = 11
QUIET: Final[frozenset[str]] = frozenset({
    "encoding", "errors", "max_bytes", "max_rows", "max_matches", "missing", "unreadable", "ragged", "path_bytes",
    "truncated", "skipped", "delimiter", "decimal", "header", "only_hidden", "depth", "other_on", "prefix", "decimals",
    "ignore_case", "limit", "syntax", "at",
})  # fmt: skip
"""Arguments and fields about how a thing is done."""


def brief(contract: Contract, language: str = "en") -> str:
    """`name(arguments) -> fields [effects]: description`, on one line.

    `<N` stands for what is handed over by an earlier step; of an enumeration the choices are shown.
    """
    effects = sorted({rule.effect for rule in contract.effects} - {"read"})
    does = f" [{', '.join(effects)}]" if effects else ""
    made = "" if effects else _made(contract.result)  # what was done is seldom gone on with
    said = contract.descriptions.get(language) or contract.descriptions.get("en", "")
    line = f"{contract.name}({', '.join(_arguments(contract))}){f' -> {made}' if made else ''}{does}"
    return f"{line}: {' '.join(said.split())}" if said.strip() else line


def _arguments(contract: Contract) -> Iterable[str]:
    into = contract.consumes.into if contract.consumes is not None else None
    required = set(contract.args.get("required", ()))
    properties = _properties(contract.args)
    if into is not None and into in properties:
        yield "<N"
    for name in sorted(properties, key=lambda name: (name not in required, name)):
        if name != into and (name not in QUIET or name in required):
            yield name + _choices(properties[name])


def _choices(schema: dict[str, Any]) -> str:
    found = schema.get("enum")
    if not isinstance(found, list) or len(cast("list[Any]", found)) > MOST_CHOICES:
        return ""
    return "=" + "|".join(str(one) for one in cast("list[Any]", found))


def _made(schema: dict[str, Any]) -> str:
    """Fields of an entry, where a result has entries; else those of the result."""
    properties = _properties(schema)
    items = properties.get("entries", {}).get("items")
    fields = _properties(cast("dict[str, Any]", items)) if isinstance(items, dict) else {}
    shown = [name for name in fields or properties if name not in QUIET and name not in ("entries", "count")]
    return ", ".join(shown)


def _properties(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = schema.get("properties", {})
    return {name: part if isinstance(part, dict) else {} for name, part in found.items()}
