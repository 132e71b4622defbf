"""What came of one step, past the border: strict JSON, validated, sealed, digested.

Law: frozen data with one conversion, to the input that the machine is told. It decides nothing.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from metnos.sdk import Effect, ErrorClass, Failure
from metnos.turn.inputs import StepFailed, StepFinished, StepStopped

Status = Literal["finished", "failed", "stopped"]


class StepOutcome(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Exactly one of: finished with `data`, failed with `error`, stopped because it was asked to."""

    status: Status
    data: Any = None
    digest: str = ""
    """`sha256:…` over the canonical bytes of `data`."""
    effects: tuple[Effect, ...] = ()
    counters: dict[str, int] = {}
    truncated: bool = False
    warnings: tuple[str, ...] = ()
    sources: tuple[str, ...] = ("local",)
    sealed: int = 0
    """How many secrets were sealed, in data and in everything told beside it."""
    error: Failure | None = None

    def to_input(self, step: str, at: int) -> StepFinished | StepFailed | StepStopped:
        """The input that closes the `StartStep` of `step`; `at` is µs since 1970 UTC."""
        if self.status == "finished":
            return StepFinished(
                at=at,
                step=step,
                data=self.data,
                digest=self.digest,
                effects=self.effects,
                counters=self.counters,
                truncated=self.truncated,
                warnings=self.warnings,
                sources=self.sources,
                sealed=self.sealed,
            )
        if self.status == "stopped":
            return StepStopped(at=at, step=step, effects=self.effects)
        assert self.error is not None
        return StepFailed(at=at, step=step, error=self.error, effects=self.effects)


def failed(
    cls: ErrorClass,
    code: str,
    message: str = "",
    *,
    where: str = "",
    hint: str = "",
    retryable: bool = False,
    effects: tuple[Effect, ...] = (),
) -> StepOutcome:
    """A failed step in one line."""
    error = Failure(cls=cls, code=code, message=message, where=where, hint=hint, retryable=retryable)
    return StepOutcome(status="failed", error=error, effects=effects)


STOPPED = StepOutcome(status="stopped")
