"""What the documents say is there: commands, targets, files, decisions."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from metnos.cli.main import cli
from metnos.plan.codes import CODES
from metnos.settings import VARIABLES

GUIDES = ["README.md", "CONTRIBUTING.md", "VERSIONING.md", "changelog.d/README.md"]
TARGET = re.compile(r"^([a-z0-9-]+):.*## ", re.MULTILINE)


def code_in(text: str) -> list[str]:
    """Fenced blocks and `inline code`, a line each."""
    fenced = re.findall(r"^```[a-z]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return [line.strip() for block in fenced for line in block.splitlines()] + inline


@pytest.mark.parametrize("name", GUIDES)
def test_each_make_target_exists(root: Path, name: str) -> None:
    targets = set(TARGET.findall((root / "Makefile").read_text(encoding="utf-8")))
    named = {
        found.group(1)
        for line in code_in((root / name).read_text(encoding="utf-8"))
        if (found := re.match(r"(?:\$ )?make ([a-z][a-z0-9-]*)", line))
    }
    assert named <= targets
    assert named or name not in {"README.md", "CONTRIBUTING.md"}


@pytest.mark.parametrize("name", GUIDES)
def test_each_command_exists(root: Path, name: str) -> None:
    there = set(cli.list_commands(click.Context(cli)))
    named = {
        found.group(1)
        for line in code_in((root / name).read_text(encoding="utf-8"))
        if (found := re.match(r"(?:\$ )?(?:\.venv/bin/)?metnos ([a-z]+)", line))
    }
    assert named <= there


def headings(page: Path) -> list[str]:
    return re.findall(r"^#{2,3} `?([a-z][a-z0-9-]*)`?$", page.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_documented_codes_are_the_coded_ones(root: Path) -> None:
    assert headings(root / "docs" / "codes.md") == sorted(CODES), "make docs"


def commands(group: click.Group, above: tuple[str, ...] = ()) -> Iterator[str]:
    """Every command as it is typed, a group before what is below it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        yield " ".join((*above, name))
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*above, name))


def test_the_documented_commands_are_the_coded_ones(root: Path) -> None:
    text = (root / "docs" / "commands.md").read_text(encoding="utf-8")
    assert re.findall(r"^#{2,4} ([a-z ]+)$", text, re.MULTILINE) == list(commands(cli)), "make docs"


def test_the_documented_variables_are_the_coded_ones(root: Path) -> None:
    named = re.findall(
        r"^\| `(METNOS_[A-Z]+)`", (root / "docs" / "settings.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert named == list(VARIABLES), "make docs"


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/adr/README.md"])
def test_each_file_that_is_linked_exists(root: Path, name: str) -> None:
    text = (root / name).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#:]+)\)", text) if link]
    missing = [link for link in links if not ((root / name).parent / link).exists()]
    assert links
    assert missing == []


def test_contributing_fits_on_a_page(root: Path) -> None:
    assert (root / "CONTRIBUTING.md").read_text(encoding="utf-8").count("\n") <= 70


def decisions(root: Path) -> list[Path]:
    return sorted(path for path in (root / "docs" / "adr").glob("*.md") if path.name != "README.md")


def test_each_decision_is_in_the_index(root: Path) -> None:
    index = (root / "docs" / "adr" / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"\]\((\d{4}-[a-z0-9-]+\.md)\)", index)
    assert listed == [path.name for path in decisions(root)]


def test_each_decision_has_its_parts_and_a_number_of_its_own(root: Path) -> None:
    numbers = [path.name[:4] for path in decisions(root)]
    assert len(numbers) == len(set(numbers))
    for path in decisions(root):
        text = path.read_text(encoding="utf-8")
        assert text.startswith(f"# {path.name[:4]} "), path.name
        for part in ("## Context", "## Decision", "## Consequences"):
            assert part in text, f"{path.name} lacks {part}"


def test_make_help_lists_every_target(root: Path, tmp_path: Path) -> None:
    make = shutil.which("make")
    assert make is not None
    done = subprocess.run([make, "help"], cwd=root, capture_output=True, text=True, check=True)
    printed = re.findall(r"^  make (\S+)", done.stdout, re.MULTILINE)
    assert printed == TARGET.findall((root / "Makefile").read_text(encoding="utf-8"))
    assert "ask" in printed


def test_each_fragment_has_a_known_kind(root: Path) -> None:
    fragments = [path for path in (root / "changelog.d").iterdir() if path.name != "README.md"]
    kinds = {"added", "changed", "fixed", "security"}
    assert [path.name for path in fragments if path.suffix != ".md" or path.stem.split(".")[-1] not in kinds] == []
