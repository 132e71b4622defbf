"""The turn machine in a loop of one's own: Metnos plans and checks, the host runs. Run: python own_loop.py"""

from __future__ import annotations

from typing import Any, TypedDict

from metnos import Candidates, Engine, Failure, PlanRequest, executor, read_reply
from metnos.turn import commands as c
from metnos.turn import inputs as i


class Order(TypedDict):
    number: int


@executor(version="1.0.0", effect="read", resources=(), description="Looks an order up by its customer.")
def find_order(customer: str) -> Order:
    return {"number": len(customer)}


def model(prompt: str) -> str:
    """Your model's client belongs here; this stand-in answers as a model would."""
    return f'1 find_order customer="{prompt.rsplit(maxsplit=1)[-1]}"\nend text="Order ${{step1.number}}."'


def obey(command: c.AnyCommand, tools: Candidates) -> list[i.AnyInput]:
    """What the host does about a command, as the inputs that report it; `turn/table.py` says which may."""
    match command:
        case c.LookUpPlan():
            return [i.PlanMissed(reason="no-cache")]
        case c.Propose():
            asked = PlanRequest(text=command.request, language=command.language, diagnostics=command.diagnostics)
            reply = read_reply(model(tools.as_prompt() + asked.as_prompt()))
            return [i.PlanProposed(plan=reply.plan or {}, unreadable=reply.diagnostics, usage=reply.usage)]
        case c.AskApproval():
            return [i.ApprovalGiven(approval=command.approval, digest=command.digest)]
        case c.StartStep():
            begun = i.StepStarted(step=command.step, operation=command.operation)
            return [begun, i.StepFinished(step=command.step, data=find_order(**command.args))]
        case c.Close():
            return []
        case _:
            error = Failure(cls="unavailable", code="not-here", message="this host does not do that")
            return [i.CommandFailed(command=command.kind, error=error)]


with Engine.open(memory=True, shipped=False, executors=[find_order]) as engine:
    machine, opened = engine.open_machine("look up the order of Ada")
    todo: list[Any] = [opened]
    while todo:
        for command in machine.receive(todo.pop(0)).commands:
            todo += obey(command, engine.candidates)
    print(machine.state.outcome, machine.state.answer)
