"""NESTFUL: requests with a gold plan of nested calls, and no observations.

    NAME-data.json: [{"input": …, "output": [{"name", "arguments", "label"}, …]}]     NAME-spec.json: its tools

| of the form | becomes |
|---|---|
| `input` | the request |
| `output` | one plan with references (`gold.py`); a turn in mode `plan`: checked, never run |
| `NAME-spec.json` | contracts; a tool that cannot be read is counted |
| a plan that the specification refuses | a turn that ends `plan_rejected`, with the place: the data set has defective plans |
| what cannot even be spelled as a plan | a fault with its place in the record |

Two specifications of one folder that call different tools by one name make one contract that takes either.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from metnos.contracts.foreign import OUTPUTS
from metnos.evaluate.importing.gold import convert, gold_pointer
from metnos.evaluate.importing.model import Notes, ReadFault, Recorded, Written
from metnos.evaluate.importing.reading import each, files, rows, text_of
from metnos.plan.jsondata import is_list, is_object

DATA, SPEC = "-data.json", "-spec.json"


def read(source: Path, notes: Notes) -> Iterator[Recorded]:
    """The plans of a file or folder, each file with its specification beside it."""
    for path in files(source, (DATA,)):
        name = path.name.removesuffix(DATA)
        spec = path.with_name(name + SPEC)
        fields: set[str] = set()
        if spec.is_file():
            for described in tools_in(spec, notes):
                notes.describe(described)
                fields |= fields_of(described)
        else:
            notes.drop("specification that is not there: nothing is known of the tools")
        yield from each(rows(path, notes), notes, partial(_run, name, fields))


def _run(name: str, fields: set[str], record: dict[str, Any], where: str) -> Recorded:
    request = text_of(record, "input", where)
    made = convert(record, fields)
    if made.faults:
        first = made.faults[0]
        place = gold_pointer(first.where, made.plan)
        raise ReadFault(f"{where}{place}", first.found, first.expected, code=first.code)
    index = where.rpartition("/")[2].rpartition(":")[2]
    return Recorded(
        key=f"{name}-{index}",
        request=request,
        moments=(Written(plan=made.plan),),
        end="ended",
        labels={"group": f"{name}/{record.get('sample_id', index)}", "gold": True},
    )


def tools_in(spec: Path, notes: Notes) -> Iterator[dict[str, Any]]:
    """The tools of a specification; each may be wrapped as `{"function": …}`, or its name be its key."""
    for value, _ in rows(spec, notes):
        if not is_object(value):
            notes.drop("description of a tool that cannot be read")
        elif isinstance(value.get("name"), str) or is_object(value.get("function")):
            yield value
        else:
            yield from ({"name": name, **told} for name, told in value.items() if is_object(told))


def fields_of(described: dict[str, Any]) -> set[str]:
    """Names of everything that a tool gives back: a path with a dot in a name is told by them only."""
    inner = described.get("function")
    table = inner if is_object(inner) else described
    found: set[str] = set()
    for word in OUTPUTS:
        _names(table.get(word), found)
    return found


def _names(value: Any, found: set[str]) -> None:
    if is_object(value):
        found |= value.keys()
        for held in value.values():
            _names(held, found)
    elif is_list(value):
        for held in value:
            _names(held, found)
