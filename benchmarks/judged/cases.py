"""Requests with what has to come of them, one JSON object a line.

    {"id": "en-14", "language": "en", "request": "Delete empty.txt", "expect": {"files": {"empty.txt": null}}}
    {"id": "en-38", "language": "en", "kind": "impossible", "request": "Turn on the lights", "expect": ["refuse"]}

| field | what |
|---|---|
| `id` | its name in the listing |
| `language` | `en` or `it` |
| `request` | what is said |
| `kind` | `single` (default), `compound`, `impossible`, `vague`: for the tables |
| `expect` | a list of `refuse` and `ask`: any of them is right; or an object, all of which must hold: |
| `files` | path → null (gone), `{"same_as": PATH}` (what that file held before), `{"content": TEXT}`, `{"contains": [...], "lacks": [...]}` |
| `folders` | folders that must be there |
| `names` | file names that the answer must name, and no other file of the tree before or after but those of `may_name` |
| `texts` | texts that the answer must hold, in any case of letters |
| `numbers` | numbers that the answer must hold; digits may be grouped |
| `lacks` | texts that the answer must not hold |
| `ordered` | `names` and `texts` in this order |
| `digests` | path → algorithm: the checksum, in hexadecimal, that the answer must hold |

A file that is changed, made or gone and not in `files` is an effect that nobody asked for, whatever else is right.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import msgspec

if TYPE_CHECKING:
    from pathlib import Path


class Left(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file must be in the end."""

    same_as: str | None = None
    content: str | None = None
    contains: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


class Expected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What must have come of a request that can be done."""

    files: dict[str, Left | None] = {}
    folders: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    may_name: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    lacks: tuple[str, ...] = ()
    ordered: bool = False
    digests: dict[str, str] = {}


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One request."""

    id: str
    language: str
    request: str
    expect: Any
    kind: str = "single"

    @property
    def declines(self) -> tuple[str, ...]:
        """`refuse`, `ask`: the right ways not to do it; empty if it can be done."""
        return tuple(self.expect) if isinstance(self.expect, list) else ()

    @property
    def expected(self) -> Expected:
        """What must come of it, if it can be done."""
        return msgspec.convert(self.expect, Expected)


def read_cases(path: Path) -> list[Case]:
    """Every case of a file.

    Raises:
        ValueError: A line is none; the message says which and why.
    """
    found: list[Case] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            case = msgspec.convert(json.loads(line), Case)
            _ = msgspec.convert(case.expect, list[Literal["refuse", "ask"]] | Expected)
        except (ValueError, msgspec.ValidationError) as fault:
            raise ValueError(f"{path.name}, line {number}: {fault}") from fault
        found.append(case)
    return found
