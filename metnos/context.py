"""Whose turn it is, and from where: the owner's context, bound once per turn.

Law: a turn sees one owner's resources and no other's; nothing here reads the environment or the clock.
"""

from __future__ import annotations

import msgspec


class OwnerContext(msgspec.Struct, frozen=True, kw_only=True):
    """Identity and place of a turn."""

    owner: str = "local"
    """Whose files, keys and logs these are."""
    actor: str = "local"
    """Who speaks: the owner, or a technical actor such as `scheduler`."""
    channel: str = "terminal"
    """Class of channel: `terminal`, `api`, `chat`, `scheduled`."""
    conversation: str = ""
    language: str | None = None
    zone: str = "UTC"
    folder: str = "/"
    roots: tuple[str, ...] = ()
