"""A model that has no opinion: it chooses at random among what the grammar allows.

Law: the same seed, grammar and calls give the same text. It holds exactly what the grammar lets it hold, so whatever it
writes, some model could have written. Needs the extra `models` (llguidance).
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from metnos.propose.models.ports import Decoded, ModelFault, Stop, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llguidance import LLMatcher, LLTokenizer

_TOKENIZER: list[LLTokenizer] = []
_BITS: Final = 8


class RandomSession:
    """A `Session` (`metnos.propose.models.ports`) over single bytes: a token is a byte.

        session = RandomSession(7)
        session.ask("delete draft.txt")
        session.decode('start: "yes" | "no"', most_tokens=10).text

    `written` is the answer so far, `asked` every message; `usage` counts bytes.
    """

    def __init__(self, seed: int = 0, *, stop: Stop | None = None) -> None:
        """Begin.

        Args:
            seed: Of the choices.
            stop: When to end early.
        """
        self._random = random.Random(seed)  # noqa: S311 - chance that can be repeated
        self._stop = stop or Stop()
        self.asked: list[str] = []
        self.written = ""
        self.grammars = 0
        """How many grammars were decoded."""
        self.usage = Usage()

    def ask(self, text: str) -> None:
        """Add a message, and begin a new answer."""
        self.asked.append(text)
        self.written = ""
        self.usage += Usage(calls=1, tokens_in=len(text.encode()))

    def feed(self, text: str) -> None:
        """Write `text` into the answer."""
        self.written += text
        self.usage += Usage(tokens_in=len(text.encode()))

    def mark(self) -> int:
        """How long the answer is."""
        return len(self.written)

    def rewind(self, mark: int) -> None:
        """Forget what came after `mark`."""
        self.written = self.written[:mark]

    def choose(self, texts: Sequence[str]) -> tuple[float, ...]:
        """A random log probability for each."""
        return tuple(-self._random.random() for _ in texts)

    def decode(self, grammar: str, *, most_tokens: int) -> Decoded:
        """Write to the end of the grammar; where a text may end or go on, either is chosen.

        Raises:
            ModelFault: `model-length`, or what `Stop` says.
            ValueError: The grammar is not one.
        """
        matcher = _matcher(grammar)
        out, forced = bytearray(), 0
        while not matcher.is_stopped():
            self._stop.look()
            sure = matcher.compute_ff_bytes()
            allowed = _allowed(matcher.compute_bitmask()) if not sure else list(sure[:1])
            if matcher.is_accepting() and (not allowed or self._random.random() < 0.5):
                break
            forced += len(allowed) == 1
            token = self._random.choice(allowed)
            matcher.consume_token(token)
            out.append(token)
            if len(out) > most_tokens:
                self._count(out)
                raise ModelFault("model-length", f"more than {most_tokens} tokens", usage=self.usage)
        self.grammars += 1
        text = out.decode()
        self._count(out)
        self.written += text
        return Decoded(text=text, tokens=len(out), forced=forced)

    def _count(self, out: bytearray) -> None:
        self.usage += Usage(tokens_out=len(out))

    def close(self) -> None:
        """Nothing is held."""


def accepts(grammar: str, text: str) -> bool:
    """Whether `text` is a whole text of the grammar.

    Raises:
        ValueError: The grammar is not one.
    """
    matcher = _matcher(grammar)
    data = list(text.encode())
    return matcher.try_consume_tokens(data) == len(data) and matcher.is_accepting()


def _matcher(grammar: str) -> LLMatcher:
    return _compiled(grammar).deep_copy()


@lru_cache(maxsize=64)
def _compiled(grammar: str) -> LLMatcher:
    """At its beginning; the first lines of one request are the same whatever is chosen later."""
    from llguidance import LLMatcher, LLTokenizer

    if not _TOKENIZER:
        _TOKENIZER.append(LLTokenizer("byte"))
    matcher = LLMatcher(_TOKENIZER[0], LLMatcher.grammar_from_lark(grammar))
    if matcher.is_error():
        raise ValueError(matcher.get_error())
    return matcher


def _allowed(mask: bytes) -> list[int]:
    """Bytes that a mask allows (a bit for each token, low bits first); what ends the text is none."""
    return [token for token in range(256) if mask[token // _BITS] >> (token % _BITS) & 1]
