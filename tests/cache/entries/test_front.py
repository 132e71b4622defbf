"""What is not there is remembered as well as what is: only until somebody, in any process, adds or takes back a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from metnos.cache.entries.entry import Mark
from metnos.cache.entries.front import FRESH, Front, Known
from metnos.cache.entries.key import made
from metnos.cache.entries.memory import MemoryStore
from metnos.cache.entries.signing import Keys
from metnos.cache.entries.store import DiskStore
from tests.support.caching import AT, seed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from metnos.cache.entries.disk import Tampered

KEY, OTHER = made("l0", 1), made("l0", 2)
SCOPES = ("anna",)


class Counted(MemoryStore):
    """Counts the looks at the rows."""

    looks = 0

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes | Tampered]:
        self.looks += 1
        return super().get_many(keys)


def keys() -> Keys:
    return Keys(lambda: seed("ours"))


def mark(key: str, why: Any = "demoted") -> Mark:
    return Mark(key=key, scope="anna", why=why)


@pytest.fixture
def counted() -> Counted:
    return Counted()


def test_several_keys_cost_one_look_and_then_none(counted: Counted) -> None:
    front = Front(counted, keys())
    front.write(mark(OTHER))
    first = front.read_all((KEY, OTHER), SCOPES, AT)
    assert first[0] is None
    assert isinstance(first[1], Known)
    assert counted.looks == 1
    assert front.read_all((OTHER, KEY), SCOPES, AT) == [first[1], None]
    assert front.read(KEY, SCOPES, AT) is None
    assert counted.looks == 1


def test_what_is_absent_is_looked_for_again_after_a_while_and_when_the_clock_moved_back(counted: Counted) -> None:
    front = Front(counted, keys())
    for number, now in enumerate((AT, AT + FRESH, AT + 1), 1):
        assert front.read(KEY, SCOPES, now) is None
        assert counted.looks == number
    assert front.read(KEY, SCOPES, AT + FRESH) is None
    assert counted.looks == 3


def test_what_another_process_adds_or_takes_back_is_seen_at_once(tmp_path: Path) -> None:
    one, two = (Front(DiskStore(tmp_path / "cache"), keys()) for _ in range(2))
    assert one.read_all((KEY, OTHER), SCOPES, AT) == [None, None]
    two.write(mark(KEY))
    seen = one.read_all((KEY, OTHER), SCOPES, AT)
    assert isinstance(seen[0], Known)
    assert seen[1] is None
    two.write(mark(KEY, "negative-feedback"))
    again = one.read(KEY, SCOPES, AT)
    assert isinstance(again, Known)
    assert isinstance(again.kept, Mark)
    assert again.kept.why == "negative-feedback"
    two.drop(KEY)
    assert one.read(KEY, SCOPES, AT) is None
    two.write(mark(KEY))
    assert isinstance(one.read(KEY, SCOPES, AT), Known)
    one.close()
    two.close()


def test_absence_found_while_somebody_adds_is_not_remembered() -> None:
    class Racing(MemoryStore):
        def get_many(self, keys: Sequence[str]) -> dict[str, bytes | Tampered]:
            found = super().get_many(keys)
            if not found:
                other.write(mark(KEY))  # just after the look
            return found

    store = Racing()
    other = Front(store, keys())
    front = Front(store, keys())
    assert front.read(KEY, SCOPES, AT) is None
    assert isinstance(front.read(KEY, SCOPES, AT), Known)


def test_memory_of_what_is_absent_is_bounded(counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metnos.cache.entries.front.LIMIT", 3)
    front = Front(counted, keys())
    for number in range(10):
        assert front.read(made("l0", number), SCOPES, AT) is None
        assert len(front._absent) <= 3
