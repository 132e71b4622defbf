"""The rules of this installation as one value, and their digest.

Law: `RULES` names every package whose code or data decides what a plan is, means or may do. The digest is over their
bytes (line ends as LF), so nobody bumps a number by hand: stored at build for a wheel, computed at start in a checkout.
"""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING

from metnos.turn.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.resources.abc import Traversable

    from metnos.contracts.catalog import Catalog
    from metnos.request.lexicon import Lexicon

RULES: tuple[str, ...] = (
    "metnos.plan",
    "metnos.values",
    "metnos.request",
    "metnos.contracts",
    "metnos.policy",
    "metnos.checks",
    "metnos.cache",
    "metnos.turn",
)
DATA_SUFFIXES: tuple[str, ...] = (".py", ".toml", ".json", ".lark")
STORED = "rules.digest"
"""Beside the packed catalog of a wheel."""


def rules_digest() -> str:
    """`sha256:…` over every file of `RULES`, in order of their names."""
    stored = files("metnos").joinpath("_catalog", STORED)
    return stored.read_text("ascii").strip() if stored.is_file() else compute_rules_digest()


def compute_rules_digest() -> str:
    """The digest from the files themselves; what a build stores."""
    total = hashlib.sha256(b"metnos.rules/1\n")
    for package in RULES:
        for name, data in sorted(_files_below(files(package), package)):
            body = data.replace(b"\r\n", b"\n")
            total.update(f"{name} {len(body)}\n".encode())
            total.update(body)
    return f"sha256:{total.hexdigest()}"


def _files_below(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        name = f"{prefix}/{entry.name}"
        if entry.is_dir():
            found += _files_below(entry, name)
        elif entry.name.endswith(DATA_SUFFIXES):
            found.append((name, entry.read_bytes()))
    return found


def learns(source: str, outcome: str) -> bool:
    """Whether a turn with a request ends with a `Learn`: a proposal that succeeded, a learned plan that did not."""
    return outcome == "success" if source == "model" else source == "cache" and outcome in ("error", "partial")


def make_rules(catalog: Catalog, lexicons: Sequence[Lexicon] | None = None) -> Rules:
    """The shipped rules over `catalog`, and what was added to the lexicons: its digest is then part of the rules'."""
    from metnos.checks.guards.run import guard_with
    from metnos.checks.outlines import Outlines
    from metnos.checks.validator import Validator
    from metnos.checks.verdicts import Verdicts
    from metnos.policy.approval import policy_digest
    from metnos.policy.decide import decide
    from metnos.request.lexicon import added_digest
    from metnos.request.understand import Normaliser, understand

    digest, added = rules_digest(), "" if lexicons is None else added_digest(lexicons)
    if added:
        digest = f"sha256:{hashlib.sha256(f'metnos.rules+lexicon/1 {digest} {added}'.encode()).hexdigest()}"
    validator = Validator(catalog)
    verdicts = Verdicts(validator, guard_with(validator), Outlines(validator, validator.bound))
    return Rules(
        normalise=understand if lexicons is None else Normaliser(lexicons),
        validate=verdicts.validate,
        guard=verdicts.guard,
        policy=decide,
        learn=learns,
        digest=digest,
        policy_digest=policy_digest(),
    )
