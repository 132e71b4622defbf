"""Which columns hold numbers: whoever looks at a table before a plan is made says what its reader will say."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from metnos.drivers.headers import numbers_of
from metnos.drivers.looking import looks
from metnos.settings import load_settings

if TYPE_CHECKING:
    from types import ModuleType


@pytest.fixture(scope="module")
def learning() -> ModuleType:
    path = Path(__file__).parents[2] / "catalog/executors/read_files_csv/learning.py"
    spec = importlib.util.spec_from_file_location("reader_learning", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CELLS = [
    ["1", "2"], ["", "3"], ["", ""], ["007", "1"], ["-0", "1"], ["-1", "0"], ["1e5"], ["1.9", "1.10"], ["1.5", "2.25"],
    ["1,50"], ["1.234", "2.345"], ["1.234", "12.5"], ["1,234"], ["0.234"], ["1.234,50"], ["9007199254740991"],
    ["9007199254740992"], ["99999999999999999"], ["1234567890.123456"], ["1.5", "1,5"], ["a", "1"], [" 4 "],
]  # fmt: skip


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("cells", CELLS, ids=" ".join)
def test_a_column_holds_numbers_where_its_reader_says_so(
    learning: ModuleType, cells: list[str], delimiter: str
) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter).writerows([["who", "n"], *(["x", cell] for cell in cells)])
    rows: list[dict[str, Any]] = [{"n": cell} for cell in cells]
    learning.learn(rows, [delimiter], None)
    learnt = any(isinstance(row["n"], (int, float)) for row in rows)
    assert (numbers_of("t.csv", out.getvalue().encode(), whole=True) == {"n"}) is learnt


@pytest.mark.parametrize(
    ("values", "numbers"), [([1, 2.5], True), ([1, "2"], False), ([True], False), ([1, None], False)]
)
@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
def test_of_json_all_values_are_numbers(values: list[Any], numbers: bool, name: str) -> None:
    records = [{"who": "x", "n": value} for value in values]
    text = json.dumps(records) if name == "t.json" else "".join(f"{json.dumps(each)}\n" for each in records)
    assert numbers_of(name, text.encode(), whole=True) == ({"n"} if numbers else frozenset())


def test_only_what_is_asked_for_is_told(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who,days,hours\na,1,2\n", encoding="utf-8")
    there = looks(load_settings(home=tmp_path / "home", folder=tmp_path))
    assert there.numbers("t.csv", ["who", "days"]) == {"days"}
    assert there.numbers("none.csv", ["days"]) == frozenset()
