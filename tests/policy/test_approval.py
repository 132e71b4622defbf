"""Approvals: every part of what was shown is in the hash."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.policy import approval
from metnos.policy.approval import approval_hash, items_digest, policy_digest
from metnos.policy.table import TABLE

SHOWN: dict[str, Any] = {
    "owner": "ada",
    "turn": "t1",
    "plan_digest": "sha256:aa",
    "step": "1.2",
    "arguments": "sha256:bb",
    "targets": ("a.md", "b.md"),
    "count": 2,
    "executor": "write_files@1.0.0",
    "policy": "sha256:cc",
}
OTHER: dict[str, list[Any]] = {
    "owner": ["eve", ""],
    "turn": ["t2"],
    "plan_digest": ["sha256:ab"],
    "step": ["1.3", "1.2.0"],
    "arguments": ["sha256:bc"],
    "targets": [("b.md", "a.md"), ("a.md",), ("a.md", "b.md", "c.md"), ("a.mdb.md",), ()],
    "count": [1, 3],
    "executor": ["write_files@1.0.1"],
    "policy": ["sha256:cd"],
}


def test_the_hash_is_stable() -> None:
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", approval_hash(**SHOWN))
    assert approval_hash(**SHOWN) == approval_hash(**{**SHOWN, "targets": ["a.md", "b.md"]})


@pytest.mark.parametrize(("part", "value"), [(part, value) for part, values in OTHER.items() for value in values])
def test_every_part_counts(part: str, value: Any) -> None:
    assert set(OTHER) == set(SHOWN)
    assert approval_hash(**{**SHOWN, part: value}) != approval_hash(**SHOWN)


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_items_digests_are_ordered_and_do_not_collide(one: list[str], other: list[str]) -> None:
    assert (items_digest(one) == items_digest(other)) is (one == other)


def test_the_policy_digest_follows_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    before = policy_digest()
    monkeypatch.setitem(TABLE, "send", {**TABLE["send"], "catalog": "ask"})
    assert policy_digest() == before, "taken once"
    approval.policy_digest.cache_clear()
    try:
        assert policy_digest() != before
    finally:
        monkeypatch.undo()
        approval.policy_digest.cache_clear()
    assert policy_digest() == before
