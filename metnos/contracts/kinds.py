"""Kinds: what flows between steps, what stands for what, who reads one into another.

Law: `kinds.toml` is the only list; this module walks it. A kind says what an entry is, never who made it.

    accepts(("entry",), "file")      # True: a file is an entry
    reader_for("file", ("text",))    # "read_files"
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec


class Kind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of `kinds.toml`."""

    is_a: tuple[str, ...]
    about: str
    open: bool = False
    """The fields come with the data; a field that a plan names may be absent at run time."""
    readers: dict[str, str] = {}
    """Wanted kind → executor that reads this kind into it."""


def read_kinds(data: bytes) -> dict[str, Kind]:
    """Parse a kinds file.

    Raises:
        ValueError: A kind names an unknown one, or is-a has a cycle (a fault of the product, not of a user).
    """
    kinds = msgspec.convert(tomllib.loads(data.decode()), dict[str, Kind])
    for name, kind in kinds.items():
        for other in (*kind.is_a, *kind.readers):
            if other not in kinds:
                raise ValueError(f"kinds: {name} names the unknown kind {other}")
    for name in kinds:
        if name in _wider(kinds, name)[1:]:
            raise ValueError(f"kinds: {name} is a kind of itself")
    return kinds


def _wider(kinds: dict[str, Kind], name: str) -> tuple[str, ...]:
    """`name`, then all that it is a kind of, nearest first."""
    found = [name]
    for current in found:
        for wider in kinds[current].is_a:
            if wider == name or wider not in found:
                found.append(wider)
                if wider == name:
                    return tuple(found)
    return tuple(found)


KINDS: dict[str, Kind] = read_kinds(Path(__file__).with_name("kinds.toml").read_bytes())
_ACCEPTED_AS: dict[str, frozenset[str]] = {name: frozenset(_wider(KINDS, name)) for name in KINDS}


def accepts(wanted: tuple[str, ...], kind: str) -> bool:
    """Whether a consumer of the kinds `wanted` takes `kind` as it is.

    A kind that is not in the table (a host's own) is taken by whoever names it, and by nobody else.
    """
    return kind in wanted or not _ACCEPTED_AS.get(kind, frozenset()).isdisjoint(wanted)


def is_open(kind: str) -> bool:
    """Whether entries of `kind` may lack a field that a plan names; true for an unknown kind."""
    known = KINDS.get(kind)
    return known is None or known.open


def reader_for(kind: str, wanted: tuple[str, ...]) -> str | None:
    """The executor declared to read `kind` into something that a consumer of `wanted` takes, or None."""
    known = KINDS.get(kind)
    if known is None:
        return None
    return next((executor for made, executor in known.readers.items() if accepts(wanted, made)), None)
