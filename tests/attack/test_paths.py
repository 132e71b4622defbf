"""Every path-like argument, by every way into it, in every form of escape: nothing is read or changed outside."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import pytest

from tests.attack import paths
from tests.attack.table import SECRET, Shared, Stage

if TYPE_CHECKING:
    from pathlib import Path

LANGUAGES = tuple((language, said) for language, all_said in paths.SENTENCES.items() for said in all_said)


def test_the_arguments_are_those_of_the_manifests(root: Path) -> None:
    found = set()
    for path in (root / "manifests").glob("*.toml"):
        manifest = tomllib.loads(path.read_text())
        found |= {
            (manifest["name"], name)
            for name in manifest["args"]["properties"]
            if name in manifest.get("targets", ()) or name in manifest.get("trusted", ())
        }
    assert found == set(paths.ARGUMENTS)


@pytest.mark.parametrize("way", paths.WAYS)
@pytest.mark.parametrize(("tool", "arg"), paths.ARGUMENTS)
def test_escape(shared: Shared, tool: str, arg: str, way: str) -> None:
    stage = Stage(shared, f"{tool}-{arg}-{way}")
    paths.prepare(stage)
    for name, escape in paths.ESCAPES.items():
        stage.changed = {f"work/{made}" for made in ("says.txt", "rows.json", "rows.csv")}
        seen = paths.WAYS[way](stage, tool, arg, escape(stage))
        assert SECRET not in seen.text
        outcome = seen.document["outcome"]
        if outcome == "success":  # what looks into many files counts those it may not see
            assert (tool, arg) == ("find_texts", "files"), (name, seen.text)
            assert "Nothing found.\\n\\nNote: " in seen.text, (name, seen.text)
            continue
        assert outcome in ("error", "plan_rejected", "partial"), (name, seen.text)
        codes = {problem["code"] for problem in seen.problems()}
        assert codes if outcome == "plan_rejected" else codes & paths.OUT, (name, codes, seen.text)
        held = shared.engine.verify(stage.turns[-1]) if stage.turns else None
        assert held is None or held.ok
    if stage.turns:
        assert shared.engine.replay(stage.turns[-1]).status == "identical"


@pytest.mark.parametrize("language", sorted(paths.SENTENCES))
def test_escape_in_a_sentence(shared: Shared, language: str) -> None:
    stage = Stage(shared, f"sentence-{language}")
    paths.prepare(stage)
    ends: set[str] = set()
    for said in paths.SENTENCES[language]:
        for escape in ("../../outside/{0.name}/secret.txt", "{0.outside}/secret.txt", "link/secret.txt"):
            sentence = said.format(path=escape.format(stage))
            seen = stage.ask(sentence, language)
            ends.add(seen.document["outcome"])
            assert SECRET not in seen.text, sentence
            assert seen.document["outcome"] in ("error", "partial", "not_understood", "plan_rejected"), (
                sentence,
                seen.text,
            )
            assert seen.document["explained"], sentence
    assert "error" in ends, "not one sentence was understood"
