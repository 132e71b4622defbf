"""Targets with blanks that nobody quoted, and folders inside folders: said so, or refused."""

from __future__ import annotations

import pytest

from metnos.checks.guards import guard
from metnos.checks.model import CheckContext
from metnos.checks.validator import Validator
from metnos.contracts.catalog import Catalog
from metnos.contracts.model import Consumes
from metnos.request.understand import understand
from tests.checks.test_asked import tool

TOOLS = (
    tool("create_dirs", "create dirs", "create", "path"),
    tool("delete_files", "delete files", "delete", "path", consumes=Consumes(into="path", kinds=("file",))),
    tool("move_files", "move files", "change", "path", "to", "folder"),
)
VALIDATOR = Validator(Catalog().with_contracts(TOOLS))


def faults(text: str, language: str, name: str, **args: str) -> set[str]:
    request = understand(text, language)
    context = CheckContext(source="model", request=request)
    checked = VALIDATOR({"steps": [{"tool": name, "args": args}, {"tool": "final_answer", "args": {}}]}, context)
    assert checked.ok, checked.diagnostics
    found = guard(checked, context, VALIDATOR)
    return {fault.code for finding in (*found.refusals, *found.reproposals) for fault in finding.diagnostics}


@pytest.mark.parametrize(
    ("text", "language", "name", "args"),
    [
        ("delete garden notes.md", "en", "delete_files", {"path": "garden notes.md"}),
        ("elimina appunti orto.md", "it", "delete_files", {"path": "appunti orto.md"}),
        ("move plan.md into trips/list 2031.md", "en", "move_files", {"path": "plan.md", "to": "trips/list 2031.md"}),
        ("sposta da fare.md nella cartella vecchi", "it", "move_files", {"path": "da fare.md", "folder": "vecchi"}),
        ("make a folder called Lake House", "en", "create_dirs", {"path": "Lake House"}),
        ("make a folder called Lake House inside trips", "en", "create_dirs", {"path": "trips/Lake House"}),
        ("create the folder maps in trips", "en", "create_dirs", {"path": "trips/maps"}),
        ("crea la cartella 'Mappe vecchie' dentro viaggi", "it", "create_dirs", {"path": "viaggi/Mappe vecchie"}),
    ],
)
def test_said(text: str, language: str, name: str, args: dict[str, str]) -> None:
    assert faults(text, language, name, **args) == set()


@pytest.mark.parametrize(
    ("text", "language", "name", "args"),
    [
        ("delete garden notes.md", "en", "delete_files", {"path": "garden  plan.md"}),
        ("delete garden notes.md", "en", "delete_files", {"path": "Garden notes.md"}),
        ("delete the notes.md of my garden", "en", "delete_files", {"path": "garden notes.md"}),
        ("delete a.md and show what is in Lake House", "en", "delete_files", {"path": "Lake House"}),
        ("create the folder maps and list what is in trips", "en", "create_dirs", {"path": "trips/maps"}),
        ("create the folder maps in trips", "en", "create_dirs", {"path": "maps/trips"}),
        ("create the folder maps in trips", "en", "create_dirs", {"path": "../trips/maps"}),
        ("move maps in trips", "en", "move_files", {"path": "a.md", "folder": "trips/maps"}),
    ],
)
def test_not_said(text: str, language: str, name: str, args: dict[str, str]) -> None:
    assert "ungrounded-target" in faults(text, language, name, **args)
