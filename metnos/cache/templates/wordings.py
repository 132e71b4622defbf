"""Wordings of templates: a small grammar of sentences, compiled to one automaton a language.

Law: a literal word passes through the lexicon exactly as a word of a request does; a word that the lexicon lacks is
a fault of the template. The automaton is built at first use and accepts normal forms and nothing near them, and says which slot of the
template each `{kind}` of the form binds. Two ways to bind one form are a fault, not a choice.

    show [me] (the|all the) {count:integer} largest files <where>

`[…]` may be left out, `(…|…)` is one of, `{name:kind}` is a slot, `<name>` is a part of `parts.toml`, and `{name+}`
is a flag: it stands for no word, and says that this way through the sentence was taken (`[including hidden files
{hidden+}]`). Among the names that a form binds, a flag is written `+name`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

import msgspec

from metnos.request.lexicon import lexicon_for
from metnos.request.tokens import fold, tokenise

_MARK = re.compile(r"[\[\]()|]|<[a-z_]+>|\{[a-z_]+:[a-z]+\}|\{[a-z_]+\+\}|[^\[\]()|<>{}\s]+|[<>{}]")
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


class Flag(msgspec.Struct, frozen=True):
    """`{name+}`."""

    name: str


class Choice(msgspec.Struct, frozen=True):
    """One of several; an optional part is a choice with an empty sequence."""

    options: tuple[Sequence_, ...]


Node: TypeAlias = Words | SlotPart | Flag | Choice
Sequence_: TypeAlias = "tuple[Node, ...]"


def parse_wording(text: str, parts: Mapping[str, str]) -> Sequence_:
    """The tree of one wording; parts are put in place.

    Raises:
        WordingFault: brackets that do not match, an unknown part (a part holds no other).
    """
    return _Parser(text, parts).whole()


@lru_cache(maxsize=256)
def _parse_part(text: str) -> Sequence_:
    return _Parser(text, {}).whole()


class _Parser:
    """Recursive descent; depth is bounded by the brackets of a data file of ours."""

    def __init__(self, text: str, parts: Mapping[str, str]) -> None:
        self.text = text
        self.marks = [found[0] for found in _MARK.finditer(text)]
        self.parts = parts
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
        if mark[0] == "{" and mark.endswith("+}"):
            return (Flag(mark[1:-2]),)
        if mark[0] == "{" and len(mark) > 1:
            name, _, kind = mark[1:-1].partition(":")
            return (SlotPart(name, kind),)
        if mark[0] == "<" and len(mark) > 1:
            return self._part(mark[1:-1])
        if mark in {"]", ")", "<", ">", "{", "}"}:
            raise WordingFault(f"a stray {mark!r} in {self.text!r}")
        return (Words(mark),)

    def _part(self, name: str) -> Sequence_:
        if name not in self.parts:
            raise WordingFault(f"no part <{name}> here: {self.text!r}")
        return _parse_part(self.parts[name])


@lru_cache(maxsize=4096)
def canonical_words(text: str, language: str) -> tuple[str, ...]:
    """The tokens of a literal in the normal form.

    Raises:
        WordingFault: a word that the lexicon lacks, or something that is no word.
    """
    lexicon = lexicon_for(language)
    found: list[str] = []
    for token in tokenise(text):
        canonical = lexicon.fold_word(token.key) if token.kind == "word" else None
        if canonical is None and token.kind == "punct" and token.key in ",;:()":
            canonical = token.key
        if canonical is None:
            raise WordingFault(f"{token.key!r} is not a word of the {language} lexicon")
        found.extend(canonical.split(" "))
    return tuple(found)


def _unheld(text: str, language: str) -> str | None:
    """How a synonym that a wording names reads where it is none: the wording says that it fits here too."""
    word = lexicon_for(language).words.get(fold(text))
    return fold(text) if word is not None and word.holds != "always" else None


_Edge: TypeAlias = tuple[str, int, str]  # token ("" moves without one), target, name of the slot or flag, or ""
_Config: TypeAlias = tuple[int, tuple[str, ...]]  # node, names bound on the way
State: TypeAlias = frozenset[_Config]


class Automaton:
    """Accepts the forms of some wordings; made deterministic state by state, as requests come by.

    A state is a set of (node, names bound so far). States are remembered; two threads may make one twice, to the
    same end.
    """

    def __init__(self, trees: Sequence[Sequence_], language: str) -> None:
        """Compile `trees`.

        Raises:
            WordingFault: a word that the lexicon lacks.
        """
        self._language = language
        self._edges: list[list[_Edge]] = [[], []]
        for tree in trees:
            self._add(tree, 0, 1)
        self._moves: dict[State, dict[str, State]] = {}
        self.start: State = self._closure({(0, ())})

    def names(self, form: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """The ways in which `form` (a normal form, split) binds slots, in the order of the form; empty: not accepted."""
        state = self.start
        for token in form:
            following = self.moves(state).get(token)
            if following is None:
                return ()
            state = following
        return self.endings(state)

    def endings(self, state: State) -> tuple[tuple[str, ...], ...]:
        """The bindings with which `state` accepts."""
        return tuple(sorted({names for node, names in state if node == 1}))

    def moves(self, state: State) -> dict[str, State]:
        """Token → next state."""
        found = self._moves.get(state)
        if found is None:
            reached: dict[str, set[_Config]] = {}
            for node, names in state:
                for token, target, name in self._edges[node]:
                    if token:
                        reached.setdefault(token, set()).add((target, (*names, name) if name else names))
            found = {token: self._closure(configs) for token, configs in reached.items()}
            self._moves[state] = found
        return found

    def states(self) -> Iterator[State]:
        """Every state that can be reached.

        Raises:
            WordingFault: there are too many.
        """
        seen, todo = {self.start}, [self.start]
        while todo:
            state = todo.pop()
            yield state
            for following in self.moves(state).values():
                if following not in seen:
                    seen.add(following)
                    todo.append(following)
            if len(seen) > MAX_STATES:
                raise WordingFault(f"more than {MAX_STATES} states")

    def _node(self) -> int:
        self._edges.append([])
        return len(self._edges) - 1

    def _add(self, tree: Sequence_, start: int, end: int) -> None:
        for node in tree:
            start = self._add_node(node, start)
        self._edges[start].append(("", end, ""))

    def _add_node(self, node: Node, start: int) -> int:
        if isinstance(node, Choice):
            end = self._node()
            for option in node.options:
                self._add(option, start, end)
            return end
        if isinstance(node, Flag):
            end = self._node()
            self._edges[start].append(("", end, f"+{node.name}"))
            return end
        if isinstance(node, SlotPart):
            end = self._node()
            self._edges[start].append((f"{{{node.kind}}}", end, node.name))
            return end
        first = start
        for word in canonical_words(node.text, self._language):
            end = self._node()
            self._edges[start].append((word, end, ""))
            start = end
        if (itself := _unheld(node.text, self._language)) is not None:
            self._edges[first].append((itself, start, ""))
        return start

    def _closure(self, configs: set[_Config]) -> State:
        todo = list(configs)
        while todo:
            node, names = todo.pop()
            for token, target, name in self._edges[node]:
                config = (target, (*names, name) if name else names)
                if not token and config not in configs:
                    configs.add(config)
                    todo.append(config)
        return frozenset(configs)


def shared_form(left: Automaton, right: Automaton) -> str | None:
    """A form that both accept, None if there is none: two templates must not share one."""
    start = (left.start, right.start)
    seen = {start}
    todo: list[tuple[State, State, tuple[str, ...]]] = [(*start, ())]
    while todo:
        here, there, path = todo.pop()
        if left.endings(here) and right.endings(there):
            return " ".join(path)
        ours, theirs = left.moves(here), right.moves(there)
        for token in ours.keys() & theirs.keys():
            pair = (ours[token], theirs[token])
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
        elif isinstance(node, Choice):
            yield from _walk(node.options[choose(len(node.options))], value, choose)
