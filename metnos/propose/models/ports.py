"""What a model is to the rest of `propose`: a port for chat, a port for decoding under a grammar, and how both end early.

Law: text in, text out. A model knows no plan, no tool and no turn. Every call is given a `Stop` and looks at it often
enough that a deadline or a cancellation really ends the work; what a call cost is told whether it ended well or not.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

Role = Literal["fast", "middle", "wise", "creative", "frontier"]
ROLES: Final[tuple[Role, ...]] = ("fast", "middle", "wise", "creative", "frontier")


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What one or more calls cost."""

    calls: int = 0
    tokens_in: int = 0
    """Tokens of the prompt, those that were cached included."""
    tokens_cached: int = 0
    """Of these: not evaluated anew, because their state was kept."""
    tokens_out: int = 0
    """Tokens that were written, those that a grammar forced included."""
    seconds: float = 0.0
    """Wall time."""
    cost: float = 0.0
    """By the price table of the model's configuration, in its currency; 0 for a local one."""

    def __add__(self, other: Usage) -> Usage:
        """The sum, field by field."""
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})


class Message(msgspec.Struct, frozen=True):
    role: Literal["system", "user", "assistant"]
    content: str


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    usage: Usage
    model: str
    """As the server or the file calls itself."""
    finish: Literal["stop", "length"] = "stop"
    """`length`: cut off at `most_tokens`; the text is not whole."""


class ModelFault(Exception):
    """A call gave nothing usable.

    Attributes:
        code: One of `FAULTS`.
        message: English, one sentence, no secret in it.
        hint: What a person can do.
        usage: What it cost all the same.
    """

    def __init__(self, code: str, message: str, hint: str = "", usage: Usage | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.usage = usage or Usage()

    @property
    def retryable(self) -> bool:
        """Whether another model of the same role may be asked in its place."""
        return FAULTS[self.code]


FAULTS: Final[dict[str, bool]] = {
    "model-missing": True,       # its file or its package is not there
    "model-unreachable": True,   # no connection, or the server failed
    "model-refused": True,       # key, quota, unknown name
    "model-limited": True,       # rate limit
    "model-stalled": True,       # no token for `idle_s`
    "model-slow": True,          # longer than the `deadline_s` of this model, while the caller has time left
    "model-deadline": False,     # the call's own time is over
    "model-cancelled": False,    # the turn was cancelled
    "model-length": True,        # it did not come to an end within `most_tokens`
    "model-reply": True,         # what came back cannot be read
    "model-context": True,       # the prompt is longer than what it takes
    "model-unrecorded": False,   # a recording was asked for a call that it does not hold
}  # fmt: skip
"""Code → whether the next model of the role is tried."""


class Stop:
    """When a call has to end. Made once a call; `cancel` may come from any thread."""

    def __init__(self, *, deadline_s: float | None = None, idle_s: float | None = None) -> None:
        """Start the clock.

        Args:
            deadline_s: Seconds for the whole call; None: no limit.
            idle_s: Seconds that may pass without a token; None: no limit.
        """
        self.deadline = None if deadline_s is None else time.monotonic() + deadline_s
        self.idle_s = idle_s
        self._own = False
        """Whether the deadline is the model's, not the caller's."""
        self._cancelled = threading.Event()

    def within(self, *, deadline_s: float | None, idle_s: float | None) -> Stop:
        """The same call under the limits of one model: ends with this one, or earlier; cancelled together.

        Args:
            deadline_s: Of the model; where it comes first, `look` says `model-slow`, and another model may be asked.
            idle_s: Of the model; used where the caller named none.
        """
        made = Stop(deadline_s=deadline_s, idle_s=idle_s if self.idle_s is None else self.idle_s)
        made._cancelled = self._cancelled
        made._own = made.deadline is not None and (self.deadline is None or made.deadline < self.deadline)
        if not made._own:
            made.deadline, made._own = self.deadline, self._own
        return made

    def cancel(self) -> None:
        """End the call at its next look."""
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        """Whether somebody has called `cancel`."""
        return self._cancelled.is_set()

    @property
    def left_s(self) -> float | None:
        """Seconds until the deadline, at least 0; None: no limit."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def look(self) -> None:
        """Go on, or not.

        Raises:
            ModelFault: `model-cancelled`, `model-deadline` or `model-slow`.
        """
        if self._cancelled.is_set():
            raise ModelFault("model-cancelled", "the call was cancelled")
        if self.deadline is not None and time.monotonic() >= self.deadline:
            if self._own:
                raise ModelFault("model-slow", "the model took longer than its deadline_s", "raise its deadline_s")
            raise ModelFault("model-deadline", "the call took longer than it may")


class ChatModel(Protocol):
    """Any model. Safe between threads; calls of one local model wait for each other."""

    @property
    def name(self) -> str:
        """As the configuration calls it."""
        ...

    def complete(
        self,
        messages: Sequence[Message],
        *,
        most_tokens: int,
        stop: Stop,
        schema: dict[str, Any] | None = None,
    ) -> Completion:
        """Answer the last message, greedily.

        Args:
            messages: A system message first, if there is one.
            most_tokens: Of the answer.
            stop: When to end early.
            schema: JSON Schema that the answer has to satisfy, as far as the model's server can hold it to that.

        Raises:
            ModelFault: It gave no answer.
        """
        ...

    def close(self) -> None:
        """Give back what it holds; safe to repeat."""
        ...


class Decoded(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    tokens: int
    forced: int = 0
    """Of these: nothing else was possible, so the model was not asked."""
    surprise: float = 0.0
    """How much the grammar kept the model from what it would have written: the most, over all tokens that it chose, of
    -log of the probability that it gave to all allowed ones together, in nats. Near 0: it would have written so by
    itself; 3: it gave them 5 of 100.
    """


class Session(Protocol):
    """One conversation on one model's state, from a kept prefix on. Of one thread; close it."""

    @property
    def usage(self) -> Usage:
        """All so far."""
        ...

    def ask(self, text: str) -> None:
        """Add a message of the user, and open the answer. No part of `text` is read as a control token."""
        ...

    def feed(self, text: str) -> None:
        """Write `text` into the answer, as if the model had."""
        ...

    def mark(self) -> int:
        """A place to come back to."""
        ...

    def rewind(self, mark: int) -> None:
        """Forget what came after `mark`."""
        ...

    def choose(self, texts: Sequence[str]) -> tuple[float, ...]:
        """Log probability (nats) of each text as what comes next; nothing is written."""
        ...

    def decode(self, grammar: str, *, most_tokens: int) -> Decoded:
        """Write what the model likes best among what the grammar allows, to the end of the grammar.

        Args:
            grammar: Lark, as llguidance reads it; its start rule is `start`.
            most_tokens: Of this piece.

        Raises:
            ModelFault: `model-length`, or what `Stop` says.
            ValueError: The grammar is not one.
        """
        ...

    def close(self) -> None:
        """Give the model back; safe to repeat."""
        ...


class DecodingModel(ChatModel, Protocol):
    """A model whose next tokens can be held to a grammar."""

    def session(self, prefix: Sequence[Message], *, stop: Stop) -> Session:
        """Begin behind `prefix` (a system message, worked examples): its state is kept between calls and processes."""
        ...
