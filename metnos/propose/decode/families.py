"""Kinds of files in words: "pictures", "text or markdown files", "i log", as a pattern of all their endings.

Law: only where files are found by what they are: not where the request names a file to read or to act on, nor where it
speaks of names, and no word that is a name or says where. Kinds that are joined ("text or markdown files") are one pattern.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from metnos.propose.decode.endings import is_ending, is_file_name
from metnos.propose.decode.said import NAMED, plain
from metnos.request.relations import LOOKED_IN, PLACES, relation_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metnos.propose.decode.naming import Names

_JOINED: Final = {
    "en": re.compile(r"\s*(?:files?\s*)?(?:,|or|and|/|, or|, and)\s*(?:the\s+|other\s+)?", re.IGNORECASE),
    "it": re.compile(r"\s*(?:,|o|e|ed|oppure|/)\s*(?:i\s+|le\s+|gli\s+|di\s+|in\s+|quelli\s+)?", re.IGNORECASE),
}
"""Language → what stands between two kinds that are one condition."""
_ONE: Final = re.compile(r"\*\.\w+")
"""The pattern of one ending."""
_NEAR: Final = 2
"""Words between a kind and a narrower one beside it ("png pictures", "foto in jpg")."""


class _Kind(NamedTuple):
    start: int
    end: int
    endings: tuple[str, ...]
    counts: bool
    """It is meant whatever it is joined to."""
    slot: bool = False
    """It is a pattern that was said as one."""


@cache
def _table(language: str) -> tuple[tuple[tuple[str, ...], tuple[str, ...], bool], ...]:
    """(words, endings, whether they count alone), the longest first."""
    read: dict[str, Any] = tomllib.loads(Path(__file__).with_name("families.toml").read_text(encoding="utf-8"))
    rows = [
        (tuple(cue.split()), tuple(each["endings"].split()), alone)
        for each in read.values()
        for name, alone in (("alone", True), ("beside", False))
        for cue in each.get(name, {}).get(language, ())
    ]
    return tuple(sorted(rows, key=lambda row: len(row[0]), reverse=True))


def families_of(names: Names) -> Mapping[int, str]:
    """Where a word for a kind of files begins → its pattern; of joined ones all have the same."""
    if _names_files(names) or any(names.speaks(word, NAMED) for word in names.words if word.free):
        return {}
    return _Kinds(names).patterns()


def _names_files(names: Names) -> bool:
    """Whether a file is named that is not only where something goes."""
    paths = [slot for slot in names.slots if slot.kind == "path" and is_file_name(str(slot.value))]
    return any(plain(str(slot.value)).json not in names.arrivals for slot in paths)


class _Kinds:
    def __init__(self, names: Names) -> None:
        self.names = names
        self.words = names.words
        self.lexicon = names.lexicon
        self.text = names.request.text

    def patterns(self) -> Mapping[int, str]:
        runs: list[list[_Kind]] = []
        joined = _JOINED.get(self.names.request.language, _JOINED["en"])
        for kind in self._kinds():
            if runs and joined.fullmatch(self.text, runs[-1][-1].end, kind.start):
                runs[-1].append(kind)
            else:
                runs.append([kind])
        found: dict[int, str] = {}
        for run in runs:
            endings = tuple(dict.fromkeys(ending for kind in run for ending in kind.endings))
            meant = any(kind.counts for kind in run) and not all(kind.slot for kind in run)
            if meant and not self._is_narrower(run):
                pattern = f"*.{endings[0]}" if len(endings) == 1 else f"*.{{{','.join(endings)}}}"
                found |= {kind.start: pattern for kind in run}
        return found

    def _is_narrower(self, run: Sequence[_Kind]) -> bool:
        """Whether an ending beside them says more: "png pictures"."""
        at = [number for number, word in enumerate(self.words) if any(k.start <= word.start < k.end for k in run)]
        near = self.words[max(0, at[0] - _NEAR) : at[0]] + self.words[at[-1] + 1 : at[-1] + 1 + _NEAR]
        own = {kind.start for kind in run}
        globs = {slot.start for slot in self.names.slots if slot.kind == "glob"} - own
        return any(word.start in globs or (word.free and not word.known and is_ending(word.text)) for word in near)

    def _kinds(self) -> list[_Kind]:
        found: list[_Kind] = []
        at = 0
        while at < len(self.words):
            kind = self._at(at)
            found += [] if kind is None else [kind]
            at += 1 if kind is None else sum(kind.start <= word.start < kind.end for word in self.words)
        return found

    def _at(self, at: int) -> _Kind | None:
        slot = next((each for each in self.names.slots if each.start == self.words[at].start), None)
        if slot is not None and slot.kind == "glob" and _ONE.fullmatch(str(slot.value)):
            return _Kind(slot.start, slot.end, (str(slot.value)[2:],), counts=True, slot=True)
        if self.words[at].text in self.names.kinds:
            return None
        for cue, endings, alone in _table(self.names.request.language):
            there = self.words[at : at + len(cue)]
            if tuple(word.key for word in there) != cue or not all(word.free for word in there):
                continue
            beside = self._is_beside(at, at + len(cue))
            if beside or not (alone and self._is_place(at, at + len(cue))):
                return _Kind(there[0].start, there[-1].end, endings, beside or alone)
        return None

    def _is_beside(self, first: int, end: int) -> bool:
        """Whether a noun of files stands where the language has it."""
        at = end if self.lexicon.singular_form.startswith("{}") else first - 1
        return 0 <= at < len(self.words) and self.words[at].key in self.lexicon.file_nouns

    def _is_place(self, first: int, end: int) -> bool:
        """Whether it is where something is or goes: "in photos", "the photos folder", "la cartella foto"."""
        if self.names.absent.has(self.words[first].text, self.words[first].start):
            return False
        if end < len(self.words) and self.words[end].key in self.lexicon.name_before:
            return True
        before = self.words[first - 1].key if first else ""
        if before in self.lexicon.name_marks - self.lexicon.file_nouns:
            return True
        relation = relation_of(before, self.lexicon) if before else "object"
        looked = self.names.there is None or self.names.is_there(self.words[first].text)
        return relation in PLACES or (relation in LOOKED_IN and looked)
