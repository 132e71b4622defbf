"""What a person means by a path that they said.

Law: pure; the home folder is handed in, because nothing here may look at the machine.
"""

from __future__ import annotations


def at_home(text: str, home: str) -> str:
    """A path that the person said, with `~` written out as a shell would; as it is where there is no home folder."""
    return home + text[1:] if home and (text == "~" or text.startswith("~/")) else text
