"""A proposer that says what it was told to say, and keeps what it was asked.

    proposer = ScriptedProposer({"steps": [...]}, TimeoutError("too slow"))
    with Engine.open(memory=True, proposer=proposer) as engine:
        engine.run_sync("which texts lie around here")
    proposer.assert_done()

Law: it plans nothing. One answer for each time it is asked, in order; what is asked beyond the last is a failure of the
turn (`proposer-failed`) and of `assert_done`.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """One time that the proposer was asked."""

    request: Any
    """The first argument of a proposer, as it came: text, purpose, diagnostics of a plan that was rejected."""
    candidates: Any
    """The second one: the contracts that a plan may use."""


class ScriptedProposer:
    """Give it to `Engine.open(proposer=...)`.

    Args:
        answers: As for `enqueue`.
    """

    def __init__(self, *answers: Any) -> None:
        self._answers: deque[Any] = deque()
        self.asked: list[Asked] = []
        """Each time it was asked, in order; those without an answer too."""
        self._unanswered = 0
        self.enqueue(*answers)

    def enqueue(self, *answers: Any) -> ScriptedProposer:
        """Say these next, in order; returns itself.

        Args:
            answers: Whatever a proposer may return is returned (a plan as object or text, with or without its cost, or
                an awaitable of one); an exception is raised; any other callable is called with the request and the
                candidates, and what it returns is returned.
        """
        self._answers.extend(answers)
        return self

    def __call__(self, request: Any, candidates: Any = ()) -> Any:
        """As the engine calls it.

        Raises:
            AssertionError: Nothing is left to say.
            Exception: What was enqueued.
        """
        self.asked.append(Asked(request, candidates))
        if not self._answers:
            self._unanswered += 1
            raise AssertionError(f"nothing was enqueued for this: {request!r}")
        answer = self._answers.popleft()
        if _is_exception(answer):
            raise answer
        return answer(request, candidates) if callable(answer) else answer

    def assert_done(self) -> None:
        """Whether it said all that it was told to, and was asked for nothing else.

        Raises:
            AssertionError: Answers are left, or there were too few.
        """
        if self._answers:
            raise AssertionError(f"{len(self._answers)} answers are left, the first: {self._answers[0]!r}")
        if self._unanswered:
            raise AssertionError(f"asked {len(self.asked)} times, {self._unanswered} of them without an answer")


def _is_exception(answer: object) -> bool:
    return isinstance(answer, BaseException) or (isinstance(answer, type) and issubclass(answer, BaseException))
