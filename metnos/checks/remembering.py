"""Answers remembered by the identity of what was asked about: for pure functions of shapes and contracts.

Law: only for values that are never changed. The arguments are kept beside the answer, so that an identity cannot
be used twice while its answer is known; what is remembered is bounded, and forgetting costs time only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

LIMIT = 4096
"""Answers of one function."""

P = ParamSpec("P")
R = TypeVar("R")


def remembered(function: Callable[P, R]) -> Callable[P, R]:
    """Remember the answers of `function`, called with positional arguments only."""
    known: dict[tuple[int, ...], tuple[tuple[Any, ...], Any]] = {}

    @wraps(function)
    def answer(*args: P.args, **kwargs: P.kwargs) -> R:
        assert not kwargs
        key = tuple(map(id, args))
        found = known.get(key)
        if found is not None:
            return found[1]
        made = function(*args, **kwargs)
        if len(known) >= LIMIT:
            known.clear()
        known[key] = (args, made)
        return made

    return answer
