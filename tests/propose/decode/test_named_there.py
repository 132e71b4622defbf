"""What a line may not be where files are named that are there, or are still to be made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from metnos.checks.model import CheckContext
from metnos.propose.decode.loop import Decoder
from metnos.propose.decode.state import begin
from metnos.propose.decode.styles import LINES
from metnos.request.understand import understand
from metnos.testing.deciding import accepts

if TYPE_CHECKING:
    from metnos.propose.decode.state import Checks

THERE = frozenset({"a.txt", "b.txt", "notes/c.md", "rows.csv", "logs", "logs/x.log"})


def may(shipped: Checks, request: str, language: str, *lines: str) -> bool:
    """Whether the last of `lines` may be written behind those before it."""
    understood = understand(request, language)
    context = CheckContext(source="model", request=understood)
    names = shipped.validator._catalog.names()  # pyright: ignore[reportPrivateUsage]
    decoder = Decoder(shipped, names, understood, context, there=THERE.__contains__)
    steps: list[Any] = []
    for number, text in enumerate(lines[:-1], 1):
        step, faults = LINES.read(f"{number} {text}\n", number)
        assert step is not None, faults
        steps.append(step)
    state = begin(shipped, understood, context, tuple(steps))
    return accepts(LINES.grammar(decoder.tools.line(state)), f"{len(lines)} {lines[-1]}\n")


SEARCH = 'find_texts pattern="ERROR" path="logs"'
WRITES = "search the log files in logs for ERROR and write the matches to errors.txt"


@pytest.mark.parametrize(
    ("request_text", "language", "lines", "fits"),
    [
        # the ending tells the reader, in a list too
        ("read me a.txt, then notes/c.md", "en", ('read_files files=["a.txt","notes/c.md"]',), True),
        ("read me a.txt, then notes/c.md", "en", ('read_files_csv files=["a.txt","notes/c.md"]',), False),
        # nothing is searched everywhere where files are named and no others are spoken of
        ("read me a.txt", "en", ("find_files",), False),
        ("leggimi a.txt", "it", ("find_files",), False),
        ("read me a.txt", "en", ('read_files path="a.txt"',), True),
        ("which file is bigger, a.txt or b.txt?", "en", ("find_files",), True),
        ("read me a.txt and list the pdfs", "en", ("find_files",), True),
        # of which files a text was found changes nothing of theirs, so it may be written all the same
        (WRITES, "en", (SEARCH, "render_table <1", 'write_files <2 path="errors.txt"'), True),
        # no row holds the name of a file that is to be made, and nothing is joined with itself
        (WRITES, "en", (SEARCH, 'filter_entries <1 field="path" op="eq" value="errors.txt"'), False),
        (WRITES, "en", (SEARCH, 'join_entries <1 other=${step1.entries} on="path" how="inner"'), False),
    ],
)
def test_what_a_line_may_be(
    shipped: Checks, request_text: str, language: str, lines: tuple[str, ...], fits: bool
) -> None:
    assert may(shipped, request_text, language, *lines) is fits
