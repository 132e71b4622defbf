"""Steps in this process: inline transforms, functions of the host, stand-ins; and the border they all pass."""

from __future__ import annotations

import asyncio
import enum
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.contracts.model import Contract
from metnos.execute.runner import Grant, Runners
from metnos.execute.strict import NotJSON, settle
from metnos.plan.jsondata import digest
from metnos.sdk import Effect, Failure, FilesError, Result
from metnos.turn.inputs import StepFailed, StepFinished, StepStopped

if TYPE_CHECKING:
    from tests.execute.conftest import World


def error_of(outcome: Any) -> tuple[str, str]:
    assert outcome.status == "failed", outcome
    return outcome.error.cls, outcome.error.code


# --- what comes back ---------------------------------------------------------------------------------------------


def test_a_value_and_a_result_are_both_taken(world: World) -> None:
    plain = world.now(world.host(lambda a, c: {"n": a["n"]}), {"n": 3})
    assert (plain.status, plain.data, plain.digest, plain.sources) == (
        "finished",
        {"n": 3},
        digest({"n": 3}),
        ("local",),
    )
    effect = Effect(cls="create", target="x")
    full = world.now(
        world.host(
            lambda a, c: Result.done([1], effects=(effect,), counters={"seen": 2}, truncated=True, warnings=("w",))
        )
    )
    assert (full.data, full.effects, full.counters, full.truncated, full.warnings) == (
        [1],
        (effect,),
        {"seen": 2},
        True,
        ("w",),
    )


def test_an_inline_transform_adds_no_source(world: World) -> None:
    name = world.executor("def run(a, c):\n    return a\n", placement="inline")
    outcome = world.now(name, {"x": 1})
    assert (outcome.data, outcome.sources) == ({"x": 1}, ())


def test_outcomes_become_inputs(world: World) -> None:
    finished = world.now(world.host(lambda a, c: 1)).to_input("1.2", 7)
    assert isinstance(finished, StepFinished)
    assert (finished.step, finished.at, finished.data, finished.digest) == ("1.2", 7, 1, digest(1))
    failed = world.now(world.host(lambda a, c: Result.failed("missing", "not-found", where="/x"))).to_input("1.2", 7)
    assert failed == StepFailed(at=7, step="1.2", error=Failure(cls="missing", code="not-found", where="/x"))
    stopped = asyncio.run(_stopped(world)).to_input("1.2", 7)
    assert stopped == StepStopped(at=7, step="1.2")


async def _stopped(world: World) -> Any:
    started = asyncio.Event()

    async def forever(args: Any, ctx: Any) -> None:
        started.set()
        await asyncio.Event().wait()

    task = asyncio.ensure_future(world.run(world.host(forever, is_async=True)))
    await started.wait()
    world.runners.stop("t", "1.1")
    return await task


def test_what_was_returned_cannot_be_changed_afterwards(world: World) -> None:
    kept: list[Any] = [1]
    outcome = world.now(world.host(lambda a, c: kept))
    kept.append(2)
    assert outcome.data == [1]


def test_tuples_and_subclasses_become_plain(world: World) -> None:
    class Colour(enum.StrEnum):
        RED = "red"

    outcome = world.now(world.host(lambda a, c: (OrderedDict(a=1), Colour.RED, True, 1.5, None)))
    assert outcome.data == [{"a": 1}, "red", True, 1.5, None]
    assert [type(value) for value in outcome.data] == [dict, str, bool, float, type(None)]


@pytest.mark.parametrize(
    ("value", "code", "where"),
    [
        (float("nan"), "not-a-number", ""),
        ([0, float("-inf")], "not-a-number", "/1"),
        ({"a": {"b/c": {1: 2}}}, "not-json", "/a/b~1c"),
        ({"a": "\ud800"}, "lone-surrogate", "/a"),
        ({"a": [2**53]}, "integer-range", "/a/0"),
        ({"a": b"x"}, "not-json", "/a"),
        ({"a": {1}}, "not-json", "/a"),
        (Failure(cls="data", code="x"), "not-json", ""),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(world: World, value: Any, code: str, where: str) -> None:
    outcome = world.now(world.host(lambda a, c: value))
    assert error_of(outcome) == ("data", code)
    assert outcome.error is not None
    assert outcome.error.where == where


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**53) + 1, 2**53 - 1)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_all_json_passes_unchanged(value: Any) -> None:
    assert settle(value) == value


@given(
    st.recursive(st.integers() | st.text(st.characters(categories=None)), lambda inner: st.lists(inner), max_leaves=5)
)
def test_no_half_character_passes(value: Any) -> None:
    try:
        settled = settle(value)
    except NotJSON as fault:
        assert fault.code == "lone-surrogate"
    else:
        str(settled).encode()


def test_depth_is_limited(world: World) -> None:
    def nested(args: Any, ctx: Any) -> Any:
        data: Any = 1
        for _ in range(args["n"]):
            data = {"x": [data]}
        return data

    name = world.host(nested)
    assert world.now(name, {"n": 16}).status == "finished"
    assert error_of(world.now(name, {"n": 17})) == ("data", "too-deep")
    assert error_of(world.now(name, {"n": 50_000})) == ("data", "too-deep")
    wide = world.now(world.host(lambda a, c: [[[]] for _ in range(1000)] + ["[" * 1000]))
    assert wide.status == "finished"


def test_the_result_schema_is_kept(world: World) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    name = world.host(lambda a, c: a, result=schema)
    assert world.now(name, {"n": 1}).status == "finished"
    outcome = world.now(name, {"n": "one"})
    assert error_of(outcome) == ("internal", "result-schema")
    assert outcome.error is not None
    assert outcome.error.where == "/n"


def test_effects_of_a_refused_result_are_kept(world: World) -> None:
    effect = Effect(cls="send", target="you")
    outcome = world.now(world.host(lambda a, c: Result.done(float("nan"), effects=(effect,))), effect="send")
    assert error_of(outcome) == ("data", "not-a-number")
    assert outcome.effects == (effect,)


@pytest.mark.parametrize(
    "result",
    [
        Result(ok=False),
        Result(effects=("none",)),  # type: ignore[arg-type]
        Result(counters={"a": "b"}),  # type: ignore[dict-item]
        Result(warnings=(1,)),  # type: ignore[arg-type]
    ],
)
def test_a_result_of_the_wrong_form(world: World, result: Result) -> None:
    assert error_of(world.now(world.host(lambda a, c: result))) == ("internal", "result-malformed")


def test_a_flood_beside_the_data_is_cut(world: World) -> None:
    outcome = world.now(world.host(lambda a, c: Result.done(1, warnings=("w" * 1000,) * 1000)))
    assert error_of(outcome) == ("oversize", "too-large")


class Unsayable(Exception):
    def __str__(self) -> str:
        raise ValueError("not even that")


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (ValueError("no"), ("internal", "executor-raised")),
        (FilesError("missing", "not-found", "x", "gone"), ("missing", "not-found")),
        (MemoryError(), ("memory", "memory-limit")),
        (TimeoutError(), ("timeout", "step-timeout")),
        (SystemExit(3), ("internal", "executor-raised")),
        (RecursionError(), ("internal", "executor-raised")),
        (GeneratorExit(), ("internal", "executor-raised")),
        (asyncio.CancelledError(), ("internal", "executor-raised")),
        (BaseException("of a test runner"), ("internal", "executor-raised")),
        (ValueError("half\udcff.txt"), ("internal", "executor-raised")),
        (Unsayable(), ("internal", "executor-raised")),
    ],
)
def test_whatever_is_raised_is_one_typed_failure(world: World, fault: BaseException, expected: tuple[str, str]) -> None:
    def run(args: Any, ctx: Any) -> None:
        raise fault

    async def run_async(args: Any, ctx: Any) -> None:
        raise fault

    assert error_of(world.now(world.host(run))) == expected
    assert error_of(world.once(world.host(run))) == expected
    if not isinstance(fault, SystemExit | GeneratorExit):  # the second is how a loop gives a task up
        assert error_of(world.once(world.host(run_async, is_async=True))) == expected


def test_ctrl_c_is_nobodys_failure(world: World) -> None:
    def run(args: Any, ctx: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        world.now(world.host(run))


# --- the context -------------------------------------------------------------------------------------------------


def test_the_context_of_a_function(world: World, tmp_path: Any) -> None:
    (tmp_path / "x").write_text("text")

    def run(args: Any, ctx: Any) -> Any:
        ctx.progress(1, 2, "half")
        return [
            ctx.operation,
            ctx.now,
            ctx.fence,
            ctx.deadline > 0,
            ctx.files.read("x", limit=9)[0].decode(),
            ctx.open_secret("no"),
        ]

    assert world.now(world.host(run)).data == ["op", "2026-11-30T12:00:00+01:00", 0, True, "text", "no"]
    assert world.told == [("1.1", 1, 2, "half")]


def test_no_function_opens_a_secret(world: World) -> None:
    handle = "⟦sealed:" + "0" * 32 + "⟧"
    assert error_of(world.now(world.host(lambda a, c: c.open_secret(a["x"])), {"x": handle})) == (
        "denied",
        "secret-not-granted",
    )


# --- side by side ------------------------------------------------------------------------------------------------


def test_which_steps_need_no_loop(world: World) -> None:
    async def run(args: Any, ctx: Any) -> None: ...

    expected = {
        world.host(lambda a, c: 1): True,
        world.host(run, is_async=True): False,
        world.executor("def run(a, c): return 1", placement="inline"): True,
        world.executor("def run(a, c): return 1"): False,
        world.executor("1/0", placement="inline"): True,
    }
    for name, synchronous in expected.items():
        command, contract, _ = world.start(name)
        assert world.runners.is_synchronous(command, contract) is synchronous
        assert world.runners.is_synchronous(command, contract) is synchronous
    with pytest.raises(ValueError, match="cannot run in this thread"):
        world.now(next(name for name, synchronous in expected.items() if not synchronous))


def test_functions_that_wait_for_each_other_run_at_once(world: World) -> None:
    together = threading.Barrier(8)
    name = world.host(lambda a, c: together.wait() >= 0)

    async def scene() -> list[Any]:
        return await asyncio.gather(*(world.run(name, step=f"1.{at}") for at in range(8)))

    assert all(outcome.data for outcome in asyncio.run(scene()))


def test_the_loop_goes_on_while_a_function_blocks(world: World) -> None:
    release = threading.Event()
    name = world.host(lambda a, c: release.wait())

    async def scene() -> Any:
        task = asyncio.ensure_future(world.run(name))
        await asyncio.sleep(0)
        release.set()  # only a loop that still turns gets here
        return await task

    assert asyncio.run(scene()).data is True


@pytest.mark.parametrize("effect", ["read", "send"])
def test_a_thread_that_is_stopped(world: World, effect: str) -> None:
    """A read is abandoned; an effect is waited for, because only its outcome tells what was done."""
    started, release = threading.Event(), threading.Event()

    def run(args: Any, ctx: Any) -> str:
        started.set()
        release.wait()
        return "done"

    async def scene() -> Any:
        task = asyncio.ensure_future(world.run(world.host(run), effect=effect))
        while not started.is_set():
            await asyncio.sleep(0)
        world.runners.stop("t", "1.1")
        for _ in range(5):
            await asyncio.sleep(0)
        ended_early = task.done()
        release.set()
        return ended_early, await task

    ended_early, outcome = asyncio.run(scene())
    assert ended_early is (effect == "read")
    assert outcome.status == ("stopped" if effect == "read" else "finished")


def test_timeouts_of_functions(world: World) -> None:
    release = threading.Event()

    async def forever(args: Any, ctx: Any) -> None:
        await asyncio.Event().wait()

    assert error_of(world.once(world.host(forever, is_async=True), timeout_s=0.01)) == ("timeout", "step-timeout")
    assert error_of(world.once(world.host(lambda a, c: release.wait()), timeout_s=0.01)) == ("timeout", "step-timeout")
    release.set()


def test_cancelling_from_outside_is_passed_on(world: World) -> None:
    ended: list[str] = []

    async def forever(args: Any, ctx: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cleaned")

    async def scene() -> None:
        task = asyncio.ensure_future(world.run(world.host(forever, is_async=True)))
        for _ in range(3):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scene())
    assert ended == ["cleaned"]


def test_a_stop_that_comes_too_late_cancels_nobody_else(world: World) -> None:
    async def scene() -> str:
        async def quick(args: Any, ctx: Any) -> int:
            world.runners.stop("t", "1.1")
            return 1

        outcome = await world.run(world.host(quick, is_async=True))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return outcome.status

    assert asyncio.run(scene()) == "finished"


def test_stand_ins_and_their_absence() -> None:
    class Nothing:
        def code(self, name: str) -> dict[str, bytes]:
            return {}

        def function(self, name: str) -> None:
            return None

    async def later(args: Any, ctx: Any) -> Any:
        return args

    from metnos.turn.commands import StartStep

    runners = Runners(Nothing(), externals={"now": lambda args, ctx: args, "later": later})
    for name, expected in (("now", "finished"), ("later", "finished"), ("never", "failed")):
        contract = Contract(name=name, version="1", origin="foreign", placement="external")
        command = StartStep(
            step="1.1",
            operation="o",
            executor=f"{name}@1",
            args={"a": 1},
            digest="",
            effect="read",
            placement="external",
            timeout_s=5,
        )
        outcome = asyncio.run(runners.run(command, contract, Grant()))
        assert outcome.status == expected
    assert error_of(outcome) == ("unavailable", "no-runner")


def test_registered_functions_run_as_the_catalog_gives_them() -> None:
    from metnos.contracts.catalog import Catalog
    from metnos.contracts.functions import executor
    from metnos.turn.commands import StartStep

    @executor(version="1.0.0", effect="read")
    def double(n: int) -> dict[str, int]:
        """Twice."""
        return {"n": 2 * n}

    @executor(version="1.0.0", effect="read")
    async def later(n: int, ctx: Any) -> list[Any]:
        """Later."""
        return [n, ctx.operation]

    catalog = Catalog(functions=[double, later])
    runners = Runners(catalog)
    outcomes: list[Any] = []
    for name in ("double", "later"):
        contract = catalog.get(name)
        assert contract is not None
        command = StartStep(
            step="1.1",
            operation="op",
            executor=contract.reference,
            args={"n": 21},
            digest="",
            effect="read",
            placement="host",
            timeout_s=5,
        )
        outcomes.append(asyncio.run(runners.run(command, contract, Grant())).data)
    assert outcomes == [{"n": 42}, [21, "op"]]
