"""What policy is asked, and the three answers it can give. Pure."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from metnos.contracts.model import Origin
from metnos.sdk import EffectClass


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """One step (or one list of items) about to run, or a forecast of it."""

    owner: str
    channel: str
    executor: str
    """`name@version`."""
    origin: Origin
    effect: EffectClass
    targets: tuple[str, ...] = ()
    count: int = 1
    untrusted: tuple[tuple[str, str], ...] = ()
    """(trusted-only argument, untrusted source that feeds it)."""
    assume_yes: bool = False
    forecast: bool = False


class Allow(msgspec.Struct, frozen=True, tag="allow"):
    pass


class Deny(msgspec.Struct, frozen=True, tag="deny"):
    reason: str


class AskUser(msgspec.Struct, frozen=True, tag="ask"):
    reason: str


Verdict: TypeAlias = Allow | Deny | AskUser
