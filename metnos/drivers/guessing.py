"""A plan that a person is to see before it begins, in the person's language: a line for each step, in plain words.

Law: words only, from the command and the message tables. What a line quotes (an argument, what a tool says of itself) may
be somebody else's text: it stays in its line, is cut where it is long, and holds no character that is not shown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from metnos.drivers.results import OfferView
from metnos.plan.jsondata import spell
from metnos.plan.references import Reference, StepTarget
from metnos.plan.spelling import is_plain, parse_string
from metnos.text import DEFAULT_LANGUAGE, message
from metnos.turn.guess import NO, YES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.turn.commands import Foreseen, Guess

LONGEST: Final = 160
"""Characters of a value, or of what a tool says of itself."""
_FIRST: Final = re.compile(r"[^.;:]*(?:\.(?!\s|$)[^.;:]*)*")
"""The first clause of a description."""


def guess_question(guess: Guess, language: str) -> str:
    """What would be done, line by line, and whether to go on."""
    return "\n".join((*guess_lines(guess, language), message("guess.question", language)))


def guess_lines(guess: Guess, language: str) -> tuple[str, ...]:
    """That nobody is sure, and what would be done."""
    last = _last(guess.end, language)
    said = [*(_said(one, language) for one in guess.steps), *([last] if last else [])]
    numbered = (f"  {number}. {what}" for number, what in enumerate(said, 1))
    return (message("guess.intro", language), *numbered)


def guess_options(language: str) -> tuple[OfferView, ...]:
    """What can be answered."""
    return tuple(OfferView(name=name, label=message(f"guess.{name}", language)) for name in (YES, NO))


def _said(one: Foreseen, language: str) -> str:
    about = one.about.get(language) or one.about.get(DEFAULT_LANGUAGE) or ""
    first = _FIRST.match(about)
    what = _shown(first[0].strip()) if first is not None else ""
    tool = _shown(one.tool)
    head = f"{what} ({tool})" if what else tool
    parts = ", ".join(_arguments(one, language))
    notes = [message(f"guess.effect.{one.effect}", language)] if one.effect != "read" else []
    return "; ".join([f"{head}: {parts}" if parts else head, *notes])


def _arguments(one: Foreseen, language: str) -> Iterator[str]:
    for kind, step in one.when.items():
        yield message(f"guess.when_{kind}", language, step=step)
    if one.for_each is not None:
        yield message("guess.each", language, what=_value(one.for_each, language))
    for name, value in one.args.items():
        if name == "from_step":
            given = message("guess.given", language, step=value)
            yield message("guess.each", language, what=given) if one.each else given
        elif name == "from_steps":
            yield ", ".join(message("guess.given", language, step=step) for step in value)
        else:
            yield f"{_shown(name.replace('_', ' '))} {_value(value, language)}"


def _value(value: Any, language: str) -> str:
    """A value as it is written; what is taken whole from a step by the name of that step."""
    if isinstance(value, str) and not is_plain(value):
        parts = parse_string(value)
        if len(parts) == 1 and isinstance(parts[0], Reference) and isinstance(parts[0].target, StepTarget):
            return _given(value, parts[0], parts[0].target, language)
    return _shown(spell(value))


def _given(written: str, reference: Reference, target: StepTarget, language: str) -> str:
    if target.plan is not None or reference.has_fallback:
        return _shown(written)
    given = message("guess.given", language, step=target.step)
    path = written.removesuffix("}").partition(".")[2]
    return f"{given} ({_shown(path)})" if path else given


def _last(end: dict[str, Any], language: str) -> str:
    """What comes behind the steps, where it is more than telling what was found."""
    if not end:
        return message("guess.goes_on", language)
    args: dict[str, Any] = end["args"]
    match end["tool"]:
        case "ask":
            return message("guess.ask", language, what=_shown(spell(args["question"])))
        case "needs_inputs":
            return message("guess.ask", language, what=_shown(", ".join(args["form"])))
        case _:
            told = [_value(args[name], language) for name in ("text", "data") if name in args]
            return message("guess.tell", language, what=", ".join(told)) if told else ""


def _shown(text: str) -> str:
    """On one line, and as long as a person reads."""
    cut = text if len(text) <= LONGEST else text[:LONGEST] + "…"
    return "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in cut)
