"""Whether a value that others wrote is a table or a list: the question that reading them asks again and again.

Law: pure; it knows nothing of tools.
"""

from __future__ import annotations

from typing import Any, TypeGuard


def is_table(value: object) -> TypeGuard[dict[str, Any]]:
    """A JSON object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """A JSON list."""
    return isinstance(value, list)


def table(value: object) -> dict[str, Any]:
    """`value`, or an empty table where it is none."""
    return value if is_table(value) else {}
