"""`models.toml`: what is read, what is refused and where, what is never quoted, which role asks whom."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from metnos.propose.models.config import ADAPTERS, BESIDE, COMMON, ConfigFault, Price, models_from, read_models
from metnos.propose.models.ports import ROLES

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = """
[models.qwen]
adapter = "llama"
file = "models/q.gguf"
sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
threads = 2
context = 2048

[models.big]
adapter = "openai"
url = "https://models.example/v1"
model = "big-1"
key_env = "BIG_KEY"
idle_s = 30
deadline_s = 90.5
price = { input = 0.5, cached = 0.05, output = 1.5, currency = "EUR" }
options = { seed = 1 }

[models.tape]
adapter = "recorded"
file = "/elsewhere/tape.jsonl"
of = "big"

[roles]
middle = ["qwen", "big"]
frontier = ["big"]
"""


def read(home: Path, text: str) -> Any:
    (home / "models.toml").write_text(text)
    return read_models(home)


def places(home: Path, text: str) -> dict[str, str]:
    with pytest.raises(ConfigFault) as caught:
        read(home, text)
    assert all(one.code == "bad-models" and one.found for one in caught.value.diagnostics)
    return {one.where: one.found for one in caught.value.diagnostics}


def test_no_file_configures_nothing(tmp_path: Path) -> None:
    assert read_models(tmp_path).models == {}


def test_all_that_can_be_said(tmp_path: Path) -> None:
    config = read(tmp_path, WHOLE)
    qwen, big, tape = config.models["qwen"], config.models["big"], config.models["tape"]
    assert (qwen.file, qwen.threads, qwen.context, qwen.idle_s) == (tmp_path / "models/q.gguf", 2, 2048, 120.0)
    assert (big.url, big.key_env, big.idle_s, big.deadline_s) == ("https://models.example/v1", "BIG_KEY", 30.0, 90.5)
    assert (big.price.currency, big.options) == ("EUR", {"seed": 1})
    assert (str(tape.file), tape.of) == ("/elsewhere/tape.jsonl", "big")
    assert config.roles == {"middle": ("qwen", "big"), "frontier": ("big",)}


def test_a_role_uses_those_beside_it_and_never_frontier(tmp_path: Path) -> None:
    config = read(tmp_path, WHOLE)
    for role in ("fast", "middle", "wise", "creative"):
        assert config.of_role(role) == ("qwen", "big"), role
    only = read(tmp_path, WHOLE.replace('middle = ["qwen", "big"]', ""))
    assert [role for role in ROLES if only.of_role(role)] == ["frontier"]
    without = read(tmp_path, WHOLE.replace('frontier = ["big"]', 'fast = ["big"]'))
    assert without.of_role("frontier") == ()
    assert without.of_role("fast") == ("big",)
    assert without.of_role("wise") == ("qwen", "big")
    assert set(BESIDE) == set(ROLES)
    assert all("frontier" not in beside for beside in BESIDE.values())


def test_the_price_of_tokens() -> None:
    price = Price(input=1.0, output=4.0, cached=0.25)
    assert price.of(1_000_000, 400_000, 500_000) == pytest.approx(0.6 + 0.1 + 2.0)
    assert Price(input=1.0).of(1_000_000, 400_000, 0) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("models = 3", "/models"),
        ("roles = 3", "/roles"),
        ("[model.x]\nadapter='llama'", "/model"),
        ("[models]\nx = 3", "/models/x"),
        ("[models.X]\nadapter='llama'\nfile='f'", "/models/X"),
        ("[models.'../x']\nadapter='llama'\nfile='f'", "/models/../x"),
        ("[models.x]\nfile='f'", "/models/x/adapter"),
        ("[models.x]\nadapter='gpt'", "/models/x/adapter"),
        ("[models.x]\nadapter=['llama']\nfile='f'", "/models/x/adapter"),
        ("[models.x]\nadapter='llama'", "/models/x/file"),
        ("[models.x]\nadapter='openai'\nmodel='m'", "/models/x/url"),
        ("[models.x]\nadapter='openai'\nurl='http://localhost'", "/models/x/model"),
        ("[models.x]\nadapter='llama'\nfile='f'\nurl='http://localhost'", "/models/x/url"),
        ("[models.x]\nadapter='llama'\nfile='f'\nsha256='AB'", "/models/x/sha256"),
        ("[models.x]\nadapter='llama'\nfile='f'\nthreads=true", "/models/x/threads"),
        ("[models.x]\nadapter='llama'\nfile='f'\ncontext=12", "/models/x/context"),
        ("[models.x]\nadapter='llama'\nfile='f'\nidle_s=0", "/models/x/idle_s"),
        ("[models.x]\nadapter='llama'\nfile='f'\nidle_s=nan", "/models/x/idle_s"),
        ("[models.x]\nadapter='llama'\nfile='f'\ndeadline_s=1e9", "/models/x/deadline_s"),
        ("[models.x]\nadapter='llama'\nfile='f'\nprice={input=-1}", "/models/x/price"),
        ("[models.x]\nadapter='llama'\nfile='f'\nprice={rate=1}", "/models/x/price"),
        ("[models.x]\nadapter='llama'\nfile='f'\nprice={currency='euros'}", "/models/x/price"),
        ("[models.x]\nadapter='llama'\nfile='f'\noptions=[]", "/models/x/options"),
        ("[models.x]\nadapter='llama'\nfile=\"a\\nb\"", "/models/x/file"),
        ("[models.x]\nadapter='openai'\nmodel='m'\nurl='ftp://h/v1'", "/models/x/url"),
        ("[models.x]\nadapter='openai'\nmodel='m'\nurl='http://u:p@h/v1'", "/models/x/url"),
        ("[models.x]\nadapter='openai'\nmodel='m'\nurl='http://h:x/v1'", "/models/x/url"),
        ("[models.x]\nadapter='openai'\nmodel='m'\nurl='http://[h/v1'", "/models/x/url"),
        ("[models.x]\nadapter='openai'\nmodel='m'\nurl='https://h'\nkey_env='A B'", "/models/x/key_env"),
        ("[models.x]\nadapter='recorded'\nfile='f'\nof='y'", "/models/x/of"),
        ("[models.x]\nadapter='recorded'\nfile='f'\nof='x'", "/models/x/of"),
        ("[roles]\nmidle=[]", "/roles/midle"),
        ("[roles]\nmiddle='x'", "/roles/middle"),
        ("[roles]\nmiddle=[3]", "/roles/middle"),
        ("[roles]\nmiddle=['x']", "/roles/middle/0"),
        ("[models.x]\nadapter='llama'\nfile='f'\n[roles]\nfast=['x','x']", "/roles/fast/1"),
    ],
)
def test_what_does_not_hold_is_named_by_its_place(tmp_path: Path, text: str, where: str) -> None:
    assert list(places(tmp_path, text)) == [where]


def test_all_faults_in_one_pass(tmp_path: Path) -> None:
    found = places(tmp_path, "[models.x]\nadapter='llama'\nfile=''\nidle_s=-1\n[roles]\nfast=['y']\nslow=[]")
    assert list(found) == ["/models/x/file", "/models/x/idle_s", "/roles/fast/0", "/roles/slow"]


@pytest.mark.parametrize(
    "line", ["key = 'hunter2'", "api_key = 'hunter2'", "token='hunter2'", "key_env = 'hunter2 '", "url='hunter2'"]
)
def test_a_key_in_the_file_is_refused_and_never_quoted(tmp_path: Path, line: str) -> None:
    (tmp_path / "models.toml").write_text(f"[models.x]\nadapter='openai'\nmodel='m'\n{line}\n")
    with pytest.raises(ConfigFault) as caught:
        read_models(tmp_path)
    fault = caught.value
    assert "hunter2" not in f"{fault} {fault.message} {fault.hint} {fault.where} {fault.diagnostics}"
    assert fault.code == "bad-models"


@pytest.mark.parametrize(
    ("url", "more", "good"),
    [
        ("http://models.example/v1", "", False),
        ("http://10.0.0.7/v1", "", False),
        ("http://localhost.example/v1", "", False),
        ("http://models.example/v1", "key_over_http = true", True),
        ("http://127.0.0.1:8080/v1", "", True),
        ("http://[::1]:8080/v1", "", True),
        ("http://localhost/v1", "", True),
        ("https://models.example/v1", "", True),
    ],
)
def test_a_key_goes_by_tls_or_not_away_from_here(tmp_path: Path, url: str, more: str, good: bool) -> None:
    text = f"[models.x]\nadapter='openai'\nmodel='m'\nkey_env='K'\nurl='{url}'\n{more}\n"
    if good:
        assert read(tmp_path, text).models["x"].url == url
    else:
        assert list(places(tmp_path, text)) == ["/models/x/url"]


@pytest.mark.parametrize(
    "data",
    [b"\xff", b"[models", b"a = 1\na = 2", b"x = " + b"[" * 9000, b"#" * 40_000],
    ids=["bytes", "syntax", "twice", "deep", "large"],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "models.toml").write_bytes(data)
    with pytest.raises(ConfigFault) as caught:
        read_models(tmp_path)
    assert caught.value.where == str(tmp_path / "models.toml")


def test_a_pipe_in_its_place_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "models.toml")
    with pytest.raises(ConfigFault, match="plain file"):
        read_models(tmp_path)


def test_every_field_of_the_table_is_one_that_is_read(tmp_path: Path) -> None:
    good = {
        "file": "f", "sha256": "0" * 64, "threads": 1, "url": "https://h/v1", "model": "m", "key_env": "K",
        "key_over_http": True, "of": "other", "context": 512, "idle_s": 1, "deadline_s": 2, "price": {}, "options": {},
    }  # fmt: skip
    other = {"adapter": "scripted", "file": "g"}
    for adapter, takes in ADAPTERS.items():
        fields = {key: good[key] for key in (*takes.needs, *takes.may, *COMMON[1:])}
        config = models_from({"models": {"x": {"adapter": adapter, **fields}, "other": other}}, tmp_path)
        assert config.models["x"].adapter == adapter
        for key in takes.needs:
            rest = {name: value for name, value in fields.items() if name != key}
            with pytest.raises(ConfigFault, match="nothing"):
                models_from({"models": {"x": {"adapter": adapter, **rest}, "other": other}}, tmp_path)
