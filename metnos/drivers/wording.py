"""Failures, warnings and reasons in the person's language: from codes and recorded data to one sentence.

Law: what an executor says in its own words is English; it is shown to who reads English, and to anybody where its code
is not one of ours. Every other sentence comes from the message tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from metnos.text import DEFAULT_LANGUAGE, has_message, message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.sdk import Failure
    from metnos.turn.state import Call, StepRun

SHOWN_TARGETS = 5
SHORT = 200
"""Characters of a value that is named in a sentence."""


def failure_text(error: Failure, args: dict[str, Any] | None, language: str) -> str:
    """What went wrong, with the value or place it is about."""
    what = _subject(error.where, args)
    if error.message and (language == DEFAULT_LANGUAGE or not has_message(f"failure.{error.code}")):
        return error.message if not what or what in error.message else f"{what}: {error.message}"
    if has_message(f"failure.{error.code}"):
        return message(f"failure.{error.code}", language, what=what or error.code)
    return f"{what}: {error.code}" if what else error.code


def _subject(where: str, args: dict[str, Any] | None) -> str:
    """The value at a JSON pointer into the arguments where it is short, else the place itself (or a file's path)."""
    tokens = [part.replace("~1", "/").replace("~0", "~") for part in where.split("/")[1:]]
    if not where.startswith("/") or args is None or tokens[0] not in args:
        return where
    value: Any = args
    for token in tokens:
        if isinstance(value, dict):
            value = cast("dict[str, Any]", value).get(token)
        elif isinstance(value, list) and token.isdecimal() and int(token) < len(cast("list[Any]", value)):
            value = cast("list[Any]", value)[int(token)]
        else:
            value = None
    if isinstance(value, dict):
        value = cast("dict[str, Any]", value).get("path")
    return value if isinstance(value, str) and 0 < len(value) <= SHORT else where.removeprefix("/")


def failed_lines(run: StepRun, language: str) -> Iterator[str]:
    """Why a step gave nothing: its failure with a hint, or what it waited for."""
    tool = run.step.contract.name
    if run.error is not None:
        call = next((call for call in run.calls if call.error is run.error), None)
        said = failure_text(run.error, call.args if call is not None else None, language)
        yield message(
            "answer.failed", language, step=call.key if call is not None else run.key, tool=tool, message=said
        )
        if run.error.hint and language == DEFAULT_LANGUAGE:
            yield message("answer.hint", language, hint=run.error.hint)
    elif run.state == "skipped" and run.reason.startswith("blocked_by"):
        yield message("answer.blocked", language, step=run.key, tool=tool, by=run.reason.rpartition(" ")[2])


def unknown_calls(run: StepRun, language: str) -> Iterator[str]:
    """The calls of which nobody knows what they did, each with its target."""
    for call in run.calls:
        if call.state == "unknown":
            yield message("answer.step", language, step=call.key, tool=run.step.contract.name, targets=_targets(call))


def _targets(call: Call) -> str:
    more = len(call.targets) - SHOWN_TARGETS
    shown = ", ".join(call.targets[:SHOWN_TARGETS])
    return f"{shown} … +{more}" if more > 0 else shown or "?"


def warning_text(text: str, language: str) -> str:
    """`reason: place`, `step: code` for an item that was left out, or `code: place`; else the executor's own word."""
    reason, found, rest = text.partition(": ")
    if found and has_message(f"warning.{reason}"):
        return message(f"warning.{reason}", language, path=rest)
    if found and reason.replace(".", "").isdecimal():
        why = message(f"failure.{rest}", language, what=rest) if has_message(f"failure.{rest}") else rest
        return message("warning.left-out", language, step=reason, why=why)
    if found and has_message(f"failure.{reason}"):
        return message(f"failure.{reason}", language, what=rest)
    return text
