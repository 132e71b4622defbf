"""A choice that a failed step leaves, in the person's language: the question, its answers, and what was chosen.

Law: words only. What may be chosen is in the command; what an answer means, `turn.choice` knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.drivers.results import OfferView
from metnos.drivers.wording import failure_text
from metnos.text import has_message, message
from metnos.turn.choice import STOP

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metnos.turn.commands import Offer, OpenDialog
    from metnos.turn.state import StepRun

SHOWN = 3
"""Values that a label names."""


def choice_question(asked: OpenDialog, language: str) -> str:
    """Why the step failed, and what is asked."""
    assert asked.failure is not None
    why = failure_text(asked.failure, None, language)
    if has_message(f"choice.why.{asked.failure.code}") and asked.targets:
        why = message(f"choice.why.{asked.failure.code}", language, what=_some(asked.targets))
    key = "choice.question" if len(asked.calls) == 1 else "choice.question_many"
    return message(key, language, step=asked.calls[0], count=len(asked.calls), why=why)


def choice_options(asked: OpenDialog, language: str) -> tuple[OfferView, ...]:
    """What can be chosen, `stop` last."""
    offered = tuple(OfferView(name=one.name, label=_label(one, language), changes=one.changes) for one in asked.offers)
    return (*offered, OfferView(name=STOP, label=message("choice.stop", language)))


def _label(offer: Offer, language: str) -> str:
    values = [value for changes in offer.changes for value in changes.values() if isinstance(value, str)]
    return message(f"choice.{offer.key}", language, what=_some(values))


def _some(values: Sequence[str]) -> str:
    different = tuple(dict.fromkeys(values))
    more = len(different) - SHOWN
    return ", ".join(different[:SHOWN]) + (f" … +{more}" if more > 0 else "")


def chosen_lines(run: StepRun, language: str) -> Iterator[str]:
    """That a step was run otherwise than its plan says."""
    targets = [target for call in run.calls if call.chosen for target in call.targets]
    yield message("choice.chosen", language, step=run.key, tool=run.step.contract.name, what=_some(targets) or "-")
