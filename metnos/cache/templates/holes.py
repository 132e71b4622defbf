"""What a sentence lacks to be a template's: one slot at its end, with the words before it.

Law: only where one template, with one of its slots, could go on from the sentence and be whole then. Two ways on are no
question but a miss. Nothing is served from here: with the answer the whole sentence is understood and looked up anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.cache.model import Hole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from metnos.cache.templates.wordings import Automaton, State

MOST_WORDS = 3
"""Between the sentence and the slot."""


def hole_of(form: list[str], spoken: Iterable[tuple[Automaton, str]]) -> Hole | None:
    """The one hole at the end of `form`; None if there is none, or more than one.

    Args:
        form: Normal form, split.
        spoken: Automata that begin with its first token, each with its template's id.
    """
    found: dict[tuple[str, str], dict[tuple[str, ...], list[str]]] = {}
    for automaton, template in spoken:
        state: State | None = automaton.start
        for token in form:
            state = automaton.moves(state).get(token) if state is not None else None
        if state is None:
            continue
        for slot, words, kind in _ways_on(automaton, state, ()):
            found.setdefault((template, slot), {}).setdefault(words, []).append(kind)
    if len(found) != 1:
        return None
    (((template, slot), ways),) = found.items()
    words = min(ways, key=lambda one: (len(one), one))
    forms = tuple(" ".join((*form, *words, kind)) for kind in sorted(set(ways[words])))
    return Hole(template=template, slot=slot, words=" ".join(words), forms=forms)


def _ways_on(automaton: Automaton, state: State, words: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """(slot, words before it, its token) after which the sentence may end."""
    for token, following in automaton.moves(state).items():
        if token.startswith("{"):
            for names in automaton.endings(following):
                said = [name for name in names if not name.startswith("+")]
                yield said[-1], words, token
        elif len(words) < MOST_WORDS:
            yield from _ways_on(automaton, following, (*words, token))
