"""The parts of a request: its clauses, cut further at the ends of sentences, and what each part says.

Law: parts are in the order said; an intent belongs to the first part of its clause that says its verb or its object,
else to the first. Values (quoted text, paths, numbers) are no words; the type of a file that is named is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

import msgspec

from metnos.propose.routing.words import silent, stem, words_of
from metnos.request.explained import lexicon_of
from metnos.request.model import RequestIntent
from metnos.request.phrasal import GAP
from metnos.request.tokens import Token, tokenise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metnos.request.model import Request, Slot
    from metnos.request.words import Lexicon, Phrase

_SENTENCE = re.compile(r"[.?!;](?=\s)|\n")
_OPENING = re.compile(r"\s*(?:\w+\s+)?\w+\s*")
"""A word or two before a comma ("Finally, …"): no part of their own."""
_COMMA = re.compile(r"\s*,")
_EXTENSION = re.compile(r"\.([A-Za-z0-9]{1,8})$")
_PLAINLY = re.compile(r"[/\\.~*?]")
"""What a bare name does not have: "in Rome" names no folder for certain."""
_GLOBS: Final = frozenset({"glob", "globs"})
_PATHS: Final = frozenset({"path", "paths"})
_ALWAYS_MEANT: Final = frozenset({"stats", "table", "entries", "messages", "programs"})
"""Objects that follow from the verb: no noun needs to say them."""
_GENERAL: Final = "find"
"""The verb of "show", "tell", "want"."""
_FILES: Final = frozenset({"files", "dirs", "texts", "table"})
"""Objects that are files, hold them or are in them."""
_UNKNOWN: Final = frozenset({"unknown"})
_PARTICLES: Final = frozenset({"preposition", "place"})
MOST_PARTS: Final = 32
"""What is longer is one part from there on."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    start: int
    end: int
    text: str
    keys: tuple[str, ...]
    """Its words in their canonical forms, in order."""
    words: tuple[str, ...]
    """As the index knows them, without values and silent words."""
    unknown: tuple[str, ...]
    """Of these, what the lexicon does not know."""
    heads: tuple[str, ...]
    """The first word, where no verb is known and the lexicon does not know it: most likely the verb."""
    general: frozenset[str]
    """Words that only ask to be shown something."""
    verbs: frozenset[str]
    """Verbs of the vocabulary that it says in several words ("get rid of")."""
    said: frozenset[str]
    """Words that are a verb or a noun of the vocabulary."""
    slots: tuple[Slot, ...]
    about_files: bool
    """It says a noun of files, or has a value that may name one."""
    names_files: bool
    """A value is plainly a path or a pattern, or a word is a type of files."""
    goes_on: bool = False
    """An earlier part is about files: "move them into archive" is, too."""
    types: tuple[str, ...]
    """Extensions of the files that are named, as the index knows them."""
    intents: tuple[RequestIntent, ...] = ()
    grounded: tuple[RequestIntent, ...] = ()
    """Intents whose object is said, or follows from the verb."""
    direct: frozenset[str] = frozenset()
    """Objects that stand right behind a verb, with no preposition between ("delete the folder")."""


def parts_of(request: Request) -> list[Part]:
    """The parts of `request`, at least one unless it is empty."""
    lexicon = lexicon_of(request)
    found: list[Part] = []
    for start, end, intents in _clauses(request):
        spans = _sentences(request, start, end, lexicon)
        if len(found) + len(spans) > MOST_PARTS:
            spans = [(start, end)]
        parts = [part for begin, behind in spans if (part := _part(request, begin, behind, lexicon)) is not None]
        if parts:
            found.extend(_with_intents(parts, intents, lexicon))
    first = next((at for at, part in enumerate(found) if part.about_files), len(found))
    return [*found[: first + 1], *(msgspec.structs.replace(part, goes_on=True) for part in found[first + 1 :])]


def _clauses(request: Request) -> list[tuple[int, int, tuple[RequestIntent, ...]]]:
    """Start, end and intents of each clause; what only opens one ("Finally, …") belongs to it, and many are one."""
    found: list[tuple[int, int, tuple[RequestIntent, ...]]] = []
    clauses = request.clauses
    opened = -1
    for index, clause in enumerate(clauses):
        start = clause.start if opened < 0 else opened
        if index + 1 == MOST_PARTS:
            intents = tuple(dict.fromkeys(intent for later in clauses[index:] for intent in later.intents))
            return [*found, (start, clauses[-1].end, intents)]
        opens = _OPENING.fullmatch(request.text, start, clause.end) and _COMMA.match(request.text, clause.end)
        if opens and index + 1 < len(clauses):
            opened = start
        else:
            found.append((start, clause.end, clause.intents))
            opened = -1
    return found


def _sentences(request: Request, start: int, end: int, lexicon: Lexicon) -> list[tuple[int, int]]:
    """A clause cut at the ends of sentences, and where a verb that nobody knows begins another."""
    marks = {mark.end() for mark in _SENTENCE.finditer(request.text, start, end)} | _strange(
        request, start, end, lexicon
    )
    inside = [slot for slot in request.slots if start <= slot.start < end]
    starts = [slot.start for slot in inside]
    cuts = [at for at in sorted(marks) if start < at < end and not _within(at - 1, starts, inside)]
    return list(zip([start, *cuts], [*cuts, end], strict=True))


def _within(at: int, starts: list[int], slots: list[Slot]) -> bool:
    number = bisect_right(starts, at) - 1
    return number >= 0 and at < slots[number].end


def _strange(request: Request, start: int, end: int, lexicon: Lexicon) -> set[int]:
    """Where an unknown word stands between "and" and an article: "… and turn on the lights"."""
    tokens = [token for token in tokenise(request.text[start:end]) if token.kind != "space"]
    roles = [_roles(token, lexicon) for token in tokens]
    found: set[int] = set()
    for at in range(1, len(tokens) - 2):
        if "separator" in roles[at - 1] and roles[at] == _UNKNOWN:
            behind = at + 1 if roles[at + 1].isdisjoint(_PARTICLES) else min(at + 2, len(tokens) - 1)
            if "article" in roles[behind]:
                found.add(start + tokens[at - 1].start)
    return found


def _roles(token: Token, lexicon: Lexicon) -> frozenset[str]:
    word = lexicon.words.get(token.key) if token.kind == "word" else None
    return word.roles if word is not None else _UNKNOWN if token.kind == "word" else frozenset()


def _part(request: Request, start: int, end: int, lexicon: Lexicon) -> Part | None:
    text = request.text[start:end]
    slots = tuple(slot for slot in request.slots if start <= slot.start < end)
    starts = [slot.start - start for slot in slots]
    tokens = [token for token in tokenise(text) if token.kind == "word" and not _is_value(token, start, starts, slots)]
    if not tokens and not slots:
        return None
    said = _Said(lexicon)
    keys = [token.key for token in tokens]
    behind = 0
    rest: set[str] = set()  # of a verb whose object stands among its words
    for at, token in enumerate(tokens):
        words = words_of(text[token.start : token.end], lexicon.language)
        phrase = phrase_at(lexicon, keys, at) if at >= behind else None
        if phrase is not None:
            said.act(phrase.value)
            behind = at + len(spoken(phrase))
            rest.update(phrase.words[behind - at :])
        if at < behind or token.key in rest:
            said.said.update(words)
        else:
            said.add(token.key, words)
    items = [item for slot in slots for item in slot.items or (slot,) if item.kind in {"path", "glob"}]
    types = [stem(mark[1].lower()) for item in items if (mark := _EXTENSION.search(str(item.value)))]
    return Part(
        start=start,
        end=end,
        text=_without_joint(text, tokens, lexicon),
        keys=tuple(said.keys),
        words=tuple(said.words),
        unknown=tuple(said.unknown),
        heads=tuple(said.heads),
        general=frozenset(said.general),
        verbs=frozenset(said.verbs),
        said=frozenset(said.said),
        slots=slots,
        about_files=said.about_files or any(slot.kind in _GLOBS | _PATHS for slot in slots),
        names_files=bool(said.types) or any(map(_is_plain, slots)),
        types=(*types, *said.types),
    )


def phrase_at(lexicon: Lexicon, keys: Sequence[str], at: int) -> Phrase | None:
    """The verb of several words that begins at a word; its object may stand among them."""
    for phrase in lexicon.phrasal.verbs.get(keys[at], ()):
        words = spoken(phrase)
        behind = at + len(words)
        if tuple(keys[at:behind]) == words and set(phrase.words[len(words) + 1 :]) <= set(keys[behind:]):
            return phrase
    return None


def spoken(phrase: Phrase) -> tuple[str, ...]:
    """Its words up to where its object may stand."""
    return phrase.words[: phrase.words.index(GAP)] if GAP in phrase.words else phrase.words


class _Said:
    """The words of a part, sorted out one after the other."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.keys: list[str] = []
        self.words: list[str] = []
        self.unknown: list[str] = []
        self.heads: list[str] = []
        self.general: set[str] = set()
        self.verbs: set[str] = set()
        self.said: set[str] = set()
        self.types: list[str] = []
        self.about_files = False
        self._silent = silent(lexicon.language)
        self._asked = False

    def act(self, verb: str) -> None:
        """Words that ask for what a verb does; what comes behind them does not open the part."""
        self.verbs.add(verb)
        self._asked = True

    def add(self, key: str, said: list[str]) -> None:
        """A token, and its words as the index knows them."""
        lexicon = self.lexicon
        word = lexicon.words.get(key)
        self.keys.append(word.canonical if word else key)
        self._asked = self._asked or (word is not None and "question" in word.roles)
        self.about_files = self.about_files or (word is not None and word.object in _FILES)
        if key in self._silent:
            return
        if word is not None:
            if word.verb or word.object or "question" in word.roles:
                self.said.update(said)
            if word.verb == _GENERAL:
                self.general.update(said)
        elif (key in lexicon.types or key in lexicon.plural_types) and (self.words or self._asked):
            self.types += said
        else:
            self.unknown += said
            if not (self.words or self._asked):
                self.heads = said
        self.words += said


def _is_plain(slot: Slot) -> bool:
    return slot.kind in _GLOBS or (slot.kind in _PATHS and _PLAINLY.search(slot.text) is not None)


def _is_value(token: Token, start: int, starts: list[int], slots: tuple[Slot, ...]) -> bool:
    """Whether a token of a part that begins at `start` stands in one of its slots."""
    at = bisect_right(starts, token.start) - 1
    return at >= 0 and start + token.start < slots[at].end


def _without_joint(text: str, tokens: list[Token], lexicon: Lexicon) -> str:
    """`text` without the words that only join it to what was said before ("and send …")."""
    begins = 0
    for token in tokens:
        word = lexicon.words.get(token.key)
        if word is None or "separator" not in word.roles or text[begins : token.start].strip(" ,;:"):
            break
        begins = token.end
    return text[begins:].strip(" ,;:.!?\n\t")


def _with_intents(parts: list[Part], intents: tuple[RequestIntent, ...], lexicon: Lexicon) -> list[Part]:
    """Each intent where its words are."""
    given: list[list[RequestIntent]] = [[] for _ in parts]
    meant: list[list[RequestIntent]] = [[] for _ in parts]
    said = [_said(part, lexicon) for part in parts]
    for intent in intents:
        at = next((at for at, (verbs, _) in enumerate(said) if intent.verb in verbs), 0)
        given[at].append(intent)
        # An intent of a noun alone ("translate report.txt") is no answer to a verb that nobody knows.
        if intent.object in _ALWAYS_MEANT or intent.object in said[at][1]:
            meant[at].append(intent)
    return [
        msgspec.structs.replace(
            part,
            intents=tuple(given[at]),
            grounded=tuple(meant[at]) if said[at][0] or not part.heads else (),
            heads=() if said[at][0] else part.heads,
            direct=_direct(part, lexicon),
        )
        for at, part in enumerate(parts)
    ]


def _said(part: Part, lexicon: Lexicon) -> tuple[set[str], set[str]]:
    """Verbs and objects of the vocabulary that a part says."""
    verbs: set[str] = set(part.verbs)
    objects: set[str] = {"files"} if part.names_files else set()
    for key in part.keys:
        word = lexicon.words.get(key)
        if word is not None:
            verbs.add(word.verb)
            objects.add(word.object)
    if "texts" in objects:
        objects.add("files")  # "show the contents of": a file is read
    return verbs - {""}, objects - {""}


def _direct(part: Part, lexicon: Lexicon) -> frozenset[str]:
    found: set[str] = set()
    behind = False
    for key in part.keys:
        word = lexicon.words.get(key)
        roles: frozenset[str] = word.roles if word is not None else frozenset()
        if behind and word is not None and word.object:
            found.add(word.object)
        behind = ("verb" in roles and "object" not in roles) or (
            behind and not roles & {"object", "preposition", "place", "question"}
        )
    return frozenset(found)
