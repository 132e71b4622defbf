"""A name that only a later clause speaks of is not acted on by an earlier one, whoever wrote the plan."""

from __future__ import annotations

from typing import Any

import pytest

from metnos.checks.model import Guarded
from tests.checks.test_asked import copy, delete, judged

FED: Any = {"tool": "delete_files", "args": {"path": "${item.path}"}, "for_each": "${step1.entries}"}


def found(guarded: Guarded) -> list[str]:
    findings = (*guarded.refusals, *guarded.reproposals)
    return [fault.found for finding in findings if finding.guard == "clause-place" for fault in finding.diagnostics]


def look(path: str) -> tuple[str, dict[str, str]]:
    return "find_files", {"path": path}


@pytest.mark.parametrize(
    ("text", "steps", "strange"),
    [
        # what only the later clause speaks of
        ("delete the logs and show what is in documents", (look("documents"), FED), ["documents"]),
        ("delete the logs and show what is in Taxes 2027", (look("Taxes 2027"), FED), ["Taxes 2027"]),
        ("cancella i log e mostra cosa c'è in docs/", (look("docs/"), FED), ["docs/"]),
        ("delete a.txt and read b.txt", (delete("b.txt"),), ["b.txt"]),
        ("delete a.txt, then copy b.txt to old", (delete("b.txt"), copy("b.txt", "old")), ["b.txt"]),
        # its own, an earlier one's, or one that it may be the answer to
        ("delete the logs in documents and show what is there", (look("documents"), FED), []),
        ("find the files in documents and delete them", (look("documents"), FED), []),
        ("delete a.txt in documents and show documents", (look("documents"), FED), []),
        ("delete a.txt and read b.txt", (delete("a.txt"),), []),
        ("delete a.txt and delete b.txt", (delete("a.txt"), delete("b.txt")), []),
        ("delete a.txt, then copy b.txt to old", (delete("a.txt"), copy("b.txt", "old")), []),
    ],
)
def test_a_place_binds_to_its_own_clause(text: str, steps: tuple[Any, ...], strange: list[str]) -> None:
    assert found(judged(text, *steps)) == strange


def test_a_plan_of_a_template_is_refused() -> None:
    refused = judged("delete a.txt and read b.txt", delete("b.txt"), source="template").refusals
    assert "clause-place" in {refusal.guard for refusal in refused}
