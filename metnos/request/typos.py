"""One mistyped letter, put right: only where it is certain what was meant, and always said.

Law: for plans that only read, and only if the caller asks for it. An unknown word outside slots becomes a word of the
lexicon if exactly one is a single slip away, and that word names a thing or an action: none that turns, counts or
relates, and none that is a value. First letters are seldom mistyped and last ones carry number and tense, so both must
be right (two letters changed round aside). If one unknown word is left, a value would change, or the request then asks
for an effect, there is no correction. The reason of such a word is `typo(word)`.
"""

from __future__ import annotations

import string

import msgspec

from metnos.request.explained import Explained
from metnos.request.model import Request
from metnos.request.sight import Seen
from metnos.request.slots import is_naming
from metnos.request.understand import request_of
from metnos.request.words import Lexicon, Role

SHORTEST: dict[str, int] = {"swapped": 5, "missing": 6, "added": 6, "wrong": 7}
"""Slip → letters that were typed, at least; shorter words are too like each other."""
_MEANT: frozenset[Role] = frozenset(("verb", "object", "content"))
_ACCENTED = "àèéìòù"


def corrected(request: Request) -> Request | None:
    """`request` with its mistyped words put right, None if there is nothing to put right or a doubt is left.

    Returns:
        A request of the same text with the same slots: forms and clauses of what was meant, spans with `typo(of)`.
    """
    explained = request.explanation
    if not isinstance(explained, Explained):
        return None
    unknown = explained.unknown()
    tokens = list(explained.tokens)
    if any(token.said in explained.lexicon.mentioning for token in tokens):
        return None  # The word may be the very one that is asked about.
    for at in unknown:
        meant = meant_by(tokens[at].said, explained.lexicon)
        if not meant:
            return None
        tokens[at] = _as(tokens[at], meant, explained.lexicon)
    if not unknown:
        return None
    fresh = request_of(request.text, explained.chunks, tokens, explained.lexicon)
    if fresh.slots != request.slots or any(intent.effect != "read" for intent in fresh.intents):
        return None
    return fresh


def meant_by(word: str, lexicon: Lexicon) -> str:
    """The one word of the lexicon that `word` is a slip of, "" if there is none or more than one."""
    found = {near for slip in SHORTEST for near in _slips(word, slip) if near in lexicon.known}
    if len(found) != 1:
        return ""
    near = found.pop()
    known = lexicon.words.get(near)
    meant = known is not None and known.roles <= _MEANT and near not in lexicon.triggers and not known.modifiers
    return near if meant else ""


def _slips(word: str, slip: str) -> list[str]:
    """What may have been meant, by one kind of slip."""
    if len(word) < SHORTEST[slip] or not word.isalpha():
        return []
    inside = range(1, len(word) - 1)
    if slip == "swapped":
        return [word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in inside if word[i] != word[i + 1]]
    if slip == "added":
        return [word[:i] + word[i + 1 :] for i in inside]
    letters = string.ascii_lowercase + _ACCENTED
    if slip == "wrong":
        return [word[:i] + letter + word[i + 1 :] for i in inside for letter in letters if letter != word[i]]
    return [word[:i] + letter + word[i:] for i in range(1, len(word)) for letter in letters]


def _as(token: Seen, meant: str, lexicon: Lexicon) -> Seen:
    """The token as if `meant` stood there; what was written stays in `raw`."""
    word = lexicon.words[meant]
    return msgspec.structs.replace(
        token,
        key=meant,
        said=meant,
        word=word,
        form=word.canonical,
        reason=f"typo({meant})",
        announces=is_naming(meant, word, lexicon),
        bare=False,
    )
