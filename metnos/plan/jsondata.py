"""JSON as data: the one strict reader, the one canonical form, the one digest.

Law: every byte string that is hashed, signed or approved passes through here. A reader elsewhere in
Metnos would keep the last of two duplicate keys, or turn a 30-digit integer into a float.
"""

from __future__ import annotations

from typing import TypeAlias

JSON: TypeAlias = "dict[str, JSON] | list[JSON] | str | int | float | bool | None"
