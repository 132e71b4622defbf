"""The choices of a line as a grammar: Lark as llguidance reads it, for the line notation and for the plan file.

Law: spelling only; both forms are written from the same choices. What is one value is one terminal, so that the mask of
a token costs the same whether a value has two spellings to choose from or two hundred. A list of different items is a
parametric rule: a bit for each item that is used (llguidance, docs/parametric.md).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from metnos.plan.jsondata import spell
from metnos.plan.notation import is_plain_name
from metnos.propose.decode.choices import Argument, Fields, Fork, Group, Listed, OneOf, Several, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.propose.decode.choices import Form, Line, Node, Part

EMPTY = '""'
COMMA: Final = '("," | ", ")'
"""Between two items: models are used to a blank there, and one that may not write it is surprised, whatever it means."""
NEWLINE = "\n"


def quoted(text: str) -> str:
    """A literal of the grammar."""
    return json.dumps(text, ensure_ascii=False)


class _Rules:
    """Rules that have a name, each once."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self.lines: list[str] = []

    def rule(self, body: str, *, terminal: bool = False) -> str:
        """The name of a rule with this body."""
        key = f"{terminal}{body}"
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = f"{'V' if terminal else 'r'}{len(self._known)}"
            self.lines.append(f"{name}: {body}")
        return name

    def terminal(self, texts: Iterable[str]) -> str:
        """One of these texts."""
        found = list(dict.fromkeys(texts))
        return quoted(found[0]) if len(found) == 1 else self.rule(" | ".join(map(quoted, found)), terminal=True)

    def different(self, items: list[str], least: int, most: int) -> str:
        """`[…]` of different items."""
        name, rest = f"l{len(self._known)}", f"m{len(self._known)}"
        body = "\n  | ".join(
            f"{quoted(item)} {rest}::set_bit({at}) %if bit_clear({at})" for at, item in enumerate(items[:60])
        )
        key = f"{body}{least},{most}"
        if key not in self._known:
            self._known[key] = name
            self.lines.append(f"{name}::_: {body}")
            closes = f'"]" %if bit_count_ge(_, {least})'
            self.lines.append(f"{rest}::_: {closes}\n  | {COMMA} {name}::_ %if bit_count_lt(_, {most})")
        return f'"[" {self._known[key]}::0x0'


class _Notation:
    """Values, and a step in line notation."""

    def __init__(self) -> None:
        self.rules = _Rules()

    def value(self, value: Value) -> str:
        return value.line

    def node(self, node: Node, *, top: bool) -> str:
        rules = self.rules
        if isinstance(node, OneOf):
            return rules.terminal((self.value(each) if top else each.json) for each in node.values)
        if isinstance(node, Several):
            return rules.different([each.json for each in node.items], node.least, node.most)
        if isinstance(node, Listed):
            item = self.node(node.item, top=False)
            item = item if item.isidentifier() else rules.rule(item)
            return f'"[" {item} ({COMMA} {item}){{{node.least - 1},{node.most - 1}}} "]"'
        if isinstance(node, Fields):
            return rules.rule(self.fields(node))
        return rules.rule(" | ".join(self.node(each, top=top) for each in node.nodes))

    def fields(self, node: Fields) -> str:
        """An object: its first required field has no comma before it, what may be left out comes behind."""
        ordered = sorted(node.fields, key=lambda field: not field.required)
        found: list[str] = []
        for at, field in enumerate(ordered):
            opens = "{" if at == 0 else ","
            body = f"{quoted(f'{opens}{spell(field.name)}:')} {self.node(field.node, top=False)}"
            found.append(body if field.required else f"({body})?")
        return " ".join([*found, '"}"'])

    # --- a line

    def argument(self, argument: Argument) -> str:
        name = argument.name if is_plain_name(argument.name) else spell(argument.name)
        body = f"{quoted(f' {name}=')} {self.node(argument.node, top=True)}"
        return body if argument.required else f"({body})?"

    def part(self, part: Part) -> str:
        if isinstance(part, Argument):
            return self.argument(part)
        if isinstance(part, Group):
            return f"({' | '.join(self.argument(each) for each in part.arguments)})"
        return f"({' | '.join(self.parts(way) or EMPTY for way in part.ways)})"

    def parts(self, parts: Iterable[Part]) -> str:
        return " ".join(self.part(part) for part in parts)

    def form(self, form: Form) -> str:
        source = self.rules.terminal(f" <{number}" for number in form.sources) if form.sources else ""
        each = quoted(f" each {form.each.json}") if form.each is not None else ""
        body = " ".join(filter(None, (source, self.parts(form.parts), each)))
        return self.rules.rule(body) if body else EMPTY


class _Json(_Notation):
    """A step as it stands in a plan file."""

    def value(self, value: Value) -> str:
        return value.json

    def argument(self, argument: Argument) -> str:
        return f"{quoted(f'{spell(argument.name)}:')} {self.node(argument.node, top=True)}"

    def form(self, form: Form) -> str:
        steps = [Argument("from_step", OneOf(tuple(Value(number) for number in form.sources)))] if form.sources else []
        each = f',"for_each":{form.each.json}' if form.each is not None else ""
        return self.rules.rule(f"{self.items((*steps, *form.parts), begun=False)} {quoted('}' + each + '}')}")

    def items(self, parts: tuple[Part, ...], *, begun: bool) -> str:
        """The arguments from here on; before the first there is no comma."""
        if not parts:
            return EMPTY
        part, rest = parts[0], parts[1:]
        comma = '"," ' if begun else ""
        behind = self.items(rest, begun=True)
        if isinstance(part, Fork):
            return f"({' | '.join(self.items((*way, *rest), begun=begun) for way in part.ways)})"
        if isinstance(part, Group):
            return f"{comma}({' | '.join(self.argument(each) for each in part.arguments)}) {behind}"
        if part.required:
            return f"{comma}{self.argument(part)} {behind}"
        if begun:
            return f"({comma}{self.argument(part)})? {behind}"
        return self.rules.rule(f"{self.argument(part)} {behind} | {self.items(rest, begun=False)}")


JSON_BEGINS = '{"steps":['
_TOOL = '{"tool":'
_OPENED = '{},"args":{{'
JSON_ENDS = '{"tool":"final_answer","args":{}}]}'


def json_grammar(line: Line) -> str:
    """The grammar of the next step in a plan file, under the same choices; its comma and what begins the file included."""
    notation = _Json()
    by_tool: dict[str, list[str]] = {}
    for form in line.forms:
        by_tool.setdefault(form.tool, []).append(notation.form(form))
    opens = JSON_BEGINS if line.number == 1 else ","
    steps = [f"{quoted(_OPENED.format(spell(tool)))} ({' | '.join(forms)})" for tool, forms in by_tool.items()]
    ways = [f"{quoted(_TOOL)} ({' | '.join(steps)})"] if steps else []
    if line.ends:
        ways.append(quoted(JSON_ENDS))
    return "\n".join([f"start: {quoted(opens)} ({' | '.join(ways)})", *notation.rules.lines]) + "\n"


def line_grammar(line: Line) -> str:
    """The grammar of the next line in line notation, its number and its end included."""
    notation = _Notation()
    by_tool: dict[str, list[str]] = {}
    for form in line.forms:
        by_tool.setdefault(form.tool, []).append(notation.form(form))
    steps = [f"{quoted(tool)} ({' | '.join(forms)})" for tool, forms in by_tool.items()]
    ways = [f"{quoted(f'{line.number} ')} ({' | '.join(steps)}) {quoted(NEWLINE)}"] if steps else []
    if line.ends:
        ways.append(quoted(f"end{NEWLINE}"))
    return "\n".join([f"start: {' | '.join(ways)}", *notation.rules.lines]) + "\n"
