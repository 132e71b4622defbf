"""A proposer and an answerer of the host's own: what they give, promise, raise and get wrong."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from metnos import Candidates, Engine, PlanRequest, Proposal
from metnos.drivers.turns import NoSuchAnswer
from metnos.turn.commands import OpenDialog
from tests.support.hosted import plan, step

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.engine.conftest import Opens

GOOD = plan(step("add_one", n=1), data="${step1.n}")
ASK = {"steps": [{"tool": "ask", "args": {"question": "Which?", "choices": ["a", "b"]}}]}
FORM = {
    "steps": [
        {
            "tool": "needs_inputs",
            "args": {
                "form": {
                    "year": {"schema": {"type": "integer", "minimum": 1900}, "label": "Year"},
                    "name": {"schema": {"type": "string"}, "label": "Name"},
                }
            },
        }
    ]
}
SAYING = "fold the laundry, please"


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("it cannot be said")


class Wild(str):
    __slots__ = ()

    def encode(self, *_how: Any) -> bytes:
        raise LookupError("no bytes today")


class Scripted:
    """Gives its answers in turn; what is an exception is raised."""

    def __init__(self, *answers: Any, later: bool = False) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []
        self.candidates = Candidates()
        self.later = later

    def __call__(self, command: Any, candidates: Candidates = Candidates()) -> Any:  # noqa: B008 - frozen
        self.candidates = candidates
        return self.soon(command) if self.later else self.now(command)

    def now(self, command: Any) -> Any:
        self.asked.append(command)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def soon(self, command: Any) -> Any:
        await asyncio.sleep(0)
        return self.now(command)


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def later(request: pytest.FixtureRequest) -> bool:
    return request.param


def run(engine: Engine, later: bool, text: str = SAYING, **more: Any) -> Any:
    return asyncio.run(engine.run(text, **more)) if later else engine.run_sync(text, **more)


def test_where_no_known_plan_serves_the_proposer_is_asked(opens: Opens, later: bool) -> None:
    proposer = Scripted(GOOD, later=later)
    engine = opens(proposer=proposer)
    result = run(engine, later)
    assert (result.outcome, result.data, result.source) == ("success", 2, "model")
    assert result.usage == {"planning_calls": 1}
    (command,) = proposer.asked
    assert isinstance(command, PlanRequest)
    assert (command.text, command.language, command.purpose) == (SAYING, "en", "first")
    assert (command.diagnostics, command.feedback, command.plan) == ((), "", None)
    assert {"add_one", "find_files"} <= set(proposer.candidates.names)
    assert list(proposer.candidates.names) == sorted(engine.catalog.names())
    assert engine.replay(result.turn).status == "identical"
    assert engine.verify(result.turn).ok
    assert run(engine, later, "how many files are here").usage == {"planning_calls": 0}
    assert len(proposer.asked) == 1


def test_a_rejected_proposal_is_repaired_once(opens: Opens, later: bool) -> None:
    proposer = Scripted(plan(step("add_one", m=1)), GOOD, later=later)
    result = run(opens(memory=True, proposer=proposer), later)
    assert (result.outcome, result.usage) == ("success", {"planning_calls": 2})
    assert proposer.asked[1].purpose == "repair"
    assert {fault.code for fault in proposer.asked[1].diagnostics} == {"unknown-argument", "missing-argument"}
    again = Scripted(plan(step("add_one", m=1)), plan(step("add_one", m=2)), GOOD, later=later)
    result = run(opens(memory=True, proposer=again), later)
    assert (result.outcome, len(again.asked)) == ("plan_rejected", 2)


def test_a_tool_that_is_not_there_named_twice_is_a_hallucination(opens: Opens, later: bool) -> None:
    proposer = Scripted(plan(step("fold_laundry")), plan(step("fold_socks")), later=later)
    result = run(opens(proposer=proposer), later)
    assert (result.outcome, result.code) == ("tool_hallucination", "unknown-tool")
    assert "fold_socks" in {fault.found for fault in result.diagnostics}


def test_an_effect_that_the_request_does_not_ask_for_is_not_planned(opens: Opens, later: bool, folder: Any) -> None:
    bad = plan(step("write_files", path="x.txt", content="x"))
    result = run(opens(proposer=Scripted(bad, bad, later=later)), later, assume_yes=True)
    assert (result.outcome, result.code) == ("plan_rejected", "unrequested-effect")
    assert not (folder / "x.txt").exists()


RUBBISH: list[tuple[Any, str, str]] = [
    (ValueError("no plan today"), "error", "no plan today"),
    (ConnectionError("no route"), "not_understood", "no route"),
    (TimeoutError(), "not_understood", "TimeoutError"),
    (None, "error", "NoneType"),
    (bytearray(b"{}"), "error", "bytearray"),
    (17, "error", "int"),
    ([GOOD], "error", "list"),
    (Proposal(None), "error", "NoneType"),
    (Proposal(Proposal(GOOD)), "error", "Proposal"),
    ({1: 2}, "error", "key"),
    ({"steps": [object()]}, "error", "object"),
    ({"steps": float("nan")}, "error", "nan"),
    (ValueError("half a pair: \ud800"), "error", "half a pair: \\ud800"),
    (Mute(), "error", "Mute: it cannot be shown (RuntimeError)"),
    (Wild("1 add_one n=1"), "error", "no bytes today"),
]


@pytest.mark.parametrize(("given", "outcome", "said"), RUBBISH, ids=[str(n) for n in range(len(RUBBISH))])
def test_what_is_no_plan_at_all_is_the_proposers_failure(
    opens: Opens, later: bool, given: Any, outcome: str, said: str
) -> None:
    engine = opens(memory=True, proposer=Scripted(given, later=later))
    result = run(engine, later)
    assert (result.outcome, result.code) == (outcome, "proposer-failed")
    assert said in result.detail
    assert said in result.answer
    assert result.usage == {"planning_calls": 0}
    assert engine.replay(result.turn).status == "identical"


def test_a_fault_without_an_end_is_cut(opens: Opens, later: bool) -> None:
    result = run(opens(memory=True, proposer=Scripted(ValueError("x" * 3_000_000), later=later)), later)
    assert (result.outcome, len(result.detail)) == ("error", 2_000)


@pytest.mark.parametrize("given", [{}, {"steps": []}, {"plan": GOOD}, {"steps": 5}, {"steps": [5]}])
def test_an_object_that_is_no_plan_is_rejected_and_repaired(opens: Opens, later: bool, given: Any) -> None:
    proposer = Scripted(given, GOOD, later=later)
    assert run(opens(memory=True, proposer=proposer), later).outcome == "success"
    assert proposer.asked[1].diagnostics


LINES = "1 add_one n=1\nend data=${step1.n}\n"
WRITTEN: dict[str, Any] = {
    "lines": LINES,
    "bytes": LINES.encode(),
    "fenced": f"Here is the plan:\n\n```\n{LINES}```\nIt adds one.",
    "fenced-json": f"```json\n{json.dumps(GOOD)}\n```",
    "cut-fence": f"~~~~metnos\n{LINES}",
    "json": json.dumps(GOOD),
    "json-bytes": json.dumps(GOOD).encode(),
    "costed": Proposal(LINES),
}


@pytest.mark.parametrize("given", WRITTEN.values(), ids=WRITTEN.keys())
def test_a_plan_may_be_text(opens: Opens, later: bool, given: Any) -> None:
    engine = opens(memory=True, proposer=Scripted(given, later=later))
    result = run(engine, later)
    assert (result.outcome, result.data, result.plan) == ("success", 2, GOOD)
    assert engine.replay(result.turn).status == "identical"


UNREADABLE: dict[str, tuple[Any, str]] = {
    "prose": ("I am sorry, I cannot.", "line-syntax"),
    "empty": ("", "terminal-missing"),
    "cut": ('{"steps": [', "json-syntax"),
    "list": ("[1]", "wrong-type"),
    "twice": ('{"steps": [], "steps": []}', "duplicate-key"),
    "two blocks": (f"```\n{LINES}```\nor\n```\n{LINES}```", "several-blocks"),
    "no utf-8": (b"\xff\xfe", "not-utf8"),
    "surrogate": ('end text="\ud800"', "lone-surrogate"),
    "large": ("x" * 300_000, "too-large"),
    "deep": ("[" * 100_000, "too-deep"),
}


@pytest.mark.parametrize(("given", "code"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_text_that_is_no_plan_is_sent_back_once_with_what_was_written(
    opens: Opens, later: bool, given: Any, code: str
) -> None:
    proposer = Scripted(Proposal(given, tokens_out=3), Proposal(GOOD, tokens_out=4), later=later)
    engine = opens(memory=True, proposer=proposer)
    result = run(engine, later)
    assert result.outcome == "success"
    assert (result.usage["planning_calls"], result.usage["tokens_out"]) == (2, 7)
    asked = proposer.asked[1]
    assert (asked.purpose, asked.plan, asked.diagnostics[0].code) == ("repair", None, code)
    assert code in asked.feedback
    assert isinstance(given, bytes) or asked.written == given[:16_384].replace("\ud800", "?")
    assert asked.feedback in asked.as_prompt()
    assert engine.replay(result.turn).status == "identical"
    again = Scripted(given, given, later=later)
    result = run(opens(memory=True, proposer=again), later)
    assert (result.outcome, result.code, len(again.asked)) == ("plan_rejected", code, 2)
    assert result.diagnostics[0].code == code


def test_what_it_cost_is_counted_and_recorded(opens: Opens, later: bool) -> None:
    proposer = Scripted(
        Proposal({}, model="small", tokens_in=10, tokens_out=2),
        Proposal(GOOD, model="large", tokens_in=20, tokens_out=5, calls=2),
        later=later,
    )
    engine = opens(proposer=proposer)
    result = run(engine, later)
    assert result.usage == {"planning_calls": 3, "tokens_in": 30, "tokens_out": 7}
    assert result.model == "large"
    assert engine.read_turn(result.turn).usage == result.usage
    logged = [record.body for record in engine.parts.journal.load(result.turn).records]
    assert [name for name in (b"small", b"large") if any(name in body for body in logged)] == [b"small", b"large"]


def test_a_repair_sees_its_plan_and_what_may_be_referred_to(opens: Opens, later: bool) -> None:
    wrong = plan(step("add_one", m="${INPUT:n}"))
    proposer = Scripted(wrong, plan(step("add_one", n="${INPUT:n}"), data="${step1.n}"), later=later)
    result = run(opens(memory=True, proposer=proposer), later, inputs={"n": 4})
    assert (result.outcome, result.data) == ("success", 5)
    first, second = proposer.asked
    assert first.inputs == {"n": {"type": "integer"}}
    assert second.plan == wrong
    assert "/steps/0/args/m (unknown-argument)" in second.feedback
    prompt = second.as_prompt()
    assert prompt.startswith(f"Request: {SAYING}\n")
    assert json.dumps(wrong, sort_keys=True) in prompt
    assert "${INPUT:n}: integer" in prompt


def test_a_continuation_sees_what_was_done_and_answered(opens: Opens, later: bool) -> None:
    asks = {"steps": [step("add_one", n=1), *ASK["steps"]]}
    proposer = Scripted(asks, plan(data="${INPUT:answer}"), later=later)
    run(opens(memory=True, proposer=proposer, answer=lambda _dialog: {"answer": "a"}), later)
    asked = proposer.asked[1]
    assert asked.inputs == {"answer": {"enum": ["a", "b"]}}
    assert "${plan1.step1}: {n: integer}" in asked.as_prompt()


def test_what_a_proposer_does_to_what_it_was_given_changes_nothing(opens: Opens, later: bool) -> None:
    def spoil(asked: PlanRequest, candidates: Candidates) -> Any:
        asked.inputs.clear()
        candidates.as_openai_tools()[0]["function"]["parameters"].clear()
        if asked.plan is None:
            return plan(step("add_one", m=1))
        asked.plan.clear()
        return plan(step("add_one", n="${INPUT:n}"), data="${step1.n}")

    engine = opens(memory=True, proposer=spoil)
    result = run(engine, later, inputs={"n": 4})
    assert (result.outcome, result.data) == ("success", 5)
    assert engine.replay(result.turn).status == "identical"


def test_a_repair_that_raises_leaves_the_rejection_as_the_answer(opens: Opens, later: bool) -> None:
    result = run(opens(memory=True, proposer=Scripted({}, OSError("gone"), later=later)), later)
    assert result.outcome == "plan_rejected"
    assert result.diagnostics


def test_what_the_proposer_does_to_its_plan_afterwards_changes_nothing(opens: Opens, later: bool) -> None:
    given = plan(step("add_one", n=1), data=["${step1.n}"])
    engine = opens(memory=True, proposer=Scripted(given, later=later))
    result = run(engine, later)
    given["steps"][0]["args"]["n"] = 9
    assert engine.read_turn(result.turn).plan == plan(step("add_one", n=1), data=["${step1.n}"])
    assert engine.replay(result.turn).status == "identical"


# --- questions to the person -------------------------------------------------------------------------------------------


def test_a_question_is_answered_in_line_and_the_plan_goes_on(opens: Opens, later: bool) -> None:
    proposer = Scripted(ASK, plan(data="${INPUT:answer}"), later=later)
    answer = Scripted({"answer": "b"}, later=later)
    engine = opens(proposer=proposer, answer=answer)
    result = run(engine, later)
    assert (result.outcome, result.data) == ("success", "b")
    assert [command.purpose for command in proposer.asked] == ["first", "continuation"]
    (dialog,) = answer.asked
    assert isinstance(dialog, OpenDialog)
    assert (dialog.question, dialog.choices) == ("Which?", ("a", "b"))
    assert engine.replay(result.turn).status == "identical"


@pytest.mark.parametrize(
    "given",
    [
        {"answer": "c"},
        {"other": "a"},
        {},
        {"answer": "a", "more": "b"},
        "a",
        5,
        ["answer"],
        {"answer": object()},
        OSError("x"),
        Mute(),
        ValueError("\udfff"),
    ],
)
def test_an_answer_that_does_not_fit_ends_the_turn_and_says_why(opens: Opens, later: bool, given: Any) -> None:
    engine = opens(memory=True, proposer=Scripted(ASK, later=later), answer=Scripted(given, later=later))
    result = run(engine, later)
    assert (result.outcome, result.code) == ("user_aborted", "answer-failed")
    assert result.detail
    assert engine.replay(result.turn).status == "identical"


def test_a_question_that_nobody_can_answer_suspends_and_is_answered_later(opens: Opens, later: bool) -> None:
    proposer = Scripted(ASK, plan(data="${INPUT:answer}"), later=later)
    engine = opens(proposer=proposer, answer=Scripted(None, later=later))
    first = run(engine, later)
    (need,) = first.needs
    assert (need.kind, need.question, need.choices) == ("dialog", "Which?", ("a", "b"))
    assert engine.read_turn(first.turn).waiting == [need.id]
    other = opens(proposer=proposer)
    for wrong in ({"answer": "c"}, {"other": "a"}, {"answer": 5}):
        with pytest.raises(NoSuchAnswer) as raised:
            other.resume_sync(first.turn, answers=wrong)
        assert raised.value.code == "answer-misfit"
    result = (
        asyncio.run(other.resume(first.turn, answers={"answer": "a"}))
        if later
        else other.resume_sync(first.turn, answers={"answer": "a"})
    )
    assert (result.outcome, result.data) == ("success", "a")
    assert other.verify(first.turn).ok


def test_a_form_is_filled_in(opens: Opens, later: bool) -> None:
    proposer = Scripted(FORM, plan(data=["${INPUT:year}", "${INPUT:name}"]), later=later)
    answer = Scripted({"year": 2026, "name": "Ada"}, later=later)
    result = run(opens(memory=True, proposer=proposer, answer=answer), later)
    assert result.data == [2026, "Ada"]
    refused = Scripted({"year": 1800, "name": "Ada"}, later=later)
    result = run(opens(memory=True, proposer=Scripted(FORM, later=later), answer=refused), later)
    assert (result.outcome, result.code) == ("user_aborted", "answer-failed")
    assert "year" in result.detail


def test_a_proposer_that_only_asks_meets_the_budget_of_plans(opens: Opens, later: bool) -> None:
    asked: list[OpenDialog] = []

    def answer(dialog: OpenDialog) -> dict[str, str]:
        asked.append(dialog)
        return {"answer": "a"}

    proposer: Callable[..., Any] = Scripted(*[ASK] * 5, later=later)
    result = run(opens(memory=True, proposer=proposer, answer=answer), later)
    assert (result.outcome, result.code, len(asked)) == ("budget_hit", "plan-budget", 3)
