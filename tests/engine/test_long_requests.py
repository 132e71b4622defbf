"""A sentence has a longest length: beyond it nothing is read, planned or recorded, and the fault says so in few words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from metnos.drivers.opening import LONGEST, RequestFault
from metnos.drivers.slash import CommandFault
from metnos.plan.codes import CODES

if TYPE_CHECKING:
    from tests.engine.conftest import Opens


def never(*_asked: Any) -> Any:
    raise AssertionError("a sentence that is too long was proposed for")


@pytest.mark.parametrize("first", ["", "/", "/now "], ids=["sentence", "word", "argument"])
def test_what_is_too_long_is_not_read(opens: Opens, first: str) -> None:
    engine = opens(proposer=never)
    text = first + "a" * (LONGEST + 1)
    for say in (engine.run_sync, engine.plan_sync, engine.stream_sync, engine.cache.explain, engine.language_of):
        with pytest.raises(RequestFault) as caught:
            list(say(text))  # type: ignore[call-overload]  # a stream is asked when it is walked
        fault = caught.value
        assert (fault.code, fault.where, fault.expected) == ("request-too-long", "request", f"at most {LONGEST}")
        assert (fault.found, len(str(fault)) < 100) == (f"a sentence of {len(text)} characters", True)
        assert fault.hint
    assert engine.turns() == ()
    assert fault.code in CODES


def test_the_longest_is_read(opens: Opens) -> None:
    engine = opens(memory=True)
    text = f"list the pdf files {'x' * LONGEST}"[:LONGEST]
    turn = engine.run_sync(text).turn
    assert engine.read_turn(turn).request == text


def test_an_unknown_word_is_said_back_in_part(opens: Opens) -> None:
    with pytest.raises(CommandFault) as caught:
        opens(memory=True).run_sync("/" + "x" * 30_000)
    fault = caught.value
    assert fault.code == "unknown-command"
    assert max(map(len, (fault.where, fault.message, fault.hint))) < 100
    assert fault.where == "/" + "x" * 40 + "…"
