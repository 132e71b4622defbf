"""From calls to plans: whatever was called is called in the turn, with the same arguments and the same result."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metnos.contracts.catalog import Catalog
from metnos.contracts.schemas import validator_for
from metnos.drivers.rules import make_rules
from metnos.evaluate.exporting.view import view_of
from metnos.evaluate.importing.contracts import argument_name, infer, look, original_argument
from metnos.evaluate.importing.folding import fold, turn_id
from metnos.evaluate.importing.model import Act, Call, Heard, Moment, Notes, Recorded
from metnos.evaluate.importing.seen import MAX_FIELDS, Seen
from metnos.record.recorder import check_turn_id
from metnos.record.replay import replay
from tests.support.trajectories import assistant, called, calls_of, imported, lines, result, user, views_of

SCALARS = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8) | st.sampled_from(
    ["${step1.x}", "$${", "$<1>", "$", "${FILLER:x}", "cost: $5"]
)  # fmt: skip
DATA = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
NAMES = st.sampled_from(["lend", "Find.Book", "say it", "ask", "from_step", "été", "_x0041_"])
ARGUMENTS = st.dictionaries(
    st.sampled_from(["a", "from_step", "from_steps", "_x0041_", "b c", "für", "type"]), DATA, max_size=3
)
CALLS = st.builds(
    lambda name, arguments, data, kind: Call(
        name=name, arguments=arguments, recorded=kind != "none", result=data if kind == "data" else None,
        error="it broke" if kind == "error" else None,
    ),
    NAMES, ARGUMENTS, DATA, st.sampled_from(["data", "data", "error", "none"]),
)  # fmt: skip
ACTS = st.builds(
    lambda text, calls: Act(text=text, calls=tuple(calls)), st.text(max_size=8), st.lists(CALLS, max_size=3)
)
MOMENTS = st.lists(ACTS | st.builds(lambda text: Heard(text=text), st.text(max_size=8)), max_size=6)


def folded(moments: list[Moment], end: Any = "cut", notes: Notes | None = None) -> Any:
    run = Recorded(key="r", request="Find the files in docs and delete a.txt", moments=tuple(moments), end=end)
    notes = notes or Notes()
    inferred = infer(look([run]), notes)
    rules = make_rules(Catalog().with_contracts(inferred.contracts))
    log = fold(run, "r", inferred, rules, {"rules": rules.digest}, notes)
    found = replay(log, rules)
    assert found.status == "identical", found
    return view_of(log, rules)


@settings(max_examples=50, deadline=None)
@given(MOMENTS, st.sampled_from(["answered", "ended", "cut"]))
def test_every_call_is_there_with_its_arguments_and_its_result(moments: list[Moment], end: Any) -> None:
    view = folded(moments, end)
    wanted = [
        (call.name, call.arguments, "done" if call.recorded and call.error is None else "failed", call.result)
        for moment in moments
        if isinstance(moment, Act)
        for call in moment.calls
    ]
    assert calls_of(view) == wanted
    heard = [moment.text for moment in moments if isinstance(moment, Heard)]
    assert [plan.answers["answer"] for plan in view.plans if plan.answers is not None] == heard
    assert view.outcome in ("success", "partial", "error")


@settings(max_examples=50, deadline=None)
@given(st.lists(DATA, max_size=6))
def test_every_value_that_was_seen_fits_what_was_inferred(values: list[Any]) -> None:
    seen = Seen()
    for value in values:
        seen.add(value)
    for closed in (True, False):
        fits = validator_for(seen.schema(closed=closed)).is_valid
        assert all(map(fits, values))


def test_an_object_that_is_keyed_by_data_is_a_map() -> None:
    seen = Seen()
    rows = {f"HAT{number}": {"seats": number} for number in range(MAX_FIELDS + 2)}
    seen.add(rows)
    seen.add({"JFK1": {"seats": 3, "late": True}})
    schema = seen.schema(closed=True)
    assert set(schema) == {"type", "additionalProperties"}
    assert validator_for(schema).is_valid(rows)
    assert not validator_for(schema).is_valid({"HAT1": 3})


@pytest.mark.parametrize("name", ["a", "from_step", "from_steps", "_x0041_", "_x0066_rom_step", "für", "a_x", ""])
def test_names_of_arguments_come_back(name: str) -> None:
    assert original_argument(argument_name(name)) == name
    assert argument_name(name) not in ("from_step", "from_steps")


@pytest.mark.parametrize("key", ["a", "airline-3-0", "a b/c", "", "...", "é" * 200, "x" * 300])
def test_every_key_is_a_turn_id_and_different_keys_are_different_ids(key: str) -> None:
    check_turn_id(turn_id(key))
    assert turn_id(key) != turn_id(f"{key} ")
    assert turn_id(key) == turn_id(key)


def test_calls_of_one_message_run_side_by_side_and_end_as_recorded() -> None:
    one = Call(name="a", arguments={}, recorded=True, result=1, started=10, ended=90)
    two = Call(name="b", arguments={}, recorded=True, result=2, started=20, ended=30)
    late = Call(name="c", arguments={}, recorded=True, result=3, started=40, ended=35)
    view = folded([Act(calls=(one, two, late), at=5)], "ended")
    (plan,) = view.plans
    assert [(call.started, call.ended) for call in plan.calls] == [(10, 90), (20, 30), (40, 40)]
    assert view.outcome == "success"


def test_a_question_with_a_reference_in_it_is_told_apart() -> None:
    notes = Notes()
    view = folded([Act(text="Is it ${HOME}?"), Heard(text="${yes}"), Act(text="So ${x} it is.")], "answered", notes)
    assert view.plans[0].question == "Is it $\u2060{HOME}?"
    assert view.plans[0].answers == {"answer": "${yes}"}
    assert view.answer == "So ${x} it is."
    assert sum(notes.dropped.values()) == 1


def test_what_is_said_before_more_is_done_is_kept_with_it() -> None:
    call = Call(name="a", arguments={}, recorded=True, result=1)
    view = folded([Act(text="First I look."), Act(text="Now.", calls=(call,)), Act(text="Done.")], "answered")
    assert [plan.said for plan in view.plans] == ["First I look.\nNow.", ""]


def test_nobody_replied() -> None:
    view = folded([])
    assert (view.outcome, view.code, view.plans) == ("error", "not-recorded", [])


def test_a_text_that_could_be_a_number_is_one_only_if_all_results_are(tmp_path: Path) -> None:
    def run(*results: str) -> dict[str, Any]:
        calls = [
            (assistant(None, called("zip", {"n": n}, str(n))), result(str(n), text)) for n, text in enumerate(results)
        ]
        return {"id": "r", "messages": [user("go"), *(one for pair in calls for one in pair), assistant("ok")]}

    for results, wanted in (
        (("60601", "7"), [60601, 7]),
        (("60601", "Chicago"), [{"text": "60601"}, {"text": "Chicago"}]),
        (('{"a": 1}', "none"), [{"a": 1}, {"text": "none"}]),
    ):
        with tempfile.TemporaryDirectory() as folder:
            imported("openai", lines(Path(folder) / "in.jsonl", run(*results)), Path(folder) / "out")
            assert [data for _, _, _, data in calls_of(views_of(Path(folder) / "out")["r"])] == wanted


def test_two_runs_of_one_key_are_two_turns(tmp_path: Path) -> None:
    said = {"id": "same", "messages": [user("a"), assistant("b")]}
    report = imported("openai", lines(tmp_path / "in.jsonl", said, said), tmp_path / "out")
    assert report.turns == 2
    assert set(views_of(tmp_path / "out")) == {"same", "same-2"}


def test_contracts_are_lenient_read_and_named_reversibly() -> None:
    call = Call(name="Find Book", arguments={"title": "x", "from_step": 1}, recorded=True, result={"isbn": "1"})
    notes = Notes()
    notes.describe(
        {"name": "Find Book", "description": "Finds.", "parameters": {"title": {"type": "string", "required": True}}}
    )
    notes.describe({"name": "Lend"})
    notes.describe({"nameless": 1})
    run = Recorded(key="r", request="q", moments=(Act(calls=(call,)),))
    find, lend = infer(look([run]), notes).contracts
    assert (find.name, find.original, lend.name) == ("Find_x0020_Book", "Find Book", "Lend")
    assert find.lenient
    assert [rule.effect for rule in find.effects] == ["read"]
    assert find.args["required"] == ["title"]
    assert set(find.args["properties"]) == {"title", "_x0066_rom_step"}
    assert find.result["required"] == ["isbn"]
    assert find.descriptions == {"en": "Finds."}
    assert notes.dropped == {"description of a tool that cannot be read": 1}
