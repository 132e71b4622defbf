"""The lexical index: BM25 over what tools say of themselves, in every language that they say it in.

Law: built once for a tuple of contracts, in their order; ties go to the earlier. A description is evidence and nothing
more: how much of it counts is bounded, so that a tool does not gain by talking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from metnos.propose.routing.words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metnos.contracts.model import Contract

NAME: Final = 3
DESCRIPTION: Final = 2
ARGUMENT: Final = 1
"""How often a word of each place counts."""
MOST_WORDS: Final = 400
"""Of one tool; what comes later is not indexed: name first, arguments last."""
_DIGITS: Final = 3


class Index:
    """Scores of all contracts for some words."""

    def __init__(self, contracts: Sequence[Contract]) -> None:
        """Over `contracts`, in order."""
        import bm25s

        self.count = len(contracts)
        self._ids: dict[str, int] = {}
        ids = self._ids
        rows = [[ids.setdefault(word, len(ids)) for word in _said(contract)] for contract in contracts]
        self._model: Any = None
        if ids:
            self._model = bm25s.BM25(k1=1.5, b=0.75, backend="numpy")
            self._model.index((rows, dict(ids)), create_empty_token=False, show_progress=False)

    def known(self, word: str, admitted: Any) -> bool:
        """Whether any of the admitted tools says this word."""
        number = self._ids.get(word)
        if number is None:
            return False
        held = self._model.scores
        return bool(admitted[held["indices"][held["indptr"][number] : held["indptr"][number + 1]]].any())

    def scores(self, words: Iterable[str]) -> Any:
        """One score a contract, as an array; a word that is said twice counts once."""
        import numpy as np

        ids = sorted({self._ids[word] for word in words if word in self._ids})
        if not ids:
            return np.zeros(self.count, dtype=np.float32)
        # Rounded: what differs by less is a tie on some machine.
        return self._model.get_scores_from_ids(ids).round(_DIGITS)


def best(scores: Any, most: int, admitted: Any) -> list[int]:
    """The numbers of the `most` best contracts that score at all and are admitted, best first, ties in order."""
    import numpy as np

    found: Any = np.flatnonzero((scores > 0) & admitted)
    if len(found) > most:
        least = np.partition(scores[found], len(found) - most)[len(found) - most]
        found = found[scores[found] >= least]
    order: Any = np.argsort(-scores[found], kind="stable")
    return found[order][:most].tolist()


def _said(contract: Contract) -> list[str]:
    found = words_of(contract.original or contract.name) * NAME
    for language in sorted(contract.descriptions):
        found += words_of(contract.descriptions[language], language)[:MOST_WORDS] * DESCRIPTION
    for family in contract.families:
        if family.object:
            found += words_of(f"{family.verb} {family.object}")
    properties: Any = contract.args.get("properties", {})
    for name, schema in properties.items():
        if len(found) > MOST_WORDS:
            break
        about = schema.get("description", "") if isinstance(schema, dict) else ""  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        found += words_of(f"{name} {about}") * ARGUMENT
    return found[:MOST_WORDS]
