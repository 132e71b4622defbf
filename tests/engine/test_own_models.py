"""The models of a home as the proposer of an engine: opened late, stopped early, counted, and learned from."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from metnos import Declined, Engine, Proposal
from metnos.drivers import own
from metnos.propose.models.ports import ModelFault, Stop, Usage
from metnos.settings import SettingsFault
from tests.support.hosted import plan, step

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.engine.conftest import Opens

SAYING = "please fold the laundry"
GOOD = plan(step("add_one", n=1), data="${step1.n}")
TOML = """
[models.small]
adapter = "scripted"
file = "answers.json"
[models.large]
adapter = "scripted"
file = "answers.json"
[roles]
middle = ["small"]
"""


@pytest.fixture
def configured(home: Path) -> Path:
    home.mkdir()
    (home / "models.toml").write_text(TOML)
    return home


class Plans:
    """Stands for the planner of this house."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.stops: list[Stop] = []
        self.threads: list[threading.Thread] = []
        self.models: Any = None

    def __call__(self, request: Any, candidates: Any, *, stop: Stop) -> Any:
        self.stops.append(stop)
        self.threads.append(threading.current_thread())
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer(request, stop) if callable(answer) else answer


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Plans]:
    def make(*answers: Any) -> Plans:
        made = Plans(*answers)

        def planner(models: Any, _catalog: Any, **_more: Any) -> Plans:
            made.models = models
            return made

        monkeypatch.setattr(own, "open_planner", planner)
        return made

    return make


@pytest.mark.usefixtures("configured")
def test_a_home_with_models_plans_with_them(opens: Opens, plans: Any) -> None:
    used = plans(Proposal(GOOD, model="small", tokens_in=30, tokens_out=7))
    engine = opens()
    result = engine.run_sync(SAYING)
    assert (result.outcome, result.data, result.source, result.model) == ("success", 2, "model", "small")
    assert result.usage == {"planning_calls": 1, "tokens_in": 30, "tokens_out": 7}
    assert result.planning_s >= 0
    assert used.stops[0].left_s is not None
    assert engine.run_sync(SAYING).usage == {"planning_calls": 0}
    assert len(used.stops) == 1


@pytest.mark.usefixtures("configured")
def test_a_host_s_own_proposer_goes_first_and_false_means_none(opens: Opens, plans: Any) -> None:
    used = plans(GOOD)
    assert opens(memory=True, proposer=lambda _request, _candidates: GOOD).run_sync(SAYING).ok
    assert opens(memory=True, model=False).run_sync(SAYING).code == "no-model"
    assert used.stops == []


def test_without_models_nobody_is_asked(opens: Opens, plans: Any) -> None:
    plans()
    result = opens(memory=True).run_sync(SAYING)
    assert (result.outcome, result.code) == ("not_understood", "no-model")


@pytest.mark.usefixtures("configured")
def test_a_model_by_name_plays_every_role(opens: Opens, plans: Any) -> None:
    used = plans(GOOD)
    opens(memory=True, model="large").run_sync(SAYING)
    assert used.models.role("middle").names == used.models.role("fast").names == ("large",)
    with pytest.raises(SettingsFault, match="no model is called 'other'") as caught:
        opens(model="other")
    assert "small, large" in caught.value.hint


def test_a_configuration_that_does_not_hold_is_told_where_it_is_needed(
    opens: Opens, plans: Any, configured: Path
) -> None:
    plans()
    (configured / "models.toml").write_text("[models.small]\nadapter = 3\n")
    engine = opens()
    assert engine.run_sync("how many files are here").ok
    result = engine.run_sync(SAYING)
    assert (result.outcome, result.code) == ("not_understood", "bad-settings")
    assert "adapter" in result.answer


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize(
    ("code", "outcome"),
    [("model-unreachable", "not_understood"), ("model-stalled", "error"), ("model-length", "error")],
)
def test_what_a_model_failed_of_has_its_code_and_its_cost(opens: Opens, plans: Any, code: str, outcome: str) -> None:
    plans(ModelFault(code, "small: it is away", "start it", Usage(calls=2, tokens_in=9, tokens_out=1)))
    engine = opens()
    result = engine.run_sync(SAYING)
    assert (result.outcome, result.code) == (outcome, code)
    assert result.usage == {"planning_calls": 2, "tokens_in": 9, "tokens_out": 1}
    assert "it is away" in result.answer
    assert engine.read_turn(result.turn).usage == result.usage


@pytest.mark.usefixtures("configured")
def test_a_refusal_of_the_planner_is_one(opens: Opens, plans: Any) -> None:
    plans(Declined(about="laundry", model="small"))
    assert opens(memory=True).run_sync(SAYING).code == "out-of-scope"


@pytest.mark.usefixtures("configured")
def test_settings_bound_a_call(opens: Opens, plans: Any, configured: Path) -> None:
    (configured / "settings.toml").write_text("planning_s = 2.5\nplanning_idle_s = 1\n")
    used = plans(GOOD)
    opens(memory=True).run_sync(SAYING)
    (stop,) = used.stops
    assert stop.left_s is not None
    assert stop.left_s <= 2.5
    assert stop.idle_s == 1


@pytest.mark.parametrize("line", ["planning_s = 0", "planning_s = -1", "planning_idle_s = 0", "planning_s = inf"])
def test_a_time_that_is_none_is_refused(opens: Opens, home: Path, line: str) -> None:
    home.mkdir()
    (home / "settings.toml").write_text(f"{line}\n")
    with pytest.raises(SettingsFault, match="no time to wait"):
        opens()


def until_stopped(entered: threading.Event) -> Any:
    """As a model decodes: a look between two tokens."""

    def decode(_request: Any, stop: Stop) -> Any:
        entered.set()
        while True:
            stop.look()
            time.sleep(0.001)

    return decode


@pytest.mark.usefixtures("configured")
def test_cancelling_the_turn_stops_the_decoding(opens: Opens, plans: Any) -> None:
    entered = threading.Event()
    used = plans(until_stopped(entered))
    engine = opens()

    async def main() -> None:
        running = asyncio.ensure_future(engine.run(SAYING))
        while not entered.is_set():
            await asyncio.sleep(0.005)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(main())
    assert engine.turns(1)[0].outcome == "cancelled"
    assert used.stops[0].cancelled
    assert used.threads[0] is not threading.main_thread()


@pytest.mark.usefixtures("configured")
def test_a_turn_that_is_stopped_from_another_thread_ends_cancelled(opens: Opens, plans: Any) -> None:
    entered = threading.Event()
    plans(until_stopped(entered))
    engine = opens()

    def stop() -> None:
        entered.wait(20)
        for turn in list(engine.parts.interrupts._turns):
            turn.ask_cancel()

    stopper = threading.Thread(target=stop)
    stopper.start()
    result = engine.run_sync(SAYING)
    stopper.join()
    assert result.outcome == "cancelled"
    assert engine.replay(result.turn).status == "identical"


@pytest.mark.usefixtures("configured")
def test_the_deadline_ends_it_too(opens: Opens, plans: Any, configured: Path) -> None:
    (configured / "settings.toml").write_text("planning_s = 0.05\n")
    plans(until_stopped(threading.Event()))
    assert opens(memory=True).run_sync(SAYING).code == "model-deadline"


def test_a_known_plan_loads_nothing_of_a_model(configured: Path, folder: Path) -> None:
    code = (
        "import sys; from metnos import Engine\n"
        f"with Engine.open({str(configured)!r}, folder={str(folder)!r}) as engine:\n"
        "    assert engine.run_sync('how many files are here').ok\n"
        "found = [n for n in sys.modules if n.startswith(('numpy', 'llguidance', 'llama_cpp', 'openai', 'bm25s'))\n"
        "         or n.startswith(('metnos.propose.models', 'metnos.propose.planner', 'metnos.drivers.own.'))]\n"
        "assert not found, found\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("configured")
def test_a_closed_engine_opens_no_model(opens: Opens, plans: Any) -> None:
    engine: Engine = opens()
    engine.close()
    with pytest.raises(RuntimeError, match="closed"):
        _ = engine.parts.models
    plans()
