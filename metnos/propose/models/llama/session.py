"""One conversation on a model's state: what was read, what is still to be read, and the way back.

Law: of one thread. What is written waits in `pending` until somebody wants scores, so that forced tokens, fed text and a
question are read in one go. A place is a number of tokens. After a fault the session stands where it stood before the
call, and the fault says what it cost. Whose prefix it is and which sequence it has, it is told.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from metnos.propose.models.llama import decoding
from metnos.propose.models.ports import Decoded, ModelFault, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from numpy.typing import NDArray

    from metnos.propose.models.llama.library import Library
    from metnos.propose.models.ports import Stop


class LlamaSession:
    """See `metnos.propose.models.ports.Session`."""

    def __init__(
        self,
        library: Library,
        sequence: int,
        prefix: Sequence[int],
        *,
        stop: Stop,
        usage: Usage,
        laid_out: Callable[[str, bool], list[int]],
        tokenizer: Callable[[], Any],
        closed: Callable[[int], None],
    ) -> None:
        """Begin behind a prefix that `sequence` holds.

        Args:
            library: Whose sequence it is.
            sequence: Its number, of this session alone until it is closed.
            prefix: The tokens that it holds.
            stop: For all calls.
            usage: What the prefix cost.
            laid_out: A message of the user (and whether an answer is open) in tokens.
            tokenizer: Of llguidance, made when first wanted.
            closed: Is given the sequence back.
        """
        self._library = library
        self._sequence: Final = sequence
        self._least: Final = len(prefix)
        self._read = list(prefix)
        self._pending: list[int] = []
        self._scores: NDArray[Any] | None = None
        self._answers: list[int] = []
        self._usage = usage
        self._laid_out = laid_out
        self._tokenizer = tokenizer
        self._give_back: Callable[[int], None] | None = closed
        self.stop = stop

    @property
    def usage(self) -> Usage:
        """All so far; `calls` counts questions."""
        return self._usage

    @contextmanager
    def _call(self) -> Generator[None]:
        if self._give_back is None:
            raise ValueError("the session is closed")
        begun, mark = time.monotonic(), self.mark()
        try:
            yield
        except BaseException as fault:
            self._usage += Usage(seconds=time.monotonic() - begun)
            self._back_to(mark)
            if isinstance(fault, ModelFault):
                fault.usage = self._usage
            raise
        self._usage += Usage(seconds=time.monotonic() - begun)

    # ---------------------------------------------------------------------------------------------- writing

    def ask(self, text: str) -> None:
        """Add a message of the user, and open the answer.

        Raises:
            ModelFault: `model-context`, before anything of it is read.
        """
        with self._call():
            tokens = self._laid_out(text, bool(self._answers))
            self._library.hold(self.mark() + len(tokens))
            self.append(tokens)
            self._answers.append(self.mark())
            self._usage += Usage(calls=1, tokens_in=len(tokens))

    def feed(self, text: str) -> None:
        """Write `text` into the answer, as if the model had; it counts as read, not as written."""
        with self._call():
            tokens = self._library.tokens(text)
            self.append(tokens)
            self._usage += Usage(tokens_in=len(tokens))

    def append(self, tokens: Sequence[int]) -> None:
        """Write tokens; they are read when somebody next wants scores."""
        self._pending += tokens
        if tokens:
            self._scores = None

    def mark(self) -> int:
        """A place to come back to."""
        return len(self._read) + len(self._pending)

    def rewind(self, mark: int) -> None:
        """Forget what came after `mark`.

        Raises:
            ValueError: There is no such place in this session.
        """
        if self._give_back is None or not self._least <= mark <= self.mark():
            raise ValueError(f"no place {mark} in this session")
        self._back_to(mark)

    def _back_to(self, mark: int) -> None:
        if mark == self.mark():
            return
        if mark < len(self._read):
            self._library.forget(self._sequence, mark)
            del self._read[mark:]
        del self._pending[mark - len(self._read) :]
        self._answers = [one for one in self._answers if one <= mark]
        self._scores = None

    # ---------------------------------------------------------------------------------------------- reading

    def scores(self) -> NDArray[Any]:
        """Of all tokens as the next one; reads what is pending."""
        if self._scores is not None:
            return self._scores
        if not self._pending:  # the state of a prefix holds no scores, nor does one that was gone back to
            if not self._read:
                raise ValueError("nothing has been said yet")
            self._pending = [self._read.pop()]
            self._library.forget(self._sequence, len(self._read))
        rows = self._library.evaluate(self._sequence, self._pending, len(self._read), self.stop)
        self._read += self._pending
        self._pending = []
        self._scores = rows[-1]
        return rows[-1]

    def choose(self, texts: Sequence[str]) -> tuple[float, ...]:
        """Log probability (nats) of each text as what comes next; nothing is written."""
        with self._call():
            first = decoding.log_probabilities(self.scores())
            return tuple(self._weighed(first, self._library.tokens(text)) for text in texts)

    def _weighed(self, first: NDArray[Any], tokens: list[int]) -> float:
        if not tokens:
            return 0.0
        total = float(first[tokens[0]])
        if len(tokens) > 1:
            at = len(self._read)
            before = tokens[:-1]
            rows = self._library.evaluate(self._sequence, before, at, self.stop, last=len(before))
            self._library.forget(self._sequence, at)
            self._usage += Usage(tokens_in=len(before))
            total += sum(
                float(decoding.log_probabilities(row)[token]) for row, token in zip(rows, tokens[1:], strict=True)
            )
        return total

    def decode(self, grammar: str, *, most_tokens: int) -> Decoded:
        """Write what the model likes best among what the grammar allows, to the end of the grammar.

        Raises:
            ModelFault: `model-length`, or what `Stop` says.
            ValueError: The grammar is not one.
        """
        with self._call():
            tokenizer = self._tokenizer()
            matcher = decoding.held_to(tokenizer, grammar)
            written = decoding.write(self, matcher, tokenizer.eos_tokens, most_tokens=most_tokens)
            self._usage += Usage(tokens_out=len(written.tokens))
            if not written.whole:
                raise ModelFault("model-length", f"the model came to no end within {most_tokens} tokens")
            return Decoded(
                text=self.text(written.tokens),
                tokens=len(written.tokens),
                forced=written.forced,
                surprise=written.surprise,
            )

    def complete(self, *, most_tokens: int, schema: dict[str, Any] | None) -> tuple[str, bool]:
        """Write an answer to its end or to the limit: the text, and whether it is whole.

        Raises:
            ModelFault: What `Stop` says.
            ValueError: The schema cannot be followed.
        """
        with self._call():
            if schema is None:
                written = decoding.speak(self, self._library.ends, most_tokens=most_tokens)
            else:
                tokenizer = self._tokenizer()
                matcher = decoding.held_to_schema(tokenizer, schema)
                written = decoding.write(self, matcher, tokenizer.eos_tokens, most_tokens=most_tokens)
            self._usage += Usage(tokens_out=len(written.tokens))
            return self.text(written.tokens), written.whole

    def text(self, tokens: Sequence[int]) -> str:
        """What these tokens say."""
        return b"".join(map(self._library.piece, tokens)).decode(errors="replace")

    def close(self) -> None:
        """Give the sequence back; safe to repeat."""
        give_back, self._give_back = self._give_back, None
        if give_back is not None:
            give_back(self._sequence)
