"""The shipped templates: sound, apart from each other, valid, and reached by every one of their wordings."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from metnos.cache.model import Match
from metnos.cache.templates.library import TemplateLibrary, library_faults
from metnos.cache.templates.template import lines, parts_of
from metnos.cache.templates.wordings import SlotPart, parse_wording, sentences
from metnos.checks.guards import guard
from metnos.checks.model import CheckContext
from metnos.checks.validator import Validator
from metnos.plan.references import Reference
from metnos.plan.spelling import parse_string
from metnos.request.understand import understand
from metnos.sdk import EFFECT_CLASSES

IDS = sorted(path.stem for path in (Path(__file__).parents[2] / "catalog" / "plans").glob("*.toml"))
VALUES: dict[str, dict[str, list[tuple[str, Any]]]] = {
    language: {
        "integer": [("7", 7), (words[0], 5), ("120", 120)],
        "size": [("1 MB", 1_000_000), ("300KB", 300_000), ("2.5 GiB", 2_684_354_560)],
        "path": [
            ("a/b.txt", "a/b.txt"),
            ("~/Docs", "~/Docs"),
            ("README.md", "README.md"),
            (["/tmp/x", "y"][0], "/tmp/x"),
        ],
        "glob": [("*.zip", "*.zip"), ("a/**/*.c", "a/**/*.c")],
        "quoted": [('"two words"', "two words"), ("«x»", "x"), ('"${step1}"', "${step1}")],
        "period": [(words[1], "day-1"), (words[2], "week-1"), (words[3], "month")],
        "duration": [(f"30 {words[4]}", "P30D"), (f"2 {words[5]}", "P14D")],
        "date": [("2026-02-28", "2026-02-28")],
        "name": [("Flurb", "Flurb"), ("Flurb Gnarl", "Flurb Gnarl")],
        "paths": [
            (f"a.txt {words[6]} b/c.md", ["a.txt", "b/c.md"]),
            (f"x.py, y.py {words[6]} z.py", ["x.py", "y.py", "z.py"]),
        ],
    }
    for language, words in {
        "en": ("five", "yesterday", "last week", "this month", "days", "weeks", "and"),
        "it": ("cinque", "ieri", "la settimana scorsa", "questo mese", "giorni", "settimane", "e"),
    }.items()
}


def test_at_least_ninety_in_both_languages(library: TemplateLibrary) -> None:
    assert len(library.ids) >= 90
    for template in library.templates:
        assert set(template.source.wordings) == set(template.source.examples) == {"en", "it"}
        for text in template.source.wordings.values():
            assert len(lines(text)) >= 3, template.id


def test_sound_and_apart(library: TemplateLibrary) -> None:
    assert library_faults(library) == []
    assert not library.broken


@pytest.mark.parametrize("name", IDS)
def test_files_are_named_after_their_template(name: str, payloads: dict[str, bytes]) -> None:
    assert TemplateLibrary.from_signed({name: payloads[name]}).ids == (name,)


@pytest.mark.parametrize("language", ["en", "it"])
@pytest.mark.parametrize("name", IDS)
def test_every_wording_reaches_its_template_and_its_plan_is_valid(
    name: str, language: str, library: TemplateLibrary, validator: Validator
) -> None:
    template = next(template for template in library.templates if template.id == name)
    chance = random.Random(f"{name}/{language}")
    checked: set[str] = set()
    for line in lines(template.source.wordings[language]):
        tree = parse_wording(line, parts_of(language))
        for _ in range(25):
            given: dict[str, Any] = {}

            def value(part: SlotPart, given: dict[str, Any] = given) -> str:
                rule = template.rule(part.name)
                values = VALUES[language][part.kind]
                text, given[part.name] = chance.choice(
                    [v for v in values if not isinstance(v[1], str) or rule.takes(v[1])]
                )
                return text

            text = sentences(tree, value, chance.randrange)
            request = understand(text, language)
            found = library.match(request)
            assert isinstance(found, Match), (text, found)
            assert found.template == name, text
            assert {key: found.slots[key] for key in given} == given, text
            if request.normal_form not in checked:
                checked.add(request.normal_form)
                context = CheckContext(source="template", origins=found.origins, request=request)
                accepted = validator(found.plan, context)
                assert accepted.diagnostics == (), text
                guarded = guard(accepted, context, validator)
                assert guarded.refusals == guarded.reproposals == (), text


def test_every_example_passes_the_guards(library: TemplateLibrary, validator: Validator) -> None:
    for example in library.examples():
        request = understand(example.text, example.language)
        found = library.match(request)
        assert isinstance(found, Match)
        context = CheckContext(source="template", origins=found.origins, request=request)
        checked = validator(found.plan, context)
        guarded = guard(checked, context, validator)
        assert guarded.refusals == guarded.reproposals == (), example.text
        worst = max((step.worst_effect for step in checked.steps), key=EFFECT_CLASSES.index)
        assert worst == example.effect, example.text
        # What is done is what was asked for, word by word.
        asked = max((intent.effect for intent in request.intents), key=EFFECT_CLASSES.index, default="read")
        assert asked == worst, example.text


def test_bytes_are_shown_with_their_unit(library: TemplateLibrary) -> None:
    for template in library.templates:
        source = template.source
        for language, answer in (source.answer or source.title).items():
            if re.search(r"\.(sum|mean|size|bytes)\b|\"size\"", answer + source.plan):
                assert ("byte" if language == "it" else "bytes") in answer or "{step1.count}" in answer, template.id


def test_what_narrows_an_answer_is_said_in_it(library: TemplateLibrary) -> None:
    """Type, period, bounds of size, and hidden files: in the answer, also where there is nothing to show."""
    for template in library.templates:
        source = template.source
        used = (
            set(re.findall(r"\$\{SLOT:([a-z_]+)", source.plan))
            - {"count", "file", "table_file"}
            - ({"text"} if template.id.endswith("-text") else set())
        )
        for said in (source.answer, source.title, source.none):
            for language, text in said.items():
                missing = {name for name in used if f"${{SLOT:{name}" not in text} - (
                    {"order"} if said is source.none else set()
                )
                assert not missing, (template.id, language, missing)


def test_the_same_answer_says_that_nothing_was_found(library: TemplateLibrary) -> None:
    for text, none in (
        ("largest pdf file in ./code", "No pdf files under ./code, hidden ones left out."),
        ("the newest *.c file in ./code, including hidden ones", "No c files under ./code, hidden ones included."),
        ('i file pdf modificati ieri in "x ${y"', 'Nessun file pdf modificato ieri sotto "x ${y", esclusi i nascosti.'),
        ("list a?.py in ./code", "No a?.py files under ./code, hidden ones left out."),
        ("pdf files over 4096 bytes", "No pdf files larger than 4096 bytes under this folder, hidden ones left out."),
        ("files over 1MB", "No files larger than 1MB (1000000 bytes) under this folder, hidden ones left out."),
    ):
        found = library.match(understand(text))
        assert isinstance(found, Match), text
        (reference,) = parse_string(found.plan["steps"][-1]["args"]["text"])
        assert isinstance(reference, Reference)
        assert reference.fallback == none
