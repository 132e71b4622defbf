"""Bare names: words of the request that can only be names, and none that says something else."""

from __future__ import annotations

import pytest

from metnos.request.model import Request
from metnos.request.named import names_said
from metnos.request.understand import understand


@pytest.mark.parametrize(
    ("text", "language", "names"),
    [
        ("copy all jpg files from photos into album", "en", ("album",)),
        ("move a.txt to backup", "en", ("backup",)),
        ("read a.txt and copy it into documents", "en", ("documents",)),
        ("copy a.txt into the Archive", "en", ("Archive",)),
        ("make a folder called archive", "en", ("archive",)),
        ("sposta a.txt in archivio", "it", ("archivio",)),
        ("copia a.txt nella cartella album", "it", ("album",)),
        ("delete the file", "en", ()),
        ("go on in total silence", "en", ()),
        ("show the files to me", "en", ()),
        ("I want to delete files", "en", ()),
        ("move it to the other folder", "en", ()),
        ("cancella quei file", "it", ()),
        ("", "en", ()),
    ],
)
def test_names(text: str, language: str, names: tuple[str, ...]) -> None:
    assert names_said(understand(text, language)) == names


def test_every_name_stands_in_the_text_letter_for_letter() -> None:
    for text in ("copy a.txt into Álbum", "put it in the FOTO folder, then copy b to Ω"):
        assert all(name in text for name in names_said(understand(text, "en")))


def test_a_request_that_was_only_told_names_nothing() -> None:
    assert names_said(Request(text="into album", language="en", normal_form="into album")) == ()
