"""Names of foreign tools as names of contracts, and back.

Law: `original(alias(name)) == name` for every name whose alias fits; nothing is dropped or folded. What the name rule
does not allow is written `_xHHHH_` (code point in hex), as .NET's XmlConvert does, and so is the underscore
of a text that looks like that already, and the first letter of a name that ends a plan (`ask`). An alias too long for
a contract keeps its head and ends in a digest; its original is in the contract alone.
"""

from __future__ import annotations

import hashlib
import re

from metnos.plan.terminals import TERMINALS

_ODD = re.compile(r"[^A-Za-z0-9._-]|_(?=x[0-9A-F]{4,6}_)")
_CODED = re.compile(r"_x([0-9A-F]{4,6})_")
_LIMIT = 128


def alias(name: str) -> str:
    """`name` in letters, digits, dots, hyphens and underscores, at most 128 of them.

    Raises:
        ValueError: The name is empty.
    """
    if not name:
        raise ValueError("a tool without a name")
    coded = _ODD.sub(lambda found: f"_x{ord(found.group()):04X}_", name)
    if coded in TERMINALS:
        coded = f"_x{ord(coded[0]):04X}_{coded[1:]}"
    if len(coded) <= _LIMIT:
        return coded
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{coded[: _LIMIT - len(mark) - 1]}.{mark}"


def original(coded: str) -> str:
    """The name that `alias` was given, unless it was too long."""
    return _CODED.sub(lambda found: chr(int(found.group(1), 16)), coded)
