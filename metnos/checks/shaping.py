"""From a JSON Schema 2020-12 to a shape, once per contract.

Law: local `$ref`s only, each read once, a recursive one twice, so neither a cycle nor a bomb costs more than twice its
own text; two rounds down, of a recursive type only its JSON types are known. Words that constrain values are left to the schema itself.

    >>> compile_shape({"type": "array", "items": {"type": "string"}}).describe()
    'array of string'
"""

from __future__ import annotations

from typing import Any

from metnos.checks.shapes import (
    ANY,
    ANY_ALTERNATIVE,
    EXACT,
    KINDS,
    NEVER,
    Alternative,
    Kind,
    Shape,
    infer,
    is_list,
    is_object,
    union,
)

MAX_DEPTH = 48
_ANNOTATIONS = frozenset({"type", "title", "description", "default", "examples", "$comment", "deprecated", "unit"})
_ROOT = "root"


def compile_shape(schema: Any) -> Shape:
    """Read a schema as a shape; `True`, `{}` and whatever is no schema are `any`."""
    return _Reader(schema).read(schema, 0)


class _Reader:
    def __init__(self, root: Any) -> None:
        self.root: dict[str, Any] = root if is_object(root) else {}
        self.moved: Any = _moved(self.root) if _has_refs(self.root) else None
        """The root with its references pointing into `$defs/root`, so that a part of it can stand alone."""
        self.pointed: dict[str, Shape] = {}
        """Of a reference that is being read: its outline, its JSON types and nothing of their inside."""
        self.reading: set[str] = set()
        self.cycles: set[str] = set()

    def alone(self, schema: dict[str, Any]) -> dict[str, Any]:
        """A part of the root as a schema of its own."""
        if self.moved is None or not _has_refs(schema):
            return schema
        return {**_moved(schema), "$defs": {_ROOT: self.moved}}

    def read(self, schema: Any, depth: int) -> Shape:
        if schema is False:
            return NEVER
        if not is_object(schema) or not schema or depth > MAX_DEPTH:
            return ANY
        found = self.base(schema, depth)
        if "$ref" in schema:
            found = _meet_all(found, self.follow(schema["$ref"], depth).of)
        for part in schema.get("allOf", ()):
            found = _meet_all(found, self.read(part, depth + 1).of)
        for word in ("anyOf", "oneOf"):
            if word in schema:
                found = _meet_all(found, union([self.read(branch, depth + 1) for branch in schema[word]]).of)
        return Shape(found, self.alone(schema), _exact(schema))

    def follow(self, ref: Any, depth: int) -> Shape:
        if not isinstance(ref, str) or not ref.startswith("#"):
            return ANY
        if ref in self.pointed:
            self.cycles |= self.reading & {ref}
            return self.pointed[ref]
        schema = self.find(ref)
        self.pointed[ref] = Shape(tuple(Alternative(kind, extra=ANY) for kind in _kinds_of(schema)))
        self.reading.add(ref)
        self.pointed[ref] = self.read(schema, depth + 1)
        self.reading.discard(ref)
        if ref in self.cycles:  # once more: a cycle is known one round deeper than its outline
            self.pointed[ref] = self.read(schema, depth + 1)
        return self.pointed[ref]

    def find(self, ref: str) -> Any:
        current: Any = self.root
        for part in ref[1:].split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if not is_object(current) or name not in current:
                return {}
            current = current[name]
        return current

    def base(self, schema: dict[str, Any], depth: int) -> tuple[Alternative, ...]:
        """What the words beside `$ref`, `allOf`, `anyOf`, `oneOf` say."""
        made: list[Alternative] = []
        for kind in _kinds_of(schema):
            if kind == "object":
                made.append(self.object(schema, depth))
            elif kind == "array":
                made.append(self.array(schema, depth))
            else:
                made.append(ANY_ALTERNATIVE if kind == "any" else Alternative(kind))
        return tuple(made)

    def object(self, schema: dict[str, Any], depth: int) -> Alternative:
        properties: dict[str, Any] = schema.get("properties", {})
        rest: Any = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        closed = rest is False and "patternProperties" not in schema
        return Alternative(
            "object",
            fields={name: self.read(each, depth + 1) for name, each in properties.items()},
            required=frozenset(schema.get("required", ())),
            extra=None if closed else self.read(rest, depth + 1) if is_object(rest) else ANY,
            listed=bool(properties) or closed or bool(schema.get("required")),
            extra_declared=(rest is not None or "patternProperties" in schema) and not closed,
        )

    def array(self, schema: dict[str, Any], depth: int) -> Alternative:
        prefix = tuple(self.read(each, depth + 1) for each in schema.get("prefixItems", ()))
        items = schema.get("items")
        if schema.get("maxItems", len(prefix) + 1) <= len(prefix):
            items = False  # a tuple: nothing comes after what is listed
        return Alternative(
            "array",
            prefix=prefix,
            items=None if items is None else self.read(items, depth + 1),
            min_items=int(schema.get("minItems", 0)),
        )


def _has_refs(schema: Any) -> bool:
    if is_object(schema):
        return isinstance(schema.get("$ref"), str) or any(map(_has_refs, schema.values()))
    return is_list(schema) and any(map(_has_refs, schema))


def _moved(schema: Any) -> Any:
    if is_list(schema):
        return [_moved(each) for each in schema]
    if not is_object(schema):
        return schema
    made = {word: _moved(each) for word, each in schema.items()}
    if isinstance(ref := schema.get("$ref"), str):
        made["$ref"] = f"#/$defs/{_ROOT}{ref[1:]}"
    return made


def _kinds_of(schema: dict[str, Any]) -> tuple[Kind, ...]:
    declared = schema.get("type")
    if is_list(declared):
        return tuple(kind for kind in KINDS if kind in declared)
    if declared in KINDS:
        return (declared,)
    if "const" in schema or "enum" in schema:
        values = schema["enum"] if "enum" in schema else [schema["const"]]
        present = {each.kind for value in values for each in infer(value).of}
        return tuple(kind for kind in KINDS if kind in present)
    if "properties" in schema or "required" in schema:
        return ("object",)
    if "items" in schema or "prefixItems" in schema:
        return ("array",)
    return ("any",)


def _exact(schema: dict[str, Any]) -> frozenset[type] | None:
    if "type" not in schema or not _ANNOTATIONS.issuperset(schema):
        return None
    return frozenset(each for kind in _kinds_of(schema) for each in EXACT.get(kind, ()))


def _meet_all(left: tuple[Alternative, ...], right: tuple[Alternative, ...]) -> tuple[Alternative, ...]:
    met = (_meet(a, b) for a in left for b in right)
    return tuple(each for each in met if each is not None)


def _meet(a: Alternative, b: Alternative) -> Alternative | None:
    """What is both `a` and `b`, as far as shapes tell."""
    if a.kind == "any":
        return b
    if b.kind == "any":
        return a
    if a.kind != b.kind:
        return Alternative("integer") if {a.kind, b.kind} == {"integer", "number"} else None
    if a.kind == "object":
        return _meet_objects(a, b)
    if a.kind == "array":
        items = b.items if a.items is None else a.items
        return Alternative("array", prefix=a.prefix or b.prefix, items=items, min_items=max(a.min_items, b.min_items))
    return a


def _meet_objects(a: Alternative, b: Alternative) -> Alternative:
    fields = dict(b.fields)
    for name, shape in a.fields.items():
        other = fields.get(name)
        fields[name] = shape if other is None else Shape(_meet_all(shape.of, other.of))
    extra = None if a.extra is None or b.extra is None else (b.extra if a.extra.is_any else a.extra)
    return Alternative(
        "object",
        fields=fields,
        required=a.required | b.required,
        extra=extra,
        listed=a.listed or b.listed,
        extra_declared=extra is not None and (a.extra_declared or b.extra_declared),
    )
