"""A plan as a Mermaid flowchart: steps are nodes, references are edges, effects are colours with their name.

Law: it draws any plan that `read_plan` reads, valid or not, and looks at no catalog: who knows the effects hands them
in. Ids of nodes are made here and never taken from a plan; every other text goes through `label`, so nothing that a
plan says can end a label, open markup or add a line. The same plan gives the same bytes.

| drawn | means |
|---|---|
| `s1[…]` | step 1: its tool, its effect, `for each`, `on error: continue` |
| `s1 --> s2` | step 2 refers to step 1; the label is `field → argument` |
| `s1 ==> s2` | step 2 runs once for each entry of that |
| `s1 -.-> s2` | step 2 runs only if step 1 found something, or nothing |
| `x1[/…/]` | an input, a filler, or a step of an earlier plan |
| `t([…])` | how the plan ends; unlabelled edges lead to it from what is shown |

    >>> from metnos.plan.parse import read_plan
    >>> print(draw(read_plan({"steps": [{"tool": "a", "args": {}}, {"tool": "final_answer", "args": {}}]}).plan))
    flowchart TD
        s1["1 a"]
        t(["final_answer"])
        s1 --> t
    <BLANKLINE>
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from metnos.plan.model import Ask, FinalAnswer, GoesOn, NeedsInputs
from metnos.plan.references import FillerTarget, InputTarget, Key, Reference, StepTarget
from metnos.plan.spelling import ReferenceSyntax, format_reference, format_target, is_plain, parse_string
from metnos.plan.write import numbers_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from metnos.plan.model import Plan, Step

LONGEST: Final = 80
"""Characters of a label that are shown."""
_PLAIN: Final = frozenset(" -_.,:/+=")
_COLOURS: Final[dict[str, str]] = {
    "read": "fill:#eef4fb,stroke:#4a6d8c",
    "create": "fill:#eaf6ea,stroke:#3d7a3d",
    "change": "fill:#fff6dd,stroke:#9a7400",
    "delete": "fill:#fdeaea,stroke:#a83232",
    "send": "fill:#f4eafb,stroke:#6f3c96",
    "execute": "fill:#f0f0f0,stroke:#333333",
}
"""Effect class → how its nodes look."""
ARROWS: Final[dict[str, str]] = {"refers": "-->", "each": "==>", "when": "-.->"}


def label(text: str) -> str:
    """`text` as the inside of a quoted label: what is no letter, digit or plain mark becomes its character code."""
    short = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return "".join(map(_coded, short))


def _coded(character: str) -> str:
    if character.isalnum() or character in _PLAIN:
        return character
    if character.isprintable():
        return f"#{ord(character)};"
    return f"#92;u{ord(character):04x}"  # what would turn the text round, end a line, or be seen by nobody


def draw(plan: Plan, effects: Mapping[int, str] | None = None) -> str:
    """The flowchart.

    Args:
        plan: Read, not necessarily valid; a reference to a step that is not there is left out.
        effects: Number of a step → effect class; a step that is not in it has no colour.

    Returns:
        Lines of Mermaid, each ended by a line feed.
    """
    return _Drawing(plan, effects or {}).text()


class Edge(NamedTuple):
    """Who takes what from whom: ids as `draw` writes them, `s1`, `x1`, `t`."""

    source: str
    kind: str
    """A key of `ARROWS`."""
    target: str
    label: str


class Graph(NamedTuple):
    """A plan as nodes and edges, for whoever draws it otherwise."""

    outside: dict[str, str]
    """Id of each node beside the steps → what it stands for."""
    edges: tuple[Edge, ...]
    ending: str


def graph_of(plan: Plan) -> Graph:
    """The nodes and edges that `draw` draws, their texts as they are: whoever shows them must escape them."""
    return _Drawing(plan, {}).graph()


class _Drawing:
    """Nodes and edges, gathered in the order of the plan."""

    def __init__(self, plan: Plan, effects: Mapping[int, str]) -> None:
        self._plan = plan
        self._effects = effects
        self._numbers = numbers_of(plan)
        self._outside: dict[str, str] = {}
        """What is referred to beside the steps, as it is spelled → id of its node."""
        self._edges: dict[tuple[str, str, str, str], None] = {}
        for number, step in enumerate(plan.steps, 1):
            self._step(f"s{number}", step)
        self._end(plan)

    def text(self) -> str:
        lines = ["flowchart TD"]
        lines += [f'    s{number}["{self._name(number, step)}"]' for number, step in enumerate(self._plan.steps, 1)]
        lines += [f'    {name}[/"{label(said)}"/]' for said, name in self._outside.items()]
        lines.append(f'    t(["{label(_ending(self._plan))}"])')
        for source, kind, target, said in self._edges:
            told = f'|"{label(said)}"|' if said else ""
            lines.append(f"    {source} {ARROWS[kind]}{told} {target}")
        return "\n".join([*lines, *self._classes(), ""])

    def graph(self) -> Graph:
        outside = {name: said for said, name in self._outside.items()}
        return Graph(outside, tuple(Edge(*edge) for edge in self._edges), _ending(self._plan))

    def _name(self, number: int, step: Step) -> str:
        effect = self._effects.get(number, "")
        marks = [effect if effect in _COLOURS else "", "for each" if step.for_each is not None else ""]
        marks.append("on error: continue" if step.on_error == "continue" else "")
        return "<br/>".join([label(f"{number} {step.tool}"), *filter(None, marks)])

    def _classes(self) -> list[str]:
        of = {effect: list[str]() for effect in _COLOURS}
        for number in range(1, len(self._plan.steps) + 1):
            of.get(self._effects.get(number, ""), []).append(f"s{number}")
        used = {effect: names for effect, names in of.items() if names}
        return [
            *(f"    classDef e_{effect} {_COLOURS[effect]}" for effect in used),
            *(f"    class {','.join(names)} e_{effect}" for effect, names in used.items()),
        ]

    # --- edges -------------------------------------------------------------------------------------------------------

    def _step(self, node: str, step: Step) -> None:
        if step.when is not None:
            self._from_step(step.when.step, "when", node, "if not empty" if step.when.nonempty else "if empty")
        for reference in _references(step.for_each):
            self._refer(reference, "each", node, "")
        for name, value in step.args.items():
            if name in ("from_step", "from_steps"):
                for number in cast("list[Any]", value) if isinstance(value, list) else [value]:
                    self._from_step(number, "refers", node, name)
                continue
            for reference in _references(value):
                self._refer(reference, "refers", node, name)

    def _end(self, plan: Plan) -> None:
        terminal = plan.terminal
        if not isinstance(terminal, FinalAnswer):
            return
        for name, value in (("text", terminal.text), ("data", terminal.data)):
            for reference in _references(value):
                self._refer(reference, "refers", "t", name)
        if terminal.text is None and not terminal.has_data:
            used = {source for source, kind, _, _ in self._edges if kind != "when"}
            for number in range(1, len(plan.steps) + 1):
                if f"s{number}" not in used:
                    self._add(f"s{number}", "refers", "t", "")

    def _refer(self, reference: Reference, kind: str, node: str, argument: str) -> None:
        target = reference.target
        field = _field(reference)
        said = " → ".join(filter(None, (field, argument)))
        if isinstance(target, StepTarget) and target.plan is None:
            self._from_step(target.step, kind, node, said)
        elif isinstance(target, StepTarget | InputTarget | FillerTarget):
            spelled = format_target(target)
            name = self._outside.setdefault(spelled, f"x{len(self._outside) + 1}")
            self._add(name, kind, node, said)

    def _from_step(self, step: Any, kind: str, node: str, said: str) -> None:
        number = self._numbers.get(step) if isinstance(step, str) else step
        if type(number) is int and 1 <= number <= len(self._plan.steps):
            self._add(f"s{number}", kind, node, said)

    def _add(self, source: str, kind: str, target: str, said: str) -> None:
        self._edges.setdefault((source, kind, target, said))


def _field(reference: Reference) -> str:
    """The path of a reference without its target: `entries[0].path`."""
    bare = format_reference(Reference(reference.target, reference.path))[2:-1]
    path = bare[len(format_target(reference.target)) :]
    return path.removeprefix(".") if reference.path and isinstance(reference.path[0], Key) else path


def _references(value: Any) -> Iterator[Reference]:
    """Every reference in the strings of a value; what is misspelled is passed over."""
    if isinstance(value, str):
        if not is_plain(value):
            try:
                yield from (part for part in parse_string(value) if isinstance(part, Reference))
            except ReferenceSyntax:
                return
    elif isinstance(value, dict):
        for item in cast("dict[str, Any]", value).values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _references(item)


def _ending(plan: Plan) -> str:
    terminal = plan.terminal
    if isinstance(terminal, Ask):
        return f"ask: {terminal.question}"
    if isinstance(terminal, NeedsInputs):
        return f"needs_inputs: {', '.join(terminal.form)}"
    if isinstance(terminal, GoesOn):
        return "goes on"
    return "final_answer"
