"""The shape of a JSON Schema, walked once without recursion: size, keywords, references, cycles, bombs.

Law: pure, iterative, bounded before it looks; it knows the keywords of 2020-12 by table and judges no instance.
"""

from __future__ import annotations

from typing import Any, Literal, cast

from metnos.plan.diagnostics import Diagnostic

MAX_DEPTH = 32
MAX_NODES = 10_000
MAX_APPLIED = 2_000
"""How many schemas may apply to one and the same instance."""

_Shape = Literal["schema", "schemas", "map", "data"]
_KEYWORDS: dict[str, _Shape] = {
    **dict.fromkeys(("not", "if", "then", "else"), "schema"),
    **dict.fromkeys(("items", "contains", "additionalProperties", "propertyNames"), "schema"),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties", "contentSchema"), "schema"),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), "schemas"),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas", "$defs"), "map"),
    **dict.fromkeys(("type", "enum", "const", "required", "dependentRequired", "uniqueItems", "pattern"), "data"),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains"), "data"),
    **dict.fromkeys(("minProperties", "maxProperties", "minimum", "maximum", "multipleOf"), "data"),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum", "format", "contentEncoding", "contentMediaType"), "data"),
    **dict.fromkeys(("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"), "data"),
    **dict.fromkeys(("$ref", "$schema", "$comment", "unit"), "data"),
}
"""Keyword → what its value holds. `unit` is ours: the unit of a number, shown to people and models."""
_SAME_INSTANCE = frozenset({"not", "if", "then", "else", "allOf", "anyOf", "oneOf", "dependentSchemas"})
_FORBIDDEN = frozenset(
    {"$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary"}
)
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


class Walked:
    """What a walk found: faults, every subschema by pointer, and which apply to the same instance as which."""

    def __init__(self) -> None:
        self.faults: list[Diagnostic] = []
        self.same: dict[str, list[str]] = {}
        """Pointer of a subschema → pointers of those that apply to the same instance."""
        self.refs: list[tuple[str, str]] = []
        """(Pointer of the subschema that holds it, target pointer)."""

    def fault(self, code: str, where: str, found: object, expected: str, hint: str = "") -> None:
        self.faults.append(Diagnostic(code=code, where=where, found=str(found)[:200], expected=expected, hint=hint))


def walk(schema: Any, where: str, *, strict: bool) -> Walked:
    """Walk a schema; `where` is put before every place. With faults in size or JSON nothing else is looked at."""
    walked = Walked()
    _bounded(schema, where, walked)
    if not walked.faults:
        _subschemas(schema, where, walked, strict=strict)
    if not walked.faults:
        _references(where, walked)
    return walked


def _bounded(schema: Any, where: str, walked: Walked) -> None:
    """Depth, count, and nothing but JSON."""
    stack: list[tuple[Any, int]] = [(schema, 1)]
    nodes = 0
    while stack:
        value, depth = stack.pop()
        nodes += 1
        if depth > MAX_DEPTH or nodes > MAX_NODES:
            found = f"depth {depth}, {nodes} nodes"
            return walked.fault("schema-oversize", where, found, f"depth {MAX_DEPTH}, {MAX_NODES} nodes")
        if isinstance(value, (dict, list)) and len(cast("list[Any]", value)) > MAX_NODES:
            return walked.fault("schema-oversize", where, "a very long table or list", f"{MAX_NODES} nodes")
        if isinstance(value, dict):
            table = cast("dict[object, Any]", value)
            if not all(isinstance(key, str) for key in table):
                return walked.fault("schema-malformed", where, "a key that is not text", "JSON")
            stack.extend((child, depth + 1) for child in table.values())
        elif isinstance(value, list):
            stack.extend((child, depth + 1) for child in cast("list[Any]", value))
        elif value is not None and not isinstance(value, (str, int, float, bool)):
            return walked.fault("schema-malformed", where, type(value).__name__, "JSON (quote dates and times)")
        elif isinstance(value, float) and value - value != 0:
            return walked.fault("schema-malformed", where, value, "a finite number")
    return None


def _subschemas(schema: Any, where: str, walked: Walked, *, strict: bool) -> None:
    stack: list[tuple[Any, str]] = [(schema, where)]
    while stack:
        value, place = stack.pop()
        edges = walked.same.setdefault(place, [])
        if isinstance(value, bool):
            continue
        if not isinstance(value, dict):
            walked.fault("schema-malformed", place, type(value).__name__, "a schema: a table, true or false")
            continue
        for keyword, held in cast("dict[str, Any]", value).items():
            _keyword(keyword, held, place, walked, strict=strict)
            for child, child_place in _children(keyword, held, place):
                stack.append((child, child_place))
                if keyword in _SAME_INSTANCE:
                    edges.append(child_place)


def _keyword(keyword: str, held: Any, place: str, walked: Walked, *, strict: bool) -> None:
    here = f"{place}/{_escape(keyword)}"
    if keyword in _FORBIDDEN:
        walked.fault("schema-ref", here, keyword, "$ref to #/$defs/NAME")
    elif keyword == "$ref":
        if isinstance(held, str) and (held == "#" or held.startswith("#/")):
            walked.refs.append((place, held[1:]))
        else:
            walked.fault("schema-ref", here, held, "a reference inside this schema: #/$defs/NAME")
    elif keyword == "$schema" and held != _DRAFT:
        walked.fault("schema-malformed", here, held, _DRAFT)
    elif strict and keyword not in _KEYWORDS and not keyword.startswith("x-"):
        walked.fault("schema-unknown-keyword", here, keyword, "a keyword of JSON Schema 2020-12", _near(keyword))


def _near(keyword: str) -> str:
    from difflib import get_close_matches

    return next((f"did you mean {near}?" for near in get_close_matches(keyword, _KEYWORDS, n=1)), "")


def _children(keyword: str, held: Any, place: str) -> list[tuple[Any, str]]:
    shape = _KEYWORDS.get(keyword, "data")
    here = f"{place}/{_escape(keyword)}"
    if shape == "schema":
        return [(held, here)]
    if shape == "schemas" and isinstance(held, list):
        return [(child, f"{here}/{index}") for index, child in enumerate(cast("list[Any]", held))]
    if shape == "map" and isinstance(held, dict):
        return [(child, f"{here}/{_escape(name)}") for name, child in cast("dict[str, Any]", held).items()]
    return []  # data; or a wrong shape, which the meta-schema names


def _references(where: str, walked: Walked) -> None:
    """References point to subschemas that exist; then cycles, then bombs."""
    for place, target in walked.refs:
        if where + target not in walked.same:
            walked.fault("schema-ref", f"{place}/$ref", f"#{target}", "a schema that exists")
        else:
            walked.same[place].append(where + target)
    if not walked.faults:
        _applied(walked)


def _applied(walked: Walked) -> None:
    """Count, for each subschema, how many apply to one instance with it (depth first, explicit stack)."""
    cost: dict[str, int] = {}
    for start in walked.same:
        if start in cost:
            continue
        frames = [(start, iter(walked.same[start]))]
        on_path = {start}
        while frames:
            place, edges = frames[-1]
            waiting = next((edge for edge in edges if edge not in cost), None)
            if waiting is None:
                cost[place] = min(MAX_APPLIED + 1, 1 + sum(cost[edge] for edge in walked.same[place]))
                on_path.discard(place)
                frames.pop()
            elif waiting in on_path:
                expected = "a reference that goes deeper into the instance"
                return walked.fault("schema-ref-cycle", place, waiting, expected)
            else:
                frames.append((waiting, iter(walked.same[waiting])))
                on_path.add(waiting)
    worst = max(cost, key=cost.__getitem__)
    if cost[worst] > MAX_APPLIED:
        found, expected = f"more than {MAX_APPLIED} schemas", f"at most {MAX_APPLIED} on one instance"
        walked.fault("schema-ref-bomb", worst, found, expected)
    return None


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
