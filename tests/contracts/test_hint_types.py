"""Hints beyond plain JSON: keys, times, ids, defaults; and what else than a `def` may be registered."""

from __future__ import annotations

import asyncio
import functools
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, TypedDict
from uuid import UUID

import msgspec
import pytest

from metnos import Engine, executor
from metnos.contracts.hints import schema_of
from metnos.contracts.schemas import validator_for
from tests.support.hosted import plan, step


def read(**declared: Any) -> Any:
    return executor(version="1.0.0", effect="read", resources=(), **declared)


NO_TEXT_KEYS: list[Any] = [
    dict[int, str],
    dict[datetime, str],
    list[dict[int, str]],
    dict[str, dict[bool, int]],
    dict[int, str] | None,
    tuple[dict[float, str], int],
    Annotated[dict[int, str], msgspec.Meta(description="x")],
    TypedDict("Inside", {"a": dict[int, str]}),
    dict[Literal[1], str],
]


@pytest.mark.parametrize("hint", NO_TEXT_KEYS, ids=map(str, range(len(NO_TEXT_KEYS))))
def test_an_object_has_text_keys(hint: Any) -> None:
    def takes(x): ...  # type: ignore[no-untyped-def]
    def gives(): ...  # type: ignore[no-untyped-def]

    takes.__annotations__["x"] = hint
    gives.__annotations__["return"] = hint
    for function in (takes, gives):
        with pytest.raises(TypeError, match=r"text keys.*write dict\[str"):
            read()(function)


def test_text_keys_of_every_kind_may_be() -> None:
    for hint in (dict[str, int], dict[Any, int], dict[Literal["a"], int], dict, dict[Annotated[str, "x"], int]):
        assert schema_of(hint)["type"] == "object"


@dataclass
class Meeting:
    at: datetime
    others: list[Meeting]


class Row(TypedDict):
    day: date


class Pair(NamedTuple):
    a: time
    b: int


GOOD_TIMES = ["2026-11-30T12:00:00Z", "2026-11-30T12:00:00", "2026-11-30 12:00:00.25+01:00"]
BAD_TIMES = ["tomorrow", "2026-13-01T00:00:00Z", "2026-11-30", "2026-11-30T25:00:00Z", "", " 2026-11-30T12:00:00Z"]
TIMES: dict[str, tuple[Any, Any]] = {
    "plain": (datetime, lambda text: text),
    "optional": (datetime | None, lambda text: text),
    "list": (list[datetime], lambda text: [text]),
    "object": (dict[str, datetime], lambda text: {"a": text}),
    "pair": (tuple[int, datetime], lambda text: [1, text]),
    "union of lists": (list[datetime] | None, lambda text: [text]),
    "dataclass": (Meeting, lambda text: {"at": text, "others": []}),
    "nested": (Meeting | None, lambda text: {"at": GOOD_TIMES[0], "others": [{"at": text, "others": []}]}),
    "annotated": (Annotated[datetime, msgspec.Meta(tz=True)], lambda text: text),
}


@pytest.mark.parametrize(("hint", "wrap"), TIMES.values(), ids=TIMES)
def test_a_time_is_checked_wherever_it_stands(hint: Any, wrap: Any) -> None:
    faults = validator_for(schema_of(hint))
    for good in GOOD_TIMES:
        assert faults(wrap(good)) == [], good
    for bad in BAD_TIMES:
        assert faults(wrap(bad)), bad


@pytest.mark.parametrize(
    ("hint", "good", "bad"),
    [
        (date, "2026-11-30", "2026-11-30T00:00:00Z"),
        (time, "12:00:00", "noon"),
        (UUID, "12345678-1234-1234-1234-123456789abc", "1234"),
        (Decimal, "-1.50e3", "one"),
        (Row, {"day": "2026-11-30"}, {"day": "x"}),
        (Pair, ["12:00:00", 1], ["x", 1]),
        (set[date] | None, ["2026-11-30"], ["x"]),
        (date | int, 5, "x"),
    ],
)
def test_other_texts_are_checked_too(hint: Any, good: Any, bad: Any) -> None:
    faults = validator_for(schema_of(hint))
    assert faults(good) == []
    assert msgspec.convert(good, hint) is not None
    assert faults(bad)


@pytest.mark.parametrize("year", [1, 4, 100, 400, 1900, 1999, 2000, 2024, 2026, 2100, 9999])
def test_every_day_that_there_is_and_no_other(year: int) -> None:
    accepts = validator_for(schema_of(date)).is_valid
    for month in range(14):
        for day in range(33):
            text = f"{year:04}-{month:02}-{day:02}"
            try:
                there_is = bool(date.fromisoformat(text))
            except ValueError:
                there_is = False
            assert accepts(text) is there_is, text
    assert not accepts("0000-01-01")


def test_a_wrong_time_is_told_before_step_one() -> None:
    ran: list[str] = []

    @read()
    def note(text: str) -> Noted:
        ran.append(text)
        return {"text": text}

    @read()
    def weekday(when: datetime) -> dict[str, int]:
        return {"day": when.isoweekday()}

    assert weekday.contract.args["properties"]["when"]["format"] == "date-time"
    with Engine.open(memory=True, shipped=False, executors=[note, weekday]) as engine:
        for when in ("tomorrow", "2026-02-30T12:00:00Z"):
            wrong = engine.run_sync(plan=plan(step("note", text="a"), step("weekday", when=when)))
            assert (wrong.outcome, ran) == ("plan_rejected", [])
            assert wrong.diagnostics[0].where == "/steps/1/args/when"
        good = plan(step("weekday", when="2026-11-30T12:00:00Z"), data="${step1.day ?? 0}")
        assert engine.run_sync(plan=good).data == 1
        later = plan(step("note", text="x"), step("weekday", when="${step1.text}"))
        result = engine.run_sync(plan=later)
        assert (result.outcome, [one.status for one in result.steps]) == ("partial", ["done", "failed"])
        given = plan(step("weekday", when="${RUNTIME:now}"), data="${step1.day ?? 0}")
        assert engine.run_sync(plan=given).ok


@pytest.mark.parametrize("default", [2**53, -(2**60), float("nan"), float("inf"), "\ud800"])
def test_a_default_that_json_cannot_say_is_refused(default: Any) -> None:
    def tool(x: Any = default) -> None: ...

    with pytest.raises(ValueError, match="default of `x`"):
        read()(tool)


# --- what may be registered --------------------------------------------------------------------------------------------


class Noted(TypedDict):
    text: str


class Shop:
    """Holds what its methods work on."""

    def __init__(self, stock: int) -> None:
        self.stock = stock

    def left(self, sold: int = 0) -> dict[str, int]:
        """How many are left."""
        return {"left": self.stock - sold}

    @classmethod
    def kind(cls, plural: bool = False) -> dict[str, str]:
        return {"kind": cls.__name__ + "s" * plural}

    @staticmethod
    def price(each: float) -> dict[str, float]:
        return {"price": each}

    async def __call__(self, sold: int) -> dict[str, int]:
        """Sells."""
        self.stock -= sold
        return {"left": self.stock}


def scale(value: float, factor: float, key: str = "secret") -> dict[str, Any]:
    """Scales."""
    return {"value": value * factor, "key": key}


def test_bound_methods_are_executors() -> None:
    shop = Shop(5)
    left, kind, price = read()(shop.left), read()(Shop.kind), read()(Shop.price)
    assert (left.contract.name, left.contract.descriptions) == ("left", {"en": "How many are left."})
    assert list(left.contract.args["properties"]) == ["sold"]
    assert left.call({"sold": 2}, None) == {"left": 3}
    assert list(kind.contract.args["properties"]) == ["plural"]
    assert price.call({"each": 2.0}, None) == {"price": 2.0}
    with pytest.raises(TypeError, match=r"thing\.method"):
        read()(Shop.left)


def test_what_a_partial_has_bound_is_no_argument() -> None:
    bound = read()(functools.partial(functools.partial(scale, key="k-123"), factor=2.0))
    assert (bound.contract.name, bound.contract.descriptions) == ("scale", {"en": "Scales."})
    assert list(bound.contract.args["properties"]) == ["value"]
    assert "k-123" not in str(bound.contract)
    assert bound.call({"value": 2.0}, None) == {"value": 4.0, "key": "k-123"}
    first = read(name="double")(functools.partial(scale, 2.0))
    assert list(first.contract.args["properties"]) == ["factor", "key"]
    assert first.call({"factor": 3.0}, None)["value"] == 6.0


def test_an_object_that_can_be_called_needs_a_name() -> None:
    shop = Shop(5)
    with pytest.raises(TypeError, match="give name="):
        read()(shop)
    sell = read(name="sell")(shop)
    assert sell.is_async
    assert sell.contract.descriptions == {"en": "Sells."}
    assert asyncio.run(sell.call({"sold": 1}, None)) == {"left": 4}
    for nothing in (5, Shop, None, dict):
        with pytest.raises(TypeError, match="not on"):
            read(name="x")(nothing)


def test_all_of_them_run_in_a_plan() -> None:
    shop = Shop(9)
    tools = [read()(shop.left), read(name="sell")(shop), read(name="double")(functools.partial(scale, factor=2.0))]
    given = plan(
        step("sell", sold=2), step("left", sold="${step1.left ?? 0}"), step("double", value=1.5), data="${step2}"
    )
    with Engine.open(memory=True, shipped=False, executors=tools) as engine:
        assert engine.run_sync(plan=given).data == {"left": 0}
        assert asyncio.run(engine.run(plan=plan(step("double", value=1.5), data="${step1.value ?? 0}"))).data == 3.0
