"""Contracts of tools that were only ever seen in a log: what went in, what came out.

Law: one contract for each tool of the whole collection. It is lenient and it is declared `read`, because nothing stands
behind it: a stand-in never runs. What a data set says of a tool counts first, what was recorded widens it, so that no
call that was made is refused by its own contract. Parameters are optional unless they are described as required. Names
are reversible (`contracts.aliases`); so are the few names of arguments that a plan reads as something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from metnos.contracts.aliases import alias, original
from metnos.contracts.foreign import ForeignFault, foreign_contracts
from metnos.contracts.loosen import SCALARS
from metnos.contracts.model import Contract
from metnos.evaluate.importing.model import Act, Call, Notes, Recorded
from metnos.evaluate.importing.seen import Seen
from metnos.plan.jsondata import JSONFault, digest, is_list, is_object, loads_strict

if TYPE_CHECKING:
    from collections.abc import Iterable

_MARK = "metnos.inferred/1"
_READ_OTHERWISE = frozenset({"from_step", "from_steps"})
"""Names of arguments that a plan reads as references to steps."""


def argument_name(name: str) -> str:
    """The name of an argument in a plan; `original_argument` gives the tool's own back."""
    if name in _READ_OTHERWISE:
        return f"_x{ord(name[0]):04X}_{name[1:]}"
    return alias(name) if "_x" in name and original(name) != name else name


def original_argument(name: str) -> str:
    """What the tool calls an argument."""
    return original(name) if "_x" in name else name


class Result(msgspec.Struct, frozen=True):
    """A result as data."""

    data: Any


class SeenTool:
    """What was recorded of one tool."""

    def __init__(self) -> None:
        self.calls = 0
        self.arguments: dict[str, Seen] = {}
        self.present: dict[str, int] = {}
        self.data = Seen()
        """Results that are objects or lists, or were data in the log."""
        self.texts = 0
        """Results that are text and no JSON scalar."""
        self.scalars = Seen()
        """Results whose text reads as a number, true, false or null."""

    def add(self, call: Call) -> None:
        """One more call."""
        self.calls += 1
        for name, value in call.arguments.items():
            self.arguments.setdefault(name, Seen()).add(value)
            self.present[name] = self.present.get(name, 0) + 1
        if not call.recorded or call.error is not None:
            return
        found = _parsed(call)
        if found is None:
            self.texts += 1
        elif is_object(found.data) or is_list(found.data) or not call.is_text:
            self.data.add(found.data)
        else:
            self.scalars.add(found.data)

    def data_of(self, call: Call) -> Any:
        """The result of a call as the log of a turn holds it: data where it reads as such, else `{"text": …}`.

        A number, `true` or `null` alone is data only if no result of the tool is a text that is none: "60601" among
        names of places is a text.
        """
        found = _parsed(call)
        if found is None:
            return {"text": call.result}
        if call.is_text and self.texts and not (is_object(found.data) or is_list(found.data)):
            return {"text": call.result}
        return found.data

    def result(self) -> dict[str, Any]:
        """The schema of its results; anything if none was recorded."""
        if self.texts:
            text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
            told: dict[str, Any] = {**text, "additionalProperties": False}
            return {"anyOf": [self.data.schema(closed=True), told]} if self.data.kinds else told
        if self.scalars.kinds and self.data.kinds:
            return {}
        return (self.scalars if self.scalars.kinds else self.data).schema(closed=True)


def _parsed(call: Call) -> Result | None:
    """The result of a call as data; None: it is a text and no JSON."""
    if not call.is_text:
        return Result(call.result)
    text: str = call.result
    try:
        return Result(loads_strict(text, max_bytes=16 * 1024 * 1024, max_depth=31))
    except JSONFault:
        return None


class Inferred(msgspec.Struct, frozen=True, kw_only=True):
    """The contracts of a collection."""

    contracts: tuple[Contract, ...]
    seen: dict[str, SeenTool]
    """By the tool's own name."""

    def name_of(self, tool: str) -> str:
        """The contract's name of a tool."""
        return alias(tool)


def look(runs: Iterable[Recorded]) -> dict[str, SeenTool]:
    """What was recorded of each tool, over all runs."""
    seen: dict[str, SeenTool] = {}
    for run in runs:
        for moment in run.moments:
            for call in moment.calls if isinstance(moment, Act) else ():
                seen.setdefault(call.name, SeenTool()).add(call)
    return seen


def infer(seen: dict[str, SeenTool], notes: Notes) -> Inferred:
    """Contracts of all tools that were called or described."""
    contracts = [_contract(name, seen.get(name), notes) for name in sorted({*seen, *notes.tools})]
    return Inferred(contracts=tuple(contracts), seen=seen)


def _contract(name: str, seen: SeenTool | None, notes: Notes) -> Contract:
    base = _described(name, notes)
    if seen is None:
        return _signed(base, base.args, base.result)
    return _signed(base, _arguments(base.args, seen), seen.result() or base.result)


def _described(name: str, notes: Notes) -> Contract:
    """What the data set says of a tool; each description that cannot be read is counted and left out."""
    sound: list[dict[str, Any]] = []
    for described in notes.tools.get(name, []):
        try:
            foreign_contracts([described], effect="read")
            sound.append(described)
        except ForeignFault:
            notes.drop("description of a tool that cannot be read")
    return foreign_contracts(sound or [{"name": name}], effect="read").contracts[0]


def _arguments(described: dict[str, Any], seen: SeenTool) -> dict[str, Any]:
    properties: dict[str, Any] = dict(described.get("properties", {}))
    for name, held in seen.arguments.items():
        known = properties.get(name)
        if known is None or not (known == {} or (_is_scalar(known) and held.kinds == {"scalar"})):
            properties[name] = {**held.schema(closed=False), **_words(known)}
    required = [name for name in described.get("required", []) if seen.present.get(name, 0) == seen.calls]
    args: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**args, "required": required} if required else args


def _is_scalar(schema: dict[str, Any]) -> bool:
    return schema.get("type") == SCALARS and "pattern" not in schema


def _words(schema: dict[str, Any] | None) -> dict[str, Any]:
    return {word: schema[word] for word in ("description", "examples") if word in schema} if schema else {}


def _signed(base: Contract, args: dict[str, Any], result: dict[str, Any]) -> Contract:
    renamed = {argument_name(name): held for name, held in args.get("properties", {}).items()}
    args = {**args, "properties": renamed}
    if "required" in args:
        args["required"] = [argument_name(name) for name in args["required"]]
    made = msgspec.structs.replace(base, args=args, result=result, digest="")
    return msgspec.structs.replace(made, digest=digest([_MARK, msgspec.to_builtins(made)]))
