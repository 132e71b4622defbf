"""Who writes plans in a run: the record, a script, a model, or nobody.

Law: a proposer is asked what an engine would ask it, and its reply is read as an engine reads it. What it raises is the
failure of its turn, never of the run. A real one takes real time, and that is the time of the turn.

A script is a JSONL file, `{"turn": ID}` or `{"request": TEXT}` with a `plan` (object, JSON or line notation as text), and if
wanted `purpose` (`first` where it is left out), `model`, `tokens_in`, `tokens_out`, `unsure`, `acts`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec

from metnos.drivers.requesting import request_of
from metnos.drivers.tilde import said_at_home
from metnos.evaluate.running.recorded import Recorded, Timed
from metnos.propose.model import Declined, Proposal
from metnos.propose.reply import read_reply
from metnos.request.model import Act
from metnos.sdk import Failure
from metnos.turn import inputs as i

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from metnos.contracts.catalog import Catalog
    from metnos.propose.candidates import Candidates
    from metnos.turn import commands as c
    from metnos.turn.state import TurnState


class Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a script."""

    plan: dict[str, Any] | str
    turn: str = ""
    request: str = ""
    purpose: str = "first"
    model: str = "scripted"
    tokens_in: int = 0
    tokens_out: int = 0
    unsure: bool = False
    acts: tuple[Act, ...] = ()


class ScriptFault(Exception):
    """A line of a script that is none."""

    code = "bad-script"

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}")
        self.where, self.message = where, message
        self.hint = 'a line is {"turn": ID, "plan": …} or {"request": TEXT, "plan": …}'


def read_script(path: Path) -> tuple[Line, ...]:
    """The lines of a script.

    Raises:
        ScriptFault: A line is none, or the file cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as fault:
        raise ScriptFault(str(path), str(fault.strerror)) from fault
    lines: list[Line] = []
    for number, text in enumerate(data.splitlines(), 1):
        if not text.strip():
            continue
        try:
            line = msgspec.json.decode(text, type=Line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
            raise ScriptFault(f"{path.name}:{number}", str(fault)) from fault
        if not (line.turn or line.request):
            raise ScriptFault(f"{path.name}:{number}", "neither `turn` nor `request`")
        lines.append(line)
    return tuple(lines)


class Scripted:
    """A proposer that reads from a script; what it has no line for nobody answers."""

    def __init__(self, lines: Iterable[Line], catalog: Catalog) -> None:
        self._catalog = catalog
        self._lines: dict[tuple[str, str, str], Line] = {}
        for line in lines:
            self._lines[line.turn, "" if line.turn else line.request, line.purpose] = line

    def propose(self, state: TurnState, command: c.Propose, recorded: Recorded) -> Timed | None:
        """The line of this turn, else of this request."""
        del recorded
        line = self._lines.get((state.opened.turn, "", command.purpose))
        line = line or self._lines.get(("", command.request, command.purpose))
        if line is None:
            return None
        said = Proposal(
            line.plan,
            model=line.model,
            tokens_in=line.tokens_in,
            tokens_out=line.tokens_out,
            unsure=line.unsure,
            acts=line.acts,
        )
        return Timed(_input_of(said, state, self._catalog), 0)


class Live:
    """A proposer that is really asked: a model of a home, or any callable of a host."""

    def __init__(self, proposer: Callable[[Any, Any], Any], candidates: Candidates, catalog: Catalog) -> None:
        self._proposer = proposer
        self._candidates = candidates
        self._catalog = catalog

    def propose(self, state: TurnState, command: c.Propose, recorded: Recorded) -> Timed | None:
        """Ask it, and read what it says."""
        del recorded
        began = time.perf_counter_ns()
        try:
            item = _input_of(self._proposer(request_of(state, command), self._candidates), state, self._catalog)
        except Exception as fault:  # noqa: BLE001 - the proposer's own failure, whatever it is
            item = _failed(fault)
        return Timed(item, (time.perf_counter_ns() - began) // 1000)


class Nobody:
    """There is no model."""

    def propose(self, state: TurnState, command: c.Propose, recorded: Recorded) -> Timed | None:
        """Says so."""
        del state, recorded
        error = Failure(cls="unavailable", code="no-model", message="no model is configured")
        return Timed(i.CommandFailed(command=command.kind, error=error), 0)


def _input_of(said: Any, state: TurnState, catalog: Catalog) -> i.PlanProposed | i.CommandFailed:
    if isinstance(said, Declined):
        error = Failure(cls="unavailable", code=said.code, message=said.about)
        return i.CommandFailed(command="propose", error=error, usage=said.usage, proposer=said.model)
    reply = read_reply(said)
    plan: dict[str, Any] = (
        {} if reply.diagnostics else said_at_home(reply.plan, state.request, catalog, state.opened.home)
    )
    return i.PlanProposed(
        plan=plan,
        usage=reply.usage,
        proposer=reply.model,
        unreadable=reply.diagnostics,
        written=reply.written,
        unsure=reply.unsure or msgspec.UNSET,
        acts=reply.acts or msgspec.UNSET,
    )


def _failed(fault: Exception) -> i.CommandFailed:
    code = getattr(fault, "code", "proposer-failed")
    spent: Any = getattr(fault, "usage", None)
    usage: dict[str, int] = {}
    if spent is not None and not isinstance(spent, dict):
        usage = {"planning_calls": spent.calls, "tokens_in": spent.tokens_in, "tokens_out": spent.tokens_out}
    error = Failure(cls="operational", code=str(code), message=str(fault)[:500])
    return i.CommandFailed(command="propose", error=error, usage=usage)
