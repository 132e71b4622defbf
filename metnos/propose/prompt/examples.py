"""Worked examples: read from their data file, kept as far as the catalog has their tools.

Law: data, read once. What an example shows of the plan language is held to the reader and to decoding by tests.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Container


class Worked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request and its plan."""

    en: str
    it: str
    plan: str
    """Line notation, each line ended."""

    @property
    def tools(self) -> frozenset[str]:
        """Names that the plan has need of."""
        return frozenset(line.split()[1] for line in self.plan.splitlines() if line[:1].isdigit())


class Impossible(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request that no shipped tool serves."""

    en: str
    it: str


class Examples(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    worked: tuple[Worked, ...]
    impossible: tuple[Impossible, ...]

    def of(self, names: Container[str]) -> tuple[Worked, ...]:
        """Those whose tools are all among `names`, in order."""
        return tuple(one for one in self.worked if all(tool in names for tool in one.tools))


@cache
def shipped() -> Examples:
    """Those that come with the package."""
    text = (files("metnos.propose.prompt") / "examples.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Examples)
