"""When a filler is asked for, what it is shown, and where its value then comes from."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from metnos.policy.model import Allow
from metnos.testing.simulation import Faults, Script, Simulation
from metnos.turn import commands as c
from metnos.turn import inputs as i
from tests.support.turns import Files, Play, failure, opened, plan, rules, step

FREE: Any = rules(policy=lambda _question: Allow())
GAP = {"prompt": "a title", "schema": {"type": "string"}}
TITLED = plan(
    step("read", {"path": "a"}),
    step("peek"),
    step("save", {"path": "b", "content": ["${FILLER:t}", "${step1.text}"]}),
    fillers={"t": GAP},
)
SUMMED = plan(
    step("peek"),
    step("read", {"path": "a"}, on_error="continue"),
    end={"tool": "final_answer", "args": {"text": "${FILLER:t}"}},
    fillers={"t": GAP},
)


def play(given_plan: dict[str, Any], **more: Any) -> Play:
    return Play(opened(given_plan, **({"fillers_see": True} | more)), FREE)


def gaps(turn: Play) -> list[tuple[str, ...]]:
    return [command.sees for command in turn.asked(c.ResolveFiller)]


def test_one_that_a_step_uses_waits_for_what_the_step_takes_and_for_nothing_else() -> None:
    turn = play(TITLED)
    assert gaps(turn) == []
    turn.done("1.1", {"path": "a", "text": "x"})
    assert gaps(turn) == [("1.1",)]
    turn.done("1.2")
    turn.send(i.FillerResolved(name="t", value="T"))
    assert turn.starts["1.3"].args["content"] == ["T", "x"]


def test_one_that_only_the_answer_uses_sees_everything_that_came() -> None:
    turn = play(SUMMED)
    turn.done("1.1")
    turn.fail("1.2")
    assert gaps(turn) == [("1.1",)]
    assert turn.phase == "running"
    turn.send(i.FillerResolved(name="t", value="All in all"))
    assert turn.close.answer == "All in all"


def test_without_the_word_of_the_opening_it_is_asked_for_at_once_and_sees_nothing() -> None:
    for given_plan in (TITLED, SUMMED):
        turn = play(given_plan, fillers_see=False)
        assert turn.asked(c.ResolveFiller) == [c.ResolveFiller(name="t", role="fast", **GAP)]


def test_what_it_saw_is_where_its_value_comes_from() -> None:
    fed = plan(
        step("read", {"path": "a"}),
        step("trust", {"path": "b", "content": ["${FILLER:t}", "${step1.path}"]}),
        fillers={"t": GAP},
    )
    turn = Play(opened(fed, fillers_see=True, assume_yes=True))
    turn.done("1.1", {"path": "a", "text": "x"}, sources=("untrusted:web",))
    turn.send(i.FillerResolved(name="t", value="do it"))
    assert turn.machine.state.fillers["t"].sources == {"model", "author", "untrusted:web"}
    alone = plan(
        step("trust", {"path": "b", "content": "${FILLER:t}"}), step("noop", {"x": "${step1.path}"}), fillers={"t": GAP}
    )
    free = Play(opened(alone, fillers_see=True, assume_yes=True))
    free.send(i.FillerResolved(name="t", value="do it"))
    assert free.started == ["1.1"]


def test_a_trusted_argument_is_not_fed_through_a_filler_without_asking() -> None:
    fed = plan(
        step("list"),
        step("trust", {"path": "b", "content": "${FILLER:t}"}, when={"nonempty": 1}),
        fillers={"t": GAP},
    )
    turn = Play(opened(fed, fillers_see=True, assume_yes=True))
    turn.done("1.1", {"entries": [{"path": "a", "size": 1}]}, sources=("untrusted:web",))
    assert gaps(turn) == [("1.1",)]
    turn.send(i.FillerResolved(name="t", value="do it"))
    (asked,) = turn.asked(c.AskApproval)
    assert "untrusted:web" in asked.reason


def test_a_turn_that_stops_asks_for_none() -> None:
    turn = play(TITLED)
    turn.fail("1.2")
    turn.done("1.1", {"path": "a", "text": "x"})
    assert gaps(turn) == []
    assert turn.asked(c.Compose)


def test_a_consent_that_is_waited_for_suspends_the_turn_all_the_same() -> None:
    waits = plan(
        step("write", {"path": "a"}),
        end={"tool": "final_answer", "args": {"text": "${FILLER:t}"}},
        fillers={"t": GAP},
    )
    turn = Play(opened(waits, fillers_see=True))
    assert (turn.phase, gaps(turn)) == ("suspended", [])
    turn.approve()
    turn.done("1.1", {"path": "a", "content": 1})
    assert gaps(turn) == [("1.1",)]


def test_one_that_fails_blocks_its_step() -> None:
    turn = play(TITLED)
    turn.done("1.1", {"path": "a", "text": "x"})
    turn.done("1.2")
    turn.send(i.CommandFailed(command="resolve_filler", ref="t", error=failure("timeout", "model-stalled")))
    turn.compose()
    assert turn.skipped == {"1.3": "blocked_by FILLER:t"}
    assert turn.ended.outcome == "partial"


@given(st.integers(0, 2**32))
def test_simulated(seed: int) -> None:
    faults = Faults(crash=0.1, double=0.2)
    for given_plan in (TITLED, SUMMED):
        world = Files({"/home/ada/a": 1})
        script = Script(fillers={"t": "T"})
        run = Simulation(
            FREE, opened(given_plan, fillers_see=True), world, seed=seed, faults=faults, script=script
        ).run()
        assert run.outcome == "success"
