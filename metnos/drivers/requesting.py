"""What a proposer is asked, from the machine's command and its state.

Law: pure, and apart from who drives, so that an evaluation asks what an engine asks. Names and types only: no result of a
tool is in it.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metnos.propose.model import PlanRequest
    from metnos.turn import commands as c
    from metnos.turn.state import TurnState


def request_of(state: TurnState, command: c.Propose) -> PlanRequest:
    """The command, and what a plan may refer to beside its own steps."""
    from metnos.propose.model import PlanRequest
    from metnos.turn.planning import earlier_steps

    return PlanRequest(
        text=command.request,
        language=command.language,
        purpose=command.purpose,
        diagnostics=command.diagnostics,
        plan=copy.deepcopy(command.plan) or None,
        written=command.written,
        inputs={name: copy.deepcopy(given.schema) for name, given in state.inputs.items()},
        earlier=copy.deepcopy(earlier_steps(state)),
        now=state.opened.now,
        zone=state.opened.zone,
    ).read_as(state.request)
