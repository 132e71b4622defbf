"""The blocks of the prompt, in their order, and the last message.

    prefix(candidates)              # constitution, tools, worked examples: the same bytes each turn
    asked(request)                  # the request: the last message
    OPENING                         # what the answer of a request that can be done begins with

Law: a worked example has the form of a real turn: the request as the user's message, and as the answer `yes` and the
plan, or `no`. So one question serves the gate, which weighs the first word, and the plan, which goes on behind it. What
a continuation is told of what was given and done are names and types, never values.

One prefix serves both languages: English instructions, examples in English and Italian by turns. A wholly Italian one
separated Italian requests that can be done no better (1.5B, 72 requests: area under the curve 0.999, mixed 1.000), is a
tenth longer, and would be a second state to read and keep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.propose.candidates import Candidates
from metnos.propose.models.ports import Message
from metnos.propose.prompt.brief import brief
from metnos.propose.prompt.examples import Impossible, shipped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metnos.propose.model import PlanRequest
    from metnos.propose.prompt.examples import Examples, Worked

YES: Final = "yes"
NO: Final = "no"
OPENING: Final = f"{YES}\n"
MOST_TOOLS: Final = 40
"""Of a catalog that stands in the prefix; of a larger one those for the request stand behind it."""
NO_TOOLS: Final = Candidates()
SPREAD: Final = 2
"""So many worked plans stand between two requests that cannot be done."""

CONSTITUTION: Final[dict[str, str]] = {
    "en": """\
You turn a request about files into a plan: one step a line, each naming one of the tools below.
First say whether these tools can do all that is asked: yes or no. They cannot send, call, buy, search the web, translate, \
summarise, look at pictures or play anything. A request that does not say what is wanted: no.
After yes: numbered steps, and end. <N hands over the result of step N. Values are copied from the request.
Tools:""",
    "it": """\
Trasformi una richiesta su dei file in un piano: un passo per riga, ognuno con uno degli strumenti qui sotto.
Prima di' se questi strumenti possono fare tutto ciò che è chiesto: yes o no. Non possono inviare, chiamare, comprare, \
cercare sul web, tradurre, riassumere, guardare immagini o riprodurre nulla. Una richiesta che non dice cosa si vuole: no.
Dopo yes: passi numerati, ed end. <N passa il risultato del passo N. I valori si copiano dalla richiesta.
Strumenti:""",
}


def prefix(candidates: Candidates, language: str | None = None) -> tuple[Message, ...]:
    """What stands before every request.

    Args:
        candidates: The whole catalog, in order of names.
        language: Of the instructions and of all examples; None: instructions in English, examples in both by turns.
    """
    words = language or "en"
    shown = candidates if len(candidates) <= MOST_TOOLS else ()
    tools = "\n".join(brief(contract, words) for contract in shown)
    messages = [Message("system", f"{CONSTITUTION[words]}\n{tools}")]
    for number, one in enumerate(_mixed(shipped(), frozenset(candidates.names))):
        said = one.it if (language or ("it" if number % 2 else "en")) == "it" else one.en
        answer = f"{NO}\n" if isinstance(one, Impossible) else OPENING + one.plan
        messages += [Message("user", said), Message("assistant", answer.removesuffix("\n"))]
    return tuple(messages)


def _mixed(examples: Examples, names: frozenset[str]) -> Sequence[Worked | Impossible]:
    """Those that cannot be done stand among the others, so that none of both is the last thing read many times over."""
    found: list[Worked | Impossible] = []
    left = list(examples.impossible)
    for number, one in enumerate(examples.of(names), start=1):
        found.append(one)
        if number % SPREAD == 0 and left:
            found.append(left.pop(0))
    return [*found[:-1], *left, *found[-1:]]


def asked(request: PlanRequest, candidates: Candidates = NO_TOOLS, names: Sequence[str] = ()) -> str:
    """The last message.

    Args:
        request: What the turn asks.
        candidates: The whole catalog.
        names: Of the tools for this request, best first: they are shown where the catalog was too large for the prefix.
    """
    said = request.text if _is_bare(request) else request.as_prompt()
    if len(candidates) <= MOST_TOOLS:
        return said
    there = {contract.name: contract for contract in candidates}
    tools = "\n".join(brief(there[name]) for name in names[:MOST_TOOLS] if name in there)
    return f"Tools:\n{tools}\n\n{said}"


class WorkedPrompt:
    """These blocks as `metnos.propose.planner.Prompt` wants them."""

    opening = OPENING

    def prefix(self, candidates: Candidates) -> Sequence[Message]:
        """See `prefix`."""
        return prefix(candidates)

    def question(self, request: PlanRequest, candidates: Candidates, names: Sequence[str]) -> str:
        """See `asked`."""
        return asked(request, candidates, names)


def _is_bare(request: PlanRequest) -> bool:
    return not (request.inputs or request.earlier or request.diagnostics)
