"""A model that says what it was told to say: for tests, and for a programme that is shown without a model.

    model = ScriptedModel("fake", "first answer", ModelFault("model-limited", "too many calls"), "second")

Law: it thinks nothing. One answer for each call, in order; a call beyond the last is a fault that no other model of the
role is asked instead of. It counts words where a model counts tokens.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from metnos import plainfile
from metnos.propose.models.ports import FAULTS, Completion, Message, ModelFault, Stop, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metnos.propose.models.config import ModelConfig, Price

MOST_BYTES = 4 * 1024 * 1024
Saying = Callable[[tuple[Message, ...]], str]
Answer = str | ModelFault | Saying


class Call(NamedTuple):
    """One time that it was asked."""

    messages: tuple[Message, ...]
    most_tokens: int
    schema: dict[str, Any] | None


class ScriptedModel:
    """A `ChatModel`.

    Args:
        name: As the configuration calls it.
        answers: As for `enqueue`.
        price: What its words cost.
    """

    def __init__(self, name: str, *answers: Answer, price: Price | None = None) -> None:
        self._name = name
        self._answers: deque[Answer] = deque(answers)
        self._price = price
        self._lock = threading.Lock()
        self.calls: list[Call] = []
        """Each time it was asked, in order."""

    @classmethod
    def from_file(cls, config: ModelConfig) -> ScriptedModel:
        """By `config.file`: a JSON list, each a text or `{"fault": CODE, "message": TEXT}`; from the first on in each process.

        Raises:
            ModelFault: `model-missing`: there is no such file, or it is none.
        """
        assert config.file is not None
        try:
            held: Any = json.loads(plainfile.read(config.file, MOST_BYTES))
            answers = [_answer(one) for one in held]
        except OSError as fault:
            what = f"{config.file}: {fault.strerror or fault}"
            raise ModelFault("model-missing", what, "write its answers there") from fault
        except (ValueError, TypeError, KeyError, RecursionError) as fault:
            hint = 'a JSON list, each a text or {"fault": CODE, "message": TEXT}'
            raise ModelFault("model-missing", f"{config.file} holds no answers", hint) from fault
        return cls(config.name, *answers, price=config.price)

    @property
    def name(self) -> str:
        """As the configuration calls it."""
        return self._name

    def enqueue(self, *answers: Answer) -> ScriptedModel:
        """Say these next; returns itself.

        Args:
            answers: A text is said; a fault is raised; a callable is given the messages, and what it returns is said.
        """
        with self._lock:
            self._answers.extend(answers)
        return self

    def complete(
        self, messages: Sequence[Message], *, most_tokens: int, stop: Stop, schema: dict[str, Any] | None = None
    ) -> Completion:
        """The next answer.

        Raises:
            ModelFault: It was enqueued, `stop` says so, or nothing is left (`model-unrecorded`).
        """
        stop.look()
        with self._lock:
            self.calls.append(Call(tuple(messages), most_tokens, schema))
            if not self._answers:
                raise ModelFault("model-unrecorded", f"{self._name} has no answer left", "give it one more")
            answer = self._answers.popleft()
        if isinstance(answer, ModelFault):
            raise answer
        words = (answer(tuple(messages)) if callable(answer) else answer).split(" ")
        read = sum(len(one.content.split(" ")) for one in messages)
        kept = words[:most_tokens]
        cost = self._price.of(read, 0, len(kept)) if self._price else 0.0
        return Completion(
            text=" ".join(kept),
            usage=Usage(calls=1, tokens_in=read, tokens_out=len(kept), cost=cost),
            model=self._name,
            finish="length" if len(words) > most_tokens else "stop",
        )

    def close(self) -> None:
        """Nothing to give back."""


def _answer(one: Any) -> Answer:
    if isinstance(one, str):
        return one
    if one["fault"] not in FAULTS or not isinstance(one["message"], str):
        raise ValueError("no fault of a model")
    return ModelFault(one["fault"], one["message"])
