"""Verdicts remembered: the same plan in the same context, over the same catalog and rules, is judged once.

Law: one memory belongs to one validator, so catalog and rules are the same by construction; the key is the canonical
bytes of the plan and of the whole context, compared in full, never a digest of them. What cannot be brought into
canonical form is judged anew each time. Bounded; forgetting costs time only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from metnos.checks.model import CheckContext, Checked, Guarded
from metnos.checks.outlines import Outlines
from metnos.plan.jsondata import JSONFault, canonical
from metnos.request.explained import Explained

Validate: TypeAlias = Callable[[Any, CheckContext], Checked]
Guard: TypeAlias = Callable[[Checked, CheckContext], Guarded]

LIMIT = 512
"""Verdicts of each kind."""
MAX_KEY = 32 * 1024
"""Bytes of plan and context beyond which nothing is remembered."""


def _basis(value: object) -> tuple[str, str]:
    """An explanation that waits follows from its request's text and forms, which are in the key, and from a lexicon."""
    if isinstance(value, Explained):
        return value.basis
    raise TypeError(f"{type(value).__name__} is no part of a context")


_encode = msgspec.json.Encoder(order="sorted", enc_hook=_basis).encode


class Verdicts:
    """`validate` and `guard` with a memory; safe between threads (a verdict may be found twice, never wrongly)."""

    def __init__(self, validate: Validate, guard: Guard, outlines: Outlines | None = None) -> None:
        """Over a validator and its guards.

        Args:
            validate: The validator.
            guard: Its guards.
            outlines: The validator with a memory of plans that differ in values only; None: there is none.
        """
        self._validate = validate
        self._guard = guard
        self._outlines = outlines
        self._checked: dict[bytes, Checked] = {}
        self._guarded: dict[bytes, tuple[Checked, Guarded]] = {}
        self._last: tuple[Checked, CheckContext, bytes] | None = None
        """What `validate` answered last: in most turns `guard` is asked about just that, and needs no key of its own."""

    def validate(self, plan: Any, context: CheckContext) -> Checked:
        """The validator's verdict on `plan`."""
        written = _written(plan, context)
        if written is None:
            return self._validate(plan, context)
        key, canonical_plan = written
        found = self._checked.get(key)
        if found is None:
            if self._outlines is None:
                found = self._validate(plan, context)
            else:
                found = self._outlines.judged(plan, context, canonical_plan)
            _keep(self._checked, key, found)
        self._last = (found, context, key)
        return found

    def guard(self, checked: Checked, context: CheckContext) -> Guarded:
        """The guards' verdict; remembered for the very object that `validate` gave."""
        last = self._last
        if last is not None and last[0] is checked and last[1] is context:
            key = last[2]
        else:
            key = checked.digest.encode() + _encode(context)
        found = self._guarded.get(key)
        if found is not None and found[0] is checked:
            return found[1]
        guarded = self._guard(checked, context)
        if checked.digest and len(key) <= MAX_KEY:
            _keep(self._guarded, key, (checked, guarded))
        return guarded


def _written(plan: Any, context: CheckContext) -> tuple[bytes, bytes] | None:
    """Plan and context as bytes, unambiguously joined, and those of the plan; None if nothing should be remembered."""
    if not isinstance(plan, dict):
        return None
    try:
        written = canonical(plan)  # pyright: ignore[reportUnknownArgumentType]  # whatever it holds is judged there
        around = _encode(context)
    except (JSONFault, TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return None
    if len(written) + len(around) > MAX_KEY:
        return None
    return len(written).to_bytes(4, "big") + written + around, written


def _keep(memory: dict[bytes, Any], key: bytes, verdict: Any) -> None:
    if len(memory) >= LIMIT:
        memory.clear()
    memory[key] = verdict
