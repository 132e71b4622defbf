"""The loop that writes: what the model likes best among what a grammar allows, token by token.

Law: greedy, and the same for the same scores: of equals the lowest number. Where the grammar leaves one way, the model is
not asked, and all such tokens are read together with the next that is. Between two tokens `Stop` is looked at. Knows
tokens and scores; whose they are, it does not.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from metnos.propose.models.ports import ModelFault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from metnos.propose.models.ports import Stop


class Tape(Protocol):
    """What is written on."""

    @property
    def stop(self) -> Stop:
        """When to end early."""
        ...

    def scores(self) -> NDArray[Any]:
        """Of all tokens as the next one (float32, not normalised)."""
        ...

    def append(self, tokens: Sequence[int]) -> None:
        """Write them; they are read when somebody next wants scores."""
        ...


class Written(NamedTuple):
    tokens: list[int]
    forced: int
    surprise: float
    """As in `ports.Decoded`."""
    whole: bool
    """Whether the end was reached within the limit."""


def held_to(tokenizer: Any, grammar: str) -> Any:
    """A matcher of llguidance at the beginning of a Lark grammar.

    Raises:
        ValueError: The grammar is not one.
    """
    from llguidance import LLMatcher

    return _matcher(tokenizer, LLMatcher.grammar_from_lark(grammar))


def held_to_schema(tokenizer: Any, schema: dict[str, Any]) -> Any:
    """The same of a JSON Schema, as far as llguidance knows its keywords.

    Raises:
        ValueError: It cannot be followed.
    """
    from llguidance import LLMatcher

    written = json.dumps(schema, sort_keys=True)
    # Compact: where any white space may stand, a small model writes it until the limit. Lenient: a plan's schema says with
    # `contains` that it ends, which no grammar of llguidance can hold; whoever reads the plan holds it to the whole schema.
    grammar = LLMatcher.grammar_from_json_schema(written, defaults={"whitespace_flexible": False, "lenient": True})
    return _matcher(tokenizer, grammar)


def _matcher(tokenizer: Any, grammar: str) -> Any:
    from llguidance import LLMatcher

    matcher = LLMatcher(tokenizer, grammar, log_level=0)
    if matcher.is_error():
        raise ValueError(matcher.get_error())
    return matcher


def write(tape: Tape, matcher: Any, ends: Sequence[int], *, most_tokens: int) -> Written:
    """Follow `matcher` to its end; `ends` are the tokens that end an answer, and are not written.

    Raises:
        ModelFault: What `Stop` or the model's computation says.
    """
    tokens: list[int] = []
    forced, surprise = 0, 0.0
    while True:
        tape.stop.look()
        ahead: list[int] = matcher.compute_ff_tokens()
        if ahead:
            _consume(matcher, ahead)
            tape.append(ahead)
            tokens += ahead
            forced += len(ahead)
        if matcher.is_stopped() or len(tokens) > most_tokens:
            return Written(tokens, forced, surprise, len(tokens) <= most_tokens)
        if len(tokens) == most_tokens and not matcher.is_accepting():
            return Written(tokens, forced, surprise, whole=False)
        token, away = best(tape.scores(), matcher.compute_bitmask())
        surprise = max(surprise, away)
        if token in ends:
            return Written(tokens, forced, surprise, whole=True)
        if len(tokens) == most_tokens:
            return Written(tokens, forced, surprise, whole=False)
        _consume(matcher, [token])
        tape.append([token])
        tokens.append(token)


def speak(tape: Tape, ends: Callable[[int], bool], *, most_tokens: int) -> Written:
    """Write without a grammar, until the model ends its answer.

    Raises:
        ModelFault: What `Stop` or the model's computation says.
    """
    tokens: list[int] = []
    while len(tokens) < most_tokens:
        tape.stop.look()
        token = int(np.argmax(tape.scores()))
        if ends(token):
            return Written(tokens, 0, 0.0, whole=True)
        tape.append([token])
        tokens.append(token)
    return Written(tokens, 0, 0.0, whole=False)


def _consume(matcher: Any, tokens: Sequence[int]) -> None:
    if not matcher.consume_tokens(list(tokens)):
        raise ModelFault("model-reply", f"the grammar cannot go on: {matcher.get_error()}")


def best(scores: NDArray[Any], mask: bytes) -> tuple[int, float]:
    """The best allowed token, and the surprise: how little the model thinks that any allowed one comes next, in nats.

    Args:
        scores: One for each token of the vocabulary.
        mask: One bit for each, lowest first.

    Raises:
        ModelFault: None is allowed.
    """
    bits = np.unpackbits(np.frombuffer(mask, np.uint8), bitorder="little")
    allowed = np.flatnonzero(bits[: len(scores)])
    if not len(allowed):
        raise ModelFault("model-reply", "the grammar allows no token of this model")
    held = scores[allowed]
    first = int(np.argmax(held))
    return int(allowed[first]), max(0.0, _log_sum(scores) - _log_sum(held))


def _log_sum(scores: NDArray[Any]) -> float:
    """Logarithm of the sum of what these are the logarithms of."""
    most = float(scores.max())
    return most + float(np.log(np.exp(scores - most).sum(dtype=np.float64)))


def log_probabilities(scores: NDArray[Any]) -> NDArray[Any]:
    """Of all tokens, in nats (float64)."""
    wide = scores.astype(np.float64)
    wide -= wide.max()
    return wide - np.log(np.exp(wide).sum())
