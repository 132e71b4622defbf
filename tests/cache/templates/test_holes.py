"""A sentence that lacks one thing at its end: which one, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from metnos.cache.model import Miss
from metnos.request.understand import understand

if TYPE_CHECKING:
    from metnos.cache.templates.library import TemplateLibrary


@pytest.mark.parametrize(
    ("said", "template", "words", "form"),
    [
        ("rename notes.txt to", "rename-file", "", "rename {path} to {path}"),
        ("find files larger than", "files-larger-than", "", "find files larger than {size}"),
        ("find pdf files larger than?", "files-larger-than", "", "find {glob} files larger than {size}"),
        ('write "hello" to', "write-text", "", "write {quoted} to {path}"),
        ("trova i file più grandi di", "files-larger-than", "", "trova i file più grandi di {size}"),
    ],
)
def test_the_one_thing_that_is_missing(
    library: TemplateLibrary, said: str, template: str, words: str, form: str
) -> None:
    found = library.match(understand(said))
    assert isinstance(found, Miss)
    assert found.hole is not None
    assert (found.hole.template, found.hole.words, form in found.hole.forms) == (template, words, True)


@pytest.mark.parametrize(
    "said",
    [
        "delete",
        "copy report.pdf",
        "list files in",
        "find files larger than a lot",
        "don't rename notes.txt to",
        "rename notes.txt to and delete",
        "do not find files larger than",
        "find every third file larger than",
        "the files",
        "",
    ],
)
def test_no_question_where_more_than_one_thing_could_be_meant(library: TemplateLibrary, said: str) -> None:
    found = library.match(understand(said))
    assert getattr(found, "hole", None) is None
