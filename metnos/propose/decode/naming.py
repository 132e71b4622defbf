"""The names of a request: of files, of folders, of places where something is or is put.

Law: a name is a passage of the request; what it is to its clause, the table of `metnos.request.relations` says.
"""

from __future__ import annotations

import json
import mimetypes
import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from metnos.checks.guards.asked import Action, actions_of
from metnos.checks.guards.destination import PLACING, destination_of
from metnos.checks.guards.grounding import places_said
from metnos.plan.spelling import format_parts
from metnos.propose.decode.choices import Value, unique
from metnos.propose.decode.columns import Columns
from metnos.propose.decode.endings import is_ending, is_file_name
from metnos.propose.decode.held import Held
from metnos.propose.decode.said import NAMED, Said, Spoken, plain
from metnos.request.named import names_said
from metnos.request.relations import LOOKED_IN, mark_of, relation_of
from metnos.request.words import Role

if TYPE_CHECKING:
    from metnos.request.model import Clause, Slot

NAMING: Final = frozenset({"path", "name", "quoted", "address", "url"})
"""Kinds of slots that name one thing."""
NAMED_ANEW: Final = frozenset({"rename", "move", "copy"})
"""Verbs of what takes a file to another name: to one that is there only where no other is named that is not."""
LISTS: Final = frozenset({"paths", "addresses", "urls", "texts"})
NOUN: Final[frozenset[Role]] = frozenset({"object"})
IN: Final = "in"
"""The word of both languages that a bare folder stands right behind."""
FILES: Final = frozenset({"file", "files"})
"""Nouns that never name a folder."""
DIRS: Final = "dirs"
"""What nouns of folders mean: "in the subfolders" says how far, and names none."""
_AND: Final = {
    "en": re.compile(
        r"\s*(?:,|and|&|, and|plus|as well as)(?:\s+(?:also|then|one|another|a copy))?(?:\s+of)?\s*", re.IGNORECASE
    ),
    "it": re.compile(
        r"\s*(?:,|e|ed|&|, e|più|nonché)(?:\s+(?:anche|pure|poi|una|un'altra|una copia))?(?:\s+di)?\s*", re.IGNORECASE
    ),
}
"""Language → what stands between two names of one list."""
_EXTENSION = re.compile(r"[A-Za-z0-9]{1,5}")


class Names(Said):
    """The names of one request. Each list is made when it is first asked for."""

    @cached_property
    def columns(self) -> Columns:
        """Those of tables that nobody has seen yet."""
        return Columns(self)

    @cached_property
    def held(self) -> Held:
        """What of the request stands in the tables that it names."""
        return Held(self, self.columns)

    def is_held(self, text: str) -> bool:
        """Whether a passage says which rows of a table, and so names nothing."""
        return plain(text).json in self.held.texts

    @cached_property
    def names(self) -> tuple[Value, ...]:
        """What is named: paths, names, quoted text, addresses, URLs; as a target may be written."""
        told = [content.slot for content in self.told]
        said = (slot for slot in self.of(NAMING) if slot.kind != "path" or not self.is_held(slot.text))
        slots = [slot.value for slot in said if slot not in told and isinstance(slot.value, str) and slot.value]
        return unique(plain(name) for name in (*slots, *filter(self._is_name, names_said(self.request))))

    @cached_property
    def files_there(self) -> frozenset[str]:
        """JSON of those that are files, and there; none where nobody may look."""
        names = [value for value in self.names if is_file_name(str(value.data))]
        return frozenset(value.json for value in names if self.there is not None and self.there(str(value.data)))

    @cached_property
    def cut(self) -> frozenset[str]:
        """JSON of names that may be the end of longer ones: right behind a word or number that nothing explains, which does
        not open its clause, or behind a bracket.
        """
        text, opening = self.request.text, {clause.start for clause in self.request.clauses}
        found: set[str] = set()
        for slot in self.slots:
            name = str(slot.value)
            if slot.kind != "path" or (" " in name and "(" not in name) or self.is_there(name):
                continue
            before = next((word for word in reversed(self.words) if word.end <= slot.start), None)
            if before is None:
                continue
            joined = text[before.end : slot.start].strip() in ("", "(") and before.text[:1].isalnum()
            strange = before.free and not before.known and before.start not in opening
            if text[: slot.start].endswith("(") or (joined and strange):
                found.add(plain(str(slot.value)).json)
        return frozenset(found)

    def is_there(self, name: str) -> bool:
        """Whether somebody looked, and a file or folder of that name is there."""
        return self.there is not None and self.there(name)

    @cached_property
    def only_places(self) -> frozenset[str]:
        """Of these, those that only say where, as grounding knows them; normalised."""
        return places_said(self.request)

    @cached_property
    def read_places(self) -> frozenset[str]:
        """JSON of the folders that only say whose files are meant ("the logs of the folder server"): who acts on those acts on none
        of these.
        """
        lexicon = self.lexicon
        kinds = {slot.start for slot in self.request.slots if slot.kind == "glob"}
        files = [w.start for w in self.words if w.key in lexicon.file_nouns or w.start in kinds or is_ending(w.text)]
        meant: set[str] = set()
        acted_on: set[str] = set()
        for clause in self.request.clauses:
            for slot in self.slots:
                if clause.start <= slot.start < clause.end and slot.kind in ("path", "name"):
                    mark = mark_of(self.request, clause, slot)
                    whose = relation_of(mark, lexicon) in LOOKED_IN or mark in lexicon.genitive
                    whose = whose and any(clause.start <= at < slot.start for at in files)
                    (meant if whose else acted_on).add(str(slot.value))
        return frozenset(plain(name).json for name in meant - acted_on if not is_file_name(name))

    def _is_part(self, word: Spoken) -> bool:
        """Whether a word only stands for a part of a name: of one with blanks, or the folder that one is made in."""
        itself = (word.text, word.text)
        paths = [slot for slot in self.slots if slot.kind == "path" and (slot.text, slot.value) != itself]
        around = (*paths, *(inner.place for inner in self.nested if not inner.stays))
        return any(slot.start <= word.start and word.end <= slot.end for slot in around)

    def _is_name(self, name: str) -> bool:
        """A word that is a value of another kind or a part of a name, or tells what the files are like, names none."""
        if self.absent.says(name):
            return False
        if not any(word.text == name and not self._is_part(word) for word in self.words):
            return False
        if any(name in slot.text.split() and slot.kind not in NAMING for slot in self.request.slots):
            return False
        lexicon = self.lexicon
        if name.casefold() in lexicon.file_nouns or is_ending(name):
            return False
        if any(word.text == name and word.free and self.speaks(word, NAMED) for word in self.words):
            return False  # "in the name"
        if self.is_held(name):
            return False
        if all(word.start in self.ends for word in self.words if word.text == name):
            return False  # "at the end of"
        for before, word in zip(self.words, self.words[1:], strict=False):
            if word.text == name and before.key in lexicon.file_nouns:
                known = lexicon.words.get(word.key)
                return known is None or "content" not in known.roles
        return True

    @cached_property
    def lists(self) -> tuple[Value, ...]:
        """Lists of names that were said as lists, and names that stand one behind the other as one ("a b.txt and c d.txt")."""
        found = [slot for slot in self.request.slots if slot.kind in LISTS and len(slot.items) > 1]
        said = [slot.items for slot in found if all(item in self.slots for item in slot.items)]
        return unique(Value([format_parts((str(item.value),)) for item in items]) for items in (*said, *self._rows))

    @cached_property
    def _rows(self) -> tuple[tuple[Slot, ...], ...]:
        """Names between which only words of a list stand, and that no slot holds as a list."""
        held = {
            item.start for slot in self.request.slots if slot.kind in LISTS for item in slot.items if item in self.slots
        }
        names = sorted((s for s in self.slots if s.kind == "path" and s.start not in held), key=lambda s: s.start)
        rows: list[list[Slot]] = []
        for name in names:
            last = rows[-1][-1] if rows else None
            if last is not None and _AND[self.lexicon_language].fullmatch(self.request.text, last.end, name.start):
                rows[-1].append(name)
            else:
                rows.append([name])
        return tuple(tuple(row) for row in rows if len(row) > 1)

    @property
    def lexicon_language(self) -> str:
        """A language whose words of lists are known."""
        return self.request.language if self.request.language in _AND else "en"

    @cached_property
    def listed(self) -> frozenset[str]:
        """JSON of the names that stand in a list."""
        items = [item for slot in self.request.slots for item in slot.items]
        return frozenset(
            plain(str(item.value)).json for item in (*items, *(item for row in self._rows for item in row))
        )

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Words that nothing explains and that are endings of files, or stand for one beside "files"."""
        words = [word.text for word in self.words[1:] if word.free and word.meant and not word.known]
        beside = self._kinds_of_files
        return tuple(
            word for word in words if is_ending(word) or (word in beside and _EXTENSION.fullmatch(word) is not None)
        )

    @cached_property
    def _kinds_of_files(self) -> frozenset[str]:
        """Words beside one that means files ("log files", "file log")."""
        nouns = self.lexicon.file_nouns
        pairs = list(zip(self.words, self.words[1:], strict=False))
        if self.lexicon.singular_form.startswith("{}"):  # how a language says it: a kind before its noun, or behind it
            return frozenset(first.text for first, second in pairs if second.key in nouns)
        return frozenset(second.text for first, second in pairs if first.key in nouns)

    @cached_property
    def folders(self) -> tuple[Value, ...]:
        """Names that may be those of folders: without an extension, behind a word of place if nothing explains them.

        What only might be one ("spent on travel") is one where it is there, if somebody may look.
        """
        nouns = self.lexicon.file_nouns
        pairs = zip(self.words, self.words[1:], strict=False)
        kinds = {plain(second.text) for first, second in pairs if first.key in nouns and second.key not in nouns}
        kinds = {kind for kind in kinds if _EXTENSION.fullmatch(str(kind.data))}
        there = [plain(word.text) for word in self.words if word.free and word.meant and self._is_place(word)]
        sure = (*self.names, *self._direct)
        there = [value for value in there if self.there is None or value in sure or self.there(str(value.data))]
        found = unique((*self.names, *there))
        return tuple(value for value in found if value not in kinds and not is_file_name(str(value.data)))

    @cached_property
    def places(self) -> tuple[Value, ...]:
        """Names, bare words that are there, and those right behind "in" or "files of": what surely says where, so that a plan
        may not leave it out.
        """
        sure = (*self.names, *self._direct, *self._looked_in)
        return tuple(value for value in self.folders if value in sure)

    @cached_property
    def _looked_in(self) -> tuple[Value, ...]:
        """Bare words that are there and stand behind "in", "of" or "from", where no file is named to look into."""
        if self.files_there:
            return ()
        inside = (word for word in self.words if word.free and self.is_there(word.text))
        return tuple(plain(w.text) for w in inside if relation_of(self.mark(w), self.lexicon) in LOOKED_IN)

    @cached_property
    def _direct(self) -> frozenset[Value]:
        """Bare words right behind "in" or "files of"."""
        lexicon = self.lexicon
        nouns = lexicon.file_nouns
        pairs = zip(self.words, self.words[1:], strict=False)
        direct = {plain(first.text) for first, second in pairs if second.key in lexicon.name_before}
        for before, mark, word in zip(
            ("", *(word.key for word in self.words)), self.words, self.words[1:], strict=False
        ):
            if mark.key == IN or (relation_of(mark.key, lexicon) in LOOKED_IN and before in nouns):
                direct.add(plain(word.text))
        return frozenset(value for value in direct if value.json not in self.held.texts)

    def _is_place(self, word: Spoken) -> bool:
        """A word that nothing explains behind a word of place; or a noun where a name stands.

        That is behind one without an article ("in documents"), or before "folder" ("in my documents folder").
        """
        lexicon = self.lexicon
        if word.key in lexicon.never_names or self.absent.has(word.text, word.start) or self.is_held(word.text):
            return False
        if not word.known:
            return bool(self.mark(word))
        known = lexicon.words.get(word.key)
        before = [other for other in self.words if other.end <= word.start][-1:]
        noun = known is not None and known.roles == NOUN and known.canonical not in FILES
        noun = noun and word.key not in lexicon.name_marks and known is not None and known.object != DIRS
        after = [other for other in self.words if other.start >= word.end][:1]
        if noun and after and after[0].key in lexicon.name_before:
            return True
        return noun and bool(before) and relation_of(before[0].key, lexicon) in LOOKED_IN

    def _is_where(self, word: Spoken) -> bool:
        """Whether a word says where something is, and not where it goes."""
        name = plain(word.text)
        slot = any(slot.text == word.text and slot.kind in ("path", "name") for slot in self.slots)
        # "before the audit": behind another preposition than of place it is one only where it is there.
        sure = self.there is None or relation_of(self.mark(word), self.lexicon) != "other" or self.there(word.text)
        bare = word.free and word.meant and sure and self._is_place(word)
        return (slot or bare) and name.json not in self.arrivals

    @cached_property
    def arrivals(self) -> dict[str, frozenset[Action]]:
        """JSON of a name → the actions that put something there."""
        found: dict[str, set[Action]] = {}
        for action in actions_of(self.request):
            name = self._goes_to(action) if action.effectful else None
            if name is not None:
                found.setdefault(plain(name).json, set()).add(action)
        return {name: frozenset(actions) for name, actions in found.items()}

    def _goes_to(self, action: Action) -> str | None:
        """Where an action puts something, as it is said; where its words leave that open, the file that is not there."""
        clause, verb = self.request.clauses[action.clause], action.intent.verb
        slot = destination_of(self.request, action, self.slots)
        if slot is not None and isinstance(slot.value, str):
            stands = (
                verb in NAMED_ANEW and is_file_name(slot.value) and self.there is not None and self.there(slot.value)
            )
            return (self._made(clause) if stands else None) or slot.value
        if verb not in PLACING:
            return None
        marks = [(word, self.mark(word)) for word in self.words if clause.start <= word.start < clause.end]
        said = [(word, mark) for word, mark in marks if plain(word.text) in self.names]
        behind = [word.text for word, mark in said if mark in self.lexicon.towards]
        behind = behind or [word.text for word, mark in said if mark in self.lexicon.inside]
        return behind[-1] if behind else self._made(clause)

    def _made(self, clause: Clause) -> str | None:
        """Of the files that a clause names the only one that is not there, where another is: it is still to be made."""
        slots = [s for s in self.slots if clause.start <= s.start < clause.end and s.kind in ("path", "name", "quoted")]
        names = [str(slot.value) for slot in slots if is_file_name(str(slot.value))]
        if self.there is None or len(names) < 2:
            return None
        missing = [name for name in names if not self.there(name)]
        return missing[0] if len(missing) == 1 else None

    @cached_property
    def written_as(self) -> frozenset[str]:
        """What the files that are to be made hold, by their endings: "csv"; "md" is markdown, "txt" may be anything."""
        names = [json.loads(name) for name in self.arrivals if is_file_name(json.loads(name))]
        kinds = [mimetypes.guess_type(name)[0] or "" for name in names]
        kinds = [kind.partition("/")[2] for kind in kinds]
        return frozenset((*(name.rsplit(".", 1)[-1].casefold() for name in names), *kinds))
