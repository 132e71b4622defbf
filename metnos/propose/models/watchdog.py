"""How long a model may say nothing, and how a call that is over is really ended.

A *stall* is a pause that ends; a *hang* is one that does not. Both look alike from within, so the watchdog counts, and
gives up at a limit; what it gave up on says how long the longest pause was that did end.

Law: time in which this process did not run at all (stopped, its machine asleep or starved) is nobody's pause: the
model's server may have answered long ago, and nobody was there to read it. So the clock counts ticks that it saw.
"""

from __future__ import annotations

import time
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Final, TypeVar

from metnos.propose.models.ports import ModelFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.propose.models.ports import Stop

T = TypeVar("T")
TICK_S: Final = 0.05
_MOST_OF_A_TICK_S: Final = 4 * TICK_S


class Watch:
    """The pauses of one call. `token` may be called from another thread than `look`."""

    def __init__(self, idle_s: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = idle_s
        self._clock = clock
        self._seen: float | None = None
        self._idle = 0.0
        self._answered = 0
        self._counted = 0
        self.longest_s = 0.0
        """The longest pause that a token ended."""

    @property
    def tokens(self) -> int:
        """How many have come."""
        return self._answered

    def begin(self) -> None:
        """The request has left: from here on it is the model that says nothing."""
        self._seen = self._clock()

    def token(self) -> None:
        """One has come."""
        self._answered += 1

    def look(self) -> None:
        """Count the time since the last look; at least every `TICK_S`.

        Raises:
            ModelFault: `model-stalled`.
        """
        if self._seen is None:
            return
        now = self._clock()
        passed, self._seen = now - self._seen, now
        self._idle += min(passed, _MOST_OF_A_TICK_S)
        if self._counted != self._answered:
            self._counted = self._answered
            self.longest_s, self._idle = max(self.longest_s, self._idle), 0.0
        elif self._limit is not None and self._idle >= self._limit:
            raise ModelFault(
                "model-stalled",
                f"no token for {self._limit:g} s, after {self._counted}; its longest pause before: {self.longest_s:.1f} s",
                "it hangs; if it is known to be slow, raise its idle_s",
            )


def finish(work: Future[T], stop: Stop, watch: Watch, ended: Callable[[float], bool]) -> T:
    """What `work`, which another thread does, comes to; it is cancelled where the call has to end first.

    Args:
        work: Cancelling it ends what it waits for.
        stop: Of the call.
        watch: Told of each token by `work`.
        ended: Waits so many seconds until `work` has let go of what it held; whether it has.

    Raises:
        ModelFault: `stop` or `watch` says so.
        Exception: Of `work`.
    """
    try:
        while not wait((work,), timeout=TICK_S).done:
            stop.look()
            watch.look()
        return work.result()
    finally:
        if not work.done():
            work.cancel()
            ended(_LET_GO_S)


_LET_GO_S: Final = 2.0
