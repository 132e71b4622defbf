"""Random plans under a driver that crashes, delays, doubles and reorders."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.policy.model import Allow
from metnos.testing.simulation import Broken, Faults, Run, Script, Simulation
from metnos.turn import commands as c
from metnos.turn import inputs as i
from metnos.turn.claims import claims_of
from metnos.turn.table import STEP, TURN
from metnos.turn.turn import Machine
from tests.support.turns import BY_REFERENCE, FOLDER, Files, opened, plan, rules, step

PATHS = ("a", "b", "sub", "sub/c", "sub/d", ".")
START = {f"{FOLDER}/a": "1", f"{FOLDER}/sub/c": "2"}
IDEMPOTENT = frozenset(name for name, contract in BY_REFERENCE.items() if contract.idempotent)


@st.composite
def plans(
    draw: st.DrawFn, tools: tuple[str, ...] = ("noop", "list", "read", "peek", "write", "save", "put")
) -> dict[str, Any]:
    """A valid plan over the small outside: chains, fan-out, effects, lifted steps, fallbacks, both ways of failing."""
    steps: list[dict[str, Any]] = []
    for number in range(1, draw(st.integers(1, 8)) + 1):
        tool = draw(st.sampled_from(tools))
        lists = [n for n, made in enumerate(steps, 1) if made["tool"] == "list" and "for_each" not in made]
        before = [n for n in range(1, number) if "for_each" not in steps[n - 1]]
        content = f"${{step{draw(st.sampled_from(before))}}}" if before and draw(st.booleans()) else number
        fields: dict[str, Any] = {}
        path: Any = draw(st.sampled_from(PATHS))
        if tool in ("noop", "peek"):
            steps.append(step(tool, {"x": content}))
            continue
        if draw(st.integers(0, 3)) == 0:
            fields["for_each"] = (
                f"${{step{draw(st.sampled_from(lists))}.entries}}"
                if lists and draw(st.booleans())
                else [{"path": path} for path in draw(st.lists(st.sampled_from(PATHS), min_size=1, max_size=3))]
            )
            path = "${item.path}"
        args = {"path": path} if tool in ("list", "read") else {"path": path, "content": content}
        steps.append(step(tool, args, **fields))
    data = {str(n): f"${{step{n}}}" for n in range(1, len(steps) + 1)}
    return plan(*steps, end={"tool": "final_answer", "args": {"data": data}})


def play(
    given_plan: dict[str, Any], seed: int, faults: Faults | None = None, failing: Any = None, **script: Any
) -> tuple[Run, Files]:
    world = Files(START, failing)
    used = Simulation(
        rules(policy=lambda question: Allow()),
        opened(given_plan),
        world,
        seed=seed,
        faults=faults,
        script=Script(**script),
    )
    return used.run(), world


def one_by_one(given_plan: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """What the plan means: step after step, item after item."""
    run, world = play(given_plan, 0, Faults(in_order=True))
    assert run.close is not None
    assert run.outcome == "success"
    return run.close.data, world.contents


@given(plans(), st.integers(0, 2**32))
def test_answer_and_effects_are_the_same_under_any_order_of_completion(given_plan: dict[str, Any], seed: int) -> None:
    expected = one_by_one(given_plan)
    run, world = play(given_plan, seed)
    assert run.close is not None
    assert (run.outcome, run.close.data, world.contents) == ("success", *expected)


def claims(start: c.StartStep) -> Any:
    return claims_of(BY_REFERENCE[start.executor], start.args, FOLDER)


def conflict(one: c.StartStep, other: c.StartStep) -> bool:
    """By the rule, not by the board."""
    if one.effect == other.effect == "read":
        return False
    mine, theirs = claims(one), claims(other)
    if () in (mine, theirs):
        return False
    if mine is None or theirs is None:
        return True
    return any(
        a == b or a.startswith(b.rstrip("/") + "/") or b.startswith(a.rstrip("/") + "/")
        for _, a in mine
        for _, b in theirs
    )


def place(step_key: str) -> tuple[int, ...]:
    return tuple(int(part) for part in step_key.split("."))


@given(plans(), st.integers(0, 2**32), st.booleans())
def test_conflicting_steps_never_overlap_and_run_in_the_order_of_the_plan(
    given_plan: dict[str, Any], seed: int, crash: bool
) -> None:
    run, _ = play(given_plan, seed, Faults(crash=0.05 if crash else 0.0))
    running: dict[str, c.StartStep] = {}
    performed: list[c.StartStep] = []
    for event in run.events:
        if event.kind == "crashed":
            running.clear()
        elif event.kind == "asked" and event.start is not None:
            assert not any(conflict(event.start, other) for key, other in running.items() if key != event.step)
            running[event.step] = event.start
        elif event.kind == "performed" and event.start is not None:
            performed.append(event.start)
        elif event.kind == "reported":
            del running[event.step]
    if not crash:
        late = [
            (a.step, b.step)
            for n, a in enumerate(performed)
            for b in performed[n + 1 :]
            if conflict(a, b) and place(a.step) > place(b.step)
        ]
        assert late == []


@given(plans(), st.integers(0, 2**32))
def test_no_effect_starts_twice_after_a_crash_unless_it_is_idempotent(given_plan: dict[str, Any], seed: int) -> None:
    run, world = play(given_plan, seed, Faults(crash=0.15, double=0.1))
    repeated = {
        step_key for operation, step_key in world.performed if sum(o == operation for o, _ in world.performed) > 1
    }
    by_step = {event.step: event.start for event in run.events if event.start is not None}
    assert all(by_step[key].executor in IDEMPOTENT for key in repeated)
    operations: dict[str, set[str]] = {}
    for operation, step_key in world.performed:
        operations.setdefault(step_key, set()).add(operation)
    assert all(len(found) == 1 for found in operations.values())
    if run.outcome != "effect_unknown":
        assert run.close is not None
        assert (run.outcome, run.close.data) == ("success", one_by_one(given_plan)[0])


@given(plans(("noop", "list", "read", "save", "put")), st.integers(0, 2**32))
def test_effects_that_can_be_repeated_or_probed_survive_any_crash(given_plan: dict[str, Any], seed: int) -> None:
    expected = one_by_one(given_plan)[1]
    run, world = play(given_plan, seed, Faults(crash=0.15))
    assert (run.outcome, world.contents) == ("success", expected)


@given(
    plans(),
    st.integers(0, 2**32),
    st.sampled_from(["1.1", "1.2", "1.3", "1.2.1"]),
    st.sampled_from(["data", "crashed"]),
)
def test_whatever_fails_or_is_stopped_the_turn_ends_well(
    given_plan: dict[str, Any], seed: int, fails: str, cls: Any
) -> None:
    run, _ = play(given_plan, seed, Faults(crash=0.05, double=0.2, cancel=0.02), {fails: cls})
    assert run.close is not None
    assert run.outcome in ("success", "partial", "error", "cancelled", "effect_unknown")
    assert run.machine.state.closed
    unsettled = [s.key for s in run.machine.state.steps if STEP[s.state] and s.state != "unknown"]
    assert unsettled == []


@given(plans(), st.integers(0, 2**32))
def test_a_turn_moves_only_along_its_table(given_plan: dict[str, Any], seed: int) -> None:
    run, _ = play(given_plan, seed, Faults(crash=0.05, cancel=0.05))
    machine = Machine(rules(policy=lambda question: Allow()))
    for item, _ in run.log:
        before = machine.state.phase
        states = {call.key: call.state for s in machine.state.steps for call in s.calls}
        machine.receive(item)
        assert machine.state.phase in TURN[before][type(item)].to
        for s in machine.state.steps:
            for call in s.calls:
                old = states.get(call.key, "ready")
                assert call.state == old or call.state in reachable(old)


def reachable(state: Any) -> set[str]:
    found: set[str] = set()
    left = [state]
    while left:
        for to in STEP[left.pop()]:
            if to not in found:
                found.add(to)
                left.append(to)
    return found


# --- with people and models --------------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.sampled_from([True, False, None]))
def test_a_whole_turn_with_look_up_repair_consent_and_dialog(seed: int, approve: bool | None) -> None:
    first = plan(step("no_such_tool"))
    second = plan(
        step("list"),
        step("put", {"path": "new", "content": "${FILLER:t}"}),
        step("remove", {"path": "${item}"}, for_each=["a", "sub/c"]),
        end={"tool": "ask", "args": {"question": "More?"}},
        fillers={"t": {"prompt": "p", "schema": {"type": "string"}}},
    )
    third = plan(step("put", {"path": "new", "content": "text"}), step("noop", {"x": "${INPUT:answer}"}))
    script = Script(
        proposals=(first, second, third),
        fillers={"t": "text"},
        answers={"answer": "yes"},
        approve=approve,
    )
    world = Files(START)
    run = Simulation(
        rules(), opened(request="Do it"), world, seed=seed, faults=Faults(crash=0.1, double=0.2), script=script
    ).run()
    if approve:
        assert run.outcome in ("success", "effect_unknown")
        if run.outcome == "success":
            assert world.contents == {f"{FOLDER}/new": "text"}
    else:
        assert run.outcome == ("suspended" if approve is None else "user_aborted")
        assert world.performed == []


def test_fillers_that_nobody_writes_and_learning() -> None:
    given_plan = plan(step("noop", {"x": "${FILLER:t}"}), fillers={"t": {"prompt": "p", "schema": {"type": "string"}}})
    used = rules(learn=lambda source, outcome: True)
    run = Simulation(used, opened(request="Do it"), Files(), script=Script(found=given_plan)).run()
    assert run.outcome == "error"
    learnt = [item for item, _ in run.log if isinstance(item, i.Learned)]
    assert len(learnt) == 1


def test_a_dialog_that_nobody_answers_suspends() -> None:
    given_plan = plan(end={"tool": "ask", "args": {"question": "Why?"}})
    assert Simulation(rules(), opened(given_plan), Files()).run().outcome == "suspended"


def test_the_same_seed_gives_the_same_run() -> None:
    given_plan = plan(step("list"), step("read", {"from_step": 1}), step("save", {"path": "z", "content": 1}))
    faults = Faults(crash=0.2, double=0.2)
    one, other = (play(given_plan, 11, faults)[0] for _ in range(2))
    assert one.events == other.events
    assert [item for item, _ in one.log] == [item for item, _ in other.log]
    assert one.crashes > 0


# --- the simulation itself can fail ------------------------------------------------------------------------------


class Forgetful(Machine):
    """A machine whose second life differs from its first: counts across instances."""

    lives = 0

    def receive(self, item: i.AnyInput) -> Any:
        reaction = super().receive(item)
        Forgetful.lives += 1
        return reaction if Forgetful.lives < 4 else type(reaction)()


def test_a_machine_that_reacts_otherwise_when_folded_again_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metnos.testing.simulation.Machine", Forgetful)
    with pytest.raises(Broken, match="another reaction"):
        play(plan(step("noop", {"x": 1})), 1)


class Hasty(Machine):
    """Closes while a step is still open."""

    def receive(self, item: i.AnyInput) -> Any:
        reaction = super().receive(item)
        if isinstance(item, i.StepStarted):
            return type(reaction)((), (c.Close(outcome="success"),))
        return reaction


class Doubling(Machine):
    """Asks for a step that runs."""

    def receive(self, item: i.AnyInput) -> Any:
        reaction = super().receive(item)
        if isinstance(item, i.StepStarted):
            (call,) = self.state.calls.values()
            return type(reaction)((), (call.start,))
        return reaction


class Careless(Machine):
    """Takes everything twice, and never ends."""

    def receive(self, item: i.AnyInput) -> Any:
        if isinstance(item, i.StepFinished):
            return super().receive(i.StepStarted(step="0", operation="")) if not self.state.calls else _NOTHING
        return super().receive(item)


_NOTHING = type(Machine(rules()).receive(opened(request="x")))()


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (Hasty, "closed while"),
        (Doubling, "starts while it runs"),
        (Careless, "taken twice"),
    ],
)
def test_broken_machines_are_caught(monkeypatch: pytest.MonkeyPatch, machine: type[Machine], message: str) -> None:
    monkeypatch.setattr("metnos.testing.simulation.Machine", machine)
    with pytest.raises(Broken, match=message):
        play(plan(step("noop", {"x": 1})), 1, Faults(double=1.0))


def test_a_turn_without_end_is_caught() -> None:
    with pytest.raises(Broken, match="no end after 3 events"):
        Simulation(rules(), opened(plan(*(step("noop", {"x": n}) for n in range(9)))), Files(), limit=3).run()
