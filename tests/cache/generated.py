"""Requests of the shipped templates by form, each with the plan that its template gives it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from metnos.cache.model import Match
from metnos.cache.templates.library import TemplateLibrary
from metnos.cache.templates.template import Template, lines, parts_of
from metnos.cache.templates.wordings import SlotPart, parse_wording, sentences
from metnos.request.model import Request
from metnos.request.understand import understand

Pair = tuple[Request, dict[str, Any]]

VALUES: dict[str, dict[str, Sequence[str]]] = {
    "en": {
        "integer": ("7", "five", "120", "3", "1", "twelve"),
        "size": ("1 MB", "300KB", "2.5 GiB", "4096 bytes", "5 megabytes", "512 bytes"),
        "path": (
            "a/b.txt", "~/Docs", "README.md", "/tmp/x", "src", "notes.txt", "list.csv", "data", "x.json", "../up",
            "report.pdf", ".git", "lib/",
        ),
        "glob": ("*.zip", "*.pdf", "a/**/*.c", "report*", "*.csv", "*.PDF"),
        "quoted": (
            '"two words"', "«x»", '"${step1}"', '"TODO"', '"my file.txt"', "'single'", '"files"', '"a.b"', '"list.csv"',
            '"table.md"', '"it costs 5$"', '"pdf"',
        ),
        "period": ("yesterday", "last week", "this month", "in the last 7 days", "today", "last year"),
        "duration": ("30 days", "two weeks", "14 days", "a day", "365 days", "3 hours"),
        "date": ("2026-02-28", "march 5, 2026", "5 march", "tomorrow", "30/11/2026"),
        "name": ("Flurb", "Two Words", "flurb", "Name"),
        "paths": ("a.txt and b/c.md", "x.py, y.py and z.py", "b.txt and a.txt", "a.txt and a.txt", "~/x.csv and /tmp/y"),
    },
    "it": {
        "integer": ("7", "cinque", "120", "3", "1", "dodici"),
        "size": ("1 MB", "300KB", "2.5 GiB", "4096 byte", "5 mega"),
        "path": ("a/b.txt", "~/Docs", "README.md", "/tmp/x", "src", "note.txt", "lista.csv", "dati", ".git", "lib/"),
        "glob": ("*.zip", "*.pdf", "a/**/*.c", "report*", "*.csv"),
        "quoted": ('"due parole"', "«x»", '"${step1}"', '"TODO"', '"mio file.txt"', '"lista.csv"', '"costa 5$"'),
        "period": ("ieri", "la settimana scorsa", "questo mese", "negli ultimi 7 giorni"),
        "duration": ("30 giorni", "due settimane", "14 giorni", "un giorno", "365 giorni", "3 ore"),
        "date": ("2026-02-28", "5 marzo 2026", "5 marzo", "domani", "30/11/2026"),
        "name": ("Flurb", "Due Parole", "flurb", "Nome"),
        "paths": ("a.txt e b/c.md", "x.py, y.py e z.py", "b.txt e a.txt", "a.txt e a.txt", "~/x.csv e /tmp/y"),
    },
}  # fmt: skip
"""Awkward on purpose: endings that choose a format, quotes of three kinds, references, dollars, words of sentences."""


def requests_by_form(
    library: TemplateLibrary, template: Template, language: str, *, ways: int, values: int
) -> Iterator[list[Pair]]:
    """For each form of `template` some pairs of one form: `ways` through each wording, `values` of each."""
    found: dict[str, list[Pair]] = {}
    chance = random.Random(f"{template.id}/{language}")
    for line in lines(template.source.wordings[language]):
        tree = parse_wording(line, parts_of(language))
        for way in range(ways):
            for _ in range(values):
                path = random.Random(f"{line}/{way}")

                def value(part: SlotPart) -> str:
                    return chance.choice(VALUES[language][part.kind])

                request = understand(sentences(tree, value, path.randrange), language)
                match = library.match(request)
                if isinstance(match, Match) and match.template == template.id:
                    found.setdefault(request.normal_form, []).append((request, match.plan))
    yield from found.values()
