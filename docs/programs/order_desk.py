"""Metnos as the planning backend of another program: its tools, its loop, its model. Run: python order_desk.py"""

from __future__ import annotations

import asyncio
from typing import TypedDict

from metnos import Candidates, Engine, PlanRequest, Proposal, executor

ORDERS: dict[str, list[Order]] = {"Ada": [{"id": 17, "days_late": 9}], "Bob": [{"id": 21, "days_late": 2}]}


class Order(TypedDict):
    id: int
    days_late: int


class Orders(TypedDict):
    entries: list[Order]


class Letter(TypedDict):
    text: str


@executor(version="1.0.0", effect="read", resources=(), description="Lists the orders of a customer.")
def list_orders(customer: str) -> Orders:
    return {"entries": ORDERS[customer]}


@executor(version="1.0.0", effect="read", resources=(), description="Writes a letter about late orders.")
async def write_letter(customer: str, orders: list[Order]) -> Letter:
    late = ", ".join(str(order["id"]) for order in orders if order["days_late"])
    return {"text": f"Dear {customer}, we are sorry: order {late} is late."}


def complete(system: str, prompt: str) -> str:
    """Your model's client belongs here. This stand-in answers as a model would: a plan in a fenced block."""
    assert "list_orders(customer: string)" in system
    name = prompt.rpartition(" ")[2]
    write = f'2 write_letter customer="{name}" orders=${{step1.entries}}'
    return f'```\n1 list_orders customer="{name}"\n{write}\nend text=${{step2.text}}\n```'


async def propose(request: PlanRequest, candidates: Candidates) -> Proposal:
    reply = await asyncio.to_thread(complete, candidates.as_prompt(), request.as_prompt())
    return Proposal(reply, model="stand-in", tokens_out=len(reply.split()))


async def main() -> None:
    async with Engine.open(
        memory=True, shipped=False, executors=[list_orders, write_letter], proposer=propose
    ) as engine:
        for result in await asyncio.gather(*(engine.run(f"a letter about the late orders of {who}") for who in ORDERS)):
            print(f"{result.outcome}: {result.answer}")


if __name__ == "__main__":
    asyncio.run(main())
