"""Dataflow between a host's own tools, declared with what the package exports."""

from __future__ import annotations

from typing import TypedDict

import pytest

from metnos import Consumes, Engine, Produces, executor


class City(TypedDict):
    name: str
    people: int


class Cities(TypedDict):
    entries: list[City]


class Sum(TypedDict):
    people: int


@executor(version="1.0.0", effect="read", produces=Produces(kind="city"), resources=())
def list_cities() -> Cities:
    """Two cities."""
    return {"entries": [{"name": "a", "people": 2}, {"name": "b", "people": 3}]}


@executor(version="1.0.0", effect="read", consumes=Consumes(into="cities", kinds=("city",)), resources=())
def count_people(cities: list[City]) -> Sum:
    """All of them."""
    return {"people": sum(city["people"] for city in cities)}


def test_a_kind_of_ones_own_is_handed_on() -> None:
    plan = {
        "steps": [
            {"tool": "list_cities", "args": {}},
            {"tool": "count_people", "args": {"from_step": 1}},
            {"tool": "final_answer", "args": {"data": "${step2.people}"}},
        ]
    }
    with Engine.open(memory=True, shipped=False, executors=[list_cities, count_people]) as engine:
        assert engine.run_sync(plan=plan).data == 5


def test_a_plain_function_is_no_executor() -> None:
    with pytest.raises(TypeError, match="decorate it with @executor"):
        Engine.open(memory=True, executors=[print])  # type: ignore[list-item]
