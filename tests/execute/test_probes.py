"""Probes: whether an operation that was cut off was made, asked of the code that made it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from metnos.turn.commands import ProbeEffect

if TYPE_CHECKING:
    from metnos.execute.runner import Probed
    from tests.execute.conftest import World

RUN = "from metnos.sdk import Effect, Result\ndef run(a, c):\n    return {'ran': True}\n"


def probe(world: World, name: str, args: dict[str, Any] | None = None) -> Probed:
    _, contract, grant = world.start(name)
    command = ProbeEffect(step="1.1", operation="op", executor=contract.reference, args=args or {})
    return asyncio.run(world.runners.probe(command, contract, grant))


@pytest.mark.parametrize(("body", "found"), [
    ("return 'absent'", "absent"),
    ("return 'unknown'", "unknown"),
    ("return 'done'", "unknown"),
    ("return None", "unknown"),
    ("return Result.failed('missing', 'not-found')", "unknown"),
    ("raise ValueError('x')", "unknown"),
    ("import os; os._exit(3)", "unknown"),
])  # fmt: skip
def test_what_is_no_result_is_absent_or_unknown(world: World, body: str, found: str) -> None:
    name = world.executor(f"{RUN}def probe(a, c):\n    {body}\n", probe=True)
    assert probe(world, name) == (found, None)


def test_a_result_is_what_was_done_as_run_would_have_told_it(world: World) -> None:
    source = (
        f"{RUN}def probe(a, c):\n"
        "    return Result.done({'path': a['path'], 'op': c.operation}, effects=(Effect(cls='change', target='x'),))\n"
    )
    name = world.executor(source, probe=True)
    assert world.once(name).data == {"ran": True}
    found, outcome = probe(world, name, {"path": "p"})
    assert found == "done"
    assert outcome is not None
    assert outcome.data == {"path": "p", "op": "op"}
    assert [effect.target for effect in outcome.effects] == ["x"]
    assert world.once(name).data == {"ran": True}


def test_a_result_that_breaks_the_promise_proves_nothing(world: World) -> None:
    promised = {"type": "object", "required": ["path"]}
    name = world.executor(f"{RUN}def probe(a, c):\n    return Result.done({{}})\n", probe=True, result=promised)
    assert probe(world, name) == ("unknown", None)


def test_who_cannot_be_asked_does_not_know(world: World) -> None:
    assert probe(world, world.executor(RUN)) == ("unknown", None)
    assert probe(world, world.executor("not python", probe=True)) == ("unknown", None)
    assert probe(world, world.host(lambda _args, _ctx: {}, probe=True)) == ("unknown", None)
