"""The answer of a turn, composed from what was recorded: results, effects, failures, notes.

Law: a write, send or delete is named only if an executor reported it as an effect, and an effect that left the bytes as
they were is told so; a step that was to have an effect and reported none is told, too, whatever an answer of the plan's
own says (`idle`). A number is named only if it is in a result.
Nothing here asks a model. `compose` makes the answer that is recorded; `explain` says in words how a turn ended that
did not succeed, for whoever looks at it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.drivers.showing import show_data
from metnos.drivers.wording import failed_lines, unknown_calls, warning_text
from metnos.text import has_message, message
from metnos.turn.guess import PLAN_DECLINED
from metnos.turn.planning import DECLINED
from metnos.turn.step import worst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.cache.model import Miss
    from metnos.sdk import Effect
    from metnos.turn.commands import Compose
    from metnos.turn.state import StepRun, TurnState


def compose(command: Compose, state: TurnState) -> str:
    """Markdown: what was found, what was done, what failed."""
    language = command.language
    blocks = [
        *_results(command.show, state, language),
        _effects(state, language),
        "\n".join(idle(state, language)),
        _failures(state, language),
    ]
    if command.outcome != "success":
        blocks.insert(0, message(f"outcome.{command.outcome}", language))
    return "\n\n".join(filter(None, blocks)) or message("answer.nothing", language)


def explain(state: TurnState, outcome: str, language: str, miss: Miss | None = None, denied: str = "") -> str:
    """How a turn ended: the outcome's sentence, then what is known of why.

    Args:
        state: Of the machine.
        outcome: Not `success`.
        language: Of the person.
        miss: Why no known plan served, if none did.
        denied: Key of the step that policy denied, if it denied one.
    """
    if outcome == "not_understood" and state.code == PLAN_DECLINED:
        return _why(state, language)  # there was a plan, and nobody looks for another
    blocks = [_outcome(state, outcome, language, denied)]
    if outcome == "not_understood":
        if miss is not None and state.code not in DECLINED:
            blocks.append(message(f"miss.{miss.reason}", language, detail=miss.detail))
        if state.code != "no-model":
            blocks.append(_why(state, language))
        else:
            blocks.append(_how_to_get_a_model(language))
        blocks.append(message("hint.not_understood", language))
    blocks += [_effects(state, language), _failures(state, language)]
    return "\n\n".join(filter(None, blocks))


def _how_to_get_a_model(language: str) -> str:
    """In one line, with the package first where it is missing."""
    from importlib.util import find_spec

    return message("hint.no_model" if find_spec("llama_cpp") else "hint.no_model_package", language)


def _outcome(state: TurnState, outcome: str, language: str, denied: str) -> str:
    if outcome == "user_aborted" and any(effect.cls != "read" for effect in state.effects):
        return message("aborted.partly", language)
    if outcome == "user_aborted" and has_message(f"aborted.{state.code}"):
        return message(f"aborted.{state.code}", language, detail=state.detail)
    detail = state.detail or state.code
    if outcome == "effect_unknown":
        detail = "; ".join(line for run in state.steps for line in unknown_calls(run, language)) or detail
    elif outcome == "policy_denied":
        run = state.find(denied) or state.find(denied.rpartition(".")[0])
        if run is not None:
            verb = message(f"verb.{run.step.worst_effect}", language)
            detail = message("answer.denied", language, tool=run.step.contract.name, verb=verb)
    return message(f"outcome.{outcome}", language, detail=detail)


def effect_line(effect: Effect, language: str) -> str:
    """`Created report.md`; or that it was so already."""
    if effect.after is not None and effect.before == effect.after and effect.undo is None:
        return message("effect.same", language, target=effect.target)
    return message(f"effect.{effect.cls}", language, target=effect.target)


def _results(show: tuple[str, ...], state: TurnState, language: str) -> Iterator[str]:
    for key in show:
        run = state.find(key)
        if run is None or run.value is None:
            continue
        if not any(effect.cls != "read" for effect in run.effects):
            yield show_data(run.value.data, language)
        yield "\n".join(notes(run, language))


def notes(run: StepRun, language: str) -> Iterator[str]:
    """What must be known beside a step's data: that it was cut short, holds sealed secrets, or what was left out."""
    if run.truncated:
        yield message("answer.truncated", language)
    sealed = sum(call.result.sealed for call in run.calls if call.result is not None)
    if sealed:
        yield message("answer.sealed", language, count=sealed)
    yield from (message("answer.warning", language, text=warning_text(text, language)) for text in run.warnings)


def idle(state: TurnState, language: str) -> Iterator[str]:
    """Steps that were to act on something and reported no effect; a failed one is told by its failure."""
    for run in state.standing:
        effect = worst([call.effect for call in run.calls]) if run.calls else run.step.worst_effect
        if effect != "read" and run.state in ("done", "skipped") and not run.effects and not _repeats(run):
            yield message("answer.idle", language, step=run.key, tool=run.step.contract.name)


def _repeats(run: StepRun) -> bool:
    """Its effect was made by a step of an earlier plan of the turn."""
    return run.reason.startswith("repeats ")


def _effects(state: TurnState, language: str) -> str:
    return "\n".join(effect_line(effect, language) for effect in state.effects)


def _failures(state: TurnState, language: str) -> str:
    told = state.standing if state.outcome == "success" else state.steps
    lines = [line for run in told for line in failed_lines(run, language)]
    if not any(run.error is not None for run in state.steps) and state.outcome in ("error", "partial"):
        lines.append(_why(state, language))
    return "\n".join(filter(None, lines))


def _why(state: TurnState, language: str) -> str:
    """Why a turn ended that no step explains."""
    if has_message(f"why.{state.code}"):
        detail = state.detail or (state.opened.request or "" if state.code in DECLINED else "")
        return message(f"why.{state.code}", language, detail=detail)
    if state.code.startswith("model-") or state.code == "bad-settings":
        return message("why.model", language, detail=state.detail or state.code)
    if has_message(f"failure.{state.code}"):
        why = message(f"failure.{state.code}", language, what=state.detail or state.code)
        return message("why.answer", language, why=why)
    return ""
