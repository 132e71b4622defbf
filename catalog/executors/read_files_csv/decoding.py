"""From bytes to text: strictly, in the encoding asked for; a byte order mark wins over it.

Law: nothing is guessed. The same file lies beside every executor that reads text; a test holds them equal.
"""

from __future__ import annotations

import codecs
import os
from typing import Any
from urllib.parse import unquote_to_bytes

MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""UTF-32 first: its little-endian mark begins with that of UTF-16."""


def is_encoding(name: str) -> bool:
    """Whether it is the name of a text encoding."""
    try:
        b"x".decode(name)  # of no bytes at all, Python does not look the name up
    except UnicodeError:
        return True
    except (LookupError, ValueError):
        return False
    return True


def decoded(data: bytes, encoding: str) -> str | None:
    """The text of a whole file, or None if it is none in that encoding."""
    for mark, named in MARKS:
        if data.startswith(mark):
            data, encoding = data[len(mark) :], named
            break
    else:
        if b"\0" in data and not codecs.lookup(encoding).name.startswith(("utf-16", "utf-32")):
            return None
    try:
        text = data.decode(encoding)
        text.encode("utf-8")  # some decoders let half a surrogate pair through; JSON does not
    except UnicodeError:
        return None
    return text


def shown(file: str | dict[str, Any]) -> str:
    """A file of an argument, as it is told to the user."""
    return file if isinstance(file, str) else file["path"]


def path_of(file: str | dict[str, Any]) -> str:
    """What to act on: a path that is not UTF-8 is given by its bytes."""
    if isinstance(file, str):
        return file
    if "path_bytes" in file:
        return os.fsdecode(unquote_to_bytes(file["path_bytes"]))
    return file["path"]
