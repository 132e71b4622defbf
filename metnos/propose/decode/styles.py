"""What a plan is written in: line notation, or the plan file itself; step by step under the same choices.

Law: a style spells and reads one step; nothing else differs between the two, so that they can be compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import JSONFault, is_object, loads_strict, spell
from metnos.plan.notation import parse_lines, show
from metnos.plan.parse import read_plan
from metnos.plan.write import to_json
from metnos.propose.decode.lark import JSON_BEGINS, JSON_ENDS, json_grammar, line_grammar

if TYPE_CHECKING:
    from metnos.propose.decode.choices import Line
    from metnos.propose.decode.state import Plan

_END: Final[Plan] = {"tool": "final_answer", "args": {}}


class Style(Protocol):
    """How steps are written."""

    def grammar(self, line: Line) -> str:
        """Of the next step, or of the end."""
        ...

    def ends(self, text: str) -> bool:
        """Whether a text of that grammar is the end of the plan."""
        ...

    def read(self, text: str, number: int) -> tuple[Plan | None, tuple[Diagnostic, ...]]:
        """The step that a text of the grammar stands for, or why there is none."""
        ...

    def write(self, number: int, step: Plan) -> str:
        """The text of a step."""
        ...


class Lines:
    """Line notation: what small models write."""

    def grammar(self, line: Line) -> str:
        """A number, a tool, its arguments, a newline; or `end`."""
        return line_grammar(line)

    def ends(self, text: str) -> bool:
        """Whether it is `end`."""
        return text == "end\n"

    def read(self, text: str, number: int) -> tuple[Plan | None, tuple[Diagnostic, ...]]:
        """One line."""
        before = "".join(f"{at} x\n" for at in range(1, number))
        parsed = parse_lines(f"{before}{text}end\n")
        if parsed.plan is None or parsed.diagnostics:
            return None, parsed.diagnostics
        return to_json(parsed.plan)["steps"][number - 1], ()

    def write(self, number: int, step: Plan) -> str:
        """One line."""
        plan = read_plan({"steps": [step, _END]}).plan
        assert plan is not None
        return f"{number}{show(plan).splitlines()[0].removeprefix('1')}\n"


class PlanFile:
    """The plan file: some 2.5 times the tokens."""

    def grammar(self, line: Line) -> str:
        """A step with the comma before it; the first with what begins the file."""
        return json_grammar(line)

    def ends(self, text: str) -> bool:
        """Whether it is the terminal."""
        return text.endswith(JSON_ENDS)

    def read(self, text: str, number: int) -> tuple[Plan | None, tuple[Diagnostic, ...]]:
        """One step."""
        try:
            step: Any = loads_strict(text.removeprefix(JSON_BEGINS if number == 1 else ","))
        except JSONFault as fault:
            return None, (Diagnostic(code=fault.code, where="", found=fault.message),)
        return (step, ()) if is_object(step) else (None, (Diagnostic(code="wrong-type", where=""),))

    def write(self, number: int, step: Plan) -> str:
        """One step."""
        rest = "".join(f",{spell(name)}:{spell(value)}" for name, value in step.items() if name not in ("tool", "args"))
        begins = JSON_BEGINS if number == 1 else ","
        return f'{begins}{{"tool":{spell(step["tool"])},"args":{spell(step["args"])}{rest}}}'


LINES: Final[Style] = Lines()
PLAN_FILE: Final[Style] = PlanFile()
