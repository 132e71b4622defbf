"""Lexicons are data that do not contradict themselves."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import metnos.request
from metnos.request import lexicon as module
from metnos.request.lexicon import LexiconFault, choose, languages, lexicon_digest, lexicon_for, lexicons, read_lexicon
from metnos.request.tokens import fold, tokenise
from metnos.values.runtime import runtime_schema

FOLDER = Path(metnos.request.__file__).parent / "lexicon"


def data(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))


def test_shipped_languages_in_declared_order() -> None:
    assert languages() == ("en", "it")


@pytest.mark.parametrize("language", languages())
def test_every_word_is_one_folded_token(language: str) -> None:
    for word in lexicon_for(language).words:
        tokens = tokenise(word)
        assert [token.kind for token in tokens] == ["word"]
        assert tokens[0].key == word == fold(word)


@pytest.mark.parametrize("language", languages())
def test_folding_is_idempotent(language: str) -> None:
    lexicon = lexicon_for(language)
    for word in lexicon.words.values():
        for part in word.canonical.split():
            assert lexicon.fold_word(part) == part


@pytest.mark.parametrize("language", languages())
def test_opposites_are_never_synonyms(language: str) -> None:
    lexicon = lexicon_for(language)
    pairs = {
        "en": ["largest smallest", "newest oldest", "larger smaller", "over under", "first last", "all none", "with without",
               "file files", "folder folders", "delete remove", "list read", "to from", "in out", "ascending descending"],
        "it": ["grande piccolo", "recente vecchio", "primo ultimo", "tutti nessuno", "con senza", "cartella cartelle",
               "più meno", "cancella sposta", "maggiori minori", "superiori inferiori", "crescente decrescente"],
    }[language]  # fmt: skip
    for pair in pairs:
        left, right = pair.split()
        assert lexicon.fold_word(left) is not None
        assert lexicon.fold_word(left) != lexicon.fold_word(right), pair


@pytest.mark.parametrize("language", languages())
def test_periods_are_runtime_keys(language: str) -> None:
    for phrases in lexicon_for(language).said.values():
        for phrase in (phrase for phrase in phrases if phrase.kind == "period"):
            for key in phrase.value.split(".."):
                schema = runtime_schema(key)
                assert schema is not None
                assert schema["type"] == "object", phrase


def test_a_word_with_two_canonical_forms_is_a_fault() -> None:
    common, english = data("common"), data("en")
    english["words"]["content"] += " huge|largest"
    with pytest.raises(LexiconFault, match="largest"):
        read_lexicon(english, common)


def test_a_homograph_of_two_verbs_asks_for_the_stronger_effect() -> None:
    common, english = data("common"), data("en")
    english["verbs"]["delete"]["delete"] += " list"
    assert read_lexicon(english, common).words["list"].effect == "delete"
    english["verbs"]["read"]["read"] += " delete"
    assert read_lexicon(english, common).words["delete"].effect == "delete"


def test_a_new_language_is_a_new_data_file(monkeypatch: pytest.MonkeyPatch) -> None:
    german = data("en")
    german |= {"language": "de", "order": 3, "words": {**german["words"], "content": "größten dateien"}}
    built = read_lexicon(german, data("common"))
    monkeypatch.setattr(module, "lexicons", lambda: (*lexicons(), built))
    assert choose(tokenise("größten dateien")).language == "de"


def test_ties_go_to_the_declared_order() -> None:
    assert choose(tokenise("xyz")).language == "en"
    assert choose(tokenise("file")).language == "en"


def test_unknown_language() -> None:
    with pytest.raises(ValueError, match="there is: en, it"):
        lexicon_for("xx")


def test_digest_is_over_the_files() -> None:
    assert lexicon_digest().startswith("sha256:")
    assert lexicon_digest() == lexicon_digest()
