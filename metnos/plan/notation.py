"""Line notation: one step a line, what small models write and people read.

Law: `parse_lines(show(plan)).plan == canonical_plan(plan)` for every plan that `read_plan` reads without a fault;
that is the declared subset, and `show` refuses any other (`outside-notation`). It is spelling only: `read_plan`
judges what the lines say.

    1 find_files path="." pattern="*.pdf"
    2 read_files <1 as texts continue
    3 render_table <1,2 title=${FILLER:title} if 1
    4 write_files path="out/${item.name}" content=${item.text} each ${step2.entries}
    end text="Wrote ${step4.count} files."
    filler title prompt="A short title." schema={"type":"string"}

- A line is a step number, a tool and words; the terminal has no number: `end`, `ask`, `needs`.
- `<2` is `from_step: 2`; `<2,3` is `from_steps: [2, 3]`, and `<2,` is `from_steps: [2]`. An id stands wherever a number does.
- `name=value` is an argument. A value is JSON on one line, or a reference alone, bare: `x=${step1.count}`. A name
  that is no plain word is a JSON string: `"Exchange Rate"=1`.
- Words without `=` are the step's own: `each VALUE` (`for_each`), `if N` and `unless N` (`when` nonempty, empty),
  `continue` (`on_error`), `as NAME` (`id`).
- `end text=… data=…`, `ask question=… choices=[…]`, `needs NAME={"schema":…,"label":…} …`.
- `filler NAME prompt=… schema=… role=…`, after the terminal. Empty lines and lines from `#` on are nothing.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec

from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import MAX_PLAN_BYTES, JSONFault, guard_depth, loads_strict, spell
from metnos.plan.model import Step
from metnos.plan.parse import Parsed, read_plan, to_json
from metnos.plan.references import Reference
from metnos.plan.spelling import parse_string
from metnos.plan.write import canonical_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.plan.model import Plan

ENDS: dict[str, str] = {"end": "final_answer", "ask": "ask", "needs": "needs_inputs"}
"""Word that opens a terminal's line → terminal."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_STRING = r'"(?:[^"\\]|\\.)*"'
_ARGUMENT = re.compile(rf"([A-Za-z_][A-Za-z0-9_.-]*|{_STRING})=")
_BARE = re.compile(rf'\$\{{(?:[^"{{}}]|{_STRING}|\{{ *\}})*\}}|\$<(?:[^">]|{_STRING})*>')
_WORD = re.compile(r"[^\s=]+")
_FROM = re.compile(r"<([A-Za-z0-9_-]+(?:,[A-Za-z0-9_-]+)*)(,?)")
_FILLER_LINE = re.compile(r"[ \t]*filler(?=[ \t]|$)")
_STEP_LINE = re.compile(r"([0-9]{1,6})[ \t]+([^\s=]+)")
_DECODER = json.JSONDecoder()


class NotationRefused(ValueError):
    """A plan outside the declared subset.

    Attributes:
        diagnostic: code `outside-notation`, with the place of the fault.
    """

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(f"{diagnostic.where}: {diagnostic.found}")
        self.diagnostic = diagnostic


# --- writing ------------------------------------------------------------------------------------------------


def show(plan: Plan) -> str:
    """The plan in line notation, canonical, each line ended by a newline.

    Raises:
        NotationRefused: `read_plan` finds a fault of form in it.
    """
    parsed = read_plan(to_json(plan))
    for fault in parsed.diagnostics:
        found = f"{fault.code}: {fault.found}" if fault.found else fault.code
        raise NotationRefused(Diagnostic(code="outside-notation", where=fault.where, found=found))
    plan = canonical_plan(plan)
    raw: dict[str, Any] = to_json(plan)
    lines = [" ".join((str(number), *_step_words(step))) for number, step in enumerate(plan.steps, start=1)]
    lines.append(" ".join(_end_words(raw["steps"][-1])))
    for name, filler in raw.get("fillers", {}).items():
        lines.append(" ".join(("filler", name, *_arguments(filler))))
    return "\n".join(lines) + "\n"


def _step_words(step: Step) -> Iterator[str]:
    yield step.tool
    args = dict(step.args)
    if "from_step" in args:
        yield f"<{args.pop('from_step')}"
    if "from_steps" in args:
        steps: list[Any] = args.pop("from_steps")
        yield f"<{','.join(map(str, steps))}{',' if len(steps) == 1 else ''}"
    yield from _arguments(args)
    if step.for_each is not None:
        yield f"each {_value(step.for_each)}"
    if step.when is not None:
        yield f"{'if' if step.when.nonempty else 'unless'} {step.when.step}"
    if step.on_error == "continue":
        yield "continue"


def _end_words(terminal: dict[str, Any]) -> Iterator[str]:
    word = next(word for word, tool in ENDS.items() if tool == terminal["tool"])
    yield word
    args = terminal["args"]
    yield from _arguments(args["form"] if word == "needs" else args)


def _arguments(args: dict[str, Any]) -> Iterator[str]:
    for name, value in args.items():
        yield f"{name if is_plain_name(name) else spell(name)}={_value(value)}"


def is_plain_name(name: str) -> bool:
    """Whether an argument's name stands in a line as it is; another is a JSON string."""
    return _NAME.fullmatch(name) is not None


def _value(value: Any) -> str:
    if isinstance(value, str):
        parts = parse_string(value)
        if len(parts) == 1 and isinstance(parts[0], Reference):
            return value
    return spell(value)


# --- reading ------------------------------------------------------------------------------------------------


class _LineFault(Exception):
    def __init__(self, column: int, expected: str, found: str = "") -> None:
        super().__init__(expected)
        self.column = column
        self.expected = expected
        self.found = found


def parse_lines(text: str) -> Parsed:
    """Read a plan in line notation; like `read_plan`, it names every fault and never raises on bad text."""
    if len(text) > MAX_PLAN_BYTES:
        return Parsed(None, (Diagnostic(code="too-large", where="", found=f"more than {MAX_PLAN_BYTES} characters"),))
    try:
        for line in text.split("\n"):
            guard_depth(line)
    except JSONFault as fault:
        return Parsed(None, (Diagnostic(code=fault.code, where="", found=fault.message),))
    lines = _Lines()
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.rstrip(" \t\r")
        if line and not line.lstrip(" \t").startswith("#"):
            lines.read(number, line)
    return lines.parsed()


class _Lines:
    """The lines read so far, as the plan file that they stand for."""

    __slots__ = ("broken", "faults", "fillers", "steps")

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []
        self.fillers: dict[str, Any] = {}
        self.faults: list[Diagnostic] = []
        self.broken: set[int] = set()
        """Positions in `steps` of lines that could not be read."""

    def read(self, number: int, line: str) -> None:
        reading = _Line(line)
        try:
            reading.skip()
            if _FILLER_LINE.match(line):
                reading.filler(self.fillers)
                return
            self.steps.append(reading.step_or_end())
            self._check_number(reading, number)
        except _LineFault as fault:
            in_filler = _FILLER_LINE.match(line) is not None
            where = "/fillers" if in_filler else f"/steps/{len(self.steps)}"
            found = fault.found or line[fault.column : fault.column + 20] or "the end of the line"
            found = f"line {number}, column {fault.column + 1}: {found}"
            self.faults.append(Diagnostic(code="line-syntax", where=where, found=found, expected=fault.expected))
            if reading.ends:
                self.steps.append({"tool": "final_answer", "args": {}})
            elif not in_filler:
                self.broken.add(len(self.steps))
                self.steps.append({"tool": "unreadable", "args": {}})

    def _check_number(self, reading: _Line, number: int) -> None:
        position = len(self.steps)
        if reading.number is not None and reading.number != position:
            where = f"/steps/{position - 1}"
            found = f"line {number}: {reading.number}"
            self.faults.append(Diagnostic(code="line-number", where=where, found=found, expected=str(position)))

    def parsed(self) -> Parsed:
        raw: dict[str, Any] = {"steps": self.steps}
        if self.fillers:
            raw["fillers"] = self.fillers
        parsed = read_plan(raw)
        plan = parsed.plan
        if plan is not None and self.broken:
            steps = (Step(tool="", args={}) if index in self.broken else step for index, step in enumerate(plan.steps))
            plan = msgspec.structs.replace(plan, steps=tuple(steps))
        return Parsed(plan, (*self.faults, *parsed.diagnostics))


class _Line:
    """One line and a place in it."""

    __slots__ = ("at", "ends", "number", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.number: int | None = None
        self.ends = False

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def word(self, expected: str) -> str:
        self.skip()
        match = _WORD.match(self.text, self.at)
        if match is None:
            raise _LineFault(self.at, expected)
        self.at = match.end()
        return match[0]

    def filler(self, fillers: dict[str, Any]) -> None:
        self.word("filler")
        self.skip()
        start = self.at
        name = self.word("the name of a filler")
        self.put(fillers, name, self.arguments(), start)

    def step_or_end(self) -> dict[str, Any]:
        match = _STEP_LINE.match(self.text, self.at)
        if match is None:
            return self.end()
        self.number = int(match[1])
        self.at = match.end()
        step: dict[str, Any] = {"tool": match[2], "args": {}}
        self.skip()
        while self.at < len(self.text):
            if not self.argument(step["args"]):
                self.own_word(step)
            self.skip()
        return step

    def end(self) -> dict[str, Any]:
        start = self.at
        word = self.word("a step number and a tool, or an end")
        if word not in ENDS:
            raise _LineFault(start, f"a step number and a tool, or one of {', '.join(ENDS)}, filler")
        self.ends = True
        args = self.arguments()
        return {"tool": ENDS[word], "args": {"form": args} if word == "needs" else args}

    def arguments(self) -> dict[str, Any]:
        args: dict[str, Any] = {}
        self.skip()
        while self.at < len(self.text):
            if not self.argument(args):
                raise _LineFault(self.at, "name=value")
            self.skip()
        return args

    def argument(self, args: dict[str, Any]) -> bool:
        """Read `name=value` into `args`; False if something else stands here."""
        match = _ARGUMENT.match(self.text, self.at)
        if match is None:
            return False
        start, self.at = self.at, match.end()
        name = self.json(match[1], start) if match[1].startswith('"') else match[1]
        self.put(args, name, self.value(), start)
        return True

    def put(self, record: dict[str, Any], name: str, value: Any, start: int) -> None:
        if name in record:
            raise _LineFault(start, f"{name} once")
        record[name] = value

    def own_word(self, step: dict[str, Any]) -> None:
        start = self.at
        match = _FROM.match(self.text, start)
        if match is not None:
            self.at = match.end()
            numbers = [_step_number(word) for word in match[1].split(",")]
            many = len(numbers) > 1 or match[2] == ","
            self.put(step["args"], "from_steps" if many else "from_step", numbers if many else numbers[0], start)
            return
        word = self.word("name=value")
        if word == "each":
            self.skip()
            self.put(step, "for_each", self.value(), start)
        elif word in ("if", "unless"):
            which = _step_number(self.word("a step"))
            self.put(step, "when", {"nonempty" if word == "if" else "empty": which}, start)
        elif word == "continue":
            self.put(step, "on_error", "continue", start)
        elif word == "as":
            self.put(step, "id", self.word("an id"), start)
        else:
            raise _LineFault(start, "name=value, <N, each, if, unless, continue or as")

    def value(self) -> Any:
        start = self.at
        match = _BARE.match(self.text, start)
        if match is not None:
            self.at = match.end()
            value: Any = match[0]
        else:
            try:
                self.at = _DECODER.raw_decode(self.text, start)[1]
            except ValueError:
                raise _LineFault(start, "a JSON value or one reference") from None
            value = self.json(self.text[start : self.at], start)
        if self.at < len(self.text) and self.text[self.at] not in " \t":
            raise _LineFault(self.at, "a space")
        return value

    def json(self, text: str, start: int) -> Any:
        try:
            return loads_strict(text)
        except JSONFault as fault:
            raise _LineFault(start, "JSON", fault.message) from None


def _step_number(word: str) -> int | str:
    return int(word) if word.isdecimal() and len(word) < 7 else word
