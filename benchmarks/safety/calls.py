"""A plan of one call, written as `tool name=value …`, and the contracts of whatever tools such plans name.

Law: values are JSON scalars; two plans are equal if their canonical bytes are. The tools are foreign contracts made
from the plans themselves, so a catalog holds exactly what a benchmark speaks of.
"""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from metnos.contracts.catalog import Catalog
from metnos.contracts.foreign import foreign_contracts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.sdk import EffectClass

_EFFECTS: dict[str, EffectClass] = {
    "files_delete": "delete",
    "files_move": "change",
    "files_copy": "create",
    "mail_send": "send",
    "timer_set": "create",
    "light_switch": "change",
    "volume_change": "change",
    "music_play": "change",
    "remind": "create",
    "money_move": "change",
    "house_do": "change",
    "food_order": "change",
    "files_zip": "create",
    "files_write": "create",
    "files_save": "create",
    "meeting_cancel": "change",
}
"""Tool → effect class; any other only reads."""


def plan_of(tool: str, args: dict[str, Any]) -> dict[str, Any]:
    """The Framework of one call and its answer."""
    return {"steps": [{"tool": tool, "args": args}, {"tool": "final_answer", "args": {}}]}


def read_call(line: str) -> dict[str, Any]:
    """`tool name=value …` as a plan; a value that is no JSON is text.

    Raises:
        ValueError: a word is no `name=value`.
    """
    tool, *words = shlex.split(line)
    args: dict[str, Any] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            raise ValueError(f"{word!r} in {line!r} is no name=value")
        args[name] = _value(value)
    return plan_of(tool, args)


def _value(text: str) -> Any:
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, (int, float, bool)) else text


def spelled(plan: dict[str, Any]) -> str:
    """Canonical text of a plan, to compare by."""
    return json.dumps(plan, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def catalog_for(plans: Iterable[dict[str, Any]]) -> Catalog:
    """Contracts of every tool that these plans name, each argument optional."""
    arguments: dict[str, dict[str, Any]] = {}
    for plan in plans:
        for step in plan["steps"]:
            if step["tool"] != "final_answer":
                arguments.setdefault(step["tool"], {}).update({name: {} for name in step["args"]})
    contracts: list[Any] = []
    for effect in ("read", "create", "change", "delete", "send"):
        described = [
            {"name": tool, "description": tool, "parameters": names, "outputs": {"answer": {}}}
            for tool, names in sorted(arguments.items())
            if _EFFECTS.get(tool, "read") == effect
        ]
        if described:
            contracts += foreign_contracts(described, effect=effect).contracts
    return Catalog().with_contracts(contracts)
