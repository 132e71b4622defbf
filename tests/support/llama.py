"""llama.cpp as far as a session uses it, without it: bytes for tokens, scores by a rule, and a record of what was read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from metnos.propose.models.ports import ModelFault, Stop

SIZE = 262
BEGIN, END = 256, 257
EOS = 261
MARKS = {"<|im_start|>": BEGIN, "<|im_end|>": END}


class FakeLibrary:
    """The vocabulary of llguidance's byte tokenizer; a model that wants to say `says`, and then to end."""

    def __init__(self, says: str = "", *, context: int = 4_096) -> None:
        self.says = says.encode()
        self.context = context
        self.held: dict[int, list[int]] = {}
        self.steps: list[int] = []
        """How many tokens were read at once."""
        self.on_step: Callable[[], None] = lambda: None

    def tokens(self, text: str) -> list[int]:
        return list(text.encode())

    def piece(self, token: int) -> bytes:
        return bytes([token]) if token < 256 else b""

    def ends(self, token: int) -> bool:
        return token == EOS

    def hold(self, tokens: int) -> None:
        if tokens > self.context:
            raise ModelFault("model-context", "too long")

    def evaluate(self, sequence: int, tokens: Sequence[int], at: int, stop: Stop, *, last: int = 1) -> Any:
        stop.look()
        self.on_step()
        held = self.held.setdefault(sequence, [])
        assert len(held) == at, "positions are read one behind the other"
        self.hold(at + len(tokens))
        held += tokens
        self.steps.append(len(tokens))
        return np.stack([self._scores(held[: len(held) - last + 1 + row]) for row in range(last)])

    def _scores(self, held: list[int]) -> Any:
        """After what was said since the last control token comes the next byte of `says`; then the end."""
        control = max((place for place, token in enumerate(held) if token > 255), default=-1)
        count = len(held) - control - 1 - len("assistant\n")
        scores = np.linspace(0.0, 1.0, SIZE, dtype=np.float32)
        wanted = self.says[count] if 0 <= count < len(self.says) else EOS
        scores[wanted] = 10.0
        return scores

    def forget(self, sequence: int, at: int) -> None:
        del self.held.setdefault(sequence, [])[at:]
