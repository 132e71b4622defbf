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

A file that is changed, made or gone and not in `files` is an effect that nobody asked for, whatever else is right. Paths
are relative to the tree. An unknown key, a value of another type, an `id` that is there twice, and a path after `same_as` or
in `digests` that the tree does not hold are errors, told with the line: nothing is run.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path

Kind = Literal["single", "compound", "impossible", "vague"]


_DECLINES = Annotated[list[Literal["refuse", "ask"]], msgspec.Meta(min_length=1)]


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

    id: Annotated[str, msgspec.Meta(min_length=1)]
    language: Literal["en", "it"]
    request: Annotated[str, msgspec.Meta(min_length=1)]
    expect: Any
    kind: Kind = "single"
    line: int = 0
    """Where it was read; a file does not say it."""

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
        OSError: It cannot be read.
        ValueError: A line is none, or there is no line at all; the message says which and why.
    """
    found: dict[str, Case] = {}
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            case = _case(line, number, found)
        except ValueError as fault:  # msgspec's faults and those of the encoding are some
            raise ValueError(f"{path.name}, line {number}: {fault}") from fault
        found[case.id] = case
    if not found:
        raise ValueError(f"{path.name}: no case in it")
    return list(found.values())


def _case(line: bytes, number: int, found: dict[str, Case]) -> Case:
    told = msgspec.json.decode(line, type=dict[str, Any])
    if "line" in told:
        raise ValueError("Object contains unknown field `line`")
    case = msgspec.convert({**told, "line": number}, Case)
    try:
        _ = msgspec.convert(case.expect, _DECLINES) if isinstance(case.expect, list) else case.expected
    except msgspec.ValidationError as fault:
        raise ValueError(f"expect: {fault}") from fault
    if case.id in found:
        raise ValueError(f"id {case.id!r} is that of line {found[case.id].line}, too")
    return case


def unfit(cases: list[Case], paths: Container[str]) -> list[str]:
    """What the cases take for granted and a tree with these files does not hold, each with its line."""
    faults: list[str] = []
    for case in cases:
        if case.declines:
            continue
        expected = case.expected
        needed = [left.same_as for left in expected.files.values() if left is not None and left.same_as is not None]
        faults += [f"line {case.line}: no file {one} in the tree" for one in needed if one not in paths]
        for path, algorithm in expected.digests.items():
            if path not in paths:
                faults.append(f"line {case.line}: no file {path} in the tree")
            if algorithm not in hashlib.algorithms_guaranteed or algorithm.startswith("shake"):
                faults.append(f"line {case.line}: no checksum {algorithm}")
    return faults
