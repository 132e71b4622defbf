"""How a conversation is laid out in tokens: which families of chat template are known, and which one a file has.

Law: pure. A layout is a list of segments; only those of the frame are read as control tokens, and what anybody said
never is: a user who writes `<|im_end|>` has written ten characters. A template that is not known is refused rather than
guessed: a model that is asked in the wrong form answers, and answers badly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metnos.propose.models.ports import Message


class Segment(NamedTuple):
    text: str
    control: bool
    """Whether the whole text is one control token."""


class Family(NamedTuple):
    """What stands around a message."""

    name: str
    marks: tuple[str, ...]
    """All of them stand in the template of a file of this family."""
    begin: str
    """Control token before the role."""
    end: str
    """Control token after the content."""


FAMILIES: Final = (Family("chatml", ("<|im_start|>", "<|im_end|>"), "<|im_start|>", "<|im_end|>"),)
"""Qwen, SmolLM2 and many more; `begin role newline content end newline`."""


def family_of(template: str) -> Family | None:
    """The family of the chat template that a file carries; None: none that is known, or it carries none."""
    return next((one for one in FAMILIES if all(mark in template for mark in one.marks)), None)


def told(family: Family, messages: Sequence[Message]) -> list[Segment]:
    """Whole messages, one behind the other."""
    return [segment for one in messages for segment in _message(family, one.role, one.content)]


def asked(family: Family, text: str, *, within: bool) -> list[Segment]:
    """A message of the user and the beginning of the answer; `within`: an answer before it is still open."""
    closed = _closed(family) if within else []
    return [*closed, *_message(family, "user", text), Segment(family.begin, True), Segment("assistant\n", False)]


def _message(family: Family, role: str, content: str) -> list[Segment]:
    # Role and content in one piece: a tokenizer may join the line end with what follows, and training did.
    return [Segment(family.begin, True), Segment(f"{role}\n{content}", False), *_closed(family)]


def _closed(family: Family) -> list[Segment]:
    return [Segment(family.end, True), Segment("\n", False)]
