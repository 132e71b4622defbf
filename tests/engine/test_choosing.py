"""A file that is there already, with real files: a host answers, or a later process does, or one that was killed between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from metnos import Engine
from metnos.record.connection import load_driver
from tests.engine.conftest import Opens
from tests.support.hosted import plan, step

WRITE = plan(step("write_files", path="a.txt", content="new"), text="wrote ${step1.path}")
COPY = plan(step("copy_files", path="b.txt", folder="sub"))
MOVE = plan(step("move_files", path="b.txt", to="a.txt"))


def yes(_asked: Any) -> bool:
    return True


@pytest.mark.parametrize(
    ("given", "choice", "left"),
    [
        (WRITE, "replace", {"a.txt": "new"}),
        (WRITE, "beside", {"a.txt": "alpha\n", "a-2.txt": "new"}),
        (COPY, "replace", {"sub/b.txt": "beta beta\n"}),
        (COPY, "beside", {"sub/b.txt": "other", "sub/b-2.txt": "beta beta\n"}),
        (MOVE, "replace", {"a.txt": "beta beta\n", "b.txt": None}),
        (MOVE, "beside", {"a.txt": "alpha\n", "a-2.txt": "beta beta\n", "b.txt": None}),
    ],
)
def test_a_program_answers(opens: Opens, folder: Path, given: Any, choice: str, left: dict[str, str | None]) -> None:
    (folder / "sub" / "b.txt").write_text("other")
    asked: list[Any] = []

    def choose(dialog: Any) -> dict[str, str]:
        asked.append(dialog)
        return {"choice": choice}

    engine = opens(channel="api", approve=yes, answer=choose)
    result = engine.run_sync(plan=given)
    assert (result.outcome, len(asked)) == ("success", 1)
    assert {name: (folder / name).read_text() if (folder / name).exists() else None for name in left} == left
    assert engine.replay(result.turn).status == "identical"
    if given is WRITE:
        assert result.answer == f"wrote {'a.txt' if choice == 'replace' else 'a-2.txt'}"
        assert "As you chose, step 1.1" in result.notes[0]
    assert engine.undo_sync(result.turn).outcome == "success"
    assert (folder / "a.txt").read_text() == "alpha\n"


def waiting(engine: Engine, given: Any = WRITE) -> str:
    result = engine.run_sync(plan=given, assume_yes=True)
    assert (result.status, result.outcome) == ("suspended", "")
    (need,) = result.needs
    assert [(one.name, one.changes) for one in need.options] == [
        ("replace", ({"overwrite": True},)),
        ("beside", ({"path": "a-2.txt"},)),
        ("stop", ()),
    ]
    assert need.form["choice"]["schema"]["enum"] == ["replace", "beside", "stop"]
    return result.turn


def test_a_later_process_answers_and_is_asked_to_allow_it(opens: Opens, folder: Path, home: Path) -> None:
    turn = waiting(opens())
    engine = opens()
    result = engine.resume_sync(turn, answers={"choice": "replace"})
    (need,) = result.needs
    assert (need.kind, need.action, need.targets) == ("approval", "change", (str(folder / "a.txt"),))
    assert (folder / "a.txt").read_text() == "alpha\n"
    assert opens().resume_sync(turn, approve=(need.id,)).outcome == "success"
    assert (folder / "a.txt").read_text() == "new"
    view = engine.read_turn(turn)
    assert [(line.step, line.state, line.error) for line in view.steps] == [("1.1", "done", None)]
    assert engine.verify(turn).ok
    connection = load_driver().connect(str(home / "metnos.db"))
    states = connection.execute("SELECT state FROM operation WHERE turn = ? ORDER BY intent_seq", (turn,)).fetchall()
    connection.close()
    assert [state for (state,) in states] == ["failed", "done"]


def test_one_consent_is_no_consent_to_what_is_chosen_afterwards(opens: Opens, folder: Path) -> None:
    """The first yes was to creating; what replaces is asked about anew, and stands on its own hash."""
    asked: list[Any] = []

    def once(question: Any) -> bool | None:
        asked.append(question)
        return True if len(asked) == 1 else None

    result = opens(approve=once, answer=lambda _dialog: {"choice": "replace"}).run_sync(plan=WRITE)
    assert (result.status, [one.action for one in asked]) == ("suspended", ["create", "change"])
    assert asked[0].digest != asked[1].digest
    assert asked[0].approval != asked[1].approval
    assert opens().resume_sync(result.turn, deny=(asked[1].approval,)).outcome == "user_aborted"
    assert (folder / "a.txt").read_text() == "alpha\n"


def test_stop_is_the_failure_as_it_was(opens: Opens, folder: Path) -> None:
    engine = opens()
    result = engine.resume_sync(waiting(engine), answers={"choice": "stop"})
    assert (result.outcome, result.code, result.error_class) == ("error", "exists", "missing-input")
    assert (folder / "a.txt").read_text() == "alpha\n"


def test_an_answer_that_was_not_offered_is_refused_and_the_turn_waits_on(opens: Opens) -> None:
    from metnos.drivers.turns import NoSuchAnswer

    engine = opens()
    turn = waiting(engine)
    with pytest.raises(NoSuchAnswer) as caught:
        engine.resume_sync(turn, answers={"choice": "burn"})
    assert caught.value.code == "answer-misfit"
    assert engine.resume_sync(turn, answers={"choice": "stop"}).outcome == "error"


class Killed(BaseException):
    pass


@pytest.mark.parametrize("boundary", ["before-intent", "intent-committed", "effect-done"])
def test_cut_off_after_the_answer(opens: Opens, folder: Path, boundary: str) -> None:
    """What was chosen is in the log; whoever goes on runs that, under the operation id that it had."""
    turn = waiting(opens())
    seen: list[str] = []

    def crash(name: str) -> None:
        seen.append(name)
        if name == boundary:
            raise Killed

    with pytest.raises(Killed):
        opens(boundary=crash).resume_sync(turn, answers={"choice": "beside"})
    result = opens().resume_sync(turn)
    if boundary == "before-intent":  # the answer was not on disk yet: it is asked for again
        assert [need.kind for need in result.needs] == ["dialog"]
        result = opens().resume_sync(turn, answers={"choice": "beside"})
    assert result.outcome == "success"
    assert ((folder / "a.txt").read_text(), (folder / "a-2.txt").read_text()) == ("alpha\n", "new")
    assert not (folder / "a-3.txt").exists()


def test_what_is_beside_is_taken_meanwhile(opens: Opens, folder: Path) -> None:
    engine = opens()
    turn = waiting(engine)
    (folder / "a-2.txt").write_text("mine")
    result = engine.resume_sync(turn, answers={"choice": "beside"})
    assert (result.outcome, result.code, (folder / "a-2.txt").read_text()) == ("error", "exists", "mine")


def test_a_list_is_asked_about_once(opens: Opens, folder: Path) -> None:
    (folder / "sub" / "a.txt").write_text("x")
    (folder / "sub" / "b.txt").write_text("y")
    asked: list[Any] = []

    def choose(dialog: Any) -> dict[str, str]:
        asked.append(dialog)
        return {"choice": "beside"}

    each = step("copy_files", path="${item}", folder="sub") | {"for_each": ["a.txt", "b.txt"]}
    result = opens(approve=yes, answer=choose).run_sync(plan=plan(each))
    assert result.diagnostics == ()
    assert (result.outcome, [one.calls for one in asked]) == ("success", [("1.1.1", "1.1.2")])
    assert sorted(path.name for path in (folder / "sub").iterdir()) == ["a-2.txt", "a.txt", "b-2.txt", "b.txt", "c.md"]


def test_a_column_that_nobody_named_is_asked_for(opens: Opens, folder: Path) -> None:
    (folder / "x.csv").write_text("id,who,amount\n1,Ada,12.50\n2,Bob,8.00\n")
    given = plan(
        step("read_files_csv", path="x.csv"),
        step("compute_stats", from_step=1, field="*"),
        text="sum ${step2.sum ?? 0}",
    )
    engine = opens()
    result = engine.run_sync(plan=given)
    assert result.status == "suspended"
    (need,) = result.needs
    assert need.form["choice"]["schema"]["enum"] == ["id", "amount", "stop"]
    assert [one.label for one in need.options] == ["the column id", "the column amount", "stop"]
    assert "which column" in need.question
    result = engine.resume_sync(result.turn, answers={"choice": "amount"})
    assert (result.outcome, result.answer) == ("success", "sum 20.5")
    assert engine.replay(result.turn).status == "identical"
    (folder / "x.csv").write_text("who,amount\nAda,12.50\n")
    result = engine.run_sync(plan=given)
    assert (result.outcome, result.answer) == ("success", "sum 12.5")
