"""What comes in of one streamed answer: its text, its end, what it cost.

Law: pure; what a chunk lacks is no fault, what it has in the wrong form is one. Where a server tells no usage, it is
estimated: a token for each chunk that was written, and one for four characters that were read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from metnos.propose.models.ports import Completion, ModelFault, Usage

if TYPE_CHECKING:
    from metnos.propose.models.config import ModelConfig
    from metnos.propose.models.watchdog import Watch

_CHARACTERS_A_TOKEN: Final = 4


class Reading:
    """Of one call, whatever number of requests it takes."""

    def __init__(self, characters: int, config: ModelConfig, watch: Watch) -> None:
        self._read = -(-characters // _CHARACTERS_A_TOKEN)
        self._config = config
        self.watch = watch
        self._calls = 0
        self._opened = False
        self._model = ""
        self._parts: list[str] = []
        self._finish: str | None = None
        self._told: tuple[int, int, int] | None = None

    def begin(self) -> None:
        """A request goes out."""
        self._calls += 1

    def opened(self) -> None:
        """The server has begun to answer: from here on it has read the prompt."""
        self._opened = True

    @property
    def tokens(self) -> int:
        """So many have come."""
        return self.watch.tokens

    def take(self, chunk: Any) -> None:
        """One chunk of the stream.

        Raises:
            AttributeError, TypeError, LookupError: It is none.
        """
        self._model = self._model or str(chunk.model or "")
        if chunk.usage:
            cached = getattr(getattr(chunk.usage, "prompt_tokens_details", None), "cached_tokens", None)
            self._told = (_count(chunk.usage.prompt_tokens), _count(cached or 0), _count(chunk.usage.completion_tokens))
        if not chunk.choices or chunk.choices[0].index:
            return
        choice = chunk.choices[0]
        text = choice.delta.content if choice.delta else None
        if text:
            if not isinstance(text, str):
                raise TypeError("text")
            self._parts.append(text)
        if text or getattr(choice.delta, "reasoning_content", None):
            self.watch.token()
        self._finish = choice.finish_reason or self._finish

    def end(self) -> None:
        """The stream has ended.

        Raises:
            ModelFault: Too early, or the server held the answer back.
        """
        if self._finish is None:
            raise ModelFault("model-reply", "the answer ended without an end", "look at the log of the server")
        if self._finish == "content_filter":
            raise ModelFault("model-refused", "the server held the answer back", "say it in other words")

    def usage(self, seconds: float) -> Usage:
        """What it has cost so far."""
        if not self._opened:
            return Usage(calls=self._calls, seconds=seconds)
        read, cached, written = self._told or (self._read, 0, self.watch.tokens)
        cached = min(cached, read)
        return Usage(
            calls=self._calls,
            tokens_in=read,
            tokens_cached=cached,
            tokens_out=written,
            seconds=seconds,
            cost=self._config.price.of(read, cached, written),
        )

    def completion(self, seconds: float) -> Completion:
        """The whole answer."""
        finish: Literal["stop", "length"] = "length" if self._finish == "length" else "stop"
        text = "".join(self._parts)
        return Completion(text=text, usage=self.usage(seconds), model=self._model or self._config.model, finish=finish)


def _count(number: Any) -> int:
    """A count that a server told.

    Raises:
        TypeError: It is none.
    """
    if type(number) is not int or not 0 <= number < 2**53:
        raise TypeError("count")
    return number
