"""Whatever a model would choose: each plan parses, passes validator and guards, and does nothing that was not asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from metnos.checks.guards.asked import actions_of
from metnos.checks.guards.grounding import grounding
from metnos.checks.model import CheckContext, Fine
from metnos.contracts.catalog import Catalog
from metnos.plan.notation import parse_lines
from metnos.propose.decode.loop import Decoder
from metnos.propose.decode.model import Bounds, Impossible, Written
from metnos.propose.decode.state import admits
from metnos.propose.routing import route
from metnos.request.understand import understand
from metnos.testing import RandomSession
from tests.propose.decode.requests import REQUESTS

if TYPE_CHECKING:
    from metnos.propose.decode.state import Checks

SEEDS = 9
LUCKY = 300
"""So many are tried until chance writes what a request asks for."""
MOST_BYTES = 6000
"""Of all lines of one plan, those that were taken back included: 8 lines of some 100 bytes, and 12 refusals."""


def decoded(checks: Checks, names: tuple[str, ...], text: str, seed: int) -> tuple[Written | Impossible, RandomSession]:
    request = understand(text)
    context = CheckContext(source="model", request=request)
    decoder = Decoder(checks, names, request, context, bounds=Bounds(tokens=MOST_BYTES))  # each of its tokens is a byte
    session = RandomSession(seed)
    return decoder.decode(session), session


def check(checks: Checks, names: tuple[str, ...], text: str, seed: int) -> bool:
    """All that holds of one output; whether there was a plan."""
    written, session = decoded(checks, names, text, seed)
    assert session.usage.tokens_out < MOST_BYTES
    if isinstance(written, Impossible):
        return False
    request = understand(text)
    context = CheckContext(source="model", request=request)
    if not written.lines:
        assert [step["tool"] for step in written.plan["steps"]] == ["ask"]
        return True
    parsed = parse_lines("".join(written.lines))
    assert parsed.plan is not None
    assert not parsed.diagnostics
    checked = checks.validator(parsed.plan, context)
    assert checked.ok, checked.diagnostics
    assert checks.validator(written.plan, context).digest == checked.digest
    assert checks.judge(context)(written.plan) == ()
    assert {step.contract.name for step in checked.steps} <= set(names)
    assert all(admits(request, step.worst_effect) for step in checked.steps)
    assert isinstance(grounding(checked, context), Fine)
    asked = sum(action.effectful for action in actions_of(request))
    assert sum(step.worst_effect != "read" for step in checked.steps) <= asked
    return True


@pytest.mark.parametrize("text", REQUESTS)
def test_shipped_catalog(shipped: Checks, text: str) -> None:
    catalog = shipped.validator._catalog  # pyright: ignore[reportPrivateUsage]
    assert isinstance(catalog, Catalog)
    routed = route(understand(text), catalog).names
    plans = [check(shipped, routed if seed % 3 else catalog.names(), text, seed) for seed in range(SEEDS)]
    assert any(plans) or any(check(shipped, routed, text, seed) for seed in range(SEEDS, LUCKY))


def test_a_thousand_foreign_tools(foreign: Checks) -> None:
    names = foreign.validator._catalog.names()  # pyright: ignore[reportPrivateUsage]
    plans = [
        check(foreign, names[seed % 40 :: 40], text, seed)
        for seed, text in enumerate(text for text in REQUESTS for _ in range(2))
    ]
    assert sum(plans) > len(plans) // 3
