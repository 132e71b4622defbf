"""Catalogs and plans made up from a seed.

The plans are mostly sensible, so that many are accepted, and wild in every place where a plan can be wrong.
"""

from __future__ import annotations

import copy
from random import Random
from typing import Any

from metnos.contracts.catalog import Catalog
from metnos.contracts.model import Consumes, Contract, EffectRule, Produces

FIELDS = ("path", "name", "size", "note", "tags", "inner", "x y")
SCALAR_TYPES = ("string", "integer", "number", "boolean")
INPUTS: dict[str, dict[str, object]] = {
    "folder": {"type": "string"},
    "entries": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
            "additionalProperties": False,
        },
    },
}


# ------------------------------------------------------------------------------------------------ schemas


def scalar(rnd: Random) -> dict[str, Any]:
    made: dict[str, Any] = {"type": rnd.choice(SCALAR_TYPES)}
    if rnd.random() < 0.15:
        made["type"] = [made["type"], "null"]
    elif rnd.random() < 0.1:
        return {"anyOf": [{"type": "string"}, {"type": rnd.choice(("integer", "object", "null"))}]}
    return made


def record(rnd: Random, depth: int) -> dict[str, Any]:
    names = rnd.sample(FIELDS, rnd.randint(1, 4))
    made: dict[str, Any] = {
        "type": "object",
        "properties": {name: schema(rnd, depth - 1) for name in names},
        "required": [name for name in names if rnd.random() < 0.7],
    }
    made["additionalProperties"] = rnd.random() < 0.15
    if rnd.random() < 0.15:  # a map: names come with the data, each of one type
        made["additionalProperties"] = schema(rnd, depth - 1)
        if rnd.random() < 0.5:
            made |= {"properties": {}, "required": []}
    return made


def schema(rnd: Random, depth: int) -> dict[str, Any]:
    kind = rnd.random()
    if depth <= 0 or kind < 0.6:
        return scalar(rnd)
    if kind < 0.8:
        return record(rnd, depth)
    made: dict[str, Any] = {"type": "array", "items": schema(rnd, depth - 1)}
    if rnd.random() < 0.3:
        made["minItems"] = rnd.randint(1, 2)
    return made


ENTRY_RECORD: dict[str, Any] = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "size": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["path", "size"],
    "additionalProperties": False,
}


def contract(rnd: Random, name: str, sort: str = "") -> Contract:
    """One contract of five sorts: a source, a transform, a consumer of single entries, a foreign tool, a plain one."""
    sort = sort or rnd.choice(("source", "source", "transform", "single", "foreign", "plain"))
    if sort == "foreign":
        return foreign(rnd, name)
    args = {each: constrained(rnd) for each in rnd.sample(("a", "b", "c"), rnd.randint(1, 3))}
    required = [each for each in args if rnd.random() < 0.6]
    consumes: Consumes | None = None
    produces: Produces | None = None
    result = record(rnd, 2)
    groups: tuple[tuple[str, ...], ...] = ()
    if sort == "source":
        entry = ENTRY_RECORD if rnd.random() < 0.7 else record(rnd, 2)
        result["properties"]["entries"] = {"type": "array", "items": entry}
        if rnd.random() < 0.9:
            result["required"].append("entries")
        elif rnd.random() < 0.5:
            result["properties"]["entries"]["type"] = ["array", "null"]
        produces = Produces(kind=rnd.choice(("file", "row", "text")), field="entries")
    elif sort == "transform":
        args["entries"] = {"type": "array", "items": {"type": "object"}}
        result = {
            "type": "object",
            "required": ["entries", "count"],
            "additionalProperties": False,
            "properties": {"entries": {"type": "array", "items": {"type": "object"}}, "count": {"type": "integer"}},
        }
        consumes = Consumes(into="entries", kinds=("entry",))
        produces = Produces(kind="entry", field="entries", rule="same")
        required.append("entries")
    elif sort == "single":
        whole = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
        args["one"] = rnd.choice((whole, {"type": "object"}))
        consumes = Consumes(into="one", kinds=("file", "row") if rnd.random() < 0.5 else ("entry",), many=False)
        groups = (("one", *list(args)[:1]),)
        if rnd.random() < 0.7:
            result["properties"]["text"] = {"type": "string"}
            result["required"].append("text")
            produces = Produces(kind="text", field="text", many=False)
    return Contract(
        name=name,
        version="1",
        placement="inline",
        effects=(EffectRule(effect="read"),),
        resources=(),
        args={"type": "object", "properties": args, "required": required, "additionalProperties": False},
        result=result,
        consumes=consumes,
        produces=produces,
        requires_one_of=groups,
    )


def constrained(rnd: Random) -> dict[str, Any]:
    """A schema of an argument, at times with a constraint that only values can break."""
    if rnd.random() < 0.25:
        return rnd.choice(({"type": "integer", "minimum": 0}, {"type": "string", "maxLength": 3}, {"enum": ["x", "y"]}))
    return schema(rnd, 2)


def foreign(rnd: Random, name: str) -> Contract:
    loose: dict[str, Any] = {"type": ["string", "number", "boolean"]}
    names = rnd.sample(FIELDS, 3)
    return Contract(
        name=name,
        version="1",
        origin="foreign",
        placement="external",
        lenient=True,
        effects=(EffectRule(effect="read"),),
        args={
            "type": "object",
            "properties": {"a": loose, "b": loose},
            "required": ["a"],
            "additionalProperties": False,
        },
        result={
            "type": "object",
            "properties": {each: loose if rnd.random() < 0.7 else {"type": "array", "items": loose} for each in names},
        },
    )


def catalog(rnd: Random, size: int = 7) -> Catalog:
    sorts = ("source", "transform", "single")
    made = [contract(rnd, f"tool{number}", sorts[number] if number < 3 else "") for number in range(size)]
    return Catalog().with_contracts(made)


# ------------------------------------------------------------------------------------------------ data


def data(rnd: Random, shape: Any, *, lenient: bool = False) -> Any:
    """Arbitrary data that are valid under a schema made above."""
    if "anyOf" in shape:
        return data(rnd, rnd.choice(shape["anyOf"]))
    if "enum" in shape:
        return rnd.choice(shape["enum"])
    kind = shape.get("type")
    if isinstance(kind, list):
        kind = rnd.choice(kind)
    if kind == "object":
        return _object(rnd, shape, lenient)
    if kind == "array":
        least = shape.get("minItems", 0)
        return [data(rnd, shape.get("items", {"type": "string"})) for _ in range(rnd.randint(least, least + 2))]
    return {
        "string": lambda: rnd.choice(("", "x", "a/b.txt", "${step1}")),
        "integer": lambda: rnd.choice((-1, 0, 7)),
        "number": lambda: rnd.choice((-0.5, 0, 2.25)),
        "boolean": lambda: rnd.random() < 0.5,
        "null": lambda: None,
        None: lambda: None,
    }[kind]()


def _object(rnd: Random, shape: Any, lenient: bool) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, each in shape.get("properties", {}).items():
        if lenient or name in shape.get("required", ()) or rnd.random() < 0.5:
            made[name] = data(rnd, each)
    further = shape.get("additionalProperties", True)
    if isinstance(further, dict):
        names = [name for name in FIELDS if name not in shape.get("properties", {})]
        return made | {name: data(rnd, further) for name in rnd.sample(names, rnd.randint(0, 3))}
    if further and not lenient and rnd.random() < 0.5:
        made["surplus"] = rnd.choice((None, 1, "s", []))
    return made


def literal(rnd: Random, shape: Any) -> Any:
    """A literal of an argument; escaped where it looks like a reference."""
    made = data(rnd, shape)
    if shape.get("minimum") == 0 and isinstance(made, int) and made < 0:
        return 1
    if shape.get("maxLength") == 3 and isinstance(made, str) and len(made) > 3:
        return "x"
    return _escaped(made)


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("${", "$${")
    if isinstance(value, list):
        return [_escaped(each) for each in value]
    if isinstance(value, dict):
        return {name: _escaped(each) for name, each in value.items()}
    return value


# ------------------------------------------------------------------------------------------------ plans


class Sketch:
    """A plan in the making: its steps, and roughly what each gives."""

    def __init__(self, rnd: Random, known: Catalog) -> None:
        self.rnd = rnd
        self.known = known
        self.steps: list[dict[str, Any]] = []
        self.results: list[dict[str, Any]] = []
        self.item: dict[str, Any] | None = None
        self.after = 0

    def add(self, tool: str = "", *, after: int = 0, over: int = 0) -> None:
        """One more step: of any tool, or of this one; fed by step `after`, or run over what step `over` makes."""
        rnd = self.rnd
        made = self.known.get(tool or rnd.choice(self.known.names()))
        assert made is not None
        written: dict[str, Any] = {"tool": made.name}
        self.after = after
        if self.steps and not tool and rnd.random() < 0.25:
            written["when"] = {rnd.choice(("nonempty", "nonempty", "empty")): self.some_step()}
        self.item = None
        if over:
            written["for_each"], self.item = f"${{step{over}.entries}}", self.entries_of(over)
        elif not tool and rnd.random() < 0.2:
            written["for_each"], self.item = self.loop()
        if rnd.random() < 0.2:
            written["on_error"] = "continue"
        written["args"] = self.args(made)
        lifts = "for_each" in written
        if made.consumes is not None and "from_step" in written["args"]:
            lifts = lifts or (not made.consumes.many and self.entries_of(written["args"]["from_step"]) is not None)
        self.results.append(self.result(made, written["args"], lifts))
        self.steps.append(written)

    def args(self, made: Contract) -> dict[str, Any]:
        rnd = self.rnd
        args: dict[str, Any] = {}
        into = None if made.consumes is None else made.consumes.into
        for name, shape in made.args["properties"].items():
            if name != into and (name in made.args["required"] or rnd.random() < 0.3):
                args[name] = self.value(shape)
        if into is None:
            return args
        how = rnd.random()
        if self.after:
            args["from_step"] = self.after
        elif self.steps and how < 0.75:
            args["from_step"] = self.some_step()
        elif self.steps and how < 0.85:
            args["from_steps"] = [self.some_step(), self.some_step()]
        else:
            args[into] = self.value(made.args["properties"][into])
        return args

    def some_step(self) -> int:
        """Rather one with a collection."""
        with_entries = [number for number in range(1, len(self.steps) + 1) if self.entries_of(number) is not None]
        return self.rnd.choice(
            with_entries if with_entries and self.rnd.random() < 0.85 else range(1, len(self.steps) + 1)
        )

    def entries_of(self, number: int) -> dict[str, Any] | None:
        found = self.results[number - 1].get("properties", {}).get("entries")
        return found["items"] if found is not None and "items" in found else None

    def result(self, made: Contract, args: dict[str, Any], lifts: bool) -> dict[str, Any]:
        result = made.result
        if made.produces is not None and made.produces.rule == "same" and "from_step" in args:
            entry = self.entries_of(args["from_step"])
            if entry is not None:
                result = with_entries(entry)
        if not lifts:
            return result
        many = made.produces is not None and made.produces.many
        return with_entries(result["properties"]["entries"]["items"] if many else result)

    # ---- values

    def loop(self) -> tuple[Any, dict[str, Any]]:
        how = self.rnd.random()
        if how < 0.2 or not self.steps:
            return ["a", "b"], {"type": "string"}
        if how < 0.3:
            return [{"path": "p", "size": 1}], {
                "type": "object",
                "properties": {"path": {"type": "string"}},
                "required": ["path"],
            }
        number = self.some_step()
        entry = self.entries_of(number)
        return f"${{step{number}.entries}}", entry or {}

    def value(self, shape: dict[str, Any]) -> Any:
        return literal(self.rnd, shape) if self.rnd.random() < 0.35 else self.hole(shape)

    def hole(self, shape: dict[str, Any]) -> Any:
        """A value with a reference somewhere in it."""
        rnd = self.rnd
        kind = shape.get("type")
        if kind == "object" and shape.get("properties") and rnd.random() < 0.4:
            return {name: self.value(each) for name, each in shape["properties"].items()}
        if kind == "array" and rnd.random() < 0.3:
            return [self.value(shape.get("items", {"type": "object"})) for _ in range(rnd.randint(1, 2))]
        if kind == "string" and rnd.random() < 0.4:
            return f"see {self.reference({'type': list(SCALAR_TYPES)})}!"
        return self.reference(shape)

    def reference(self, wanted: dict[str, Any]) -> str:
        """A reference to what has the wanted type, mostly, with the fallback that it needs, mostly."""
        rnd = self.rnd
        found = self.candidates(wanted if rnd.random() < 0.9 else {})
        if not found or rnd.random() < 0.02:
            return rnd.choice(("${step9.x}", "${item.path}", "${step1.entries[0].nowhere}", "${RUNTIME:now}"))
        path, gap = rnd.choice(found)
        needed = gap if rnd.random() < 0.9 else not gap
        fallback = ""
        if needed:
            literals = {
                "string": '"f"',
                "integer": "0",
                "number": "1.5",
                "boolean": "true",
                "array": "[]",
                "object": "{}",
            }
            fallback = " ?? " + literals.get(rnd.choice(sorted(types_of(wanted) or {"null"})), "null")
        return f"${{{path}{fallback}}}"

    def candidates(self, wanted: dict[str, Any]) -> list[tuple[str, bool]]:
        types = types_of(wanted)
        roots: list[tuple[str, dict[str, Any]]] = [(f"step{at}", shape) for at, shape in enumerate(self.results, 1)]
        if self.item is not None:
            roots += [("item", self.item)] * 3
        roots += [
            ("RUNTIME:now", {"type": "string"}),
            ("INPUT:folder", {"type": "string"}),
            ("INPUT:entries", INPUTS["entries"]),
        ]
        found = [each for root, shape in roots for each in paths(root, shape, False, 4)]
        return [(path, gap) for path, shape, gap in found if not types or types_of(shape) <= types]


def with_entries(entry: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["entries", "count"],
        "additionalProperties": False,
        "properties": {"entries": {"type": "array", "items": entry}, "count": {"type": "integer"}},
    }


def types_of(shape: dict[str, Any]) -> set[str]:
    if "anyOf" in shape:
        return set().union(*(types_of(each) for each in shape["anyOf"]))
    if "enum" in shape:
        return {"string"}
    kind = shape.get("type", [])
    return {kind} if isinstance(kind, str) else set(kind)


def paths(root: str, shape: dict[str, Any], gap: bool, depth: int) -> list[tuple[str, dict[str, Any], bool]]:
    """Every path into a schema, its end, and whether it may be missing."""
    found = [(root, shape, gap)]
    if depth == 0:
        return found
    for name, each in shape.get("properties", {}).items():
        token = f".{name}" if name.isalnum() else f'["{name}"]'
        found += paths(root + token, each, gap or name not in shape.get("required", ()), depth - 1)
    if "items" in shape:
        least = shape.get("minItems", 0)
        found += paths(root + "[0]", shape["items"], gap or least < 1, depth - 1)
        found += [
            (path, {"type": "array", "items": each}, inner)
            for path, each, inner in paths(root + "[*]", shape["items"], gap, depth - 1)
        ]
    return found


def plan(rnd: Random, known: Catalog) -> dict[str, Any]:
    sketch = Sketch(rnd, known)
    for _ in range(rnd.randint(1, 5)):
        sketch.add()
    sketch.item = None
    end: dict[str, Any] = {}
    if rnd.random() < 0.4:
        end = {"text": f"Done: {sketch.reference({'type': list(SCALAR_TYPES)})}", "data": {"of": sketch.reference({})}}
    return {"steps": [*sketch.steps, {"tool": "final_answer", "args": end}]}


def mutated(rnd: Random, written: dict[str, Any]) -> dict[str, Any]:
    """The same plan with one thing wrong, or merely other."""
    made = copy.deepcopy(written)
    steps = made["steps"]
    at = rnd.randrange(len(steps) - 1) if len(steps) > 1 else 0
    change = rnd.randrange(7)
    if change == 0:
        steps[at].pop("when", None)
    elif change == 1 and len(steps) > 2:
        steps[at], steps[at - 1 if at else 1] = steps[at - 1 if at else 1], steps[at]
    elif change == 2:
        steps[at].pop("for_each", None)
    elif change == 3 and steps[at]["args"]:
        steps[at]["args"].pop(rnd.choice(list(steps[at]["args"])))
    elif change == 4:
        steps[at]["tool"] = f"tool{rnd.randrange(8)}"
    else:
        steps[at]["args"] = _respelled(rnd, steps[at]["args"])
    return made


def _respelled(rnd: Random, written: Any) -> Any:
    if isinstance(written, str):
        how = rnd.randrange(4)
        if how == 0:
            return written.split(" ??")[0] + "}" if " ??" in written else written
        if how == 1:
            return written.replace("step1", "step2")
        return written.replace("[0]", "[1]") if how == 2 else written
    if isinstance(written, dict):
        return {name: _respelled(rnd, each) for name, each in written.items()}
    return [_respelled(rnd, each) for each in written] if isinstance(written, list) else written
