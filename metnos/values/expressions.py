"""Arguments, compiled once: literals and references in a tree that `values.resolve` walks.

Law: an `Expression` holds no value; `checks/` makes it, `values/` resolves it. `from_step` is already gone:
lowering turned it into a `Ref` (and a lifted step into a `for_each`).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from metnos.plan.references import Reference


class Literal_(msgspec.Struct, frozen=True):  # noqa: N801
    """Data as written; `source` says who wrote it (`user`, `author`, `model`…)."""

    data: Any
    source: str = "author"


class Ref(msgspec.Struct, frozen=True):
    """A string that was exactly one reference: the value keeps its type. `source` is the fallback's."""

    reference: Reference
    source: str = "author"


class Text(msgspec.Struct, frozen=True):
    """References inside longer text: each must be a scalar."""

    parts: tuple[str | Reference, ...]
    source: str = "author"


class ListOf(msgspec.Struct, frozen=True):
    items: tuple[Expression, ...]


class DictOf(msgspec.Struct, frozen=True):
    items: tuple[tuple[str, Expression], ...]


class Concat(msgspec.Struct, frozen=True):
    """`from_steps`: the collections one after the other."""

    items: tuple[Reference, ...]


Expression: TypeAlias = Literal_ | Ref | Text | ListOf | DictOf | Concat
