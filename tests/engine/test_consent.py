"""Consent: who is asked, what an answer is worth, and turns that wait for one and go on elsewhere."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from metnos import Engine, TurnResult
from metnos.drivers.results import Need
from metnos.drivers.turns import NoSuchAnswer
from metnos.record.faults import RecordFault
from metnos.turn.commands import AskApproval
from metnos.turn.table import ResumeRefused
from tests.engine.conftest import Opens
from tests.support.hosted import lines, plan, step

WRITE = 'write "hello, world" to hello.txt'
DAY_US = 24 * 3600 * 1_000_000


def waiting(result: TurnResult) -> Need:
    """The one thing that `result` waits for."""
    assert (result.status, result.outcome, result.answer) == ("suspended", "", "")
    (need,) = result.needs
    return need


class Clock:
    def __init__(self) -> None:
        self.now = 1_796_000_000_000_000

    def __call__(self) -> int:
        self.now += 1
        return self.now


# --- asked in line ----------------------------------------------------------------------------------------------------


def said(answer: Any, *, later: bool) -> tuple[Any, list[AskApproval]]:
    """An `approve` that gives `answer` (or raises it), and what it was asked."""
    asked: list[AskApproval] = []

    def now(command: AskApproval) -> Any:
        asked.append(command)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def soon(command: AskApproval) -> Any:
        await asyncio.sleep(0)
        return now(command)

    return (soon if later else now), asked


@pytest.mark.parametrize("later", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("twin", [False, True], ids=["run", "run_sync"])
@pytest.mark.parametrize(
    ("answer", "outcome", "written"),
    [
        (True, "success", True),
        (False, "user_aborted", False),
        (None, "", False),
        (1, "user_aborted", False),
        ("no", "user_aborted", False),
        (OSError("no terminal"), "user_aborted", False),
        (ValueError(), "user_aborted", False),
    ],
    ids=["yes", "no", "cannot-say", "one", "text", "unreachable", "bug"],
)
def test_only_true_is_a_yes(
    engine: Engine, folder: Path, answer: Any, outcome: str, written: bool, later: bool, twin: bool
) -> None:
    approve, asked = said(answer, later=later)
    result = engine.run_sync(WRITE, approve=approve) if twin else asyncio.run(engine.run(WRITE, approve=approve))
    assert result.outcome == outcome
    assert (folder / "hello.txt").exists() == written
    (command,) = asked
    assert (command.action, command.targets, command.count) == ("create", (str(folder / "hello.txt"),), 1)
    if outcome:
        assert [effect.target for effect in result.effects] == (["hello.txt"] if written else [])
    else:
        assert waiting(result).id == command.approval
    if outcome == "user_aborted" and answer is not False:
        assert result.code == "answer-failed"
        assert str(answer) in f"{result.detail}" or "int" in result.detail or "str" in result.detail
    assert engine.replay(result.turn).status == "identical"


def test_the_approve_of_a_call_overrides_that_of_the_engine(opens: Opens) -> None:
    engine = opens(memory=True, approve=lambda _asked: True)
    assert engine.run_sync(WRITE).ok
    assert engine.run_sync('write "x" to other.txt', approve=lambda _asked: False).outcome == "user_aborted"


def test_assume_yes_allows_what_creates_and_nothing_more(engine: Engine, folder: Path) -> None:
    assert engine.run_sync(WRITE, assume_yes=True).ok
    assert (folder / "hello.txt").read_text() == "hello, world"
    change = engine.run_sync('overwrite a.txt with "new"', assume_yes=True)
    assert waiting(change).action == "change"
    assert (folder / "a.txt").read_text() == "alpha\n"
    assert waiting(engine.run_sync(plan=plan(step("undeclared")), assume_yes=True)).action == "execute"
    assert engine.run_sync(plan=plan(step("send_message", to="x")), assume_yes=True).outcome == "policy_denied"


def test_reads_run_before_the_question_and_what_runs_beside_it_goes_on(light: Engine, folder: Path) -> None:
    steps = (step("add_one", n=1), step("append_line", path=str(folder / "x.txt")), step("add_two", n="${step1.n}"))
    result = light.run_sync(plan=plan(*steps, data=["${step1.n}", "${step3.n}"]))
    assert waiting(result).step == "1.2"
    assert [one.status for one in result.steps] == ["done", "asking", "done"]


def test_several_questions_are_answered_together_or_one_by_one(light: Engine, folder: Path) -> None:
    given = plan(step("append_line", path=str(folder / "x.txt")), step("append_line", path=str(folder / "y.txt")))
    first = light.run_sync(plan=given)
    one, two = first.needs
    second = light.resume_sync(first.turn, approve=[two.id])
    assert waiting(second).id == one.id
    assert (lines(folder / "x.txt"), lines(folder / "y.txt")) == (0, 1)
    third = light.resume_sync(first.turn, approve=[one.id])
    assert third.ok
    assert (lines(folder / "x.txt"), lines(folder / "y.txt")) == (1, 1)
    again = light.run_sync(plan=given)
    assert light.resume_sync(again.turn, approve=[need.id for need in again.needs]).ok


def test_a_no_to_one_question_ends_the_others(light: Engine, folder: Path) -> None:
    first = light.run_sync(
        plan=plan(step("append_line", path=str(folder / "x.txt")), step("append_line", path=str(folder / "y.txt")))
    )
    one, two = first.needs
    second = light.resume_sync(first.turn, approve=[one.id], deny=[two.id])
    assert second.outcome == "user_aborted"
    assert lines(folder / "y.txt") == 0
    assert light.replay(first.turn).status == "identical"


# --- suspended and resumed ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("later", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(("yes", "outcome"), [(True, "success"), (False, "user_aborted")])
def test_a_suspended_turn_goes_on_with_the_answer(
    engine: Engine, folder: Path, yes: bool, outcome: str, later: bool
) -> None:
    first = engine.run_sync(WRITE)
    need = waiting(first)
    assert need.kind == "approval"
    assert need.expires > "2026"
    assert engine.read_turn(first.turn).waiting == [need.id]
    given = {"approve": [need.id]} if yes else {"deny": [need.id]}
    call = asyncio.run(engine.resume(first.turn, **given)) if later else engine.resume_sync(first.turn, **given)
    assert (call.status, call.outcome, call.turn) == ("closed", outcome, first.turn)
    assert (folder / "hello.txt").exists() == yes
    assert engine.verify(first.turn).ok
    assert engine.replay(first.turn).status == "identical"
    for answer in (given, {}):
        with pytest.raises(RecordFault) as raised:
            engine.resume_sync(first.turn, **answer)
        assert raised.value.code == "turn-closed"


def test_resuming_without_an_answer_asks_again(opens: Opens, engine: Engine, folder: Path) -> None:
    first = engine.run_sync(WRITE)
    again = engine.resume_sync(first.turn)
    assert waiting(again).id == waiting(first).id
    assert engine.verify(first.turn).ok


def test_resuming_asks_whoever_can_be_asked_now(opens: Opens, folder: Path) -> None:
    first = opens().run_sync(WRITE)
    engine = opens(approve=lambda asked: asked.approval == waiting(first).id)
    assert engine.resume_sync(first.turn).ok
    assert (folder / "hello.txt").exists()


@pytest.mark.parametrize(
    ("approve", "deny", "code"),
    [
        (["x"], [], "nothing-asked"),
        ([], ["x"], "nothing-asked"),
        (["ID"], ["ID"], "nothing-asked"),
        (["ID", "x"], [], "nothing-asked"),
    ],
)
def test_an_answer_to_nothing_is_refused_and_changes_nothing(
    engine: Engine, folder: Path, approve: list[str], deny: list[str], code: str
) -> None:
    first = engine.run_sync(WRITE)
    name = waiting(first).id
    with pytest.raises(NoSuchAnswer) as raised:
        engine.resume_sync(
            first.turn,
            approve=[one.replace("ID", name) for one in approve],
            deny=[one.replace("ID", name) for one in deny],
        )
    assert raised.value.code == code
    assert name in f"{raised.value.hint} {raised.value.where}"
    with pytest.raises(NoSuchAnswer, match="no question is open"):
        engine.resume_sync(first.turn, answers={"answer": "yes"})
    assert not (folder / "hello.txt").exists()
    assert engine.resume_sync(first.turn, approve=[name, name]).ok


def test_an_approval_expires_by_the_clock_and_never_revives(opens: Opens, folder: Path) -> None:
    clock = Clock()
    engine = opens(clock=clock)
    first = engine.run_sync(WRITE)
    clock.now += DAY_US + 1
    late = engine.resume_sync(first.turn, approve=[waiting(first).id])
    assert (late.outcome, late.code) == ("user_aborted", "approval-expired")
    assert not (folder / "hello.txt").exists()
    clock.now -= 2 * DAY_US
    with pytest.raises(RecordFault):
        engine.resume_sync(first.turn, approve=[waiting(first).id])
    in_time = engine.run_sync(WRITE)
    clock.now += DAY_US - 1_000
    assert engine.resume_sync(in_time.turn, approve=[waiting(in_time).id]).ok


def test_an_approval_of_one_turn_is_none_for_another(engine: Engine, folder: Path) -> None:
    one, two = engine.run_sync(WRITE), engine.run_sync(WRITE)
    with pytest.raises(NoSuchAnswer):
        engine.resume_sync(one.turn, approve=[waiting(two).id])
    assert not (folder / "hello.txt").exists()


def test_a_forged_digest_answers_nothing(opens: Opens, folder: Path) -> None:
    """The driver carries the digest that the machine asked with; here a driver that carries another one."""
    from metnos.drivers import asked
    from metnos.turn.inputs import ApprovalGiven

    engine = opens(memory=True)
    real = asked._consent

    def forged(command: AskApproval, value: Any, at: int, by: str) -> Any:
        given = real(command, value, at, by)
        return ApprovalGiven(at=at, approval=given.approval, digest="sha256:" + "0" * 64, by=by)  # type: ignore[attr-defined]

    asked._consent = forged
    try:
        result = engine.run_sync(WRITE, approve=lambda _asked: True)
    finally:
        asked._consent = real
    assert waiting(result)
    assert not (folder / "hello.txt").exists()


def test_rules_that_changed_meanwhile_refuse_by_name(opens: Opens, monkeypatch: pytest.MonkeyPatch) -> None:
    first = opens().run_sync(WRITE)
    monkeypatch.setattr("metnos.drivers.rules.rules_digest", lambda: "sha256:others")
    with pytest.raises(ResumeRefused, match="rules"):
        opens().resume_sync(first.turn, approve=[waiting(first).id])
    monkeypatch.undo()
    assert opens().resume_sync(first.turn, approve=[waiting(first).id]).ok


RESUME = """\
import json, sys
from metnos import Engine
with Engine.open(sys.argv[1], folder="/", roots=sys.argv[2:3]) as engine:
    result = engine.resume_sync(sys.argv[3], approve=sys.argv[4:])
    print(json.dumps([result.outcome, [one.status for one in result.steps], result.answer]))
"""


def test_another_process_goes_on_where_the_turn_was(opens: Opens, home: Path, folder: Path) -> None:
    """Folder and roots are those of the turn, wherever the other process stands."""
    first = opens().run_sync(
        plan=plan(step("find_files"), step("write_files", path="n.txt", content="${step1.count} files"))
    )
    done = subprocess.run(
        [sys.executable, "-c", RESUME, str(home), str(folder), first.turn, waiting(first).id],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    assert json.loads(done.stdout) == ["success", ["done", "done"], "Created n.txt"]
    assert (folder / "n.txt").read_text() == "3 files"


def test_two_processes_do_not_resume_one_turn_at_once(opens: Opens) -> None:
    one, two = opens(), opens()
    first = one.run_sync(WRITE)
    name = waiting(first).id

    def meanwhile(_asked: AskApproval) -> bool:
        with pytest.raises(RecordFault) as raised:
            two.resume_sync(first.turn, approve=[name])
        assert raised.value.code == "turn-busy"
        return True

    third = opens(approve=meanwhile)
    assert third.resume_sync(first.turn).ok
