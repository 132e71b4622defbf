"""Where a file that is written goes, if a folder is said of other files behind it."""

from __future__ import annotations

import pytest

from metnos.checks.guards.asked import actions_of
from metnos.checks.guards.destination import destination_of
from metnos.request.understand import understand


@pytest.mark.parametrize(
    ("language", "text", "place"),
    [
        ("en", "write list.txt with the names of the jpg files in photos", "list.txt"),
        ("it", "crea elenco.txt coi nomi dei jpg che stanno nella cartella foto", "elenco.txt"),
        ("en", "write list.txt in the docs folder", "docs"),
        ("it", "crea elenco.txt nella cartella foto", "foto"),
        ("en", "write list.txt about the sales in the docs folder", "docs"),
    ],
)
def test_the_folder_of_other_files_is_not_where_it_goes(language: str, text: str, place: str) -> None:
    request = understand(text, language)
    action = next(action for action in actions_of(request) if action.effectful)
    found = destination_of(request, action)
    assert found is not None
    assert found.value == place
