"""What is done with the parts of a collection, and which of them is handed out next. Pure.

    class Sizes(msgspec.Struct, frozen=True):           # a task: pickled, and opened once by each who works at it
        def open(self) -> Callable[[Shard], int]:
            return lambda shard: sum(1 for _ in shard.read())

Law: parts are numbered in the order of the collection. With a window, no part is handed out that lies so many beyond the
first that is not done: what was done before its turn is held, and that is all that is held.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from metnos.evaluate.mapping.model import Lost
from metnos.record.faults import RecordFault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from metnos.evaluate.collections.model import Shard

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
TRIES: Final = 2
"""A part that was lost so often is not tried again."""


class Task(Protocol[R_co]):
    """What is done with each part."""

    def open(self) -> Callable[[Shard], R_co]:
        """Whatever is made once for all parts, in the process that works."""
        ...


class JobFailed(Exception):
    """The job raised; the message holds where. A bug of whoever wrote it."""


class Place(NamedTuple):
    """One part and its number."""

    number: int
    shard: Shard


class Finished(NamedTuple, Generic[R]):
    """One part, done; or lost for good."""

    place: Place
    result: R | None
    lost: str = ""
    """Why nobody could do it; empty: `result` is what it came to."""


class Failed(msgspec.Struct, frozen=True):
    """What a worker raised, in words that cross processes: exceptions do not all."""

    text: str
    code: str = ""
    """Of a `RecordFault`; empty: a bug, and `text` is its traceback."""
    hint: str = ""

    @classmethod
    def of(cls, fault: BaseException) -> Failed:
        """From the exception, where it is caught."""
        import traceback

        if isinstance(fault, RecordFault):
            return cls(fault.message, fault.code, fault.hint)
        if isinstance(fault, OSError):
            return cls(f"{fault.filename or ''}: {fault.strerror or fault}".removeprefix(": "), "environment")
        return cls("".join(traceback.format_exception(fault)))

    def again(self, shard: Shard) -> Exception:
        """To raise where it was asked for."""
        if self.code:
            return RecordFault(self.code, self.text, hint=self.hint)
        return JobFailed(f"the job failed at {shard.name}:\n{self.text}")


class Handing:
    """Which part is next; who does it does not matter."""

    def __init__(self, shards: Iterable[Shard], window: int | None = None) -> None:
        """`window`: so many parts beyond the first that is not done; None: no bound."""
        self._places: Iterator[Place] = (Place(number, shard) for number, shard in enumerate(shards))
        self._window = window
        self._first = 0
        self._done: set[int] = set()
        self._again: deque[Place] = deque()
        self._tries: dict[int, int] = {}
        self._handed = 0

    def next(self) -> Place | None:
        """A part; None: there is none now, because all are handed out or the window is full."""
        if self._again:
            return self._again.popleft()
        if self._window is not None and self._handed >= self._first + self._window:
            return None
        place = next(self._places, None)
        self._handed += place is not None
        return place

    def done(self, place: Place) -> None:
        """It need not be done any more."""
        self._tries.pop(place.number, None)
        if self._window is None:
            return
        self._done.add(place.number)
        while self._first in self._done:
            self._done.remove(self._first)
            self._first += 1

    def lose(self, place: Place) -> bool:
        """Whoever was at it is gone; yes: it will be handed out once more."""
        tries = self._tries[place.number] = self._tries.get(place.number, 0) + 1
        if tries < TRIES:
            self._again.append(place)
            return True
        self.done(place)
        return False


def told_of(lost: Lost) -> str:
    """Why a part is given up."""
    return f"lost by {TRIES} workers, the last by {lost.by}"


def in_order(finished: Iterable[Finished[R]]) -> Iterator[Finished[R]]:
    """The same in the order of the parts; what came early is held until then."""
    early: dict[int, Any] = {}
    number = 0
    for one in finished:
        early[one.place.number] = one
        while number in early:
            yield early.pop(number)
            number += 1
