"""What a model is shown: tools as text, as tool schemas, as a plan schema; the plan language in a page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

import pytest

from metnos import Candidates, Consumes, Engine, Produces, Proposal, executor
from metnos.contracts.schemas import validator_for
from metnos.plan.notation import parse_lines
from metnos.propose.guide import EXAMPLE, GUIDE
from metnos.propose.reply import fenced
from metnos.propose.signatures import shortened

if TYPE_CHECKING:
    from metnos.contracts.catalog import Catalog


@pytest.fixture(scope="module")
def shipped() -> Catalog:
    with Engine.open(memory=True) as engine:
        return engine.catalog


class Room(TypedDict):
    name: str
    seats: NotRequired[int]


class Rooms(TypedDict):
    entries: list[Room]


@executor(
    version="1.0.0",
    effect="read",
    description="Lists rooms.",
    descriptions={"it": "Elenca le sale."},
    produces=Produces(kind="room"),
)
def list_rooms(floor: int, order: Literal["name", "seats"] = "name", near: str | None = None) -> Rooms:
    return {"entries": []}


@executor(version="1.0.0", effect="create", consumes=Consumes(into="rooms", kinds=("room",)), targets=("rooms",))
def book_rooms(rooms: list[Room], note="x"):  # type: ignore[no-untyped-def]
    return {}


CANDIDATES = Candidates([book_rooms.contract, list_rooms.contract])
SHOWN = """\
book_rooms(rooms: [{name: string, seats?: integer}] (from <N), note?: any = "x") -> any  [create]
list_rooms(floor: integer, order?: "name" | "seats" = "name", near?: string | null = null) \
-> {entries: [{name: string, seats?: integer}]}
  Lists rooms."""


def test_tools_as_text() -> None:
    assert CANDIDATES.as_text() == SHOWN
    assert CANDIDATES.as_text("it") == SHOWN.replace("Lists rooms.", "Elenca le sale.")
    assert CANDIDATES.as_prompt() == f"{GUIDE}\nTools:\n{SHOWN}\n"
    assert CANDIDATES.only({"list_rooms"}).names == ("list_rooms",)


def test_a_schema_that_refers_to_itself_is_cut() -> None:
    tree = {"$ref": "#/$defs/t", "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}}
    assert shortened(tree) == "[[[[[any]]]]]"
    assert shortened({"type": ["string", "null"]}) == "string | null"
    assert shortened({"const": "a"}) == '"a"'
    assert shortened({"enum": list(range(99))}).endswith(" | 23 | ...")
    assert shortened({"type": "string", "format": "date-time"}) == "string (date-time)"
    assert shortened({"properties": {"a": True}}) == "{a?: any}"


def test_tools_as_schemas() -> None:
    first, second = CANDIDATES.as_openai_tools("it")
    assert first["function"]["name"] == "book_rooms"
    assert second == {
        "type": "function",
        "function": {
            "name": "list_rooms",
            "description": "Elenca le sale.",
            "parameters": list_rooms.contract.args,
        },
    }


GOOD: dict[str, Any] = {
    "steps": [
        {"tool": "list_rooms", "args": {"floor": "${INPUT:floor}"}},
        {"tool": "book_rooms", "args": {"from_step": 1}},
        {"tool": "final_answer", "args": {}},
    ]
}


def test_the_plan_schema_takes_these_tools_and_their_arguments_only() -> None:
    faults = validator_for(CANDIDATES.plan_schema())
    assert faults(GOOD) == []
    for wrong in (
        {"tool": "list_roms", "args": {"floor": 1}},
        {"tool": "list_rooms", "args": {"flor": 1}},
        {"tool": "book_rooms", "args": {"floor": 1}},
    ):
        assert faults({"steps": [wrong, GOOD["steps"][-1]]}), wrong
    json.dumps(CANDIDATES.plan_schema())
    assert validator_for(Candidates().plan_schema())({"steps": [GOOD["steps"][-1]]}) == []


def test_the_whole_shipped_catalog_can_be_shown(shipped: Catalog) -> None:
    candidates = Candidates(shipped.contracts().values())
    assert len(candidates) > 20
    text = candidates.as_text("it")
    for contract in candidates:
        assert f"\n{contract.name}(" in f"\n{text}"
        assert contract.descriptions["it"] in text
    assert "any = null" not in text
    assert candidates.as_prompt() == Candidates(candidates).as_prompt()


def test_the_guide_teaches_what_the_reader_reads() -> None:
    assert parse_lines(EXAMPLE).ok
    assert EXAMPLE in GUIDE
    for word in ("each ${step1.entries}", "if 1", "unless 1", "continue"):
        assert word.partition(" ")[0] in GUIDE
        assert parse_lines(f"1 a\n2 b x=1 {word}\nend").ok, word
    for end in ('end text="a"', 'end data={"name": "${step1}"}', "end", 'ask question="a"'):
        assert end.partition("=")[0] in GUIDE
        assert parse_lines(f"1 a\n{end}").ok, end


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("end", []),
        ("```\na\n```", ["a"]),
        ("x\n   ```python\na\n\nb\n  ```  \ny", ["a\n\nb"]),
        ("````\n```\na\n```\n````", ["```\na\n```"]),
        ("~~~\n```\n~~~\n```\nb", ["```", "b"]),
        ("```\na\u2028b\n```", ["a\u2028b"]),
        ("    ```\na", []),
        ("```\n```", [""]),
    ],
)
def test_fenced_blocks(text: str, blocks: list[str]) -> None:
    assert fenced(text) == blocks


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        ({"model": None}, TypeError),
        ({"tokens_in": 1.5}, TypeError),
        ({"tokens_out": True}, TypeError),
        ({"calls": -1}, ValueError),
        ({"tokens_in": 2**53}, ValueError),
    ],
)
def test_a_cost_that_is_none_raises_where_it_is_written(wrong: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=next(iter(wrong))):
        Proposal({}, **wrong)
