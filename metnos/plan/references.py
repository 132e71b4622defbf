"""References: `${step2.entries[0].path ?? "none"}` and its kin, parsed by one lark grammar.

Law: this module knows spelling only. What a reference means is `values/`; whether it fits is `checks/`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec


class Key(msgspec.Struct, frozen=True):
    """`.name` or `["any name"]`."""

    name: str


class Index(msgspec.Struct, frozen=True):
    """`[0]`; negative indices are not in the language."""

    number: int


class Every(msgspec.Struct, frozen=True):
    """`[*]`: what follows is taken from each element; the result is a list."""


Segment: TypeAlias = Key | Index | Every


class StepTarget(msgspec.Struct, frozen=True):
    """`step2`, `step("id")` spelled `${stepID…}` by id, or `plan1.step2` (a done step of an earlier plan)."""

    step: int | str
    plan: int | None = None


class ItemTarget(msgspec.Struct, frozen=True):
    """`item`, inside `for_each` only."""


class RuntimeTarget(msgspec.Struct, frozen=True):
    """`RUNTIME:day-1`."""

    key: str


class FillerTarget(msgspec.Struct, frozen=True):
    name: str


class InputTarget(msgspec.Struct, frozen=True):
    name: str


class SlotTarget(msgspec.Struct, frozen=True):
    """`SLOT:folder`; legal in templates only."""

    name: str


Target: TypeAlias = StepTarget | ItemTarget | RuntimeTarget | FillerTarget | InputTarget | SlotTarget


class Reference(msgspec.Struct, frozen=True):
    """Target, path into it, and the literal to use where it is missing."""

    target: Target
    path: tuple[Segment, ...] = ()
    has_fallback: bool = False
    fallback: Any = None


Parts: TypeAlias = tuple["str | Reference", ...]
"""A string in pieces; one `Reference` alone keeps its value's type."""
