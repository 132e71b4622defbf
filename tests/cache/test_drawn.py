"""General plans of the starter library's own, against that library: what one draw taught must give what another needs.

Values are drawn from the words and marks that the answers themselves are made of, so that any part of a value that is
found in a text by chance is found out.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from benchmarks.traffic import sentences
from benchmarks.traffic.sentences import Drawing, Places
from metnos import Engine
from metnos.cache.entries import key as keying
from metnos.cache.generalise.general import bind_general, generalise
from metnos.cache.generalise.uses import General
from metnos.cache.templates.template import Bound
from metnos.request.understand import understand

if TYPE_CHECKING:
    from benchmarks.traffic.sentences import Drawn

WORDS = (
    "files",
    "file",
    "hidden",
    "ones",
    "left",
    "out",
    "bytes",
    "size",
    "in",
    "under",
    "by",
    "all",
    "name",
    "table",
    "of",
    "lines",
    "total",
    "md",
    "csv",
    "txt",
    "a",
    "1",
    "10",
)
BEFORE = ("", "./", "~/", "../", "a/")


def folder(rng: random.Random) -> str:
    return rng.choice(BEFORE) + rng.choice(WORDS) + rng.choice(("", f"/{rng.choice(WORDS)}"))


def file(rng: random.Random) -> str:
    return f"{rng.choice(('', './', 'x/'))}{rng.choice(WORDS)}.{rng.choice(('md', 'txt', 'csv'))}"


def test_no_part_of_a_value_is_taken_for_a_word_of_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "WORDS", {"en": WORDS, "it": WORDS})
    with Engine.open(memory=True) as engine:
        library, catalog = engine.parts.library, engine.catalog
    drawing = Drawing(
        library,
        Places(folder=folder, file=file, table=file, records=file, new=file, new_folder=folder),
        random.Random(5),
    )
    bound = 0
    for example in library.examples()[::3]:
        rows: list[Drawn] = [drawn for drawn in (drawing.like(example) for _ in range(6)) if drawn is not None]
        for one in rows:
            request = understand(one.text)
            general = generalise(request, one.plan, catalog)
            if not isinstance(general, General) or general.free_literals:
                continue
            for other in rows:
                asked = understand(other.text)
                if keying.form_of(asked, "loose") != keying.form_of(request, "loose"):
                    continue
                found = bind_general(general, asked.slots)
                if isinstance(found, Bound):
                    bound += 1
                    assert found.plan == other.plan, (one.text, other.text)
    assert bound > 20


def test_the_parent_of_a_path_is_no_full_stop() -> None:
    with Engine.open(memory=True) as engine:
        library, catalog = engine.parts.library, engine.catalog
    plans = []
    for place in ("./docs", "docs/2026"):
        request = understand(f'find files whose name contains "budget" under {place}')
        found = library.match(request)
        plans.append((request, found.plan))  # type: ignore[union-attr]
    general = generalise(*plans[0], catalog)
    assert isinstance(general, General)
    served = bind_general(general, plans[1][0].slots)
    assert not isinstance(served, Bound) or served.plan == plans[1][1]
