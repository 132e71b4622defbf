"""Two questions in one request of which only the second is about certain rows: "how many rows are there, and how many of Leo's".

Law: two figures are asked for, a word that joins stands between them, the first has words of its own, and all values that say
which rows stand behind the second. Then the first is reckoned before the rows are narrowed. Values anywhere else are meant
for all that is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metnos.propose.decode.called import Called

REACH = 3
"""Words between a word that joins and the question behind it."""


def is_first_of_all(called: Called) -> bool:
    """Whether the first question is about all rows, and only a later one about certain ones."""
    offers, words = called.offers, called.words
    owed = offers.held.owed
    if not owed:
        return False
    known = offers.lexicon.words
    roles = [known[word.key].roles if word.key in known else frozenset[str]() for word in words]
    asked = sorted(
        {*called.at("number"), *called.at("amount"), *(at for at in (called.rows.reckoned,) if at is not None)}
    )
    joins = [at for at, each in enumerate(roles) if "separator" in each and words[at].free]
    for first, second in ((a, b) for a in asked for b in asked if a < b):
        between = [at for at in joins if first < at < second and second - at <= REACH]
        own = between and any(words[at].meant and at not in asked for at in range(first + 1, between[0]))
        if own and min(owed) > words[second].start:
            return True
    return False
