"""The first input of a turn: who asks what, where and when, and under which rules.

Law: ids and times are made here and nowhere deeper, because the machine may not make them. Slash commands are seen to
before (`turns.open_turn`).
"""

from __future__ import annotations

import secrets
import time
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Final, Literal
from zoneinfo import ZoneInfo

from metnos.drivers.given import plan_body, virtual_inputs
from metnos.drivers.results import Planned, Refused
from metnos.plan.classes import class_of_turn
from metnos.text import LANGUAGES
from metnos.turn.inputs import Budget, TurnOpened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metnos.drivers.parts import Parts
    from metnos.plan.jsondata import JSON

PEOPLE: Final = frozenset({"terminal", "chat"})
"""Channels at whose other end is a person, who may answer later what nobody answers now."""
MOST_RETRIES: Final = 20
"""Of all steps of a turn."""
LONGEST: Final = 32_768
"""Characters of a sentence; a longer one would take seconds to be read, and is none. Data are handed in as inputs."""
_REQUESTS = (str, Planned, NoneType)


class RequestFault(Exception):
    """A sentence that is not read at all.

    Attributes:
        code: `request-too-long`.
        where: Which one: `request`.
        found: What it is.
        expected: What it may be.
        hint: What to do instead.
    """

    def __init__(self, code: str, *, where: str, found: str, expected: str, hint: str) -> None:
        super().__init__(f"{found}; {expected}")
        self.code = code
        self.where = where
        self.found = found
        self.expected = expected
        self.message = f"{found}; {expected}"
        self.hint = hint


def require_short(request: str) -> None:
    """A sentence that can be read in a moment.

    Raises:
        RequestFault: `request-too-long`.
    """
    if len(request) > LONGEST:
        raise RequestFault(
            "request-too-long",
            where="request",
            found=f"a sentence of {len(request)} characters",
            expected=f"at most {LONGEST}",
            hint="say what is to be done, and hand in the text as a file or with --input",
        )


def open_turn(
    parts: Parts,
    request: str | Planned | None,
    *,
    mode: Literal["run", "plan"],
    plan: JSON | bytes | None = None,
    inputs: Mapping[str, JSON] | None = None,
    assume_yes: bool = False,
    language: str | None = None,
) -> TurnOpened | Refused:
    """The first input of a turn, or why there can be none (a plan that is no JSON object at all).

    Raises:
        TypeError: Neither or both of `request` and `plan` were given, or something that is none of the types asked for.
        RequestFault: The sentence is too long.
        ValueError: There is no such language.
    """
    if (request is None) == (plan is None):
        raise TypeError("give either a request or plan=")
    if not isinstance(request, _REQUESTS):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"a request is a sentence or what plan() gave, not {type(request).__name__}")
    if isinstance(request, str):
        require_short(request)
    require_language(language)
    at = parts.ports.clock()
    body, diagnostics = plan_body(plan) if plan is not None else (None, ())
    if diagnostics:
        error_class = class_of_turn("plan_rejected", diagnostics[0].code, {})
        return Refused(outcome="plan_rejected", diagnostics=diagnostics, error_class=error_class)
    origins: dict[str, str] = {}
    source = "author"
    if isinstance(request, Planned):
        body, origins, source = request.plan, request.origins, request.source
        language = language or request.language
        said = request.request
    else:
        said = request
    context = parts.context
    return TurnOpened(
        at=at,
        turn=turn_id(at),
        now=datetime.fromtimestamp(at / 1_000_000, ZoneInfo(context.zone)).isoformat(),
        zone=context.zone,
        owner=context.owner,
        actor=context.actor,
        channel=context.channel,
        conversation=context.conversation,
        language=language or context.language,
        folder=context.folder,
        home=str(Path.home()),
        roots=context.roots,
        mode="plan" if mode == "plan" else "ask" if body is None else "run",
        request=said,
        plan=body,
        source=source,
        origins=origins,
        inputs=virtual_inputs(inputs),
        assume_yes=assume_yes,
        versions=versions(parts),
        budget=Budget(recoveries=0 if parts.proposer is None else 1, tries=parts.settings.tries, retries=MOST_RETRIES),
        choices=parts.ports.answer is not None or context.channel in PEOPLE,
        fillers_see=True,
    )


def require_language(language: str | None) -> None:
    """None, or one that there is.

    Raises:
        ValueError: There is no such language.
    """
    if language is not None and language not in LANGUAGES:
        raise ValueError(f"no language {language!r}: one of {', '.join(LANGUAGES)}")


def turn_id(at: int) -> str:
    """A fresh id that sorts by time: `20261130-120312-9f3a2c4e`."""
    return f"{_second(at // 1_000_000)}-{secrets.token_hex(4)}"


@lru_cache(maxsize=1)
def _second(since_1970: int) -> str:
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime(since_1970))


def versions(parts: Parts) -> dict[str, str]:
    """What the turn is run under; compared again when it is resumed."""
    from metnos import __version__

    rules = parts.rules
    return {
        "metnos": __version__,
        "rules": rules.digest,
        "policy": rules.policy_digest,
        "catalog": parts.catalog.digest,
    }
