"""A small world for the record room: the real machine under stand-in rules, a driver with fault points.

Run as a script it is the process that gets killed: `world.py HOME EFFECTS TURN new|resume CRASH_AT`.
The effect of a step is one line, its operation id, in the file EFFECTS: two equal lines are a second effect.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import traceback
import warnings
from collections import deque
from pathlib import Path

from metnos.checks.model import Checked, CheckedStep, Guarded
from metnos.contracts.model import Contract, EffectRule
from metnos.plan.model import Plan, Step
from metnos.policy.model import Allow, AskUser
from metnos.record.faults import RecordFault
from metnos.record.replay import fold
from metnos.record.sqlite import SqliteJournal
from metnos.sdk import Effect, Failure
from metnos.turn.commands import AskApproval, Close, Compose, Learn, ProbeEffect, StartStep, StopStep
from metnos.turn.facts import TurnClosed, TurnSuspended
from metnos.turn.inputs import (
    AnswerComposed,
    ApprovalGiven,
    EffectProbed,
    Learned,
    StepFailed,
    StepFinished,
    StepStarted,
    StepStopped,
    TurnOpened,
    TurnResumed,
)
from metnos.turn.rules import Rules
from metnos.turn.turn import Machine
from metnos.values.expressions import DictOf, Literal_

NOW = "2026-11-30T12:00:00+01:00"


def contract(tool: str) -> Contract:
    """`read_x`, `create_x`, `again_x` (idempotent), `probe_x`, `ask_x` (needs consent), `big_x`."""
    kind = tool.partition("_")[0]
    effect = "read" if kind in ("read", "big") else "create"
    return Contract(
        name=tool,
        version="1",
        placement="inline",
        effects=(EffectRule(effect=effect),),
        result={"type": "object"},
        idempotent=kind == "again",
        probe=kind == "probe",
        digest="sha256:" + tool,
    )


def validate(plan, _context):
    tools = [step["tool"] for step in plan["steps"]]
    steps = tuple(
        CheckedStep(
            number=number,
            contract=contract(tool),
            args=DictOf((("n", Literal_(number)),)),
            worst_effect=contract(tool).effects[0].effect,
        )
        for number, tool in enumerate(tools, 1)
    )
    made = Plan(steps=tuple(Step(tool=tool, args={"n": number}) for number, tool in enumerate(tools, 1)))
    return Checked(plan=made, digest="sha256:" + "-".join(tools), steps=steps)


def policy(question):
    return AskUser("because") if question.executor.startswith("ask") and not question.forecast else Allow()


RULES = Rules(
    normalise=lambda text, language: None,
    validate=validate,
    guard=lambda checked, context: Guarded(checked=checked),
    policy=policy,
    digest="sha256:rules",
)


def opened(turn: str, *tools: str, at: int = 1_000) -> TurnOpened:
    steps = [{"tool": tool, "args": {"n": number}} for number, tool in enumerate(tools, 1)]
    return TurnOpened(at=at, turn=turn, now=NOW, mode="run", plan={"steps": steps}, versions={"rules": "sha256:rules"})


class Driver:
    """Drives one turn as the live driver does; `boundary(name)` is called at each durable boundary."""

    def __init__(self, writer, machine, effects: Path, boundary=lambda name: None, consent=True, probe=True) -> None:
        self.writer, self.machine, self.effects, self.boundary = writer, machine, effects, boundary
        self.consent, self.probe = consent, probe
        self.queue: deque = deque()
        self.outcome = ""
        self.head = None
        self.suspended = False
        self.clock = itertools.count(2_000 + 1_000 * writer.seq)

    def feed(self, item, *, durable=False, anchor=False) -> None:
        reaction = self.machine.receive(item)
        asks = any(isinstance(command, AskApproval) for command in reaction.commands)
        self.writer.append(item, reaction, durable=durable or asks, anchor=anchor)
        for fact in reaction.facts:
            self.suspended |= isinstance(fact, TurnSuspended)
            self.outcome = fact.outcome if isinstance(fact, TurnClosed) else self.outcome
        self.queue.extend(reaction.commands)

    def run(self, item):
        self.feed(item)
        self.boundary("begun")
        while self.queue and self.head is None:
            self.obey(self.queue.popleft())
        if self.head is None:
            assert self.suspended
            self.head = self.writer.finish("suspended")
            self.boundary("suspended")
        return self

    def obey(self, command) -> None:
        at = next(self.clock)
        match command:
            case StartStep():
                self.start(command, at)
            case StopStep():
                self.feed(StepStopped(at=at, step=command.step))
            case AskApproval():
                self.boundary("asked")
                if self.consent:
                    self.suspended = False
                    self.feed(ApprovalGiven(at=at, approval=command.approval, digest=command.digest))
            case ProbeEffect():
                done = command.operation in lines(self.effects)
                found = ("done" if done else "absent") if self.probe else "unknown"
                self.feed(EffectProbed(at=at, step=command.step, found=found, data={}), durable=True)
            case Compose():
                self.feed(AnswerComposed(at=at, text="done"))
            case Learn():
                self.feed(Learned(at=at))
            case Close():
                self.head = self.writer.finish("closed")
                self.boundary("closed")

    def start(self, command: StartStep, at: int) -> None:
        effect = command.effect != "read"
        name = command.step
        started = StepStarted(at=at, step=name, operation=command.operation, fence=self.writer.fence)
        if effect:
            self.boundary(f"before {name}")
        self.feed(started, durable=effect, anchor=effect)
        if effect:
            self.boundary(f"intent {name}")
            perform(self.effects, command.operation)
            self.boundary(f"effect {name}")
        data = {"text": "x" * 20_000} if command.executor.startswith("big") else {"n": command.args["n"]}
        effects = (Effect(cls="create", target=name),) if effect else ()
        self.feed(StepFinished(at=at + 1, step=name, data=data, effects=effects), durable=effect)
        if effect:
            self.boundary(f"outcome {name}")


def perform(effects: Path, operation: str) -> None:
    file = os.open(effects, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(file, operation.encode() + b"\n")
    os.close(file)


def lines(effects: Path) -> list[str]:
    return effects.read_text().split() if effects.exists() else []


def begin(journal, item: TurnOpened, effects: Path, **more) -> Driver:
    return Driver(journal.begin(item), Machine(RULES), effects, **more).run(item)


def resume(journal, turn: str, effects: Path, **more) -> Driver:
    writer, log = journal.resume(turn)
    machine = Machine(RULES)
    for item in fold(log):
        machine.receive(item)
    driver = Driver(writer, machine, effects, **more)
    return driver.run(TurnResumed(at=log.records[-1].at + 1, fence=writer.fence))


def broken_step(error_class: str, step: str) -> StepFailed:
    return StepFailed(at=1, step=step, error=Failure(cls=error_class, code="x"))


def forked(work) -> int:
    """Exit status of `work` in a process of its own; -9 if it was killed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 warns where pytest has threads
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # noqa: BLE001 - the child must never return into pytest
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main(home: str, effects: str, turn: str, mode: str, crash_at: str, *tools: str) -> None:
    def boundary(name: str) -> None:
        if name == crash_at:
            os.kill(os.getpid(), signal.SIGKILL)

    journal = SqliteJournal(Path(home))
    try:
        if mode == "new":
            driver = begin(journal, opened(turn, *tools), Path(effects), boundary=boundary)
        else:
            driver = resume(journal, turn, Path(effects), boundary=boundary)
    except RecordFault as fault:
        print(json.dumps({"code": fault.code}))
        return
    print(json.dumps({"outcome": driver.outcome, "suspended": driver.suspended}))


if __name__ == "__main__":
    main(*sys.argv[1:])
