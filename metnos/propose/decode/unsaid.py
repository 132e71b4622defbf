"""What was said and a whole plan does not say: signs that it is a guess, so that a person sees it first (ADR 0027).

Law: counted, never judged by a model; one is enough. The plan may be right all the same.

| counted | because |
|---|---|
| words for what is acted on, where a search has found it ("both pump manuals") | it may be more than was meant |
| a word in capitals ("still have a TODO in them") | it is what was looked for |
| figures of each of what is no column | the plan has them of all rows |
| an effect is given the name of a folder that is not here but below | it would make another of that name |
| some of whole texts are taken | the lines in them are not told apart |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.plan.jsondata import spell
from metnos.propose.decode.enough import FIGURES

if TYPE_CHECKING:
    from metnos.propose.decode.state import Sofar
    from metnos.propose.decode.wanted import Wanted

TEXT: Final = "text"
TAKING: Final = "take"
SHORT: Final = 2
"""Letters of a word in capitals that may be an abbreviation."""


def unsaid(wanted: Wanted, sofar: Sofar) -> int:
    """How many of these there are; where a plan goes on, none."""
    if sofar.context.earlier_steps:
        return 0
    return _words(wanted, sofar) + _lacks_groups(wanted, sofar) + _cut_texts(sofar) + _anew(wanted, sofar)


def _anew(wanted: Wanted, sofar: Sofar) -> int:
    acting = (sofar.steps[step.number - 1]["args"] for step in sofar.checked.steps if step.worst_effect != "read")
    return sum(
        isinstance(data, str) and data in wanted.offers.below_folders for args in acting for data in args.values()
    )


def _words(wanted: Wanted, sofar: Sofar) -> int:
    acts = any(step.worst_effect != "read" and step.waits for step in sofar.checked.steps)
    said = " ".join(spell(step["args"]) for step in sofar.steps).casefold()
    clauses = [wanted.offers.request.clauses[action.clause] for action in wanted.actions if action.effectful and acts]
    free = [word for word in wanted.called.words if word.free and word.meant and not word.known and word.text.isalpha()]
    left = [word for word in free if word.key not in said]
    cried = sum(word.text.isupper() and len(word.text) > SHORT for word in left)
    return cried + sum(any(one.start <= word.start < one.end for one in clauses) for word in left)


def _lacks_groups(wanted: Wanted, sofar: Sofar) -> bool:
    figures = any(made.kind == FIGURES for made in sofar.made)
    each = wanted.called.rows.reads and wanted.called.has("apiece")
    return figures and each and not wanted.has_groups(sofar)


def _cut_texts(sofar: Sofar) -> int:
    return sum(
        any(family.verb == TAKING for family in step.contract.families)
        and any(sofar.made[number - 1].kind == TEXT for number in step.waits)
        for step in sofar.checked.steps
    )
