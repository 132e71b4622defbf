"""A suite of checks that any implementation of a protocol can be put through, with pytest or without.

Law: no pytest here: a suite is a class whose methods `test_*` take one folder, called `tmp_path` because pytest fills that
name. Every kind of store that a third party may write gets a suite (`journals`); this file knows none of them.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.record.faults import RecordFault

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


class StoreBroken(AssertionError):
    """A promise that was not kept; the message says which."""


class Suite:
    """Subclass a suite, and write `open`; a class whose name begins with `Test` is found by pytest."""

    def open(self, place: Path) -> Any:
        """The store at `place`, a folder that is empty at first; called again, a second user of the same store."""
        raise NotImplementedError

    @contextmanager
    def opened(self, place: Path) -> Generator[Any]:
        """The store at `place`, closed in the end."""
        place.mkdir(parents=True, exist_ok=True)
        store = self.open(place)
        try:
            yield store
        finally:
            store.close()


def checks_of(suite: Suite) -> dict[str, Callable[[Path], None]]:
    """Name → check, of one suite."""
    return {name: getattr(suite, name) for name in dir(suite) if name.startswith("test_")}


def check_store(suite: Suite, place: Path) -> None:
    """Run every check of a suite, each in a folder of its own below `place`.

    Raises:
        StoreBroken: What did not hold, one line a check.
    """
    broken: list[str] = []
    for name, check in checks_of(suite).items():
        (folder := place / name).mkdir(parents=True)
        try:
            check(folder)
        except Exception as fault:  # noqa: BLE001 - whatever a store raises is its answer to this check
            broken.append(f"{name}: {type(fault).__name__}: {fault}")
    if broken:
        raise StoreBroken("\n".join(broken))


def must(holds: bool, otherwise: str) -> None:
    """Say `otherwise` if it does not hold.

    Raises:
        StoreBroken: It does not.
    """
    if not holds:
        raise StoreBroken(otherwise)


def refused(code: str, act: Callable[[], object]) -> None:
    """`act` must be refused with this code.

    Raises:
        StoreBroken: It was not, or with another.
    """
    try:
        act()
    except RecordFault as fault:
        if fault.code != code:
            raise StoreBroken(f"refused with {fault.code} where {code} is due: {fault.message}") from fault
        return
    raise StoreBroken(f"{code} is due, and nothing was refused")
