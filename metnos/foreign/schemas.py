"""Schemas of others, made self-contained: local references written out where the loosening reads them.

Law: pure. It follows `#/…` in the same document and nothing else, never round in a circle, and never to more than
`MOST_NODES` places; where it stops it leaves a schema that says nothing.
"""

from __future__ import annotations

from typing import Any

from metnos.contracts.schemas import check_schema
from metnos.foreign.tables import is_list, is_table

MOST_NODES = 20_000
MOST_DEPTH = 24


class TooLarge(Exception):
    """Written out, the schema has more than `MOST_NODES` places."""


def written_out(schema: Any, document: Any) -> Any:
    """`schema` with every `{"$ref": "#/…"}` replaced by what it refers to in `document`.

    Raises:
        TooLarge: See there.
    """
    return _Writer(document).write(schema, (), 0)


def faults_of(schema: dict[str, Any]) -> str:
    """Why a schema cannot be held against a value; empty: it can."""
    faults = check_schema(schema, strict=False)
    return f"{faults[0].code} at {faults[0].where or '/'}: {faults[0].found}" if faults else ""


def look_up(document: Any, reference: str) -> Any:
    """What a JSON pointer in a fragment (`#/a/b`) means in `document`; None if it leads nowhere."""
    if not reference.startswith("#"):
        return None
    place: Any = document
    for token in reference[1:].split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if is_table(place) and key in place:
            place = place[key]
        elif is_list(place) and key.isdecimal() and int(key) < len(place):
            place = place[int(key)]
        else:
            return None
    return place


def of_2020(schema: Any) -> Any:
    """A schema of OpenAPI 3.0 in the words of JSON Schema 2020-12: `nullable`, and limits that were flags."""
    if is_list(schema):
        return [of_2020(each) for each in schema]
    if not is_table(schema):
        return schema
    held: dict[str, Any] = schema
    made = {word: of_2020(value) for word, value in held.items() if word not in ("nullable", "properties")}
    fields = held.get("properties")
    if is_table(fields):
        table: dict[str, Any] = fields
        made["properties"] = {name: of_2020(each) for name, each in table.items()}
    for flag, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(made.get(flag), bool) and made.pop(flag) and limit in made:
            made[flag] = made.pop(limit)
    kind = made.get("type")
    if held.get("nullable") is True and isinstance(kind, str):
        made["type"] = [kind, "null"]
        if is_list(made.get("enum")):
            made["enum"] = [*made["enum"], None]
    return made


class _Writer:
    def __init__(self, document: Any) -> None:
        self._document = document
        self._nodes = 0

    def write(self, held: Any, open_references: tuple[str, ...], depth: int) -> Any:
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise TooLarge
        if depth > MOST_DEPTH:
            return {}
        if is_list(held):
            return [self.write(each, open_references, depth + 1) for each in held]
        if not is_table(held):
            return held
        reference: Any = held.get("$ref")
        if isinstance(reference, str):
            found = None if reference in open_references else look_up(self._document, reference)
            return self.write(found, (*open_references, reference), depth + 1) if is_table(found) else {}
        table: dict[str, Any] = held
        return {key: self.write(value, open_references, depth + 1) for key, value in table.items() if key != "$defs"}
