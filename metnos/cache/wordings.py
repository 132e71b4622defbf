"""Wordings of templates: a small grammar of sentences, compiled to one automaton a language.

Law: a literal word passes through the lexicon exactly as a word of a request does; a word that the lexicon lacks is
a fault of the template. The automaton accepts normal forms and nothing near them, and says which slot of the
template each `{kind}` of the form binds. Two ways to bind one form are a fault, not a choice.

    show [me] (the|all the) {count:integer} largest files <where>

`[…]` may be left out, `(…|…)` is one of, `{name:kind}` is a slot, `<name>` is a part of `parts.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from metnos.request.lexicon import Lexicon
from metnos.request.tokens import tokenise

_MARK = re.compile(r"[\[\]()|]|<[a-z_]+>|\{[a-z_]+:[a-z]+\}|[^\[\]()|<>{}\s]+|[<>{}]")
MAX_STATES = 20_000


class WordingFault(ValueError):
    """A wording that cannot be compiled."""


class Words(msgspec.Struct, frozen=True):
    """Literal text, as written."""

    text: str


class SlotPart(msgspec.Struct, frozen=True):
    """`{name:kind}`."""

    name: str
    kind: str


class Choice(msgspec.Struct, frozen=True):
    """One of several; an optional part is a choice with an empty sequence."""

    options: tuple[Sequence_, ...]


Node: TypeAlias = Words | SlotPart | Choice
Sequence_: TypeAlias = "tuple[Node, ...]"


def parse_wording(text: str, parts: Mapping[str, str]) -> Sequence_:
    """The tree of one wording; parts are put in place.

    Raises:
        WordingFault: brackets that do not match, an unknown part, a part inside itself.
    """
    return _Parser(text, parts, frozenset()).whole()


class _Parser:
    """Recursive descent; depth is bounded by the brackets of a data file of ours."""

    def __init__(self, text: str, parts: Mapping[str, str], inside: frozenset[str]) -> None:
        self.text = text
        self.marks = [found[0] for found in _MARK.finditer(text)]
        self.parts = parts
        self.inside = inside
        self.at = 0

    def whole(self) -> Sequence_:
        tree = self._choice("")
        return tree[0] if len(tree) == 1 else (Choice(tree),)

    def _choice(self, closing: str) -> tuple[Sequence_, ...]:
        options: list[Sequence_] = [()]
        while self.at < len(self.marks):
            mark = self.marks[self.at]
            self.at += 1
            if mark == closing:
                return tuple(options)
            if mark == "|":
                options.append(())
            else:
                options[-1] = (*options[-1], *self._node(mark))
        if closing:
            raise WordingFault(f"{closing!r} is missing in {self.text!r}")
        return tuple(options)

    def _node(self, mark: str) -> Sequence_:
        if mark == "[":
            return (Choice(((), *self._choice("]"))),)
        if mark == "(":
            return (Choice(self._choice(")")),)
        if mark[0] == "{" and len(mark) > 1:
            name, _, kind = mark[1:-1].partition(":")
            return (SlotPart(name, kind),)
        if mark[0] == "<" and len(mark) > 1:
            return self._part(mark[1:-1])
        if mark in {"]", ")", "<", ">", "{", "}"}:
            raise WordingFault(f"a stray {mark!r} in {self.text!r}")
        return (Words(mark),)

    def _part(self, name: str) -> Sequence_:
        if name not in self.parts or name in self.inside:
            raise WordingFault(f"no part <{name}>, or one inside itself, in {self.text!r}")
        return _Parser(self.parts[name], self.parts, self.inside | {name}).whole()


def canonical_words(text: str, lexicon: Lexicon) -> list[str]:
    """The tokens of a literal in the normal form.

    Raises:
        WordingFault: a word that the lexicon lacks, or something that is no word.
    """
    found: list[str] = []
    for token in tokenise(text):
        canonical = lexicon.fold_word(token.key) if token.kind == "word" else None
        if canonical is None and token.kind == "punct" and token.key in ",;:()":
            canonical = token.key
        if canonical is None or token.key in lexicon.triggers and token.key not in lexicon.words:
            raise WordingFault(f"{token.key!r} is not a word of the {lexicon.language} lexicon")
        found.extend(canonical.split(" "))
    return found


class Automaton(msgspec.Struct, frozen=True):
    """Deterministic; state 0 is the start. `accept`: state → names of the slots, in the order of the form."""

    states: tuple[dict[str, int], ...]
    accept: dict[str, tuple[str, ...]]

    def names(self, form: Sequence[str]) -> tuple[str, ...] | None:
        """The slots that `form` (a normal form, split) binds, None if it is not accepted."""
        state: int | None = 0
        for token in form:
            state = self.states[state].get(token)
            if state is None:
                return None
        return self.accept.get(str(state))


_Edge: TypeAlias = tuple[str, int, str]  # token ("" moves without one), target, slot name or ""
_Config: TypeAlias = tuple[int, tuple[str, ...]]


class _Net:
    """The non-deterministic automaton of some wordings."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.edges: list[list[_Edge]] = [[]]

    def node(self) -> int:
        self.edges.append([])
        return len(self.edges) - 1

    def add(self, tree: Sequence_, start: int, end: int) -> None:
        for node in tree:
            start = self._add_node(node, start)
        self.edges[start].append(("", end, ""))

    def _add_node(self, node: Node, start: int) -> int:
        if isinstance(node, Choice):
            end = self.node()
            for option in node.options:
                self.add(option, start, end)
            return end
        if isinstance(node, SlotPart):
            end = self.node()
            self.edges[start].append((f"{{{node.kind}}}", end, node.name))
            return end
        for word in canonical_words(node.text, self.lexicon):
            end = self.node()
            self.edges[start].append((word, end, ""))
            start = end
        return start

    def closure(self, configs: set[_Config]) -> frozenset[_Config]:
        todo = list(configs)
        while todo:
            at, names = todo.pop()
            for token, target, _ in self.edges[at]:
                if not token and (target, names) not in configs:
                    configs.add((target, names))
                    todo.append((target, names))
        return frozenset(configs)

    def moves(self, configs: frozenset[_Config]) -> dict[str, frozenset[_Config]]:
        reached: dict[str, set[_Config]] = {}
        for at, names in configs:
            for token, target, name in self.edges[at]:
                if token:
                    reached.setdefault(token, set()).add((target, (*names, name) if name else names))
        return {token: self.closure(found) for token, found in sorted(reached.items())}


def compile_wordings(trees: Sequence[Sequence_], lexicon: Lexicon) -> Automaton:
    """One automaton for all wordings of a language.

    Raises:
        WordingFault: an unknown word, a form that binds in two ways, an empty form, too many states.
    """
    net = _Net(lexicon)
    end = net.node()
    for tree in trees:
        net.add(tree, 0, end)
    start = net.closure({(0, ())})
    numbers = {start: 0}
    todo = [start]
    states: list[dict[str, int]] = [{}]
    accept: dict[str, tuple[str, ...]] = {}
    while todo:
        configs = todo.pop()
        number = numbers[configs]
        endings = {names for at, names in configs if at == end}
        if len(endings) > 1:
            raise WordingFault(f"one form binds {' and '.join(map(str, sorted(endings)))}")
        if endings:
            accept[str(number)] = endings.pop()
        for token, target in net.moves(configs).items():
            if target not in numbers:
                numbers[target] = len(states)
                states.append({})
                todo.append(target)
            states[number][token] = numbers[target]
        if len(states) > MAX_STATES:
            raise WordingFault(f"more than {MAX_STATES} states")
    if "0" in accept:
        raise WordingFault("a wording that may be empty")
    return Automaton(tuple(states), accept)


def shared_form(left: Automaton, right: Automaton) -> str | None:
    """A form that both accept, None if there is none: two templates must not share one."""
    seen = {(0, 0)}
    todo: list[tuple[int, int, tuple[str, ...]]] = [(0, 0, ())]
    while todo:
        here, there, path = todo.pop()
        if str(here) in left.accept and str(there) in right.accept:
            return " ".join(path)
        for token in left.states[here].keys() & right.states[there].keys():
            pair = (left.states[here][token], right.states[there][token])
            if pair not in seen:
                seen.add(pair)
                todo.append((*pair, (*path, token)))
    return None


def sentences(tree: Sequence_, value: Callable[[SlotPart], str], choose: Callable[[int], int]) -> str:
    """One sentence of a wording: `choose(n)` picks an option of n, `value` fills a slot."""
    return " ".join(_walk(tree, value, choose))


def _walk(tree: Sequence_, value: Callable[[SlotPart], str], choose: Callable[[int], int]) -> Iterator[str]:
    for node in tree:
        if isinstance(node, Words):
            yield node.text
        elif isinstance(node, SlotPart):
            yield value(node)
        else:
            yield from _walk(node.options[choose(len(node.options))], value, choose)
