"""Catalogs and plans that pick, group and join, made up from a seed; run by the code of the shipped executors."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from metnos.contracts.catalog import Catalog
from metnos.contracts.manifest import read_manifest
from metnos.contracts.model import Contract
from metnos.execute.code import load
from tests.support.generated import FIELDS, INPUTS, Sketch, contract, types_of, with_entries

ROOT = Path(__file__).resolve().parents[2]
RULED = {"pick": "select_fields", "group": "group_entries", "join": "join_entries"}
"""Rules that look at the arguments → the shipped executor that is run."""


@lru_cache
def ruled(name: str, rule: str) -> Contract:
    """The contract of a shipped transform, under another name."""
    read = read_manifest((ROOT / "manifests" / f"{RULED[rule]}.toml").read_bytes())
    assert isinstance(read, Contract)
    return msgspec.structs.replace(read, name=name)


@lru_cache
def executor(rule: str) -> Any:
    """The code of the shipped executor of a rule: what it makes is what the checks promise."""
    folder = ROOT / "catalog" / "executors" / RULED[rule]
    source = {file.name: file.read_bytes() for file in folder.glob("*.py")}
    return load(RULED[rule], f"world-{rule}", source, frozenset())


def rule_of(made: Contract) -> str:
    """`pick`, `group` or `join`, else nothing."""
    return made.produces.rule if made.produces is not None and made.produces.roles else ""


def shaping_catalog(rnd: Random) -> Catalog:
    """Sources, and the transforms whose entries are typed from their arguments."""
    sorts = ("source", "source", "source", "plain", "plain", *RULED)
    return Catalog().with_contracts(
        [
            (ruled(f"tool{at}", sort) if sort in RULED else contract(rnd, f"tool{at}", sort))
            for at, sort in enumerate(sorts)
        ]
    )


class ShapingSketch(Sketch):
    """A plan in the making, whose transforms name fields of what goes in."""

    def args(self, made: Contract) -> dict[str, Any]:
        rule = rule_of(made)
        if not rule:
            return super().args(made)
        args: dict[str, Any] = {"from_step": self.after}
        return args | self.shaping(rule, args)

    def result(self, made: Contract, args: dict[str, Any], lifts: bool) -> dict[str, Any]:
        return with_entries(self.shaped(rule_of(made), args)) if rule_of(made) else super().result(made, args, lifts)

    def shaping(self, rule: str, args: dict[str, Any]) -> dict[str, Any]:
        """Arguments that name fields, mostly of what goes in."""
        rnd = self.rnd
        number = args.get("from_step")
        entry = (self.entries_of(number) if isinstance(number, int) else None) or {}
        made: dict[str, Any] = {"missing": rnd.choice(("error", "null", "drop"))} if rnd.random() < 0.5 else {}
        if rnd.random() < 0.05:
            made["missing"] = "${INPUT:folder}"
        fields = self.fields(entry)
        if rule == "pick":
            made["fields"] = fields if rnd.random() < 0.95 else [*fields, "${INPUT:folder}"]
            if rnd.random() < 0.5:
                made["rename"] = {fields[0]: rnd.choice(("new", "path", fields[-1]))}
        elif rule == "group":
            made["by"] = fields if rnd.random() < 0.8 else fields[0]
            if rnd.random() < 0.5:
                made["field"] = self.numeric(entry) if rnd.random() < 0.9 else "${INPUT:folder}"
            if rnd.random() < 0.5:
                made["keep"] = rnd.choice((True, True, False, "${INPUT:folder}"))
        else:
            other = self.some_step() if self.steps else 1
            made["other"] = f"${{step{other}.entries}}" if rnd.random() < 0.9 else "${INPUT:entries}"
            theirs = (self.entries_of(other) if self.steps else None) or {}
            shared = [name for name in self.known_fields(entry) if name in self.known_fields(theirs)]
            made["on"] = [rnd.choice(shared)] if shared and rnd.random() < 0.9 else fields[:1]
            if rnd.random() < 0.2:
                made["other_on"] = self.fields(theirs)[:1]
            if rnd.random() < 0.5:
                made["how"] = rnd.choice(("inner", "left"))
            if rnd.random() < 0.2:
                made["prefix"] = rnd.choice(("o_", "x", "${INPUT:folder}"))
        return made

    @staticmethod
    def known_fields(entry: dict[str, Any]) -> list[str]:
        return list(entry.get("properties", {}))

    def fields(self, entry: dict[str, Any]) -> list[str]:
        known = self.known_fields(entry) if self.rnd.random() < 0.95 else []
        return self.rnd.sample(known, self.rnd.randint(1, min(2, len(known)))) if known else [self.rnd.choice(FIELDS)]

    def numeric(self, entry: dict[str, Any]) -> str:
        properties: dict[str, Any] = entry.get("properties", {})
        found = [name for name, each in properties.items() if types_of(each) & {"integer", "number"}]
        return self.rnd.choice(found) if found else "size"

    def shaped(self, rule: str, args: dict[str, Any]) -> dict[str, Any]:
        """Roughly what an entry made looks like, so that later steps refer to it."""
        entry = self.entries_of(args["from_step"]) or {}
        known: dict[str, Any] = entry.get("properties", {})
        if rule == "join":
            other = str(args["other"])
            theirs = (
                self.entries_of(int(other[6])) if other.startswith("${step") else INPUTS["entries"]["items"]
            ) or {}
            more = {
                f"other_{name}" if name in known else name: each
                for name, each in theirs.get("properties", {}).items()
                if name not in args["on"]
            }
            required = [*entry.get("required", ()), *more]  # rashly, of a left join
            return {"type": "object", "properties": known | more, "required": required}
        names = args["fields"] if rule == "pick" else [args["by"]] if isinstance(args["by"], str) else args["by"]
        rename = args.get("rename", {})
        properties = {rename.get(name, name): known[name] for name in names if name in known}
        if rule == "group":
            properties["count"] = {"type": "integer"}
            properties |= {"sum": {"type": "number"}, "mean": {"type": "number"}} if "field" in args else {}
            properties |= {"entries": {"type": "array", "items": entry}} if args.get("keep") is True else {}
        return {"type": "object", "properties": properties, "required": list(properties)}


def shaping_plan(rnd: Random, known: Catalog) -> dict[str, Any]:
    """Two collections, transforms of them, and a step that runs over what was made."""
    sketch = ShapingSketch(rnd, known)
    sources = [name for name in known.names() if (got := known.get(name)) and got.produces and not got.consumes]
    ruled_ones = [name for name in known.names() if (got := known.get(name)) and rule_of(got)]
    users = [name for name in known.names() if (got := known.get(name)) and not got.consumes and not got.lenient]
    for _ in range(2):
        sketch.add(rnd.choice(sources))
    for _ in range(rnd.randint(1, 2)):
        sketch.add(rnd.choice(ruled_ones), after=rnd.randint(1, len(sketch.steps)))
    sketch.add(rnd.choice(users), over=len(sketch.steps))
    return {"steps": [*sketch.steps, {"tool": "final_answer", "args": {}}]}
