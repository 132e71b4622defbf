"""What is kept of a plan that succeeded, and what is kept against one: pure data, and their canonical bytes.

Law: every stored form says its version and its tag, and is read strictly: a field that is not known is a fault. An
entry holds everything that it is found by, so whoever reads it can tell whether it stands under its own key.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from metnos.plan.jsondata import canonical, digest_bytes

Layer = Literal["l0", "l1"]
Grade = Literal["strict", "loose"]
Evidence = Literal["success", "agreement", "feedback"]
SHARED = "shared"
"""Scope of an entry that belongs to nobody."""
VERSION = 1


class Depends(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an entry was made under; compared at each use, part by part (`validity`)."""

    executors: dict[str, str]
    """Name → executor signature, of every tool that the plan names."""
    families: tuple[tuple[str, str], ...]
    """(verb, object) of the request intents, sorted; empty: the lexicon found none, and the whole catalog counts."""
    family: str
    """Signature of all executors in `families`; of the catalog where there are none."""
    rules: str
    policy: str
    lexicon: str = ""
    """Digest of the lexicon files that the owner added; empty: none."""
    channel: str = "terminal"
    place: str = ""
    """Digest of folder, home and roots where a literal of the plan names one of them unsaid; empty: any place."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, tag="entry", tag_field="is", forbid_unknown_fields=True):
    """A plan that may be served again."""

    version: int = VERSION
    layer: Layer
    scope: str
    """The owner, or `shared`."""
    language: str
    grade: Grade
    form: str
    """Normal form of that grade."""
    kinds: tuple[str, ...] = ()
    values: tuple[Any, ...] = ()
    """`l0`: what the request says beside its form (`key.said`); `l1`: [index, value] of each slot that stays as it was."""
    plan: dict[str, Any]
    """`l0`: the plan; `l1`: the plan with `${SLOT:…}` in it."""
    general: dict[str, Any] | None = None
    """`l1`: how its slots are bound: the fields of `uses.General` but its plan."""
    read_only: bool = False
    depends: Depends
    evidence: Evidence = "success"
    turns: tuple[str, ...] = ()
    """Turns that it was learned from."""
    cost: dict[str, int] = {}
    """What the proposal cost: `planning_calls`, `tokens_in`, `tokens_out`."""
    admitted_at: int = 0
    """µs since 1970 UTC."""


class Mark(msgspec.Struct, frozen=True, kw_only=True, tag="mark", tag_field="is", forbid_unknown_fields=True):
    """Stands in an entry's place and says why nothing is served there."""

    version: int = VERSION
    key: str
    scope: str
    why: Literal["demoted", "negative-feedback"]
    detail: str = ""
    turn: str = ""
    at: int = 0
    entry: str = ""
    """Digest of the entry that stood there; empty: none did."""


class Against(msgspec.Struct, frozen=True, kw_only=True, tag="against", tag_field="is", forbid_unknown_fields=True):
    """The anti-entry: this plan was bad for this request, and is not learned for it again."""

    version: int = VERSION
    key: str
    scope: str
    turn: str = ""
    at: int = 0


class Shape(msgspec.Struct, frozen=True, kw_only=True, tag="shape", tag_field="is", forbid_unknown_fields=True):
    """Which slots of a form stay in the keys of its `l1` entries: the index that leads to them, and nothing more."""

    version: int = VERSION
    key: str
    scope: str
    patterns: tuple[tuple[int, ...], ...]


class Sighting(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One success, as it waits for a second that agrees."""

    text: str
    plan: dict[str, Any]
    turn: str


class Held(msgspec.Struct, frozen=True, kw_only=True, tag="held", tag_field="is", forbid_unknown_fields=True):
    """Successes of one form whose plans hold literals that nobody said: no `l1` entry until two of them agree."""

    version: int = VERSION
    key: str
    scope: str
    rules: str
    """Digest of the rules under which all of them were understood."""
    seen: tuple[Sighting, ...]


class Outcomes(msgspec.Struct, frozen=True, kw_only=True, tag="near", tag_field="is", forbid_unknown_fields=True):
    """What confirmations said of a plan's near matches; the proof that its error is small, so it is signed too."""

    version: int = VERSION
    key: str
    scope: str
    seen: tuple[tuple[float, bool], ...]
    """(score, right), in order."""


Kept: TypeAlias = Entry | Mark | Against | Shape | Held | Outcomes
_decoder = msgspec.json.Decoder(Kept, strict=True)


def to_bytes(kept: Kept) -> bytes:
    """Canonical JSON.

    Raises:
        JSONFault: it holds something that is not JSON.
    """
    return canonical(msgspec.to_builtins(kept))


def from_bytes(body: bytes) -> Kept:
    """What `to_bytes` wrote.

    Raises:
        ValueError: it is none, or of another version.
    """
    kept = _decoder.decode(body)
    if kept.version != VERSION:
        raise ValueError(f"version {kept.version}")
    return kept


def reference(key: str, body: bytes) -> str:
    """How an entry is named in logs: `l0:<hex>@sha256:<hex>`."""
    return f"{key}@{digest_bytes(body)}"
