"""What a request asks to be done, read by a model of the role `fast` where the lexicon found no effect in it.

    read = ActReader(registry)(understand("notes.txt ought to be in backup as well"), stop)
    read.acts                                            # ("copy",)

Law: its acts count only where the lexicon leaves a gap: no effect, no negation, and words that it does not know. The answer
is one of a closed list of words, weighed and not written, so nothing else can come of it; it is of the request alone. A
reading that begins with "look" or "other" asks for no effect, whatever might follow. Between two acts that are nearly as
likely the plan is a guess, and shown first (`Reading.sure`); one that is far likelier than "other" needs no gate. Where no
model can be weighed, nothing is read: one that answers in text costs a whole call, for every request with a strange word.
"""

from __future__ import annotations

import hashlib
import tomllib
from contextlib import closing
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from metnos.propose.decode.endings import is_file_name
from metnos.propose.models.ports import Message, ModelFault, Usage
from metnos.propose.models.registry import decodes
from metnos.request.acts import MOST_ACTS, may_be_read
from metnos.request.model import Act

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from metnos.propose.models.ports import ChatModel, Role, Session, Stop
    from metnos.propose.models.registry import RoleModel
    from metnos.request.model import Request

    class Models(Protocol):
        """What is needed of a registry."""

        def role(self, role: Role, /) -> RoleModel: ...


DONE: Final = "done"
OTHER: Final = "other"
"""The word for what nothing here does."""
GENERAL: Final = "find"
"""The verb of "want", "show", "tell", and of a clause that has none."""
SURE: Final = 1.0
"""Nats by which the first act must be likelier than the next word, to be more than a guess."""
CERTAIN: Final = 2.5
"""Nats from which on the request is no longer held to be one that nothing here can do."""
FURTHER: Final = 1.4
"""Nats by which a further act must be likelier than the next word, to be one."""


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """A worked reading."""

    said: str
    read: str


class Wording(msgspec.Struct, frozen=True, kw_only=True):
    """`acts.toml`."""

    about: str
    words: dict[str, str]
    examples: tuple[Example, ...]


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    acts: tuple[Act, ...] = ()
    """In the order said; none: no effect is asked for, or none that is here."""
    lead: float = float("inf")
    """Nats by which the first act is likelier than the next word."""
    other: float | None = None
    """Nats by which "none of these" is likelier than the likeliest of all else; None: it was not weighed."""
    usage: Usage = Usage()

    @property
    def sure(self) -> bool:
        """Whether no other word is nearly as likely."""
        return self.lead >= SURE

    @property
    def certain(self) -> bool:
        """Whether something was read that leaves nothing to ask a gate about: it is far likelier than "other"."""
        return bool(self.acts) and self.lead >= CERTAIN


NOTHING: Final = Reading()


def wording_digest() -> str:
    """SHA-256 of the file that says how a model is asked."""
    return hashlib.sha256(Path(__file__).with_suffix(".toml").read_bytes()).hexdigest()


@cache
def wording() -> Wording:
    """How a model is asked."""
    return msgspec.convert(tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")), Wording)


def prefix() -> tuple[Message, ...]:
    """What stands before every request: the same bytes each time."""
    asked = wording()
    worked = (
        message
        for each in asked.examples
        for message in (Message("user", each.said), Message("assistant", f"{each.read} {DONE}"))
    )
    return (Message("system", asked.about), *worked)


def has_gap(request: Request) -> bool:
    """Whether the lexicon leaves open what is asked to be done: nothing here asks for an effect, and words are left that
    it does not know, or two files are named and no more is said than wishing or showing ("I'd like a.txt to be called b.txt").
    """
    if not may_be_read(request):
        return False
    named = sum(slot.kind == "path" and is_file_name(slot.text) for slot in request.slots)
    return request.explanation.has_unknown() or (
        named > 1 and all(intent.verb == GENERAL for intent in request.intents)
    )


class ActReader:
    """Reads requests with the models of one registry. Safe between threads."""

    def __init__(self, models: Models) -> None:
        """Prepare; no model is opened."""
        self._models = models

    def __call__(self, request: Request, stop: Stop) -> Reading:
        """What is asked to be done, where the lexicon leaves that open; and whether it is anything here at all."""
        try:
            done = self._models.role("fast").attempt(
                lambda model, _config, limits: _read(request, model, limits), stop=stop
            )
        except ModelFault as fault:
            return Reading(usage=fault.usage or Usage())
        return done.value if has_gap(request) else msgspec.structs.replace(done.value, acts=())


def _read(request: Request, model: ChatModel, stop: Stop) -> Reading:
    if not decodes(model):
        return NOTHING
    with closing(model.session(prefix(), stop=stop)) as session:
        session.ask(request.text)
        other = left_to_others(session)
        words, lead = _weighed(session)
        return Reading(acts=_acts(words), lead=lead, other=other, usage=session.usage)


def left_to_others(session: Session) -> float:
    """Nats by which "none of these" is likelier than the likeliest of all else, of a session that was just asked."""
    words = tuple(wording().words)
    weights = dict(zip(words, session.choose(words), strict=True))
    return weights.pop(OTHER) - max(weights.values())


def _acts(words: Sequence[str]) -> tuple[Act, ...]:
    """What is asked for: nothing, where the first word is no act; else those up to one that is none."""
    table = wording().words
    asked = takewhile(bool, (table[word] for word in words[:MOST_ACTS]))
    return msgspec.convert(tuple(asked), tuple[Act, ...])


def _weighed(session: Session) -> tuple[list[str], float]:
    """The likeliest words, one after the other, and by how much the first was likelier than the next."""
    words = wording().words
    found: list[str] = []
    first = 0.0
    while len(found) < MOST_ACTS:
        left = [word for word in words if word not in found]
        best, lead = _likeliest(session, [*left, DONE] if found else left, " " if found else "")
        if not found:
            first = lead
        elif best == DONE or lead < FURTHER:
            break
        found.append(best)
        if not words[best]:
            break
        session.feed(f" {best}" if len(found) > 1 else best)
    return found, first


def _likeliest(session: Session, words: Sequence[str], lead: str) -> tuple[str, float]:
    weights = session.choose(tuple(f"{lead}{word}" for word in words))
    ranked = sorted(zip(weights, words, strict=True), reverse=True)
    return ranked[0][1], ranked[0][0] - ranked[1][0]
