"""What a check says: code, place, found, expected, and how to mend it.

Law: a `Diagnostic` is a value; no check raises on bad data. Codes are the keys of `CODES` and nothing else;
`docs/` has one heading for each and a test holds the two sets equal. `where` is a JSON pointer into the plan
file as the user wrote it (RFC 6901), so `/steps/0/args/path` is the argument `path` of step 1.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Family = Literal["caller", "model", "tool", "trust", "environment"]


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One fault of a plan, manifest or request."""

    code: str
    where: str
    found: str = ""
    expected: str = ""
    hint: str = ""
