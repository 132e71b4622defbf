"""Spelling of references: text to `Parts` and back, by the one grammar `reference.lark`.

Law: a string without `${` and `$<` is plain text and never wakes the grammar (loading lark costs some 25 ms). Nor does
one whose references are all of the plainest kind, which `plan.plainest` reads.
What is parsed is remembered, so the parts are shared: treat them, fallbacks included, as frozen.
`format_reference` writes the canonical spelling; `parse_string(format_parts(parts)) == parts` for all parts that
`parse_string` can return.

    >>> format_reference(parse_string('$< step2.entries[0]["path"] ??null >')[0])
    '${step2.entries[0].path ?? null}'
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import JSONFault, loads_strict, spell
from metnos.plan.plainest import plainest
from metnos.plan.references import (
    Every,
    FillerTarget,
    Index,
    InputTarget,
    ItemTarget,
    Key,
    Parts,
    Reference,
    RuntimeTarget,
    Segment,
    SlotTarget,
    StepTarget,
    Target,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lark import Lark

REMEMBERED = 4096
"""Strings whose parts are kept."""

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_DOLLARS = re.compile(r"(\$+)(?=[{<])")
_DOLLARS_AT_END = re.compile(r"\$+\Z")
_RESERVED_ID = re.compile(r"(?:step|plan)_?[0-9]+|item|runtime|filler|input|slot", re.IGNORECASE)
ID = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""Ids of steps, names of fillers, inputs and slots."""

EXPECTED: dict[str, str] = {
    "STEP": "stepN",
    "ID": "the id of a step",
    "PLAN": "planN.stepN",
    "EARLIER_STEP": ".stepN",
    "ITEM": "item",
    "_RUNTIME": "RUNTIME:key",
    "_FILLER": "FILLER:name",
    "_INPUT": "INPUT:name",
    "_SLOT": "SLOT:name",
    "RUNTIME_KEY": "a key such as `today` or `day-1`",
    "NAME": "a name",
    "DOT_KEY": ".field",
    "QUOTED_KEY": '["field"]',
    "INDEX": "[0]",
    "EVERY": "[*]",
    "_OTHERWISE": "?? literal",
    "JSON_LITERAL": "a JSON scalar, [] or {}",
    "_CLOSE_BRACE": "}",
    "_CLOSE_ANGLE": ">",
}
"""Terminals of the grammar → what a person reads, in the order in which they are listed."""


class ReferenceSyntax(Exception):
    """A misspelled reference.

    Attributes:
        text: the whole string.
        position: index of the first character that does not fit, from 0.
        expected: what could stand there instead.
        hint: how to mend it, empty where the code's own hint says it.
    """

    code = "reference-syntax"

    def __init__(self, text: str, position: int, expected: tuple[str, ...], hint: str = "") -> None:
        super().__init__(f"character {position + 1} of {text!r}: expected {', '.join(expected)}")
        self.text = text
        self.position = position
        self.expected = expected
        self.hint = hint

    def diagnostic(self, where: str) -> Diagnostic:
        """As a diagnostic of the string at JSON pointer `where`."""
        rest = self.text[self.position : self.position + 20]
        found = f"character {self.position + 1}: " + (f"`{rest}`" if rest else "the end of the string")
        return Diagnostic(code=self.code, where=where, found=found, expected=", ".join(self.expected), hint=self.hint)


def is_plain(text: str) -> bool:
    """Whether the string holds no reference and no escape, so that it stands for itself."""
    return "${" not in text and "$<" not in text


def parse_string(text: str) -> Parts:
    """The pieces of a string of a plan; one `Reference` alone keeps its value's type.

    Raises:
        ReferenceSyntax: a reference in it is misspelled.
    """
    if "${" not in text and "$<" not in text:
        return (text,)
    return _parse(text)


@lru_cache(maxsize=REMEMBERED)
def _parse(text: str) -> Parts:
    parts = plainest(text)
    return by_grammar(text) if parts is None else parts


def by_grammar(text: str) -> Parts:
    """The pieces of any string, by the grammar.

    Raises:
        ReferenceSyntax: a reference in it is misspelled.
    """
    import lark

    grammar: Any = _grammar()
    try:
        return grammar.parse(text)
    except ReferenceSyntax as error:
        raise ReferenceSyntax(text, error.position, error.expected, error.hint) from None
    except lark.UnexpectedToken as error:
        # The only fault there is: every character begins a terminal somewhere in the grammar.
        token: Any = error.token
        position = len(text) if token.type == "$END" else token.start_pos
        raise _syntax(text, position, error.accepts or error.expected) from None


def _syntax(text: str, position: int, terminals: Iterable[str]) -> ReferenceSyntax:
    known = set(terminals)
    expected = tuple(words for name, words in EXPECTED.items() if name in known)
    hint = ""
    if position >= 2 and text[position - 2 : position] == "$<":
        hint = "write `$$<` for a literal `$<`"
    elif re.match(r"(?:step|plan)0", text[position:]):
        hint = "steps and plans are numbered from 1"
    elif re.match(r"\[-", text[position:]):
        hint = "an index counts from 0; negative ones are not in the language"
    return ReferenceSyntax(text, position, expected, hint)


# --- the grammar, loaded once -------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _grammar() -> Lark:
    import lark

    transformer = type("Builder", (lark.Transformer,), {name: _rule(make) for name, make in _RULES.items()})
    source = Path(__file__).with_name("reference.lark").read_text(encoding="utf-8")
    return lark.Lark(source, parser="lalr", lexer="contextual", transformer=transformer(), maybe_placeholders=False)


def _rule(make: Callable[[list[Any]], Any]) -> Callable[[Any, list[Any]], Any]:
    return lambda _, children: make(children)


def _start(children: list[Any]) -> Parts:
    parts: list[str | Reference] = []
    for piece in children:
        if isinstance(piece, str) and parts and isinstance(parts[-1], str):
            parts[-1] += piece
        else:
            parts.append(piece)
    return tuple(parts)


def _text(children: list[Any]) -> str:
    token = children[0]
    return str(token)[::2] if token.type == "ESCAPE" else str(token)


def _reference(children: list[Any]) -> Reference:
    target, *path = children
    if path and isinstance(path[-1], _Fallback):
        return Reference(target, tuple(path[:-1]), has_fallback=True, fallback=path[-1].literal)
    return Reference(target, tuple(path))


class _Fallback:
    __slots__ = ("literal",)

    def __init__(self, literal: Any) -> None:
        self.literal = literal


def _json(token: Any, start: int, end: int) -> Any:
    try:
        return loads_strict(str(token)[start : len(token) - end])
    except JSONFault as error:
        raise ReferenceSyntax("", token.start_pos + start, ("a JSON value",), error.message) from None


_RULES: dict[str, Callable[[list[Any]], Any]] = {
    "start": _start,
    "text": _text,
    "braced": lambda children: children[0],
    "angled": lambda children: children[0],
    "reference": _reference,
    "step": lambda children: StepTarget(int(children[0][4:])),
    "by_id": lambda children: StepTarget(str(children[0])),
    "earlier": lambda children: StepTarget(int(children[1][5:]), plan=int(children[0][4:])),
    "item": lambda _: ItemTarget(),
    "runtime": lambda children: RuntimeTarget(str(children[0])),
    "filler": lambda children: FillerTarget(str(children[0])),
    "input": lambda children: InputTarget(str(children[0])),
    "slot": lambda children: SlotTarget(str(children[0])),
    "key": lambda children: Key(str(children[0][1:])),
    "quoted_key": lambda children: Key(_json(children[0], 1, 1)),
    "index": lambda children: Index(int(children[0][1:-1])),
    "every": lambda _: Every(),
    "fallback": lambda children: _Fallback(_json(children[0], 0, 0)),
}


# --- writing ------------------------------------------------------------------------------------------------


def format_reference(reference: Reference) -> str:
    """The canonical spelling, `${…}`."""
    path = "".join(map(_format_segment, reference.path))
    fallback = f" ?? {spell(reference.fallback)}" if reference.has_fallback else ""
    return f"${{{format_target(reference.target)}{path}{fallback}}}"


def format_parts(parts: Parts) -> str:
    """The string whose pieces are `parts`, references in canonical spelling, literal `${` and `$<` escaped."""
    out: list[str] = []
    for index, part in enumerate(parts):
        if isinstance(part, str):
            out.append(_escape(part, before_reference=index + 1 < len(parts)))
        else:
            out.append(format_reference(part))
    return "".join(out)


def format_target(target: Target) -> str:
    """What stands before the path: `step2`, `RUNTIME:day-1` …"""
    match target:
        case StepTarget(step=step, plan=None):
            return f"step{step}" if isinstance(step, int) else step
        case StepTarget(step=step, plan=plan):
            return f"plan{plan}.step{step}"
        case ItemTarget():
            return "item"
        case RuntimeTarget(key=key):
            return f"RUNTIME:{key}"
        case FillerTarget(name=name):
            return f"FILLER:{name}"
        case InputTarget(name=name):
            return f"INPUT:{name}"
        case SlotTarget(name=name):
            return f"SLOT:{name}"


def _format_segment(segment: Segment) -> str:
    match segment:
        case Key(name=name):
            return f".{name}" if _PLAIN_KEY.fullmatch(name) else f"[{spell(name)}]"
        case Index(number=number):
            return f"[{number}]"
        case Every():
            return "[*]"


def _escape(text: str, *, before_reference: bool) -> str:
    text = _DOLLARS.sub(r"\1\1", text)
    return _DOLLARS_AT_END.sub(lambda run: run[0] * 2, text) if before_reference else text


def is_id(text: str) -> bool:
    """Whether `text` may be the id of a step: a plain word that is nothing else in a reference."""
    return ID.fullmatch(text) is not None and _RESERVED_ID.fullmatch(text) is None


def is_reserved(text: str) -> bool:
    """Whether `text` means something else in a reference (`step2`, `item`), or is a number."""
    return _RESERVED_ID.fullmatch(text) is not None or text.isdecimal()
