"""`Value`: data and where they came from; `Absent`: why there are none.

Law: sources only ever grow on the way from a result to an argument; nothing here drops one. Sources are words:
`user`, `author`, `template`, `model`, `runtime`, `local`, `untrusted:<source>`.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

NO_SOURCES: frozenset[str] = frozenset()


class Value(msgspec.Struct, frozen=True, gc=False):
    """JSON data with the sources of all that they were made from. The data are shared, never copied: do not change them."""

    data: Any
    sources: frozenset[str] = NO_SOURCES


class Absent(msgspec.Struct, frozen=True):
    """A target that has no value: no such thing, or a step that was skipped, failed or blocked."""

    reason: Literal["missing", "skipped", "failed", "blocked"]
