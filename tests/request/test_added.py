"""Lexicons of an operator: they add, and what would change or turn a meaning is a fault that names file and word."""

from __future__ import annotations

from pathlib import Path

import pytest

from metnos.request.explained import Explained
from metnos.request.lexicon import LexiconFault, added_digest, lexicons, lexicons_with
from metnos.request.model import Request
from metnos.request.understand import Normaliser, understand

HOUSE = '''
language = "en"
synonyms = """
lamp|light lamps|lights thermostat|heating|heater turn_off|switch_off|shut_off lower|dim forecast|weather_forecast
largest|hugest
"""
content = "weather bedroom"
named = "labelled"
polite = "alexa"
opening = "hey siri, ok google"
definite = "lamps music"
'''


def added(folder: Path, *texts: str) -> tuple[Path, ...]:
    paths = tuple(folder / f"words{number}.toml" for number in range(len(texts)))
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, "utf-8")
    return paths


@pytest.fixture
def hear(tmp_path: Path) -> Normaliser:
    return Normaliser(lexicons_with(added(tmp_path, HOUSE)))


EQUAL = [
    ("turn off the light", "switch off the lamp"),
    ("turn off the lights", "Shut off the lamps!"),
    ("hey siri, turn off the light", "turn off the light"),
    ("ok google please list files", "please list files"),
    ("weather forecast for rome", "forecast for rome"),
    ("the hugest files", "the biggest files"),
]


@pytest.mark.parametrize(("left", "right"), EQUAL)
def test_what_was_declared_is_one_form(hear: Normaliser, left: str, right: str) -> None:
    assert hear(left).normal_form == hear(right).normal_form


APART = [
    ("turn off the light", "turn off the lights"),
    ("turn off the light", "turn on the lamp"),
    ("turn off the light", "switch on the lamp"),
    ("turn off the light", "turn the light off"),
    ("turn off the light", "do not turn off the light"),
    ("turn off the light", "turn off all the light"),
    ("turn off the light", "switch the light"),
]


@pytest.mark.parametrize(("left", "right"), APART)
def test_what_was_not_declared_stays_apart(hear: Normaliser, left: str, right: str) -> None:
    assert hear(left).normal_form != hear(right).normal_form
    assert hear(left).loose_form != hear(right).loose_form


def test_an_article_may_go_before_what_is_declared(hear: Normaliser) -> None:
    assert hear("turn off the lights").loose_form == hear("turn off lamps").loose_form
    assert hear("turn off the lights").normal_form != hear("turn off lamps").normal_form
    for left, right in (
        ("play the lamp", "play lamp"),
        ("what is the time", "what is time"),
        ("play a music", "play music"),
    ):
        assert hear(left).loose_form != hear(right).loose_form


def test_reasons_tile_the_text_all_the_same(hear: Normaliser) -> None:
    text = "hey siri, switch off the light in the bedroom labelled flurb"
    request = hear(text)
    said = {text[span.start : span.end]: span.reason for span in request.spans}
    assert said["switch off"] == "synonym(turn off)"
    assert said["light"] == "synonym(lamp)"
    assert said["bedroom"] == "keyword(bedroom)"
    assert "".join(text[span.start : span.end] for span in request.spans) == text
    assert [(slot.kind, slot.value) for slot in request.slots] == [("name", "flurb")]
    assert hear("can you alexa, turn off the light").loose_form == "can you turn off the lamp"


def test_a_synonym_is_all_that_its_word_is(hear: Normaliser) -> None:
    assert hear("the hugest files").intents == understand("the largest files").intents
    one: Request = hear("dim the light")
    assert one.normal_form == "lower the lamp"


def test_what_is_shipped_stays_as_it_was(hear: Normaliser) -> None:
    for text in ("the five largest files", "i cinque file più grandi", "find *.py in src"):
        assert hear(text) == understand(text)
    assert understand("switch off the light").normal_form == "switch off the light"


FAULTS = [
    ('language = "xx"', "no lexicon of language 'xx'"),
    ('language = "en"\nsynonym = "a|b"', "synonym"),
    ('language = "en"\nsynonyms = 5', "synonyms"),
    ("language = ", "words0.toml"),
    ('language = "en"\nsynonyms = "enormous|biggest"', "'biggest' stands for 'largest' and for 'enormous'"),
    ('language = "en"\nsynonyms = "biggest|enormous"', "'biggest' stands for 'largest' already"),
    ('language = "en"\nsynonyms = "file|folder"', "'folder' stands for 'folder' and for 'file'"),
    ('language = "en"\nsynonyms = "on|off"', "'off' stands for 'off' and for 'on'"),
    ('language = "en"\nsynonyms = "lamp|light torch|light"', "'light' stands for 'lamp' and for 'torch'"),
    ('language = "en"\nsynonyms = "stop|turn_off start|turn_off"', "'turn off' stands for 'stop' and for 'start'"),
    ('language = "en"\nsynonyms = "broken|not_working"', "folds away 'not'"),
    ('language = "en"\nsynonyms = "whole|all_of"', "folds away 'all'"),
    ('language = "en"\nsynonyms = "explain|tell_me"', "folds away 'me'"),
    ('language = "en"\nsynonyms = "few|five"', "'five' is a value of its own"),
    ('language = "en"\nsynonyms = "soon|tomorrow"', "'tomorrow' is a value of its own"),
    ('language = "en"\nsynonyms = "minute|moment"', "'minute' is a value of its own"),
    ('language = "en"\nsynonyms = "soon|in_five"', "holds 'five'"),
    ('language = "en"\nsynonyms = "lamp|li.ght"', "is no word"),
    ('language = "en"\nsynonyms = "lamp|"', "is no word"),
    ('language = "en"\ncontent = "pdf"', "'pdf' is a value of its own"),
    ('language = "en"\nnamed = "known_as"', "is more than one word"),
    ('language = "en"\ndefinite = "few"', "'few' names no thing"),
    ('language = "en"\nopening = "do not"', "folds away 'do'"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS, ids=[text for text, _ in FAULTS])
def test_faults_name_the_file_and_the_word(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(LexiconFault) as caught:
        lexicons_with(added(tmp_path, text))
    assert message in str(caught.value)
    assert "words0.toml" in str(caught.value)


def test_two_files_that_contradict_each_other(tmp_path: Path) -> None:
    paths = added(tmp_path, 'language="en"\nsynonyms="lamp|light"', 'language="en"\nsynonyms="torch|light"')
    with pytest.raises(LexiconFault, match=r"words1\.toml: 'light' stands for 'lamp' and for 'torch'"):
        lexicons_with(paths)
    agreeing = added(tmp_path, 'language="en"\nsynonyms="lamp|light"', 'language="en"\nsynonyms="lamp|lantern"')
    assert Normaliser(lexicons_with(agreeing))("light lantern").normal_form == "lamp lamp"


def test_no_file_and_a_file_without_an_end(tmp_path: Path) -> None:
    with pytest.raises(LexiconFault, match=r"none\.toml"):
        lexicons_with([tmp_path / "none.toml"])
    (tmp_path / "big.toml").write_bytes(b"#" * 2_000_000)
    with pytest.raises(LexiconFault, match="larger than"):
        lexicons_with([tmp_path / "big.toml"])


def test_the_lexicon_of_the_benchmark_is_sound() -> None:
    path = Path(__file__).parents[2] / "benchmarks" / "data" / "assistants_en.toml"
    hear = Normaliser(lexicons_with([path]))
    assert hear("hey siri, switch off the tv").loose_form == hear("turn off television").loose_form
    for left, right in (
        ("turn up the volume", "turn down the volume"),
        ("cancel the alarm", "stop the alarm"),
        ("kid", "kids"),
    ):
        assert hear(left).loose_form != hear(right).loose_form


def test_the_digest_is_over_what_was_added(tmp_path: Path) -> None:
    assert added_digest(lexicons()) == ""
    one = added_digest(lexicons_with(added(tmp_path, HOUSE)))
    assert one.startswith("sha256:")
    assert added_digest(lexicons_with(added(tmp_path, HOUSE.replace("\n", "\r\n")))) == one
    assert added_digest(lexicons_with(added(tmp_path, HOUSE + "\n# more\n"))) != one
    assert (
        added_digest(lexicons_with(added(tmp_path, HOUSE.replace('"en"', '"it"').replace("largest|hugest", "")))) != one
    )


def test_verdicts_know_lexicons_apart(hear: Normaliser) -> None:
    # The memory of verdicts keeps an explanation by what it follows from.
    ours, theirs = hear("the largest files").explanation, understand("the largest files").explanation
    assert isinstance(ours, Explained)
    assert isinstance(theirs, Explained)
    assert ours.basis != theirs.basis
