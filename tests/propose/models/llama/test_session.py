"""A session: marks, what is read at once, faults that leave it where it was, and what it says it cost."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from llguidance import LLTokenizer

from metnos.contracts.manifest import read_manifest
from metnos.contracts.model import Contract
from metnos.propose.candidates import Candidates
from metnos.propose.models.llama.decoding import held_to_schema
from metnos.propose.models.llama.session import LlamaSession
from metnos.propose.models.llama.template import FAMILIES, asked
from metnos.propose.models.ports import ModelFault, Stop, Usage
from tests.support.llama import MARKS, FakeLibrary

WORD = 'start: /[a-z ]+/ "\\n"'
LINE = 'start: "step = " NAME "()\\n"\nNAME: "list" | "read"'
BYTES: Any = LLTokenizer("byte")


def tokens_of(text: str, within: bool) -> list[int]:
    found: list[int] = []
    for one in asked(FAMILIES[0], text, within=within):
        found += [MARKS[one.text]] if one.control else list(one.text.encode())
    return found


def begun(library: FakeLibrary, *, stop: Stop | None = None, prefix: str = "be brief") -> LlamaSession:
    tokens = library.tokens(prefix)
    library.held[1] = list(tokens)
    return LlamaSession(
        library,  # pyright: ignore[reportArgumentType]
        1,
        tokens,
        stop=stop or Stop(),
        usage=Usage(tokens_in=len(tokens), tokens_cached=len(tokens)),
        laid_out=tokens_of,
        tokenizer=lambda: BYTES,
        closed=lambda _: None,
    )


def test_a_question_is_read_in_one_go_with_what_is_forced() -> None:
    library = FakeLibrary("step = read()\n")
    session = begun(library)
    session.ask("what is in it?")
    assert library.steps == []
    decoded = session.decode(LINE, most_tokens=40)
    assert decoded.text == "step = read()\n"
    assert decoded.forced == decoded.tokens - 1  # the one choice was the first letter of the name
    assert len(library.steps) == 1
    assert decoded.surprise > 0


def test_the_grammar_holds_whatever_the_model_likes() -> None:
    library = FakeLibrary("\x00\xff nonsense")
    session = begun(library)
    session.ask("?")
    assert session.decode(LINE, most_tokens=40).text in ("step = list()\n", "step = read()\n")


def test_nothing_to_choose_is_no_surprise_and_no_question_to_the_model() -> None:
    library = FakeLibrary()
    session = begun(library)
    session.ask("?")
    decoded = session.decode('start: "only this\\n"', most_tokens=40)
    assert (decoded.text, decoded.surprise, decoded.forced) == ("only this\n", 0.0, decoded.tokens)
    assert library.steps == []


def test_the_end_of_an_answer_ends_a_grammar_that_allows_it() -> None:
    session = begun(FakeLibrary("abc"))
    session.ask("?")
    assert session.decode("start: /[a-z]*/", most_tokens=40).text == "abc"


def test_going_back_and_deciding_again_is_the_same() -> None:
    session = begun(FakeLibrary("hello you\n"))
    session.ask("?")
    mark = session.mark()
    first = session.decode(WORD, most_tokens=40)
    assert session.mark() > mark
    session.rewind(mark)
    assert session.mark() == mark
    assert session.decode(WORD, most_tokens=40) == first


def test_no_place_before_the_prefix_or_ahead() -> None:
    session = begun(FakeLibrary())
    for place in (-1, 0, session.mark() - 1, session.mark() + 1):
        with pytest.raises(ValueError, match="no place"):
            session.rewind(place)


def test_a_second_question_closes_the_answer_and_going_back_opens_it() -> None:
    library = FakeLibrary("yes\n")
    session = begun(library)
    session.ask("one?")
    mark = session.mark()
    session.decode(WORD, most_tokens=10)
    session.ask("two?")
    session.decode(WORD, most_tokens=10)
    held = library.held[1]
    assert held.count(MARKS["<|im_end|>"]) == 3  # two questions, one answer
    session.rewind(mark)
    session.ask("three?")
    session.scores()
    assert library.held[1].count(MARKS["<|im_end|>"]) == 3
    session.rewind(len("be brief"))
    session.ask("four?")
    session.scores()
    assert library.held[1].count(MARKS["<|im_end|>"]) == 1
    assert session.usage.calls == 4


def test_text_that_is_fed_is_gone_on_from() -> None:
    session = begun(FakeLibrary("hello you\n"))
    session.ask("?")
    session.feed("hello ")
    assert session.decode(WORD, most_tokens=10).text == "you\n"


def test_choosing_writes_nothing_and_weighs_whole_texts() -> None:
    library = FakeLibrary("yes indeed\n")
    session = begun(library)
    session.ask("?")
    mark = session.mark()
    yes, indeed, no, nothing = session.choose(["yes", "yes indeed", "no", ""])
    assert session.mark() == mark
    assert nothing == 0.0
    assert yes > no
    assert indeed <= yes < 0
    assert math.isfinite(no)
    assert session.choose(["yes"]) == (yes,)
    assert session.decode(WORD, most_tokens=20).text == "yes indeed\n"


def test_too_long_an_answer_is_a_fault_and_leaves_no_trace() -> None:
    library = FakeLibrary("hello you\n")
    session = begun(library)
    session.ask("?")
    mark = session.mark()
    with pytest.raises(ModelFault) as caught:
        session.decode(WORD, most_tokens=3)
    assert caught.value.code == "model-length"
    assert caught.value.usage.tokens_out == 3
    assert session.mark() == mark
    assert session.decode(WORD, most_tokens=10).text == "hello you\n"


def test_a_forced_text_beyond_the_limit_is_too_long_too() -> None:
    session = begun(FakeLibrary())
    session.ask("?")
    with pytest.raises(ModelFault, match="no end"):
        session.decode('start: "more than three"', most_tokens=3)


def test_a_limit_that_is_just_met_is_met() -> None:
    for says, grammar, most in (("abc", "start: /[a-z]*/", 3), ("abcd", 'start: "ab" /[a-z]/', 3)):
        session = begun(FakeLibrary(says))
        session.ask("?")
        assert session.decode(grammar, most_tokens=most).text == "abc"


def test_cancelling_between_tokens_stops_and_leaves_no_trace() -> None:
    stop, library = Stop(), FakeLibrary("a" * 500)
    session = begun(library, stop=stop)
    session.ask("?")
    mark = session.mark()

    def step() -> None:
        if len(library.steps) == 20:
            stop.cancel()

    library.on_step = step
    with pytest.raises(ModelFault) as caught:
        session.decode(WORD, most_tokens=400)
    assert caught.value.code == "model-cancelled"
    assert session.mark() == mark
    assert len(library.steps) <= 22


def test_a_grammar_that_is_none_is_the_callers_fault() -> None:
    session = begun(FakeLibrary())
    session.ask("?")
    mark = session.mark()
    with pytest.raises(ValueError, match="unknown"):
        session.decode("start: nothing_known", most_tokens=3)
    assert session.mark() == mark


def test_an_answer_without_a_grammar_ends_or_is_cut_off() -> None:
    session = begun(FakeLibrary("Ciò è vero."))
    session.ask("?")
    mark = session.mark()
    assert session.complete(most_tokens=50, schema=None) == ("Ciò è vero.", True)
    session.rewind(mark)
    assert session.complete(most_tokens=5, schema=None) == ("Ciò ", False)


def test_the_schema_of_a_plan_can_be_held() -> None:
    read = [
        read_manifest(path.read_bytes()) for path in sorted((Path(__file__).parents[4] / "manifests").glob("*.toml"))
    ]
    candidates = Candidates([contract for contract in read if isinstance(contract, Contract)])
    matcher = held_to_schema(BYTES, candidates.plan_schema())
    assert matcher.consume_tokens(list(b'{"steps":[{"tool":"find_files","args":{}}'))
    assert not matcher.is_error()


def test_an_answer_to_a_schema_holds_it() -> None:
    session = begun(FakeLibrary("no JSON at all"))
    session.ask("?")
    schema = {"type": "object", "properties": {"n": {"enum": [1, 2]}}, "required": ["n"], "additionalProperties": False}
    text, whole = session.complete(most_tokens=60, schema=schema)
    assert whole
    assert text.replace(" ", "").replace("\n", "") in ('{"n":1}', '{"n":2}')


def test_what_it_cost() -> None:
    session = begun(FakeLibrary("hello\n"))
    session.ask("?")
    session.feed("he")
    session.decode(WORD, most_tokens=20)
    usage = session.usage
    assert usage.tokens_in == len("be brief") + len(tokens_of("?", within=False)) + 2
    assert (usage.calls, usage.tokens_cached, usage.tokens_out) == (1, len("be brief"), len("llo\n"))
    assert usage.seconds > 0


def test_a_closed_session_does_nothing_more() -> None:
    given: list[int] = []
    session = begun(FakeLibrary())
    session._give_back = given.append
    session.close()
    session.close()
    assert given == [1]
    for call in (lambda: session.ask("?"), lambda: session.decode(WORD, most_tokens=3), lambda: session.rewind(8)):
        with pytest.raises(ValueError):  # noqa: PT011 - each says it its own way
            call()


def test_scores_before_anything_was_said() -> None:
    session = begun(FakeLibrary(), prefix="")
    with pytest.raises(ValueError, match="nothing has been said"):
        session.choose(["a"])
