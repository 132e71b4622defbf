"""The prompt: the same bytes each turn, nothing of a turn in its prefix, and examples that decoding itself could write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from metnos.checks.model import CheckContext
from metnos.contracts.catalog import Catalog
from metnos.contracts.manifest import read_manifest
from metnos.contracts.model import Contract
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.notation import parse_lines
from metnos.propose.candidates import Candidates
from metnos.propose.decode.lark import line_grammar
from metnos.propose.decode.loop import Decoder
from metnos.propose.decode.state import Checks, begin
from metnos.propose.decode.styles import LINES
from metnos.propose.model import PlanRequest
from metnos.propose.prompt.blocks import MOST_TOOLS, NO, OPENING, WorkedPrompt, asked, prefix
from metnos.propose.prompt.brief import brief
from metnos.propose.prompt.examples import Worked, shipped
from metnos.propose.routing import route
from metnos.request.understand import understand

MANIFESTS = Path(__file__).parents[3] / "manifests"
WORKED = shipped().worked


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    contracts = [read_manifest(path.read_bytes()) for path in sorted(MANIFESTS.glob("*.toml"))]
    return Catalog().with_contracts([contract for contract in contracts if isinstance(contract, Contract)])


@pytest.fixture(scope="module")
def candidates(catalog: Catalog) -> Candidates:
    return Candidates(contract for _, contract in sorted(catalog.contracts().items()))


def request(text: str, **known: Any) -> PlanRequest:
    return PlanRequest(text=text, language="en", **known)


def test_fifty_turns_have_one_prefix(candidates: Candidates) -> None:
    prompt, seen = WorkedPrompt(), set[str]()
    for number in range(50):
        again = Candidates(tuple(candidates))
        told = prompt.prefix(again)
        said = prompt.question(request(f"request {number} <|im_end|>"), again, again.names)
        assert said == f"request {number} <|im_end|>"
        seen.add(repr(told))
    assert len(seen) == 1


def test_the_prefix_shows_every_tool_on_one_line_and_both_languages(candidates: Candidates) -> None:
    [system, *turns] = prefix(candidates)
    for contract in candidates:
        assert brief(contract) in system.content.splitlines()
    said = {one.content for one in turns if one.role == "user"}
    assert {example.en for example in WORKED} & said
    assert {example.it for example in WORKED} & said
    assert [one.role for one in turns] == ["user", "assistant"] * (len(turns) // 2)
    answers = [one.content for one in turns if one.role == "assistant"]
    assert answers.count(NO) == len(shipped().impossible)
    assert all(answer == NO or answer.startswith(OPENING) for answer in answers)
    assert answers[-1] != NO


def test_one_language_where_it_is_wanted(candidates: Candidates) -> None:
    said = {one.content for one in prefix(candidates, "it") if one.role == "user"}
    assert {example.it for example in WORKED} <= said
    assert not {example.en for example in WORKED} & said


def test_only_examples_whose_tools_there_are(candidates: Candidates) -> None:
    few = candidates.only({"find_files", "sort_entries", "take_entries"})
    written = "\n".join(one.content for one in prefix(few))
    assert "find_files" in written
    for name in set(candidates.names) - set(few.names):
        assert name not in written


def test_the_prefix_is_short(candidates: Candidates) -> None:
    assert sum(len(one.content) for one in prefix(candidates)) < 8_000  # some 2,000 tokens


@pytest.mark.parametrize("example", WORKED, ids=lambda one: one.en)
@pytest.mark.parametrize("language", ["en", "it"])
def test_decoding_can_write_the_example_for_its_own_request(catalog: Catalog, example: Worked, language: str) -> None:
    from llguidance import LLMatcher, LLTokenizer

    assert parse_lines(example.plan)
    text = example.it if language == "it" else example.en
    understood = understand(text, language)
    checks = Checks(catalog)
    context = CheckContext(source="model", request=understood, home="")
    decoder = Decoder(checks, route(understood, catalog).names, understood, context)
    tokenizer: Any = LLTokenizer("byte")
    sofar = begin(checks, understood, context)
    for number, line in enumerate(example.plan.splitlines(keepends=True), start=1):
        grammar = line_grammar(decoder.tools.line(sofar))
        matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(grammar), log_level=0)
        taken = matcher.try_consume_tokens(tokenizer.tokenize_str(line))
        assert taken == len(line.encode()), f"{line[:taken]}⟂{line[taken:]}"
        if line != "end\n":
            step, faults = LINES.read(line, number)
            assert step is not None, faults
            sofar = begin(checks, understood, context, (*sofar.steps, step))
            assert sofar.checked.diagnostics == ()
    plan = {"steps": [*sofar.steps, {"tool": "final_answer", "args": {}}]}
    assert decoder.judge(plan) == ()


def test_a_large_catalog_stands_behind_the_prefix(candidates: Candidates) -> None:
    many = Candidates(tuple(candidates) * 2)
    assert len(many) > MOST_TOOLS
    written = "\n".join(one.content for one in prefix(many) if one.role == "system")
    assert "find_files(" not in written
    said = asked(request("list the files"), many, ("find_files", "nothing"))
    assert said.startswith("Tools:\nfind_files(")
    assert "sort_entries(" not in said
    assert said.endswith("\n\nlist the files")


def test_what_is_given_and_done_is_told_by_name_and_type(candidates: Candidates) -> None:
    said = asked(request("go on", inputs={"answer": {"type": "string"}}, earlier={"plan1.step1": {"type": "object"}}))
    assert "${INPUT:answer}: string" in said
    assert "${plan1.step1}: object" in said
    fault = Diagnostic(code="bad-argument", where="/steps/0", found="x", expected="y", hint="z")
    assert "rejected" in asked(request("go on", diagnostics=(fault,)))
