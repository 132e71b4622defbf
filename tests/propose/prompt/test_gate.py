"""The gate: set on cases that differ, judged on cases that were left out, and bound to one model and one prompt."""

from __future__ import annotations

import math
import random
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from metnos.contracts.catalog import Catalog
from metnos.contracts.manifest import read_manifest
from metnos.contracts.model import Contract
from metnos.propose.doubt import DOUBT
from metnos.propose.model import PlanRequest
from metnos.propose.models.config import ModelConfig
from metnos.propose.models.ports import Stop
from metnos.propose.prompt import gate
from metnos.propose.prompt.examples import shipped
from metnos.propose.prompt.gauge import ABOVE, BAND, DEFAULT, Case, Gauge, best_of, left_out, rates, set_on

MANIFESTS = Path(__file__).parents[3] / "manifests"
MODEL = "a" * 64


def drawn(apart: float, count: int = 40, seed: int = 3) -> list[Case]:
    """Margins around `apart` above and below 0, with a spread of 1."""
    rng = random.Random(seed)
    return [Case(rng.gauss(sign * apart, 1.0), False, sign > 0) for sign in (1, -1) for _ in range(count)]


def test_what_is_far_apart_is_told_apart() -> None:
    cases = drawn(4.0)
    found = set_on(cases)
    assert rates(found, cases).refused == 1.0
    assert rates(found, cases).false == 0.0
    assert -2 < found.least < 2


def test_what_can_be_done_is_spared_where_they_overlap() -> None:
    cases = drawn(0.7)
    found = rates(set_on(cases), cases)
    assert found.false <= 0.05
    assert 0.05 < found.refused < 0.9
    assert left_out(cases).false <= 0.1


def test_the_weak_signal_counts_as_far_as_it_tells() -> None:
    rng = random.Random(1)
    told = [Case(rng.gauss(0.3 if possible else -0.3, 1.0), not possible, possible) for possible in (True, False) * 40]
    nothing = [case._replace(weak=rng.random() < 0.5) for case in told]
    assert set_on(told).weak > 1.0
    assert rates(set_on(told), told).refused > 0.9 > rates(set_on(nothing), nothing).refused


def test_a_gauge_needs_both_kinds() -> None:
    with pytest.raises(ValueError, match="cannot"):
        set_on([case for case in drawn(1.0) if case.possible])


def test_the_same_cases_give_the_same_gauge() -> None:
    assert set_on(drawn(1.0)) == set_on(drawn(1.0))


def test_calibration_requests_are_no_examples_and_are_balanced() -> None:
    cases = gate.calibration_cases()
    texts = {case.text for case in cases}
    assert len(texts) == len(cases) >= 60
    assert abs(sum(case.possible for case in cases) * 2 - len(cases)) <= 2
    assert abs(sum(case.language == "it" for case in cases) * 2 - len(cases)) <= 2
    shown = {text for one in (*shipped().worked, *shipped().impossible) for text in (one.en, one.it)}
    assert not texts & shown


def test_the_shipped_gauges_are_of_this_prompt() -> None:
    """After a change of examples or constitution: calibrate anew, `benchmarks/gate.py`."""
    assert gate.shipped_prompt() == gate.prompt_digest()


def test_gauges_are_kept_and_read(tmp_path: Path) -> None:
    gate.save_gauge(tmp_path, MODEL, Gauge(least=-1.25, weak=0.5))
    gate.save_gauge(tmp_path, "b" * 64, Gauge(least=2.0, weak=0.0))
    assert gate.read_gauges(tmp_path) == {
        MODEL: Gauge(least=-1.25, weak=0.5),
        "b" * 64: Gauge(least=2.0, weak=0.0),
    }


@pytest.mark.parametrize("text", ["", "prompt = 3", "nonsense [", 'prompt = "old"\n[gauges.x]\nleast = 1.0', "\xff"])
def test_gauges_that_do_not_hold_are_none(tmp_path: Path, text: str) -> None:
    (tmp_path / gate.GAUGES_FILE).write_text(text, encoding="latin-1")
    assert gate.read_gauges(tmp_path) == {}


class Says:
    """A session whose yes is so much likelier than its no."""

    def __init__(self, margin: float = 0.0, by_request: dict[str, float] | None = None) -> None:
        self.margin = margin
        self.by_request = by_request or {}
        self.rewound = 0

    def choose(self, texts: Sequence[str]) -> tuple[float, ...]:
        if "other" in texts:
            return tuple(-self.margin if text == "other" else 0.0 for text in texts)
        assert tuple(texts) == ("yes", "no")
        return (-1.0, -1.0 - self.margin)

    def mark(self) -> int:
        return 7

    def rewind(self, mark: int) -> None:
        assert mark == 7
        self.rewound += 1

    def ask(self, text: str) -> None:
        self.margin = self.by_request[text]

    def session(self, prefix: Any, *, stop: Stop) -> Says:
        return self

    def close(self) -> None: ...


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    contracts = [read_manifest(path.read_bytes()) for path in sorted(MANIFESTS.glob("*.toml"))]
    return Catalog().with_contracts([contract for contract in contracts if isinstance(contract, Contract)])


def test_a_request_passes_as_its_model_was_calibrated(catalog: Catalog, tmp_path: Path) -> None:
    gate.save_gauge(tmp_path, MODEL, Gauge(least=-2.0, weak=1.0))
    judge = gate.Gate(catalog, tmp_path)
    known = ModelConfig(name="m", adapter="llama", sha256=MODEL)
    other = ModelConfig(name="m", adapter="llama", sha256="c" * 64)
    clear, weak = (PlanRequest(text=text, language="en") for text in ("list the files", "turn on the lights"))
    assert judge(Says(-1.9), clear, known) >= 0
    assert judge(Says(-2.1), clear, known) < 0
    assert judge(Says(-1.9), weak, known) < 0
    assert judge(Says(-0.9), weak, known) >= 0
    assert judge.gauge(other.sha256) == DEFAULT
    assert judge(Says(-1.9), clear, other) < 0


def test_calibrating_asks_each_case_twice() -> None:
    cases = [gate.Asked("en", f"{word} {number}", word == "do") for word in ("do", "not") for number in range(20)]
    model = Says(by_request={case.text: 2.0 if case.possible else -2.0 for case in cases})
    found = gate.calibrate(model, (), cases, lambda _: False, stop=Stop())  # pyright: ignore[reportArgumentType]
    assert model.rewound == 2 * found.cases == 80
    assert (found.rates.refused, found.rates.false) == (1.0, 0.0)
    assert found.gauge.admits(Case(2.0, False, True))
    assert not found.gauge.admits(Case(-2.0, False, False))
    assert found.gauge.other == -2.0 + ABOVE


def test_what_is_written_is_toml() -> None:
    held = tomllib.loads(gate.written({MODEL: Gauge(least=-0.5, weak=1.0, doubt=2.5)}))
    kept = {"least": -0.5, "weak": 1.0, "doubt": 2.5}
    assert held == {"prompt": gate.prompt_digest(), "gauges": {MODEL: kept}}


def test_a_calibration_keeps_from_when_on_its_plans_are_doubted(tmp_path: Path) -> None:
    gate.save_gauge(tmp_path, MODEL, Gauge(least=-0.5, weak=1.0, doubt=2.5))
    held = gate.read_gauges(tmp_path)[MODEL]
    assert held.doubt == DOUBT  # nothing was known of this model
    (tmp_path / gate.GAUGES_FILE).write_text(gate.written({MODEL: Gauge(doubt=2.5)}))
    gate.save_gauge(tmp_path, MODEL, Gauge(least=-0.7, weak=1.0))
    assert gate.read_gauges(tmp_path)[MODEL] == Gauge(least=-0.7, weak=1.0, doubt=2.5)


@pytest.mark.parametrize(
    ("other", "lead"),
    [
        (-math.inf, math.inf),
        (0.5 - BAND - 0.01, BAND + 0.01),
        (0.5 - BAND, None),  # from here on yes or no decides
        (0.49, None),
        (0.5, -math.inf),
        (9.0, -math.inf),
        (None, None),
    ],
)
def test_what_was_read_decides_where_it_leaves_no_doubt(other: float | None, lead: float | None) -> None:
    read = Gauge(other=0.5).read(other)
    assert read == (None if lead is None else pytest.approx(lead))
    assert Gauge().read(other) is None
    assert Gauge(least=0.0, other=0.5).admits(Case(-9.0, False, True, other)) is (lead is not None and lead > 0)


def test_a_gate_asks_for_yes_only_where_the_reading_decides_nothing(catalog: Catalog, tmp_path: Path) -> None:
    gate.save_gauge(tmp_path, MODEL, Gauge(least=0.0, weak=0.0, other=0.5))
    judge = gate.Gate(catalog, tmp_path)
    config = ModelConfig(name="m", adapter="llama", sha256=MODEL)
    asked = PlanRequest(text="list the files", language="en")

    class Untouched(Says):
        def choose(self, texts: Sequence[str]) -> tuple[float, ...]:
            raise AssertionError(texts)

    assert judge(Untouched(), asked, config, 0.6) == -math.inf
    assert judge(Untouched(), asked, config, -4.0) == pytest.approx(4.5)
    assert judge(Says(3.0), asked, config, 0.0) == pytest.approx(3.0)
    assert judge(Says(-3.0), asked, config, None) == pytest.approx(-3.0)
    assert "other = 0.5" in (tmp_path / gate.GAUGES_FILE).read_text()


@pytest.mark.parametrize(("apart", "counts"), [(4.0, True), (0.0, False)])
def test_a_reading_counts_where_it_tells_more_apart(apart: float, counts: bool) -> None:
    rng = random.Random(3)
    cases = [case._replace(other=rng.gauss(-apart if case.possible else apart, 1.0)) for case in drawn(1.0)]
    gauge, found = best_of(cases)
    assert (gauge.other is not None) is counts
    assert found == left_out(cases if counts else [case._replace(other=None) for case in cases])
