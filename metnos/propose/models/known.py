"""The models that can be pulled by name: `sources.toml`, as values.

Law: data only; nothing is fetched here. What a name stands for is its digest.
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path

import msgspec

from metnos.propose.models.ports import Role

FILE = Path(__file__).with_name("sources.toml")


class Wheels(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file in pieces, one in each of several packages."""

    package: str
    """With `{number}`, from 1."""
    version: str
    piece_bytes: int
    """Of each piece but the last."""
    sha256: tuple[str, ...]
    """Of each piece."""


class Known(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One model."""

    name: str
    title: str
    by: str
    licence: str
    file: str
    bytes: int
    sha256: str
    context: int
    roles: tuple[Role, ...]
    urls: tuple[str, ...] = ()
    wheels: Wheels | None = None


@lru_cache(maxsize=1)
def known() -> dict[str, Known]:
    """Name → model, the most useful first."""
    held = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {name: msgspec.convert({"name": name, **fields}, Known) for name, fields in held.items()}
