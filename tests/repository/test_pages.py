"""What the pages of docs/ show is so: plans are accepted or refused as they say, commands print what is printed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from metnos.checks.model import CheckContext
from metnos.checks.validator import Validator
from metnos.contracts.catalog import Catalog
from metnos.contracts.manifest import read_manifest
from metnos.contracts.model import Contract
from metnos.plan.notation import ENDS, parse_lines
from metnos.plan.parse import MAX_STEPS, STEP_FIELDS, Parsed, read_plan
from metnos.plan.references import Reference
from metnos.plan.schema import plan_schema
from metnos.plan.spelling import parse_string
from metnos.plan.terminals import TERMINALS
from metnos.policy.table import TABLE
from metnos.turn.table import PHASES
from tests.support.pages import Block, blocks, fits, play

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
LANGUAGE = DOCS / "plan-language.md"


def parsed(block: Block) -> Parsed | None:
    """The plan in a block of any page, None if there is none."""
    first = block.text.split(" ", 1)[0]
    if block.language == "json" and '"steps"' in block.text:
        return read_plan(block.text)
    if block.language == "text" and (first == "1" or first in ENDS):
        return parse_lines(block.text)
    return None


PLAYED = ("executors", "tutorial")
"""Pages whose commands are typed; their files are used by these."""
PLANS = [
    (page, block)
    for page in PAGES
    for block in blocks(page)
    if parsed(block) is not None and not (block.file and page.stem in PLAYED)
]


@pytest.fixture(scope="module")
def validator() -> Validator:
    contracts = [read_manifest(path.read_bytes()) for path in sorted((ROOT / "manifests").glob("*.toml"))]
    assert all(isinstance(contract, Contract) for contract in contracts)
    return Validator(Catalog().with_contracts(contracts))


@pytest.mark.parametrize(("page", "block"), PLANS, ids=[f"{page.stem}-{at}" for at, (page, _) in enumerate(PLANS)])
def test_a_plan_is_accepted_or_refused_as_the_page_says(page: Path, block: Block, validator: Validator) -> None:
    said = set(re.findall(r"#([a-z0-9-]+)\)", block.after)) if block.after.startswith("Refused:") else set()
    read = parsed(block)
    assert read is not None
    found = [*read.diagnostics]
    if read.plan is not None and not found:
        inputs = {name: {"type": "string"} for name in re.findall(r"INPUT:(\w+)", block.text)}
        found = [*validator(read.plan, CheckContext(inputs=inputs)).diagnostics]
    assert {fault.code for fault in found} == said, found


def test_the_page_of_the_language_shows_plans_of_each_kind() -> None:
    shown = [block for page, block in PLANS if page == LANGUAGE]
    assert len(shown) > 15
    assert sum(block.after.startswith("Refused:") for block in shown) >= 4


def test_every_reference_that_is_spelled_on_the_page_can_be_read() -> None:
    spelled = re.findall(r"`(\$[{<][^`]*[}>])`", LANGUAGE.read_text(encoding="utf-8"))
    assert len(spelled) > 20
    for word in spelled:
        parts = parse_string(word)
        assert len(parts) == 1, word
        assert isinstance(parts[0], Reference), word


def test_the_page_of_the_language_names_every_field_and_terminal() -> None:
    text = LANGUAGE.read_text(encoding="utf-8")
    for name in (*STEP_FIELDS, *TERMINALS, *(name for names in TERMINALS.values() for name in names)):
        assert re.search(rf"^\|.*`{name}`", text, re.MULTILINE), name
    assert f"| {MAX_STEPS} |" in text


def test_the_page_of_the_machine_names_every_phase() -> None:
    text = (DOCS / "turn-machine.md").read_text(encoding="utf-8")
    assert tuple(re.findall(r"^\| `([a-z_]+)` \| [a-z]", text, re.MULTILINE)[: len(PHASES)]) == PHASES


def test_the_tests_that_hold_each_promise_are_there() -> None:
    text = (DOCS / "security.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[a-z_/]+\.py)::(test_[a-z0-9_]+)`", text)
    assert len(named) > 25
    for file, name in named:
        assert re.search(rf"^(?:async )?def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), name
    rows = re.findall(r"^\| (\d+) \|", text, re.MULTILINE)
    assert rows == [str(number) for number in range(1, 21)]


def test_the_executors_that_open_secrets_are_named() -> None:
    contracts = [read_manifest(path.read_bytes()) for path in sorted((ROOT / "manifests").glob("*.toml"))]
    opening = {each.name: each.opens_secrets for each in contracts if isinstance(each, Contract) and each.opens_secrets}
    assert opening == {"append_files": ("content",), "write_files": ("content",)}
    assert "Of the shipped executors that are `append_files` and `write_files`, in `content`" in (
        DOCS / "security.md"
    ).read_text("utf-8")


def test_the_table_of_policy_is_the_one_in_force() -> None:
    text = (DOCS / "security.md").read_text(encoding="utf-8")
    words = {"allow": "allowed", "ask": "asked", "ask-unless-yes": "asked; `--yes` allows", "deny": "denied"}
    for effect, row in TABLE.items():
        found = re.search(rf"^\| [^|]*`{effect}`[^|]*\|(.*)\|$", text, re.MULTILINE)
        assert found is not None, effect
        assert [cell.strip() for cell in found[1].split("|")] == [
            words[row[of]] for of in ("catalog", "host", "foreign")
        ]


@pytest.mark.parametrize("what", ["plan", "manifest"])
def test_the_schema_that_is_published_is_the_one_that_is_printed(what: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "metnos", "--home", str(tmp_path), "schema", what]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    assert done.stdout == (DOCS / "schema" / f"{what}-1.json").read_bytes()


def test_the_plan_schema_is_found_where_the_page_says() -> None:
    named = {json.loads(block.text)["$schema"] for page in PAGES for block in blocks(page) if '"$schema"' in block.text}
    assert named
    for name in named:
        assert json.loads((DOCS / name).read_bytes()) == plan_schema()


@pytest.mark.parametrize("name", PLAYED)
def test_the_commands_of_a_page_print_what_it_shows(name: str, tmp_path: Path) -> None:
    for folder in ("here", "home"):
        (tmp_path / folder).mkdir()
    assert play(DOCS / f"{name}.md", tmp_path / "here", tmp_path / "home") > 3


@pytest.mark.parametrize(
    ("printed", "shown", "holds"),
    [("a\nb\n", "a\nb", True), ("a\nb", "a\n…", True), ("a b c", "a … c", True), ("a", "b", False), ("ab", "a", False)],
)
def test_what_is_shown_is_compared(printed: str, shown: str, holds: bool) -> None:
    assert fits(printed, shown) is holds
