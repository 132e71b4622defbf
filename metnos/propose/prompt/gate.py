"""The gate: before a plan, the model's own yes or no to the request, weighed as it was calibrated for that model.

Law: a small model that writes freely never says no, or always does; what separates is how much likelier its yes is, and
better still how much likelier "none of these" is than anything that can be done, where it is asked what a request wants
(`propose.acts`). A gauge is of one model (SHA-256 of its file) and one prompt; gauges come with the package, and an installation keeps its
own beside its models. What a gate refuses ends the turn with a clear message; what it lets through is checked as any plan.
"""

from __future__ import annotations

import hashlib
import tomllib
from contextlib import closing
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import msgspec

from metnos import drafts, plainfile
from metnos.propose import acts
from metnos.propose.prompt.blocks import CONSTITUTION, NO, YES
from metnos.propose.prompt.gauge import DEFAULT, Case, Gauge, Rates, best_of
from metnos.propose.routing import route
from metnos.request.understand import understand

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from metnos.contracts.catalog import Catalog
    from metnos.propose.model import PlanRequest
    from metnos.propose.models.config import ModelConfig
    from metnos.propose.models.ports import DecodingModel, Message, Session, Stop
    from metnos.request.model import Request

GAUGES_FILE: Final = "gauges.toml"
_MOST_BYTES: Final = 64 * 1024


class Asked(msgspec.Struct, frozen=True):
    """A request to calibrate on."""

    language: str
    text: str
    possible: bool


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    gauge: Gauge
    rates: Rates
    cases: int


class _File(msgspec.Struct, frozen=True, kw_only=True):
    prompt: str = ""
    gauges: dict[str, Gauge] = {}


class Gate:
    """Whether a model thinks that the tools can do what is asked; see `metnos.propose.planner.Gate`."""

    def __init__(self, catalog: Catalog, folder: Path | None = None) -> None:
        """Prepare; the installation's own gauges are read when one is first wanted.

        Args:
            catalog: Whose tools there are.
            folder: Of the installation's own gauges; None: only those of the package.
        """
        self._catalog = catalog
        self._folder = folder
        self._gauges: Mapping[str, Gauge] | None = None

    def __call__(
        self, session: Session, request: PlanRequest, config: ModelConfig, other: float | None = None, /
    ) -> float:
        """Go by what was read in the request; where that decides nothing, weigh the first word of the answer.

        The session stays as it is: the request asked, the answer open.

        Returns:
            Nats by which the request passes; below 0: it does not.
        """
        read = self.gauge(config.sha256).read(other)
        if read is not None:
            return read
        understood = request.understood or understand(request.text, request.language)
        return self.gauge(config.sha256).lead(margin(session), weak=route(understood, self._catalog).weak)

    def gauge(self, model: str) -> Gauge:
        """Of a model by the SHA-256 of its file."""
        if self._gauges is None:
            self._gauges = {**_shipped().gauges, **(read_gauges(self._folder) if self._folder else {})}
        return self._gauges.get(model, DEFAULT)

    def doubt(self, config: ModelConfig, /) -> float:
        """From which surprise on (nats) a plan of this model is shown first."""
        return self.gauge(config.sha256).doubt


def margin(session: Session) -> float:
    """Nats by which yes is likelier than no as the first word of the answer."""
    yes, no = session.choose((YES, NO))
    return yes - no


def calibrate(
    model: DecodingModel,
    prefix: Sequence[Message],
    cases: Collection[Asked],
    weak: Callable[[Request], bool],
    *,
    stop: Stop,
    told: Callable[[int, int], None] = lambda _done, _all: None,
) -> Calibration:
    """Set the gauge of `model` behind `prefix`.

    Args:
        model: Asked twice for each case: whether it can be done, and what it asks for.
        prefix: As the planner's prompt has it.
        cases: At least a dozen of both kinds, none of them in the prefix.
        weak: Whether routing finds little for a request.
        stop: When to end early.
        told: Called with how many questions are answered, and how many there are.

    Raises:
        ModelFault: What the model or `stop` says.
        ValueError: Too few cases.
    """
    margins: list[float] = []
    found: list[Case] = []
    all_told = 2 * len(cases)
    with closing(model.session(prefix, stop=stop)) as session:
        mark = session.mark()
        for case in cases:
            told(len(margins), all_told)
            session.rewind(mark)
            session.ask(case.text)
            margins.append(margin(session))
    with closing(model.session(acts.prefix(), stop=stop)) as session:
        mark = session.mark()
        for case, said in zip(cases, margins, strict=True):
            told(len(cases) + len(found), all_told)
            session.rewind(mark)
            session.ask(case.text)
            other = acts.left_to_others(session)
            found.append(Case(said, weak(understand(case.text, case.language)), case.possible, other))
        told(all_told, all_told)
    gauge, rates = best_of(found)
    return Calibration(gauge=gauge, rates=rates, cases=len(found))


def calibration_cases() -> tuple[Asked, ...]:
    """Those of the package: half of them cannot be done, half of them are Italian."""
    held = tomllib.loads(_data("calibration.toml"))
    return tuple(
        Asked(language, text, kind == "possible")
        for kind in ("possible", "impossible")
        for language, text in held[kind]
    )


def prompt_digest() -> str:
    """SHA-256 over what a gauge depends on beside model and catalog."""
    digest = hashlib.sha256(CONSTITUTION["en"].encode())
    digest.update(_data("examples.toml").encode())
    digest.update(acts.wording_digest().encode())
    return digest.hexdigest()


def read_gauges(folder: Path) -> dict[str, Gauge]:
    """The installation's own, of this prompt; none where there is no such file, or none that holds."""
    try:
        held = _parsed(plainfile.read(folder / GAUGES_FILE, _MOST_BYTES).decode())
    except (OSError, ValueError):
        return {}
    return held.gauges if held.prompt == prompt_digest() else {}


def save_gauge(folder: Path, model: str, gauge: Gauge) -> None:
    """Keep the gauge of a model (SHA-256 of its file) beside the others of this prompt.

    Raises:
        OSError: The folder cannot be written.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / GAUGES_FILE
    own = read_gauges(folder)
    known = own.get(model) or _shipped().gauges.get(model)
    gauge = msgspec.structs.replace(gauge, doubt=(known or DEFAULT).doubt)  # a calibration does not measure it
    text = written({**own, model: gauge})
    with drafts.drafted_beside(path) as (draft, _handle):
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)


def written(gauges: Mapping[str, Gauge]) -> str:
    """As the file holds them."""
    lines = [f'prompt = "{prompt_digest()}"']
    for model, gauge in sorted(gauges.items()):
        lines += ["", f'[gauges."{model}"]', f"least = {gauge.least}", f"weak = {gauge.weak}", f"doubt = {gauge.doubt}"]
        lines += [] if gauge.other is None else [f"other = {gauge.other}"]
    return "\n".join(lines) + "\n"


@cache
def _shipped() -> _File:
    return _parsed(_data(GAUGES_FILE))


def shipped_prompt() -> str:
    """The digest of the prompt that the package's gauges were set with."""
    return _shipped().prompt


def _parsed(text: str) -> _File:
    held: dict[str, Any] = tomllib.loads(text)
    return msgspec.convert(held, _File)


def _data(name: str) -> str:
    return (files("metnos.propose.prompt") / name).read_text(encoding="utf-8")
