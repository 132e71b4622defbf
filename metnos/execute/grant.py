"""What one turn may touch, as the runners hand it on; plain data, so that a worker can be sent it.

Law: no decision is taken here. Roots are granted by settings or by the person; this only carries them.
"""

from __future__ import annotations

import msgspec


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """The roots, the folder and the one time of a turn."""

    turn: str = ""
    folder: str = "/"
    """Absolute; relative paths in arguments start here."""
    roots: tuple[str, ...] = ()
    """Absolute folders below which files may be opened; everything else is refused."""
    withheld: tuple[str, ...] = ()
    """Folders that stay closed even below a root: where the keys and logs of this installation are."""
    now: str = "1970-01-01T00:00:00+00:00"
    """ISO 8601 with offset: the turn's reference time."""
    zone: str = "UTC"
    fence: int = 0
    owner: str = "local"
    allow_hidden: bool = True
    """False: hidden files stay out even where an argument asks for them."""
