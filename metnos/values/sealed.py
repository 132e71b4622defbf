"""Sealed handles: how a secret is named where it must not be seen.

Law: this module knows the spelling only. Who finds secrets, makes handles and opens them is `execute/`; no key
and no secret ever enters here. One handle is `⟦sealed:<32 hex digits>⟧`; equal secrets have equal handles.
"""

from __future__ import annotations

import re
from typing import Any

from metnos.plan.jsondata import is_list, is_object

HANDLE = re.compile("\u27e6sealed:([0-9a-f]{32})\u27e7")
OPENING = "\u27e6sealed:"
"""What every handle begins with: a cheap test that there is none."""


def handle(identity: str) -> str:
    """The text that stands for the secret with this id (32 hex digits).

    Raises:
        ValueError: `identity` is no such id.
    """
    text = f"{OPENING}{identity}\u27e7"
    if HANDLE.fullmatch(text) is None:
        raise ValueError(f"{identity!r} is not 32 lower-case hex digits")
    return text


def find_handles(data: Any) -> tuple[str, ...]:
    """Ids of all handles in JSON data (keys included), each once, in order of appearance."""
    found: dict[str, None] = {}
    stack: list[Any] = [data]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            if OPENING in value:
                found.update(dict.fromkeys(HANDLE.findall(value)))
        elif is_object(value):
            for key, item in reversed(value.items()):
                stack += (item, key)
        elif is_list(value):
            stack.extend(reversed(value))
    return tuple(found)


def has_handle(data: Any) -> bool:
    """Whether any handle is in the data."""
    return bool(find_handles(data))
