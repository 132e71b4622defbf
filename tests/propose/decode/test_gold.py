"""Plans that were written by hand for other requests than those here: nearly all of them can be decoded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.checks.model import CheckContext
from metnos.contracts.catalog import Catalog
from metnos.propose.decode.loop import Decoder
from metnos.propose.decode.state import begin
from metnos.propose.decode.styles import LINES
from metnos.propose.routing import route
from metnos.request.understand import understand
from metnos.testing.deciding import accepts

if TYPE_CHECKING:
    from metnos.propose.decode.state import Checks, Plan

DATA = Path(__file__).parents[3] / "benchmarks" / "data"
OTHERWISE = {
    "en-23",  # another plan does it: a copy
    "en-32", "it-06",  # a day has two ends
    "en-34", "it-19",  # "larger than" is `min_size`, which is inclusive
    "en-35",  # "except": no effect under a negation
}  # fmt: skip


def gold() -> dict[str, list[str]]:
    """Id of a request → the lines of its plan."""
    found: dict[str, list[str]] = {}
    for part in (DATA / "planning_gold.txt").read_text(encoding="utf-8").split("\n== ")[1:]:
        name, *lines = [line for line in part.splitlines() if line.strip()]
        found[name.strip()] = lines
    return found


def as_decoded(of: Decoder, step: Plan, number: int) -> str:
    """The line with its arguments in the order of the grammar, without defaults, and with what is always written."""
    bound = of.checks.validator.bound(step["tool"])
    assert bound is not None
    properties: dict[str, Any] = bound.contract.args["properties"]
    order = sorted(properties, key=lambda name: (name not in bound.required, list(properties).index(name)))
    args = {"from_step": step["args"]["from_step"]} if "from_step" in step["args"] else {}
    for name in order:
        default = properties[name].get("default")
        if name in step["args"] and name not in ("ignore_case", "hidden") and step["args"][name] != default:
            args[name] = step["args"][name]
        elif name == "order":
            args[name] = step["args"].get(name, default)
    return LINES.write(number, {**step, "args": args})


def decodable(checks: Checks, case: dict[str, Any], lines: list[str]) -> bool:
    """Whether each line is one of its grammar, and nothing that was said is left at the end."""
    request = understand(case["request"], case["language"])
    catalog = checks.validator._catalog  # pyright: ignore[reportPrivateUsage]
    assert isinstance(catalog, Catalog)
    names = route(request, catalog).names
    of = Decoder(checks, names, request, CheckContext(source="model", request=request))
    steps: tuple[Plan, ...] = ()
    if of.refused() is not None:
        return False
    for number, line in enumerate(lines, start=1):
        grammar = LINES.grammar(of.tools.line(begin(checks, request, of.context, steps)))
        if line.startswith("end"):
            return accepts(grammar, "end\n") and not of.tools.values.left(begin(checks, request, of.context, steps))
        step, faults = LINES.read(f"{line}\n", number)
        assert step is not None, faults
        if not accepts(grammar, as_decoded(of, step, number)):
            return False
        steps = (*steps, step)
    return False


def test_plans_by_hand_can_be_decoded(shipped: Checks) -> None:
    plans = gold()
    cases = [json.loads(line) for line in (DATA / "planning.jsonl").read_text(encoding="utf-8").splitlines()]
    doable = [case for case in cases if case["id"] in plans and not isinstance(case["expect"], list)]
    assert len(doable) > 70
    failed = {case["id"] for case in doable if not decodable(shipped, case, plans[case["id"]])}
    assert failed <= OTHERWISE
