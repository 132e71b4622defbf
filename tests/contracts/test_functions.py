"""Functions as executors: the contract from the hints, the call from JSON and back."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

import msgspec
import pytest

from metnos.contracts.functions import executor
from metnos.contracts.hints import is_plain
from metnos.contracts.model import Consumes, EffectRule, Produces
from metnos.contracts.schemas import validator_for
from metnos.sdk import Result

if TYPE_CHECKING:
    from metnos.sdk import Context


class Row(TypedDict):
    name: str
    size: NotRequired[int]


@dataclass
class Point:
    x: int
    y: float = 0.5


class Place(msgspec.Struct):
    city: str
    at: Point


def read(**declared: Any) -> Any:
    return executor(version="1.0.0", effect="read", **declared)


def test_the_contract_comes_from_the_hints() -> None:
    @executor(name="get_rate", version="1.2.0", effect="read", description="A rate.", descriptions={"it": "Un cambio."})
    def rate(
        base: str, quote: str = "EUR", digits: int | None = None, *, mode: Literal["bid", "ask"] = "bid"
    ) -> dict[str, float]:
        return {quote: 1.0}

    contract = rate.contract
    assert (contract.reference, contract.origin, contract.placement) == ("get_rate@1.2.0", "host", "host")
    assert contract.effects == (EffectRule(effect="read"),)
    assert contract.descriptions == {"en": "A rate.", "it": "Un cambio."}
    assert contract.args["required"] == ["base"]
    assert contract.args["additionalProperties"] is False
    assert contract.args["properties"]["quote"] == {"type": "string", "default": "EUR"}
    valid = validator_for(contract.args)
    assert valid({"base": "USD", "digits": None, "mode": "ask"}) == []
    assert valid({"base": "USD", "mode": "mid"})
    assert valid({"base": 1})
    assert valid({"base": "USD", "qoute": "EUR"})
    assert validator_for(contract.result)({"EUR": 1.0}) == []
    assert validator_for(contract.result)({"EUR": "1"})
    assert rate.call({"base": "USD", "quote": "CHF"}, None) == {"CHF": 1.0}
    assert rate("USD") == {"EUR": 1.0}
    assert not rate.is_async


def test_undeclared_means_asked_about() -> None:
    @executor(version="1.0.0")
    def act() -> None:
        """Do something.

        More about it.
        """

    assert act.contract.effects == (EffectRule(effect="execute"),)
    assert act.contract.name == "act"
    assert act.contract.descriptions == {"en": "Do something."}
    assert "required" not in act.contract.args
    assert act.call({}, None) is None


def test_values_that_are_more_than_json_are_converted_both_ways() -> None:
    seen: list[Any] = []

    @read()
    def move(place: Place, points: list[Point], when: datetime, row: Row, note: str = "") -> list[Point]:
        seen.extend([place, points, when, row])
        return [Point(1, 2.0), *points]

    args = {
        "place": {"city": "Rome", "at": {"x": 1}},
        "points": [{"x": 2, "y": 3.0}],
        "when": "2026-11-30T12:00:00Z",
        "row": {"name": "a"},
    }
    assert validator_for(move.contract.args)(args) == []
    found = move.call(args, None)
    assert seen[0] == Place("Rome", Point(1))
    assert seen[1] == [Point(2, 3.0)]
    assert isinstance(seen[2], datetime)
    assert found == [{"x": 1, "y": 2.0}, {"x": 2, "y": 3.0}]
    assert validator_for(move.contract.result)(found) == []


def test_coroutine_functions_are_awaited() -> None:
    @read()
    async def one(number: int) -> int:
        return number + 1

    @read()
    async def two(number: int) -> Point:
        return Point(number)

    @read()
    async def three(ctx: Context) -> Result:
        return Result.done(str(ctx))

    assert one.is_async
    assert two.is_async
    assert asyncio.run(one.call({"number": 1}, None)) == 2
    assert asyncio.run(two.call({"number": 1}, None)) == {"x": 1, "y": 0.5}
    assert asyncio.run(three.call({}, "context")) == Result.done("context")
    assert asyncio.run(one(5)) == 6


def test_a_context_is_handed_over_and_is_no_argument() -> None:
    @read()
    def work(text: str, ctx: Context) -> Result:
        return Result.done({"text": text, "ctx": str(ctx)})

    assert list(work.contract.args["properties"]) == ["text"]
    assert work.contract.result == {}
    assert work.call({"text": "a"}, "c") == Result.done({"text": "a", "ctx": "c"})


def test_no_hint_is_anything() -> None:
    @read()
    def loose(value, other=None):  # type: ignore[no-untyped-def]
        return {"seen": (value, other)}

    assert loose.contract.result == {}
    assert validator_for(loose.contract.args)({"value": [1, {"a": None}]}) == []
    assert loose.call({"value": 1}, None) == {"seen": [1, None]}

    @read()
    def odd(value: Any) -> Any:
        return Result.failed("data", "odd") if value else Point(1)

    assert odd.call({"value": 1}, None) == Result.failed("data", "odd")
    assert odd.call({"value": 0}, None) == {"x": 1, "y": 0.5}


def test_dataflow_and_effects_may_be_declared() -> None:
    rules = (EffectRule(effect="change", when={"force": True}), EffectRule(effect="create"))

    @executor(
        version="1.0.0",
        effect=rules,
        consumes=Consumes(into="rows", kinds=("row",)),
        produces=Produces(kind="row", field="rows", rule="same"),
        targets=("path",),
        requires_one_of=(("rows", "path"),),
    )
    def store(path: str, rows: list[Row] = [], force: bool = False) -> dict[str, list[Row]]:  # noqa: B006
        return {"rows": rows}

    assert store.contract.effects == rules
    assert store.contract.produces == Produces(kind="row", field="rows", rule="same")
    assert store.contract.targets == ("path",)
    assert "default" not in store.contract.args["properties"]["rows"]


def test_schemas_may_be_given_instead_of_hints() -> None:
    @read(args={"type": "object", "properties": {"n": {"type": "integer"}}}, result={"type": "integer"})
    def raw(n=0):  # type: ignore[no-untyped-def]
        return n

    assert raw.contract.args["properties"] == {"n": {"type": "integer"}}
    assert raw.contract.result == {"type": "integer"}


def test_the_digest_is_over_place_version_and_schemas() -> None:
    def make(version: str, hint: Any) -> str:
        def tool(a: Any) -> None: ...

        tool.__annotations__["a"] = hint
        return executor(version=version, effect="read")(tool).contract.digest

    assert make("1.0.0", str) == make("1.0.0", str)
    assert len({make("1.0.0", str), make("1.0.1", str), make("1.0.0", int)}) == 3
    assert make("1.0.0", str).startswith("sha256:")


def test_registrations_that_cannot_be_raise_at_once() -> None:
    def fine(a: str) -> str:
        return a

    def starred(*args: str) -> None: ...
    def named(**args: str) -> None: ...
    def only(a: str, /) -> None: ...
    def odd(a: complex) -> None: ...
    def unseen(a: Unseen) -> None: ...  # type: ignore[name-defined] # noqa: F821
    def back() -> complex: ...  # type: ignore[empty-body]

    for function in (starred, named, only, odd, unseen, back):
        with pytest.raises(TypeError):
            read()(function)
    for declared in (
        {"name": "a b"},
        {"name": ""[:0] or "é"},
        {"targets": ("b",)},
        {"requires_one_of": (("a", "b"),)},
        {"consumes": Consumes(into="b", kinds=("row",))},
        {"args": {"$ref": "#"}},
        {"result": {"type": "strng"}},
    ):
        with pytest.raises(ValueError):  # noqa: PT011 - each is a sentence of its own
            read(**declared)(fine)
    for effect in (
        (),
        (EffectRule(effect="read", when={"a": 1}),),
        (EffectRule(effect="read"), EffectRule(effect="read")),
    ):
        with pytest.raises(ValueError, match="effect rules"):
            executor(version="1.0.0", effect=effect)(fine)
    with pytest.raises(ValueError, match="is no argument"):
        executor(version="1.0.0", effect=(EffectRule(effect="read", when={"b": 1}), EffectRule(effect="read")))(fine)
    with pytest.raises(ValueError, match="semantic"):
        executor(version="1")(fine)


@pytest.mark.parametrize(
    ("hint", "plain"),
    [
        (str, True),
        (list[dict[str, int | None]], True),
        (Literal["a"], True),
        (Row, True),
        (None.__class__, True),
        (Point, False),
        (list[Point], False),
        (tuple[int, int], False),
        (datetime | None, False),
        (TypedDict("Rich", {"at": datetime}), False),
    ],
)
def test_what_is_plain_is_not_converted(hint: Any, plain: bool) -> None:
    assert is_plain(hint) == plain


def test_misuse_is_told_in_words() -> None:
    with pytest.raises(TypeError, match="'version'"):
        executor(lambda: None)  # type: ignore[call-arg, arg-type]
    with pytest.raises(TypeError, match=r"@executor\(version"):
        executor(lambda: None, version="1.0.0")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not on type"):
        executor(version="1.0.0")(dict)
    with pytest.raises(TypeError, match=r"consumes is Consumes\(\.\.\.\), not dict"):
        executor(version="1.0.0", consumes={"into": "x"})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="resources holds Resource"):
        executor(version="1.0.0", resources=("x",))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'reads' is no effect class: read, create"):
        executor(version="1.0.0", effect="reads")(test_misuse_is_told_in_words)  # type: ignore[arg-type]
