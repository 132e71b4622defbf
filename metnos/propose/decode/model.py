"""What came of decoding: a plan and the lines it was written in, or why there is none. Pure data."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from metnos.propose.models.ports import Usage


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """A plan that validator and guards accept."""

    plan: dict[str, Any]
    lines: tuple[str, ...]
    """As they were written; none for a question that no model was asked for."""
    usage: Usage = Usage()
    refused: int = 0
    """Lines that were decoded and taken back."""
    surprise: float = 0.0
    """The greatest of its lines, in nats (`ports.Decoded`)."""
    wide: bool = False
    """A step changes, deletes, sends or runs what an earlier step has found: more than one thing may come to harm."""
    unplaced: int = 0
    """Names of files in the request that no step speaks of, since none could; and names that may be written only in part."""


class Impossible(msgspec.Struct, frozen=True, kw_only=True):
    """No plan."""

    code: Literal["out-of-scope", "too-vague"]
    about: str = ""
    """The part of the request that it is about; empty: all of it."""
    usage: Usage = Usage()
    refused: int = 0


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """How much one plan may cost, whatever the model. Steps are bounded by `line.MOST_STEPS`, a line by the longest that
    its grammar holds (`choices.longest`); time is the session's `Stop`.
    """

    tokens: int = 320
    """That may be written, lines that are taken back included, before no further line is begun; besides one for each
    byte of the request, which may be copied.
    """
    refusals: int = 12
    """Lines that may be taken back in all."""
    rounds: int = 3
    """How often a whole plan may be refused."""
