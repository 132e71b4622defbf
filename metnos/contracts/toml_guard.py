"""What `tomllib` must not be given: a key of very many dotted parts.

Law: one linear pass, before the reader. `a.a.a… = 1` costs `tomllib` memory with the square of the number of parts (a
line of 200 KB takes gigabytes), and no limit on the size of a file helps against that.
"""

from __future__ import annotations

import re

MAX_PARTS = 32

_TOKEN = re.compile(
    r'''"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\''''
    r"""|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|[A-Za-z0-9_-]+|[ \t]+|\.|.""",
    re.DOTALL,
)
"""A string of one of the four kinds, a bare part, blanks, a dot, or any other character."""


def too_dotted(text: str) -> int:
    """The line (from 1) of the first dotted key with more than `MAX_PARTS` parts; 0 if there is none."""
    if max(line.count(".") for line in text.split("\n")) < MAX_PARTS:
        return 0
    dots = 0
    for token in _TOKEN.finditer(text):
        first = token.group()[0]
        if first == ".":
            dots += 1
            if dots >= MAX_PARTS:
                return text.count("\n", 0, token.start()) + 1
        elif not (first.isalnum() or first in "_-\"' \t"):
            dots = 0
    return 0
