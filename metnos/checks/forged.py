"""A handle of a sealed secret may come out of a result of this turn, and from nowhere else.

Law: whoever writes a handle into a plan names a secret that they were never shown; an executor that may open secrets
would write it out. So a plan with a handle in it is refused, whatever its source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from metnos.checks.shapes import is_list, is_object
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import pointer
from metnos.values.sealed import OPENING, has_handle

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPENING = OPENING.encode()
_encode = msgspec.json.Encoder().encode
"""One search over the plan's bytes is ten times cheaper than a walk, and nearly every plan ends here."""


def forged_handles(plan: dict[str, Any]) -> list[Diagnostic]:
    """One fault for each text of the plan, key or value, that holds a handle."""
    return [
        Diagnostic(
            code="sealed-literal",
            where=where,
            found="a handle of a sealed secret",
            expected="a reference to the step that read it",
        )
        for where in (_places(plan, "") if _OPENING in _encode(plan) else ())
    ]


def _places(value: Any, where: str) -> Iterator[str]:
    if is_object(value):
        for name, item in value.items():
            if has_handle(name):
                yield where
            yield from _places(item, pointer(where, name))
    elif is_list(value):
        for index, item in enumerate(value):
            yield from _places(item, pointer(where, index))
    elif has_handle(value):
        yield where
