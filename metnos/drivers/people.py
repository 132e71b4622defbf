"""Commands that ask a person: approvals and dialogs. They are on disk before anybody is asked, and so
is what lay at the targets.
"""

from __future__ import annotations

from posixpath import basename, join
from typing import TYPE_CHECKING, Final

from metnos.drivers.asked import ask_host, is_open
from metnos.execute.witness import witness
from metnos.turn import inputs as i
from metnos.turn.claims import absolute, names_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metnos.drivers.state import TurnUnderWay
    from metnos.turn import commands as c
    from metnos.turn.state import Call

LOOKED_AT: Final = frozenset({"change", "delete"})
"""Actions that could take away what a person did not see."""


def ask(turn: TurnUnderWay, command: c.AskApproval) -> None:
    """Ask for consent; without anybody to ask the turn will suspend."""
    turn.ports.boundary("approval-committed")
    _look(turn, command)
    approve = turn.ports.approve
    if approve is not None and is_open(turn, command):
        ask_host(turn, command, lambda: approve(command))


def _look(turn: TurnUnderWay, command: c.AskApproval) -> None:
    """Record what lies where something would be replaced or taken away: a yes is to that and to nothing else."""
    approval = turn.machine.state.approvals.get(command.approval)
    if approval is None or approval.seen is not None or command.action not in LOOKED_AT:
        return
    if any(call.run.step.contract.placement != "worker" for call in approval.calls):
        return
    places = places_of(approval.calls, turn.grant.folder)
    found = witness(turn.grant, (path for paths in places.values() for path in paths))
    seen = {key: {path: found[path] for path in paths} for key, paths in places.items() if paths}
    turn.feed(i.TargetsSeen(at=turn.clock(), approval=command.approval, seen=seen))


def places_of(calls: Sequence[Call], folder: str) -> dict[str, list[str]]:
    """Call → the paths that it would touch; each path once: after the first call that names it, it is that call's work.

    Where a target is a folder, what is put into it keeps its name: so the names of the other paths in it count, too.
    What an argument only consumes is read and nobody's work; any other path is, target or not: an undo takes a file
    away `from` where it is.
    """
    found: dict[str, list[str]] = {}
    taken: set[str] = set()
    for call in calls:
        named = _named(call, folder)
        paths = [path for some in named.values() for path in some]
        targets = [target for target in call.targets if target in paths]
        inside = [join(target, basename(path)) for target in targets for path in paths if path != target]
        mine = [path for path in dict.fromkeys((*targets, *inside)) if path not in taken]
        consumes = call.run.step.contract.consumes
        into = consumes.into if consumes is not None else None
        taken.update(mine, *(some for arg, some in named.items() if arg != into))
        found[call.key] = mine
    return found


def _named(call: Call, folder: str) -> dict[str, list[str]]:
    """Argument → the paths that it names, absolute."""
    resources = call.run.step.contract.resources or ()
    args = sorted({one.arg for one in resources if one.kind == "root" and one.arg is not None})
    return {arg: [absolute(name, folder) for name in names_in(call.args.get(arg)) or ()] for arg in args}


def open_dialog(turn: TurnUnderWay, command: c.OpenDialog) -> None:
    """Ask a question or show a form."""
    answer = turn.ports.answer
    if answer is not None and is_open(turn, command):
        ask_host(turn, command, lambda: answer(command))
