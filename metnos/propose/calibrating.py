"""The gate of one configured model, set and kept beside it, so that the next plan of that model is weighed by it.

Law: a gauge is found by the SHA-256 of the weights, so a model that was added without one is given it here: its file is
from then on held to be this one. Nothing is kept of a calibration that did not come to its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from metnos.propose.candidates import Candidates
from metnos.propose.models.config import read_models
from metnos.propose.models.editing import change, with_model
from metnos.propose.models.ports import Stop
from metnos.propose.models.pull import FOLDER
from metnos.propose.models.registry import Registry, decodes
from metnos.propose.prompt.blocks import prefix
from metnos.propose.prompt.gate import Calibration, calibrate, calibration_cases, save_gauge
from metnos.propose.routing import route

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.contracts.catalog import Catalog
    from metnos.propose.models.config import ModelsConfig
    from metnos.settings import Settings

LEAST_REFUSED: Final = 0.8
MOST_FALSE: Final = 0.05
"""Beyond either, a gate is said to separate badly. It is kept all the same: no gate would be worse."""


class Unweighed(Exception):
    """There is nothing to calibrate: no such model, or one whose next tokens cannot be weighed."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class Calibrated(Calibration, frozen=True, kw_only=True):
    """What a calibration came to, and for which weights."""

    sha256: str

    @property
    def separates(self) -> bool:
        """Whether it is good enough not to warn of."""
        return self.rates.refused >= LEAST_REFUSED and self.rates.false <= MOST_FALSE

    def as_json(self) -> dict[str, Any]:
        """For a program: shares are of 1, thresholds in nats."""
        return {
            "sha256": self.sha256,
            "least": self.gauge.least,
            "weak": self.gauge.weak,
            "other": self.gauge.other,
            "refused": self.rates.refused,
            "false": self.rates.false,
            "cases": self.cases,
            "separates": self.separates,
        }


def calibrate_model(
    settings: Settings, name: str, catalog: Catalog, told: Callable[[int, int], None], *, stop: Stop | None = None
) -> Calibrated:
    """Ask the model `name` of a home all calibration requests, and keep what came of it.

    Args:
        settings: Whose home.
        name: As `models.toml` has it.
        catalog: The tools that the prompt tells of, and that routing looks at.
        told: How many requests are done, and how many there are.
        stop: When to end early; nothing is kept then.

    Raises:
        Unweighed: No such model, or none that a gate can be set for.
        ModelFault: It cannot be opened, or gave up.
        ConfigFault: `models.toml` does not hold.
        OSError: What came of it could not be written.
    """
    config = read_models(settings.home)
    if name not in config.models:
        raise Unweighed(f"no model is called {name!r}", ", ".join(config.models) or "none is configured")
    if config.models[name].adapter != "llama":
        why = f"{name} answers in text: how likely its yes is cannot be known, so no gate is asked before its plans"
        raise Unweighed(why, "a model that runs in this process can be calibrated (adapter llama)")
    candidates = Candidates(contract for _, contract in sorted(catalog.contracts().items()))
    with Registry.open(settings) as registry:
        model = registry.opened(name)
        assert decodes(model)
        found = calibrate(
            model,
            prefix(candidates),
            calibration_cases(),
            lambda request: route(request, catalog).weak,
            stop=stop or Stop(),
            told=told,
        )
        sha256 = cast("Any", model).digest
    save_gauge(settings.home / FOLDER, sha256, found.gauge)
    if not config.models[name].sha256:
        change(settings.home, lambda held: _pinned(held, name, sha256))
    return Calibrated(gauge=found.gauge, rates=found.rates, cases=found.cases, sha256=sha256)


def _pinned(config: ModelsConfig, name: str, sha256: str) -> ModelsConfig:
    return with_model(config, msgspec.structs.replace(config.models[name], sha256=sha256), (), first=False)
