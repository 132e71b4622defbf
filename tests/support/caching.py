"""A plan cache on a folder, a world that can be changed part by part, and lessons to teach it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from metnos.cache.admission import Lesson
from metnos.cache.entries.memory import MemoryStore
from metnos.cache.entries.signing import Keys
from metnos.cache.entries.store import DiskStore, Store
from metnos.cache.entries.validity import World
from metnos.cache.model import Asking, Match, Miss, Place
from metnos.cache.plancache import PlanCache
from metnos.cache.templates.library import TemplateLibrary
from metnos.contracts.catalog import Catalog
from metnos.request.understand import understand

AT = 1_780_000_000_000_000
"""Some day of 2026, µs since 1970."""
PLACE = Place(folder="/home/anna/work", home="/home/anna", roots=("/home/anna/work",))
ASKING = Asking(owner="anna", now=AT, place=PLACE)


def seed(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()


def opened(
    where: Path | Store | None, catalog: Catalog, *, key: str = "ours", trusted: tuple[str, ...] = (), **world: Any
) -> PlanCache:
    """A plan cache with no templates, in a folder, in memory, or over a store."""
    store = MemoryStore() if where is None else DiskStore(where) if isinstance(where, Path) else where
    settings = {"rules": "sha256:rules", "policy": "sha256:policy"} | world
    return PlanCache(store, Keys(lambda: seed(key), trusted), World(catalog, **settings), TemplateLibrary())


def plan(*steps: dict[str, Any], **end: Any) -> dict[str, Any]:
    return {"steps": [*steps, {"tool": "final_answer", "args": end}]}


def step(tool: str, **args: Any) -> dict[str, Any]:
    return {"tool": tool, "args": args}


def lesson(text: str, steps: dict[str, Any], *, language: str = "en", turn: str = "t1", **more: Any) -> Lesson:
    """A success; `asking` and `evidence` as given."""
    given = {"asking": ASKING} | more
    return Lesson(request=understand(text, language), plan=steps, turn=turn, **given)


def ask(cache: PlanCache, text: str, *, language: str = "en", **asking: Any) -> Match | Miss:
    return cache.look_up(understand(text, language), msgspec.structs.replace(ASKING, **asking))


def told(found: Match | Miss) -> str:
    """The layer that served, or the reason of the miss."""
    return found.layer if isinstance(found, Match) else found.reason
