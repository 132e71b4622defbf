"""Models by role: opened once, asked in order, what a failed try cost is told; two registries share nothing."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from metnos.propose.models.config import ModelsConfig, read_models
from metnos.propose.models.ports import FAULTS, Completion, Message, ModelFault, Stop, Usage
from metnos.propose.models.registry import Registry, decodes
from metnos.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path

ASKED = [Message("system", "be brief"), Message("user", "two words")]


def home_with(home: Path, answers: dict[str, list[Any]], roles: str, price: str = "") -> Path:
    lines: list[str] = []
    for name, said in answers.items():
        (home / f"{name}.json").write_text(json.dumps(said))
        lines.append(f"[models.{name}]\nadapter = 'scripted'\nfile = '{name}.json'\n{price}\n")
    (home / "models.toml").write_text("\n".join(lines) + f"\n[roles]\n{roles}\n")
    return home


def opened(home: Path) -> Registry:
    return Registry(read_models(home), home)


def fault(code: str) -> dict[str, str]:
    return {"fault": code, "message": f"it was {code}"}


def ask(registry: Registry, role: Any = "middle", stop: Stop | None = None) -> Any:
    return registry.role(role).complete(ASKED, most_tokens=9, stop=stop or Stop())


def test_the_first_answers_and_says_who_it_is(tmp_path: Path) -> None:
    home = home_with(tmp_path, {"a": ["yes indeed"], "b": ["no"]}, "middle = ['a', 'b']", "price = { output = 5e5 }")
    with opened(home) as registry:
        role = registry.role("middle")
        assert (role.name, role.names) == ("middle", ("a", "b"))
        said = ask(registry)
    assert (said.text, said.by, said.tried) == ("yes indeed", "a", ())
    assert said.usage == Usage(calls=1, tokens_in=4, tokens_out=2, cost=1.0)


@pytest.mark.parametrize("code", [code for code, next_one in FAULTS.items() if next_one])
def test_the_next_is_asked_where_another_might_answer(tmp_path: Path, code: str) -> None:
    with opened(home_with(tmp_path, {"a": [fault(code)], "b": ["fine"]}, "middle = ['a', 'b']")) as registry:
        said = ask(registry)
    assert (said.text, said.by) == ("fine", "b")
    assert [(one.model, one.code) for one in said.tried] == [("a", code)]


@pytest.mark.parametrize("code", [code for code, next_one in FAULTS.items() if not next_one])
def test_nobody_else_is_asked_where_the_call_is_over(tmp_path: Path, code: str) -> None:
    with opened(home_with(tmp_path, {"a": [fault(code)], "b": ["fine"]}, "middle = ['a', 'b']")) as registry:
        with pytest.raises(ModelFault) as caught:
            ask(registry)
        assert caught.value.code == code
        assert registry.model("b").complete(ASKED, most_tokens=9, stop=Stop()).text == "fine"


def test_what_failed_tries_cost_is_part_of_what_it_cost(tmp_path: Path) -> None:
    home = home_with(tmp_path, {"a": ["one"], "b": ["two words"], "c": ["fine"]}, "middle = ['a', 'b', 'c']")
    with opened(home) as registry:

        def refuse(model: Any, config: Any, limits: Stop) -> str:
            said = model.complete(ASKED, most_tokens=9, stop=limits)
            if config.name != "c":
                raise ModelFault("model-reply", f"not {said.text}", usage=said.usage)
            return said.text

        done = registry.role("middle").attempt(refuse, stop=Stop())
    assert (done.value, done.by, done.wasted) == ("fine", "c", Usage(calls=2, tokens_in=8, tokens_out=3))
    assert [one.message for one in done.tried] == ["not one", "not two words"]


def test_where_all_fail_each_is_named_and_counted(tmp_path: Path) -> None:
    home = home_with(tmp_path, {"a": [fault("model-limited")], "b": ["x"]}, "middle = ['a', 'b']")
    with opened(home) as registry:

        def work(model: Any, config: Any, limits: Stop) -> str:
            said = model.complete(ASKED, most_tokens=9, stop=limits)
            raise ModelFault("model-reply", "unreadable", "hint of b", said.usage)

        with pytest.raises(ModelFault) as caught:
            registry.role("middle").attempt(work, stop=Stop())
    fault_ = caught.value
    assert (fault_.code, fault_.hint, fault_.usage.calls) == ("model-reply", "hint of b", 1)
    assert fault_.message == "a: it was model-limited; b: unreadable"


def test_a_cancelled_call_asks_nobody(tmp_path: Path) -> None:
    with opened(home_with(tmp_path, {"a": ["x"]}, "middle = ['a']")) as registry:
        stop = Stop()
        stop.cancel()
        with pytest.raises(ModelFault) as caught:
            ask(registry, stop=stop)
        assert caught.value.code == "model-cancelled"
        assert ask(registry).text == "x"


def test_limits_of_a_model_are_within_those_of_the_call(tmp_path: Path) -> None:
    home = home_with(tmp_path, {"a": ["x"], "b": ["y"]}, "middle = ['a', 'b']", "idle_s = 7\ndeadline_s = 0.001")
    seen: list[tuple[float | None, float]] = []

    def work(_model: Any, _config: Any, limits: Stop) -> str:
        assert limits.deadline is not None
        seen.append((limits.idle_s, limits.left_s or 0.0))
        while True:
            limits.look()

    with opened(home) as registry:
        with pytest.raises(ModelFault) as caught:
            registry.role("middle").attempt(work, stop=Stop(deadline_s=60))
        assert caught.value.code == "model-slow"
        assert [idle for idle, _ in seen] == [7.0, 7.0]  # the second was asked: the call itself had time left
        with pytest.raises(ModelFault) as caught:
            registry.role("middle").attempt(work, stop=Stop(deadline_s=0.0005, idle_s=3))
    assert caught.value.code == "model-deadline"


def test_a_limit_is_cancelled_with_its_call() -> None:
    outer = Stop(deadline_s=1000)
    inner = outer.within(deadline_s=None, idle_s=5)
    assert (inner.deadline, inner.idle_s) == (outer.deadline, 5)
    outer.cancel()
    with pytest.raises(ModelFault, match="cancelled"):
        inner.look()
    assert inner.cancelled


def test_a_role_without_models(tmp_path: Path) -> None:
    with Registry(ModelsConfig(), tmp_path) as registry:
        assert not registry.has("middle")
        for role, hint in (("middle", "metnos model pull"), ("frontier", "--role frontier"), ("best", "frontier")):
            with pytest.raises(ModelFault) as caught:
                registry.role(role)  # type: ignore[arg-type]
            assert caught.value.code == "model-missing"
            assert hint in caught.value.hint


def test_a_model_that_is_not_there_is_a_fault_of_the_call_and_found_later(tmp_path: Path) -> None:
    home = home_with(tmp_path, {"a": ["x"], "b": ["y"]}, "middle = ['a', 'b']")
    (home / "a.json").rename(home / "kept.json")
    with opened(home) as registry:
        said = ask(registry)
        assert (said.by, said.tried[0].code) == ("b", "model-missing")
        (home / "kept.json").rename(home / "a.json")
        assert ask(registry).by == "a"
        with pytest.raises(ModelFault, match="no model is called 'z'"):
            registry.model("z")


@pytest.mark.parametrize("text", ["{", "3", "[3]", '[{"fault": "odd", "message": ""}]', '[{"fault": "model-reply"}]'])
def test_answers_that_are_none(tmp_path: Path, text: str) -> None:
    home = home_with(tmp_path, {"a": []}, "middle = ['a']")
    (home / "a.json").write_text(text)
    with opened(home) as registry, pytest.raises(ModelFault) as caught:
        ask(registry)
    assert (caught.value.code, "JSON list" in caught.value.hint) == ("model-missing", True)


def test_a_missing_package_is_named_with_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models.toml").write_text("[models.q]\nadapter='llama'\nfile='q.gguf'\n[roles]\nmiddle=['q']\n")

    def missing(*_: Any, **__: Any) -> None:
        raise ModuleNotFoundError(name="llama_cpp")

    monkeypatch.setattr("metnos.propose.models.llama.open_model", missing)
    with opened(tmp_path) as registry, pytest.raises(ModelFault) as caught:
        ask(registry)
    assert caught.value.hint == "pip install 'metnos[llama]'"
    assert "llama_cpp" in caught.value.message


def test_one_instance_whichever_threads_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    class Slow:
        name = "a"
        closed = 0

        def complete(self, *_: Any, **__: Any) -> Completion:
            return Completion(text="x", usage=Usage(calls=1), model="a")

        def close(self) -> None:
            self.closed += 1

    together = threading.Barrier(8)

    def make(_registry: Any, config: Any) -> Any:
        made.append(config.name)
        return Slow()

    monkeypatch.setitem(Registry.open_one.__globals__["_ADAPTERS"], "scripted", make)
    home = home_with(tmp_path, {"a": []}, "middle = ['a']")
    registry, other = opened(home), opened(home)

    def call(_: int) -> str:
        together.wait()
        return ask(registry).text

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(call, range(8))) == ["x"] * 8
    assert made == ["a"]
    assert other.opened("a") is not registry.opened("a")
    first, second = registry.opened("a"), other.opened("a")
    registry.close()
    registry.close()
    assert (first.closed, second.closed) == (1, 0)  # type: ignore[attr-defined]
    with pytest.raises(RuntimeError, match="closed"):
        ask(registry)
    assert ask(other).text == "x"
    other.close()


def test_by_settings_and_what_decodes(tmp_path: Path) -> None:
    home = home_with(tmp_path, {"a": ["x"]}, "fast = ['a']")
    with Registry.open(load_settings(home=home, variables={})) as registry:
        assert registry.has("creative")
        assert not registry.has("frontier")
        assert not decodes(registry.opened("a"))
        assert not decodes(registry.role("fast"))
        registry.role("fast").close()
        assert ask(registry, "wise").by == "a"
