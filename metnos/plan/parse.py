"""The reader of plan files: bytes, text or data in; a `Plan` and every fault of its form out.

Law: it judges form only: fields, types, names, the terminal, spelling of references, fillers. Tools, kinds,
types of arguments and whether a reference goes backwards are `checks/`. Bad data never raise. What cannot be read
is replaced and the reading goes on, so that one pass names every fault; a step that could not be read has the
tool `""` and keeps its place, so `/steps/N` stays what the user wrote.

    >>> read_plan('{"steps": [{"tol": "x", "args": {}}]}').diagnostics[0].hint
    'did you mean `tool`?'
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from metnos.plan.diagnostics import Diagnostic
from metnos.plan.faults import Faults, did_you_mean
from metnos.plan.jsondata import JSONFault, check_limits, is_list, is_object, loads_strict, pointer
from metnos.plan.model import Filler, FinalAnswer, GoesOn, Plan, Step, When
from metnos.plan.references import FillerTarget, Parts, Reference
from metnos.plan.spelling import ReferenceSyntax, is_id, is_reserved, parse_string
from metnos.plan.terminals import TERMINALS, plain_string, read_name, read_schema, read_terminal
from metnos.plan.write import to_json

if TYPE_CHECKING:
    from metnos.plan.model import OnError, Terminal

MAX_STEPS = 200
"""Steps of one plan, the terminal not counted; a turn may start more, because a step may run over a list."""
MAX_ITEMS = 1000
"""Items of one `for_each`."""

PLAN_FIELDS = ("steps", "fillers", "$schema")
STEP_FIELDS = ("tool", "args", "id", "for_each", "when", "on_error")
WHEN_FIELDS = ("nonempty", "empty")
FILLER_FIELDS = ("prompt", "schema", "role")
ON_ERROR: tuple[OnError, ...] = ("stop", "continue")
ROLES = ("fast", "middle", "wise", "creative", "frontier")
TOOL_NAME = re.compile(r"[A-Za-z0-9._-]{1,128}")
_LONGEST = 128
_FILLER = re.compile(r"FILLER:([A-Za-z0-9_-]+)")
_NUMBER_AS_WORD = re.compile(r"(?:step_?)?([0-9]{1,6})", re.IGNORECASE)
_STEP_WORDS = "a step number from 1, or the id of a step"


class Parsed(msgspec.Struct, frozen=True):
    """What was read. `plan` is None only where the whole is unreadable; it is sound only if `ok`."""

    plan: Plan | None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def ok(self) -> bool:
        """No fault of form."""
        return not self.diagnostics


def read_plan(data: bytes | str | dict[str, Any], *, goes_on: bool = False) -> Parsed:
    """Read a plan file.

    Args:
        data: JSON as UTF-8 bytes or text, or the object itself (it is not changed, its parts are shared).
            At most 256 KiB and 32 levels either way.
        goes_on: Whether steps without a terminal are a whole plan, behind which another one follows.
    """
    try:
        if isinstance(data, dict):
            raw: Any = data
            check_limits(raw)
        else:
            raw = loads_strict(data)
    except JSONFault as fault:
        return Parsed(None, (Diagnostic(code=fault.code, where=fault.where, found=fault.message),))
    faults = Faults()
    if not is_object(raw):
        faults.wrong_type("", raw, "an object with `steps`")
        return Parsed(None, tuple(faults.found))
    reader = _Reader(faults, goes_on=goes_on)
    plan = reader.plan(raw)
    return Parsed(plan, tuple(faults.found))


class _Reader:
    """One reading; every method notes its faults and returns something usable."""

    __slots__ = ("faults", "goes_on", "ids")

    def __init__(self, faults: Faults, *, goes_on: bool) -> None:
        self.faults = faults
        self.goes_on = goes_on
        self.ids: dict[str, int] = {}

    def plan(self, raw: dict[str, Any]) -> Plan | None:
        self.faults.unknown_fields("", raw, PLAN_FIELDS)
        if "$schema" in raw:
            self.faults.string("", raw, "$schema")
        steps = raw.get("steps")
        if not is_list(steps):
            if "steps" in raw:
                self.faults.wrong_type("/steps", steps, "a list of steps")
            else:
                self.faults.add("missing-field", "", expected="steps: a list of steps")
            return None
        read, terminal = self._steps(steps)
        fillers = self._fillers(raw["fillers"]) if "fillers" in raw else {}
        if fillers is not None:
            self._check_fillers(fillers)
        return Plan(steps=tuple(read), terminal=terminal, fillers=fillers or {})

    # --- steps ---

    def _steps(self, raw: list[Any]) -> tuple[list[Step], Terminal]:
        faults = self.faults
        read: list[Step] = []
        terminal: Terminal | None = None
        ended = followed = 0
        if len(raw) > MAX_STEPS + 1:  # nobody mends ten thousand steps one by one: the others are not looked at
            faults.add("too-many-steps", "/steps", found=str(len(raw)), expected=f"at most {MAX_STEPS}")
            return read, FinalAnswer()
        for index, item in enumerate(raw):
            where = f"/steps/{index}"
            tool = item.get("tool") if is_object(item) else None
            if type(tool) is not str or tool not in TERMINALS:
                read.append(self._step(item, where))
                if terminal is not None and not followed:
                    followed = index
                continue
            last = self._terminal(item, tool, where)
            if terminal is None:
                terminal, ended = last, index
            else:
                faults.add("terminal-twice", where, found=tool, expected=f"one end; the first is /steps/{ended}")
            if index + 1 < len(raw):
                read.append(_UNREADABLE)  # what follows keeps its place
        if terminal is None and self.goes_on and read:
            terminal = GoesOn()
        elif terminal is None:
            faults.add("terminal-missing", "/steps", expected=", ".join(TERMINALS))
        elif followed:
            faults.add("terminal-not-last", f"/steps/{ended}", found=f"followed by /steps/{followed}")
        if len(read) > MAX_STEPS:
            faults.add("too-many-steps", "/steps", found=str(len(read)), expected=f"at most {MAX_STEPS}")
        return read, terminal or FinalAnswer()

    def _terminal(self, item: dict[str, Any], tool: str, where: str) -> Terminal:
        self.faults.unknown_fields(where, item, ("tool", "args"))
        args = self._args(item, where)
        if tool == "final_answer":
            self._strings(args, f"{where}/args")
        return read_terminal(tool, args, f"{where}/args", self.faults)

    def _step(self, item: Any, where: str) -> Step:
        faults = self.faults
        if not is_object(item):
            faults.wrong_type(where, item, "an object with `tool` and `args`")
            return _UNREADABLE
        raw = item
        tool, args = raw.get("tool"), raw.get("args")
        if not (type(tool) is str and tool.isidentifier() and tool.isascii() and len(tool) <= _LONGEST):
            tool = self._tool(raw, where)
        if not is_object(args):
            args = self._args(raw, where)
        if args:
            self._strings(args, f"{where}/args")
            if "from_step" in args or "from_steps" in args:
                self._from_steps(args, f"{where}/args")
        if len(raw) <= 2 and "tool" in raw and "args" in raw:
            return Step(tool=tool, args=args)
        faults.unknown_fields(where, raw, STEP_FIELDS)
        return Step(
            tool=tool,
            args=args,
            id=self._id(raw["id"], where) if "id" in raw else None,
            for_each=self._for_each(raw["for_each"], f"{where}/for_each") if "for_each" in raw else None,
            when=self._when(raw["when"], f"{where}/when") if "when" in raw else None,
            on_error=self._on_error(raw["on_error"], f"{where}/on_error") if "on_error" in raw else "stop",
        )

    def _tool(self, raw: dict[str, Any], where: str) -> str:
        tool = self.faults.string(where, raw, "tool")
        if type(raw.get("tool")) is str and TOOL_NAME.fullmatch(tool) is None:
            self.faults.add("bad-name", f"{where}/tool", found=tool[:140], expected="1 to 128 of A-Z a-z 0-9 . _ -")
            return ""
        return tool

    def _args(self, raw: dict[str, Any], where: str) -> dict[str, Any]:
        args = raw.get("args")
        if is_object(args):
            return args
        if "args" in raw:
            self.faults.wrong_type(f"{where}/args", args, "an object of arguments")
        else:
            self.faults.add(
                "missing-field", where, expected="args: an object of arguments", hint='`"args": {}` if there are none'
            )
        return {}

    def _id(self, value: Any, where: str) -> str | None:
        number = int(where.rsplit("/", 1)[1]) + 1
        where = f"{where}/id"
        if type(value) is not str:
            self.faults.wrong_type(where, value, "a string")
            return None
        if is_reserved(value):
            self.faults.add("reserved-name", where, found=value)
        elif not is_id(value):
            self.faults.add(
                "bad-name",
                where,
                found=value,
                expected="letters, digits, `_` and `-`, first a letter or `_`, at most 64",
            )
        elif value in self.ids:
            self.faults.add("duplicate-id", where, found=value, expected=f"an id that step {self.ids[value]} has not")
        else:
            self.ids[value] = number
            return value
        return None

    def _for_each(self, value: Any, where: str) -> Any:
        if is_list(value):
            if len(value) > MAX_ITEMS:
                self.faults.add("too-many-items", where, found=str(len(value)), expected=f"at most {MAX_ITEMS}")
            self._strings(value, where)
        elif type(value) is not str:
            self.faults.wrong_type(where, value, "one reference to a collection, or a list")
        else:
            parts = self._parts(value, where)
            if parts is not None and not (len(parts) == 1 and isinstance(parts[0], Reference)):
                self.faults.add("bad-value", where, found=value, expected="one reference and nothing else, or a list")
        return value

    def _when(self, value: Any, where: str) -> When | None:
        if not is_object(value):
            self.faults.wrong_type(where, value, '{"nonempty": N} or {"empty": N}')
            return None
        raw = value
        self.faults.unknown_fields(where, raw, WHEN_FIELDS)
        given = [name for name in WHEN_FIELDS if name in raw]
        if len(given) != 1:
            code, found = ("bad-value", "both") if given else ("missing-field", "")
            self.faults.add(code, where, found=found, expected="one of nonempty, empty")
            return None
        step = raw[given[0]]
        if not self._step_reference(step, f"{where}/{given[0]}"):
            return None
        return When(nonempty=given[0] == "nonempty", step=step)

    def _on_error(self, value: Any, where: str) -> OnError:
        if value in ON_ERROR:
            return value
        hint = did_you_mean(value, ON_ERROR) if type(value) is str else ""
        self.faults.add("bad-value", where, found=str(value), expected=", ".join(ON_ERROR), hint=hint)
        return "stop"

    def _from_steps(self, args: dict[str, Any], where: str) -> None:
        if "from_step" in args:
            self._step_reference(args["from_step"], f"{where}/from_step")
        if "from_steps" not in args:
            return
        if "from_step" in args:
            self.faults.add(
                "bad-value", f"{where}/from_steps", found="from_step and from_steps", expected="one of the two"
            )
        steps = args["from_steps"]
        if not is_list(steps) or not steps:
            self.faults.wrong_type(f"{where}/from_steps", steps, "a list of step numbers, not empty")
            return
        for index, step in enumerate(steps):
            self._step_reference(step, f"{where}/from_steps/{index}")

    def _step_reference(self, value: Any, where: str) -> bool:
        if type(value) is int:
            if value >= 1:
                return True
            self.faults.add("bad-value", where, found=str(value), expected=_STEP_WORDS)
        elif type(value) is not str:
            self.faults.wrong_type(where, value, _STEP_WORDS)
        elif is_id(value):
            return True
        else:
            number = _NUMBER_AS_WORD.fullmatch(value)
            hint = f"write the number: {number[1]}" if number else ""
            self.faults.add("bad-value", where, found=f'"{value}"', expected=_STEP_WORDS, hint=hint)
        return False

    # --- references ---

    def _strings(self, value: Any, where: str) -> None:
        """Look at every string in an object or list."""
        pairs = value.items() if is_object(value) else enumerate(value)
        for key, item in pairs:
            kind = item.__class__
            if kind is str:
                if "$" in item:
                    self._parts(item, pointer(where, key))
            elif kind is dict or kind is list:
                self._strings(item, pointer(where, key))

    def _parts(self, text: str, where: str) -> Parts | None:
        try:
            parts = parse_string(text)
        except ReferenceSyntax as error:
            self.faults.found.append(error.diagnostic(where))
            self.faults.perhaps_used.update(_FILLER.findall(text))
            return None
        for part in parts:
            if type(part) is Reference and type(part.target) is FillerTarget:
                self.faults.used.append((part.target.name, where))
        return parts

    # --- fillers ---

    def _fillers(self, raw: Any) -> dict[str, Filler] | None:
        faults = self.faults
        if not is_object(raw):
            faults.wrong_type("/fillers", raw, "an object of name → {prompt, schema, role}")
            return None
        fillers: dict[str, Filler] = {}
        for name, item in raw.items():
            where = pointer("/fillers", name)
            read_name(name, where, faults)
            if is_object(item):
                fillers[name] = self._filler(item, where)
            else:
                faults.wrong_type(where, item, "an object with `prompt` and `schema`")
                fillers[name] = Filler(prompt="", schema={})
        return fillers

    def _filler(self, record: dict[str, Any], where: str) -> Filler:
        self.faults.unknown_fields(where, record, FILLER_FIELDS)
        role = self.faults.string(where, record, "role", default="fast")
        if role not in ROLES:
            self.faults.add(
                "bad-value", f"{where}/role", found=role, expected=", ".join(ROLES), hint=did_you_mean(role, ROLES)
            )
        prompt = plain_string(where, record, "prompt", self.faults)
        return Filler(prompt=prompt, schema=read_schema(record, where, self.faults), role=role)

    def _check_fillers(self, fillers: dict[str, Filler]) -> None:
        used = {name for name, _ in self.faults.used} | self.faults.perhaps_used
        for name, where in self.faults.used:
            if name not in fillers:
                hint = did_you_mean(name, fillers)
                self.faults.add(
                    "unknown-filler",
                    where,
                    found=name,
                    expected=", ".join(fillers) or "no filler is defined",
                    hint=hint,
                )
        for name in fillers:
            if name not in used:
                self.faults.add("unused-filler", pointer("/fillers", name), found=name)


_UNREADABLE = Step(tool="", args={})

__all__ = ["MAX_ITEMS", "MAX_STEPS", "Parsed", "read_plan", "to_json"]
