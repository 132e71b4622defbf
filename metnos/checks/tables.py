"""Limits and runtime values that the checks walk. Data only."""

from __future__ import annotations

MAX_LITERAL = 64 * 1024
"""Characters of one literal string; longer text is an input or a file."""
FROM_STEP = "from_step"
FROM_STEPS = "from_steps"
DECIDED_LATER = "error"
"""The value of a contract's `missing` argument that decides nothing: an entry without the field is a failure."""
