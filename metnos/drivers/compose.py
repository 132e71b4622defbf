"""The answer of a turn, composed from what was recorded: results, effects, failures, notes.

Law: a write, send or delete is named only if an executor reported it as an effect; a number only if it is in a result.
Nothing here asks a model. `compose` makes the answer that is recorded; `explain` says in words how a turn without an
answer ended, for whoever looks at it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.drivers.showing import show_data
from metnos.text import message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.cache.model import Miss
    from metnos.sdk import Effect
    from metnos.turn.commands import Compose
    from metnos.turn.state import StepRun, TurnState


def compose(command: Compose, state: TurnState) -> str:
    """Markdown: what was found, what was done, what failed."""
    language = command.language
    blocks = [*_results(command.show, state, language), _effects(state, language), _failures(state, language)]
    if command.outcome != "success":
        blocks.insert(0, message(f"outcome.{command.outcome}", language))
    return "\n\n".join(filter(None, blocks)) or message("answer.nothing", language)


def explain(state: TurnState, outcome: str, language: str, miss: Miss | None = None) -> str:
    """How a turn ended that has no composed answer: the outcome's sentence, then what is known."""
    detail = state.detail or state.code
    blocks = [message(f"outcome.{outcome}", language, detail=detail) if outcome else ""]
    if outcome == "not_understood":
        if miss is not None:
            blocks.append(message(f"miss.{miss.reason}", language, detail=miss.detail))
        blocks.append(message("hint.not_understood", language))
    blocks += [_effects(state, language), _failures(state, language)]
    return "\n\n".join(filter(None, blocks))


def effect_line(effect: Effect, language: str) -> str:
    """`Created report.md`."""
    return message(f"effect.{effect.cls}", language, target=effect.target)


def _results(show: tuple[str, ...], state: TurnState, language: str) -> Iterator[str]:
    for key in show:
        run = state.find(key)
        if run is None or run.value is None:
            continue
        if not any(effect.cls != "read" for effect in run.effects):
            yield show_data(run.value.data, language)
        yield from (message("answer.warning", language, text=warning) for warning in run.warnings)


def _effects(state: TurnState, language: str) -> str:
    return "\n".join(effect_line(effect, language) for effect in state.effects)


def _failures(state: TurnState, language: str) -> str:
    return "\n".join(line for run in state.steps for line in _failure(run, language))


def _failure(run: StepRun, language: str) -> Iterator[str]:
    tool = run.step.contract.name
    if run.error is not None:
        error = run.error
        said = ": ".join(filter(None, (error.where, error.message or error.code)))
        yield message("answer.failed", language, step=run.key, tool=tool, message=said)
        if error.hint:
            yield message("answer.hint", language, hint=error.hint)
    elif run.state == "skipped" and run.reason.startswith("blocked_by"):
        yield message("answer.skipped", language, step=run.key, tool=tool, reason=run.reason)
