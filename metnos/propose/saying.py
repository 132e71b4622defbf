"""A worded answer, by a model: a few sentences over the facts of a turn.

Law: it is shown the request and the facts, wrapped as untrusted, and nothing else; it writes text and decides nothing.
Whether what it wrote may be said is not judged here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from metnos.propose.models.ports import Message
from metnos.propose.untrusted import RULE, wrapped

if TYPE_CHECKING:
    from metnos.propose.models.ports import Role, Stop, Usage
    from metnos.propose.models.registry import RoleModel

MOST_TOKENS: Final = 300
LANGUAGES: Final = {"en": "English", "it": "Italian"}
SYSTEM: Final = f"""\
You tell a person in one to three plain sentences what came of their request, from the facts that you are shown.
Names and numbers as they stand there. Say of nothing that it was done unless the facts say so. No list, no table, no
link, no advice, no question; they see the facts below your sentences.
{RULE}"""


class Models(Protocol):
    """What is needed of a registry."""

    def role(self, role: Role) -> RoleModel:
        """The models of a role, as one."""
        ...


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """The sentences, and what they cost."""

    text: str
    model: str
    usage: dict[str, int]


def say(models: Models, *, request: str, facts: str, language: str, stop: Stop) -> Said:
    """Have the facts worded.

    Raises:
        ModelFault: No model of the role `fast` could.
    """
    asked = (
        f"Language: {LANGUAGES.get(language, language)}\n\nThe request: {request}\n\n"
        f"{wrapped(facts, 'the record of this turn')}\n\nYour sentences:"
    )
    messages = (Message("system", SYSTEM), Message("user", asked))
    done = models.role("fast").complete(messages, most_tokens=MOST_TOKENS, stop=stop)
    return Said(text=done.text.strip(), model=done.model, usage=counted(done.usage))


def counted(usage: Usage) -> dict[str, int]:
    """As `TurnResult.usage` counts worded answers: apart from planning and fillers."""
    return {"answer_calls": usage.calls, "answer_tokens_in": usage.tokens_in, "answer_tokens_out": usage.tokens_out}
