"""How this program was called, and so how a command in a hint must begin: a hint is to be typed as it stands.

Law: a hint says `metnos …` wherever it is made; here, on its way out, it gets the program and the home of this call.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

COMMAND = re.compile(r"(^|`)metnos (?=[a-z-])")
"""A command in a hint: all of it, or what stands in backticks."""


def beginning(home: str | None) -> str:
    """The words before the name of a command, for the same program and the same home as now."""
    return _program() if home is None else f"{_program()} --home {shlex.quote(home)}"


def as_typed(text: str, begin: str) -> str:
    """`text` with every command in it begun as `begin` says."""
    return text if begin == "metnos" else COMMAND.sub(lambda found: f"{found[1]}{begin} ", text)


def _program() -> str:
    called = Path(sys.argv[0])
    if called.name == "__main__.py" and called.parent.name == "metnos":
        return f"{shlex.quote(sys.orig_argv[0])} -m metnos"
    if called.name != "metnos":
        return "metnos"
    found = shutil.which("metnos")
    if found is not None and Path(found).samefile(called):
        return "metnos"
    return shlex.quote(sys.argv[0])
