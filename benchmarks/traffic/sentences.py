"""Requests drawn from the starter catalog: its example sentences, with every value drawn anew.

Law: a drawn sentence is one that the library itself serves with the template of the sentence that it was made from; so
its plan is known, and nobody else's word is taken for it. The same seed draws the same requests.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from metnos.cache.model import Match
from metnos.request.understand import understand

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metnos.cache.model import Example
    from metnos.cache.templates.library import TemplateLibrary
    from metnos.request.model import Slot

TYPES = ("pdf", "csv", "md", "txt", "py", "jpg", "PDF", ".md", ".txt", ".csv", "*.py", "*.md", "src/**/*.py", "python")
WORDS: dict[str, tuple[str, ...]] = {
    "en": ("plan", "todo", "report", "budget", "milk", "letter", "invoice", "draft", "summer", "garden"),
    "it": ("piano", "bilancio", "lettera", "fattura", "bozza", "estate", "giardino", "latte", "rapporto", "note"),
}
NUMBERS: dict[str, tuple[str, ...]] = {
    "en": ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve"),
    "it": ("due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove", "dieci", "dodici"),
}
PERIODS: dict[str, tuple[str, ...]] = {
    "en": ("today", "yesterday", "this week", "last week", "this month", "last month", "in the last {} days"),
    "it": ("oggi", "ieri", "questa settimana", "la settimana scorsa", "questo mese", "negli ultimi {} giorni"),
}
UNITS: dict[str, tuple[str, ...]] = {"en": ("bytes", "KB", "MB", "GB"), "it": ("byte", "KB", "MB", "GB")}
SPANS: dict[str, tuple[str, ...]] = {"en": ("days", "weeks"), "it": ("giorni", "settimane")}
COLUMNS: dict[str, tuple[str, ...]] = {
    "en": ("city", "name", "customer", "month", "product"),
    "it": ("città", "nome", "cliente", "mese", "prodotto"),
}
NUMBER_COLUMNS: dict[str, tuple[str, ...]] = {
    "en": ("amount", "price", "total"),
    "it": ("importo", "prezzo", "totale"),
}
COUNTED = ("csv-average", "csv-maximum", "csv-minimum", "csv-sum")
"""Templates whose column holds numbers."""
TRIES = 20
"""Draws for one sentence before another is taken."""


class Drawn(NamedTuple):
    """One request and what the library gives for it."""

    text: str
    language: str
    template: str
    effect: str
    plan: dict[str, Any]


class Places(NamedTuple):
    """Where values that name files come from: each draws one."""

    folder: Callable[[random.Random], str]
    file: Callable[[random.Random], str]
    table: Callable[[random.Random], str]
    records: Callable[[random.Random], str]
    new: Callable[[random.Random], str]
    new_folder: Callable[[random.Random], str]


def any_places() -> Places:
    """Names enough for as many different requests as anybody wants; no file need be there."""
    folders = ("src", "docs", "notes", "old", "backup")
    endings = ("txt", "md", "csv", "pdf", "py")
    return Places(
        folder=lambda rng: f"{rng.choice(('', './', '~/'))}{rng.choice(folders)}/d{rng.randrange(100_000)}",
        file=lambda rng: f"f{rng.randrange(100_000)}.{rng.choice(endings)}",
        table=lambda rng: f"t{rng.randrange(100_000)}.csv",
        records=lambda rng: f"r{rng.randrange(100_000)}.json",
        new=lambda rng: f"n{rng.randrange(100_000)}.{rng.choice(('md', 'txt', 'csv'))}",
        new_folder=lambda rng: f"{rng.choice(folders)}/n{rng.randrange(100_000)}",
    )


class Drawing:
    """Draws requests like the examples of one library."""

    def __init__(self, library: TemplateLibrary, places: Places, rng: random.Random) -> None:
        self._library = library
        self._places = places
        self._rng = rng
        self._slots: dict[str, tuple[Slot, ...]] = {}

    def like(self, example: Example) -> Drawn | None:
        """`example` with its values drawn anew; None: no draw gave a sentence that the library takes for this."""
        for _ in range(TRIES):
            text = self._redrawn(example)
            found = self._library.match(understand(text))
            if isinstance(found, Match) and (found.template, found.language) == (example.template, example.language):
                return Drawn(text, example.language, example.template, example.effect, found.plan)
        return None

    def different(self, examples: Sequence[Example], count: int) -> Iterator[Drawn]:
        """`count` different requests, over all examples in turn; fewer if nothing new is found any more."""
        seen: set[str] = set()
        stale = 0
        while len(seen) < count and stale < 100 * len(examples):
            for example in examples:
                if example.text in seen:
                    continue  # without a value there is one sentence
                drawn = self.like(example)
                if drawn is None or drawn.text in seen:
                    stale += 1
                    continue
                stale = 0
                seen.add(drawn.text)
                yield drawn
                if len(seen) >= count:
                    return

    def _redrawn(self, example: Example) -> str:
        text, language = example.text, example.language
        slots = self._slots.get(text)
        if slots is None:
            slots = self._slots[text] = understand(text, language).slots
        for slot in reversed(slots):
            said = text[slot.start : slot.end]
            drawn = self._value(slot.kind, said, example, slots.index(slot), last=slot is slots[-1])
            text = text[: slot.start] + drawn + text[slot.end :]
        return text

    def _value(self, kind: str, said: str, example: Example, at: int, *, last: bool) -> str:
        rng, language = self._rng, example.language
        if kind in ("path", "paths", "quoted"):
            return self._named(kind, said, example, at, last=last)
        if kind == "glob":
            return rng.choice(TYPES)
        if kind == "integer":
            return str(rng.randrange(2, 1000)) if rng.random() < 0.6 else rng.choice(NUMBERS[language])
        if kind == "size":
            return f"{rng.randrange(1, 1000)} {rng.choice(UNITS[language])}"
        if kind == "duration":
            return f"{rng.randrange(2, 400)} {rng.choice(SPANS[language])}"
        if kind == "date" and said[:4].isdigit():
            return f"2026-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
        if kind == "period":
            return rng.choice(PERIODS[language]).format(rng.randrange(2, 40))
        return said

    def _named(self, kind: str, said: str, example: Example, at: int, *, last: bool) -> str:
        """A path, several, or a quoted text, as the example has it."""
        if kind == "paths":
            taken: set[str] = set()
            return re.sub(r"[\w./-]+\.\w+", lambda _found: self._another(taken), said)
        quote = said[:1] if said[:1] in ('"', "'", "«", "“") else ""
        bare = said.strip("\"'«»“”")
        if "." not in bare.lstrip("./~"):
            if kind == "quoted":
                return self._text(bare, example, at) if quote else self._word(example, bare)
            folder = self._places.new_folder if example.template == "create-folder" else self._places.folder
            return f'"{folder(self._rng)}"' if quote else folder(self._rng)
        name = self._file(example, last=last)
        return f'"{name}"' if quote else name

    def _another(self, taken: set[str]) -> str:
        """A file that was not named yet, if one is found."""
        for _ in range(TRIES):
            name = self._places.file(self._rng)
            if name not in taken:
                break
        taken.add(name)
        return name

    def _word(self, example: Example, bare: str) -> str:
        word = self._rng.choice(WORDS[example.language])
        return word.upper() if bare.isupper() else word

    def _text(self, bare: str, example: Example, at: int) -> str:
        """A quoted text: a column of a table, what may stand in one, or any words."""
        rng, language = self._rng, example.language
        if "csv-" not in example.template:
            words = " ".join(rng.choice(WORDS[language]) for _ in range(rng.randrange(1, 3)))
            return f'"{words} {rng.randrange(100)}"' if rng.random() < 0.5 else f'"{words}"'
        if at > 1 and bare[:1].isupper():
            return f'"{rng.choice(WORDS[language]).capitalize()}"'
        columns = NUMBER_COLUMNS if example.template in COUNTED else COLUMNS
        return f'"{rng.choice(columns[language])}"'

    def _file(self, example: Example, *, last: bool) -> str:
        """A file that is there and can be read in this way, or the name of one that will be made."""
        rng, template = self._rng, example.template
        if template == "write-text" or (last and template.startswith(("save-", "copy-file", "rename-file"))):
            return self._places.new(rng)
        if "csv-" in template:
            return self._places.table(rng)
        return self._places.records(rng) if template.startswith("json-") else self._places.file(rng)
