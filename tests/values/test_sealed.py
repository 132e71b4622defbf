from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.values.sealed import HANDLE, find_handles, handle, has_handle
from tests.support.strategies import json_values

A, B = "a" * 32, "0123456789abcdef" * 2


def test_handles_are_spelled_one_way() -> None:
    assert handle(A) == f"⟦sealed:{A}⟧"
    assert HANDLE.fullmatch(handle(B))
    for bad in ("", "a" * 31, "A" * 32, "a" * 33, "g" * 32, A + "\n"):
        with pytest.raises(ValueError, match="32 lower-case hex digits"):
            handle(bad)


def test_handles_are_found_wherever_they_are_and_named_once() -> None:
    data: Any = {handle(B): ["x", {"y": f"Bearer {handle(A)}, {handle(B)}"}], "z": (None, 1, handle(A))}
    assert find_handles(data) == (B, A)
    assert has_handle(data)


@pytest.mark.parametrize(
    "data", ["⟦sealed:", f"⟦sealed:{A}", f"sealed:{A}", f"⟦sealed:{'A' * 32}⟧", None, 1, [], {"a": "⟦"}]
)
def test_what_looks_alike_is_none(data: Any) -> None:
    assert find_handles(data) == ()
    assert not has_handle(data)


@given(json_values, st.lists(st.binary(min_size=16, max_size=16), max_size=3))
def test_every_handle_is_found(data: Any, secrets: list[bytes]) -> None:
    identities = [secret.hex() for secret in secrets]
    assert find_handles([data, {"x": "".join(map(handle, identities))}]) == tuple(dict.fromkeys(identities))
