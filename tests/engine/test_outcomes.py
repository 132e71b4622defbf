"""Every outcome that a turn of this engine can have, made on purpose; none of them raises, each says itself in words."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from metnos.text import message
from metnos.turn.facts import OUTCOMES
from tests.support.hosted import lines, plan, step

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from metnos import Engine, TurnResult
    from tests.engine.conftest import Opens


def success(engine: Engine, _folder: Path) -> TurnResult:
    return engine.run_sync(plan=plan(step("add_one", n=1)))


def partial(engine: Engine, _folder: Path) -> TurnResult:
    return engine.run_sync(plan=plan(step("add_one", n=1), step("fail")))


def error(engine: Engine, _folder: Path) -> TurnResult:
    return engine.run_sync(plan=plan(step("fail")))


def timeout_steps(engine: Engine, _folder: Path) -> TurnResult:
    one = {"tool": "add_one", "args": {"n": "${item.n}"}, "for_each": "${step1.entries}"}
    three = [{**one, "for_each": f"${{step{1}.entries}}"} for _ in range(3)]
    return engine.run_sync(plan=plan(step("list_numbers", count=1000), *three))


def not_understood(engine: Engine, _folder: Path) -> TurnResult:
    return engine.run_sync("fold the laundry")


def plan_rejected(engine: Engine, _folder: Path) -> TurnResult:
    return engine.run_sync(plan=plan(step("nothing")))


def user_aborted(engine: Engine, folder: Path) -> TurnResult:
    given = plan(step("append_line", path=str(folder / "x")))
    return engine.run_sync(plan=given, approve=lambda _asked: False)


def policy_denied(engine: Engine, _folder: Path) -> TurnResult:
    return engine.run_sync(plan=plan(step("send_message", to="ada")), assume_yes=True)


def effect_unknown(engine: Engine, folder: Path) -> TurnResult:
    return engine.run_sync(plan=plan(step("append_too_slowly", path=str(folder / "x"))), assume_yes=True)


MAKERS: dict[str, Callable[[Engine, Path], TurnResult]] = {
    maker.__name__: maker
    for maker in (
        success, partial, error, timeout_steps, not_understood, plan_rejected, user_aborted, policy_denied, effect_unknown,
    )
}  # fmt: skip
ELSEWHERE = {
    "cancelled": "test_cancelling.py",
    "budget_hit": "test_proposing.py",
    "tool_hallucination": "test_proposing.py",
}


def test_every_outcome_is_made_somewhere() -> None:
    assert set(MAKERS) | set(ELSEWHERE) == set(OUTCOMES)


@pytest.mark.parametrize("language", ["en", "it"])
@pytest.mark.parametrize("outcome", MAKERS)
def test_an_outcome(opens: Opens, folder: Path, outcome: str, language: str) -> None:
    engine = opens(memory=language == "en", language=language)
    result = MAKERS[outcome](engine, folder)
    assert (result.status, result.outcome, result.ok) == ("closed", outcome, outcome == "success")
    said = message(f"outcome.{outcome}", language).partition("{")[0].strip()
    assert outcome == "success" or result.answer.startswith(said)
    if outcome not in ("success", "partial", "user_aborted"):
        assert result.code
    assert engine.verify(result.turn).ok
    assert engine.replay(result.turn).status == "identical"
    assert engine.read_turn(result.turn).outcome == outcome


def test_an_unknown_effect_names_the_step_and_its_target(opens: Opens, folder: Path) -> None:
    engine = opens()
    result = effect_unknown(engine, folder)
    assert [one.status for one in result.steps] == ["unknown"]
    assert lines(folder / "x") == 1
    for word in ("1.1", "append_too_slowly", str(folder / "x")):
        assert word in result.answer


def test_a_denied_step_says_which_rule_denies_it(opens: Opens, folder: Path) -> None:
    result = policy_denied(opens(memory=True), folder)
    assert "send" in result.answer
    assert [one.status for one in result.steps] in ([], ["waiting"], ["skipped"])


def test_an_answer_of_the_plan_does_not_hide_that_it_failed(opens: Opens) -> None:
    engine = opens(memory=True)
    result = engine.run_sync(plan=plan(step("add_one", n=1), step("fail", text="gone"), text="made ${step1.n}"))
    assert (result.outcome, result.answer) == ("partial", "made 2")
    assert "gone" in result.explained
    assert success(engine, engine.settings.folder).explained == ""


def test_a_read_that_is_too_slow_is_a_failed_step(opens: Opens) -> None:
    result = asyncio.run(opens(memory=True).run(plan=plan(step("too_slow"))))
    assert result.outcome == "error"
    assert result.steps[0].error is not None
    assert (result.steps[0].error.cls, result.steps[0].error.code) == ("timeout", "step-timeout")


def test_an_effect_that_failed_and_said_so_is_no_unknown(opens: Opens, folder: Path) -> None:
    (folder / "a.txt").chmod(0o400)
    given = plan(step("write_files", path="a.txt", content="x"))
    result = opens(memory=True, channel="api").run_sync(plan=given, assume_yes=True)
    assert (result.outcome, result.code) == ("error", "exists")
    assert "a.txt" in result.answer
    error = result.steps[0].error
    assert error is not None
    assert [(one.key, one.args) for one in error.options] == [
        ("replace", {"overwrite": True}),
        ("beside", {"path": "a-2.txt"}),
    ]


def test_results_are_plain_data(opens: Opens, folder: Path) -> None:
    import msgspec

    for maker in MAKERS.values():
        result: Any = maker(opens(memory=True), folder)
        assert msgspec.json.decode(msgspec.json.encode(result))["outcome"] == result.outcome


def test_what_was_cut_short_or_sealed_is_told_beside_an_answer_of_the_plans_own(opens: Opens, folder: Path) -> None:
    (folder / "secret.txt").write_text("key " + "AKIA" + "ABCDEFGH2345MNOP\n" + "x" * 5000)
    read = step("read_files", path="secret.txt", max_bytes=100)
    for language, cut, sealed in (("en", "cut short", "secret"), ("it", "tagliato", "segreti")):
        engine = opens(memory=True, language=language)
        result = engine.run_sync(plan=plan(read, text="${step1.entries[0].text ?? 'none'}".replace("'", '"')))
        assert result.outcome == "success"
        assert "ABCDEFGH" not in result.answer
        assert any(cut in note for note in result.notes)
        assert any(sealed in note for note in result.notes)
        composed = engine.run_sync(plan=plan(read))
        assert composed.notes == ()
        for note in result.notes:
            assert note in composed.answer
