"""The models of this home, as an engine uses them: who plans, and who writes what a plan leaves to be written.

Law: nothing of `propose` is imported before the first call, so that a known plan costs nothing of it. Every call is
handed a `Stop`, and ends when that says so.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.contracts.catalog import Catalog
    from metnos.propose.candidates import Candidates
    from metnos.propose.model import Declined, PlanRequest, Proposal
    from metnos.propose.models.ports import ModelFault, Role, Stop
    from metnos.propose.models.registry import Registry
    from metnos.sdk import ErrorClass
    from metnos.settings import Settings

CLASSES: Final[dict[str, ErrorClass]] = {
    "model-cancelled": "cancelled",
    "model-deadline": "timeout",
    "model-slow": "timeout",
    "model-stalled": "timeout",
    "model-length": "operational",
    "model-reply": "operational",
    "model-context": "operational",
}
"""Code of a `ModelFault` → class of the failure; every other is `unavailable`."""


class Models:
    """The registry of a home, and which model was asked for by name."""

    def __init__(self, registry: Registry, only: str = "") -> None:
        self.registry = registry
        self._only = only

    def role(self, role: Role) -> Any:
        """The models of a role; where one was asked for by name, that one plays every role.

        Raises:
            ModelFault: There is none.
        """
        return self.registry.model(self._only) if self._only else self.registry.role(role)

    def close(self) -> None:
        """Give back what is open; safe to repeat."""
        self.registry.close()


def open_models(settings: Settings, only: str = "") -> Models:
    """The models of this home.

    Args:
        settings: Of the engine.
        only: Name of the one to use; empty: by role.

    Raises:
        SettingsFault: `models.toml` does not hold, or has no model of this name.
    """
    from metnos.propose.models.config import ConfigFault
    from metnos.propose.models.registry import Registry
    from metnos.settings import SettingsFault

    try:
        registry = Registry.open(settings)
    except ConfigFault as fault:
        raise SettingsFault(fault.where, fault.message, fault.hint) from fault
    if only and only not in registry.config.models:
        there = ", ".join(registry.config.models)
        hint = f"there are: {there}" if there else "none is configured: `metnos model pull NAME` fetches one"
        raise SettingsFault("model", f"no model is called {only!r}", hint)
    return Models(registry, only)


class OwnProposer:
    """A proposer of the models of this home: `propose.planner`, opened by the first miss. Safe between threads."""

    takes_stop: Final = True
    """It is called with `stop=`."""

    def __init__(self, opening: Callable[[], Any]) -> None:
        self._opening = opening
        self._lock = threading.Lock()
        self._planner: Any = None

    def __call__(self, request: PlanRequest, candidates: Candidates, *, stop: Stop) -> Proposal | Declined:
        """A plan, or why there is none.

        Raises:
            ModelFault: No model gave anything.
            SettingsFault: `models.toml` does not hold.
        """
        with self._lock:
            if self._planner is None:
                self._planner = self._opening()
        return self._planner(request, candidates, stop=stop)


def open_planner(
    models: Models,
    catalog: Catalog,
    *,
    router: Callable[..., Any] | None = None,
    there: Callable[[str], bool] | None = None,
) -> Any:
    """The planner of this house, on these models: its prompt, its gate; and its router, unless another is given.

    Args:
        models: Of the home.
        catalog: What a plan may name.
        router: Which tools a plan may name; None: that of this house.
        there: What tells readings of a name with blanks apart (`looking.looks`); None: words alone.
    """
    from pathlib import Path

    from metnos.propose import planner
    from metnos.propose.acts import ActReader
    from metnos.propose.models.pull import FOLDER
    from metnos.propose.prompt.blocks import WorkedPrompt
    from metnos.propose.prompt.gate import Gate

    gate = Gate(catalog, models.registry.home / FOLDER)
    return planner.Planner(
        models,
        catalog,
        home=str(Path.home()),
        prompt=WorkedPrompt(),
        gate=gate,
        doubt=gate.doubt,
        router=router,
        there=there,
        reader=ActReader(models),
    )


def usage_of(fault: ModelFault) -> dict[str, int]:
    """What a call that gave nothing cost, as `TurnResult.usage` counts."""
    spent = fault.usage
    return {"planning_calls": spent.calls, "tokens_in": spent.tokens_in, "tokens_out": spent.tokens_out}


def filled_in_vain(fault: ModelFault) -> dict[str, int]:
    """The same for a filler, which is counted apart."""
    from metnos.propose.fillers import counted

    return counted(fault.usage)


def class_of(fault: ModelFault) -> ErrorClass:
    """The class of the failure that a fault of a model is."""
    return CLASSES.get(fault.code, "unavailable")
