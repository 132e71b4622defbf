"""`~` in paths that the person said: written out before a plan runs, and put back before it is learned.

Law: only whole arguments that their contract declares as paths, and only what the person said: text that is to be
written stays as it is, and so does a `~` that a model or an author made up. A template says by its origins what was
said; of any other plan it is what equals a value of the request. What is learned is what was said, so it holds for
every home.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from metnos.checks.guards.places import at_home as written_out
from metnos.plan.jsondata import is_list, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from metnos.contracts.catalog import Catalog
    from metnos.request.model import Request


def at_home(plan: dict[str, Any], origins: Mapping[str, str], catalog: Catalog, home: str) -> dict[str, Any]:
    """The plan with `~` written out, as a shell would, in each path whose origin is `user`."""
    changed = plan
    for pointer, source in origins.items():
        parts = pointer.split("/")[1:]
        if source != "user" or len(parts) != 4 or parts[0] != "steps" or parts[2] != "args":
            continue
        number, name = int(parts[1]), parts[3]
        step = plan["steps"][number]
        value = step["args"].get(name)
        if isinstance(value, str) and name in _paths_of(step, catalog):
            changed = _with(changed, plan, number, name, written_out(value, home))
    return changed


def said_at_home(plan: dict[str, Any], request: Request | None, catalog: Catalog, home: str) -> dict[str, Any]:
    """A proposed or learned plan with `~` written out in each path that the request says just so."""
    return _mapped(plan, {said: written_out(said, home) for said in _said(request)}, catalog)


def as_said(plan: dict[str, Any], request: Request | None, catalog: Catalog, home: str) -> dict[str, Any]:
    """What `said_at_home` made, as the person said it; no longer one home's own."""
    return _mapped(plan, {written_out(said, home): said for said in _said(request)} if home else {}, catalog)


def _said(request: Request | None) -> Iterator[str]:
    """Values of the request that begin in the home folder."""
    for slot in () if request is None or "~" not in request.text else request.slots:
        for one in slot.items or (slot,):
            if isinstance(one.value, str) and (one.value == "~" or one.value.startswith("~/")):
                yield one.value


def _mapped(plan: dict[str, Any], meant: Mapping[str, str], catalog: Catalog) -> dict[str, Any]:
    changed = plan
    steps = plan.get("steps")
    for number, step in enumerate(steps) if meant and is_list(steps) else ():
        args = step.get("args") if is_object(step) else None
        if not is_object(step) or not is_object(args):
            continue
        for name in _paths_of(step, catalog) & args.keys():
            value = args[name]
            if isinstance(value, str) and value in meant:
                changed = _with(changed, plan, number, name, meant[value])
    return changed


def _paths_of(step: dict[str, Any], catalog: Catalog) -> frozenset[str]:
    """Arguments that are paths."""
    tool = step.get("tool")
    contract = catalog.get(tool) if isinstance(tool, str) else None
    found = () if contract is None else contract.resources or ()
    return frozenset(one.arg for one in found if one.kind == "root" and one.arg is not None)


def _with(changed: dict[str, Any], plan: dict[str, Any], number: int, name: str, value: str) -> dict[str, Any]:
    """`changed`, a copy of `plan` as soon as anything differs."""
    if plan["steps"][number]["args"][name] == value:
        return changed
    found = copy.deepcopy(plan) if changed is plan else changed
    found["steps"][number]["args"][name] = value
    return found
