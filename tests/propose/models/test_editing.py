"""`models.toml` as commands write it: what is written is read again as it was; one change at a time."""

from __future__ import annotations

import stat
import string
import tomllib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.propose.models.config import ConfigFault, ModelConfig, ModelsConfig, Price, models_from, read_models
from metnos.propose.models.editing import change, with_model, without_model, written

HOME = Path("/home/of/somebody")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
KEY = st.text(string.ascii_letters + " .\"'\\é\n\x7f", min_size=1, max_size=8)
LEAF = st.one_of(
    TEXT, st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.dates(), st.times(),
    st.datetimes(timezones=st.just(UTC)),
)  # fmt: skip
VALUE = st.recursive(LEAF, lambda one: st.lists(one, max_size=3) | st.dictionaries(KEY, one, max_size=3), max_leaves=8)


@given(
    st.dictionaries(KEY, VALUE, max_size=4), st.text(string.ascii_lowercase + "0123456789.-_", min_size=1, max_size=9)
)
def test_what_is_written_is_read_as_it_was(options: dict[str, Any], tail: str) -> None:
    name = f"m{tail}"
    big = ModelConfig(
        name=name, adapter="openai", url="https://h/v1", model='a "b" \\ é', key_env="K", idle_s=3.5, deadline_s=7.0,
        price=Price(input=0.25, cached=0.1, output=1e-3, currency="EUR"), options=options, context=512,
    )  # fmt: skip
    inside = ModelConfig(name="in", adapter="llama", file=HOME / "models/x.gguf", threads=2, sha256="a" * 64)
    outside = ModelConfig(name="out", adapter="scripted", file=Path("/else/where.json"))
    config = ModelsConfig(
        models={name: big, "in": inside, "out": outside}, roles={"middle": (name, "in"), "frontier": ("out",)}
    )
    text = written(config, HOME)
    assert models_from(tomllib.loads(text), HOME) == config
    assert "models/x.gguf" in text
    assert str(HOME) not in text


def one(name: str, home: Path) -> ModelConfig:
    return ModelConfig(name=name, adapter="scripted", file=home / f"{name}.json")


def test_a_file_is_its_owners_and_replaced_whole(tmp_path: Path) -> None:
    home = tmp_path / "home"
    change(home, lambda config: with_model(config, one("a", home), ["middle"], first=True))
    path = home / "models.toml"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    with pytest.raises(ConfigFault):  # what would not be read again is not written
        change(home, lambda config: with_model(config, one("B!", home), [], first=True))
    assert path.read_bytes() == before
    assert [each.name for each in home.iterdir()] == ["models.toml"]


def test_the_order_of_a_role(tmp_path: Path) -> None:
    config = ModelsConfig()
    config = with_model(config, one("a", tmp_path), ["middle", "fast"], first=True)
    config = with_model(config, one("b", tmp_path), ["middle"], first=True)
    config = with_model(config, one("c", tmp_path), ["middle"], first=False)
    assert config.roles == {"middle": ("b", "a", "c"), "fast": ("a",)}
    config = with_model(config, one("c", tmp_path), ["middle"], first=True)
    assert config.roles["middle"] == ("c", "b", "a")
    config = without_model(config, "a")
    assert config.roles == {"middle": ("c", "b")}
    assert list(config.models) == ["b", "c"]


def test_changes_at_once_are_all_kept(tmp_path: Path) -> None:
    names = [f"m{number}" for number in range(12)]

    def add(name: str) -> None:
        change(tmp_path, lambda config: with_model(config, one(name, tmp_path), ["middle"], first=False))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(add, names))
    config = read_models(tmp_path)
    assert sorted(config.models) == sorted(names)
    assert sorted(config.roles["middle"]) == sorted(names)


def test_what_does_not_hold_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text("[models.x]\nadapter = 'odd'\n")
    with pytest.raises(ConfigFault):
        change(tmp_path, lambda config: config)
    assert (tmp_path / "models.toml").read_text() == "[models.x]\nadapter = 'odd'\n"
