"""One question, one answer: pure, and the only place where a verdict is made.

Law: asked twice by the turn machine, as a forecast and, bindingly, before each step starts. The same question has
the same answer; a forecast differs in nothing but what is done with it.

    >>> from metnos.policy.model import Question
    >>> decide(Question(owner="ada", channel="terminal", executor="find_files@1", origin="catalog", effect="read"))
    Allow()
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias, assert_never

from metnos.contracts.model import Origin
from metnos.policy.model import Allow, AskUser, Deny, Question, Verdict
from metnos.policy.table import REASONS, SEVERITY, TABLE, UNTRUSTED, UNTRUSTED_REASON, Answer
from metnos.sdk import EffectClass

Table: TypeAlias = Mapping[EffectClass, Mapping[Origin, Answer]]


def decide(question: Question) -> Verdict:
    """Walk the table; an untrusted value in a trusted argument can only tighten the answer.

    Returns:
        `Allow`, `Deny(reason)` or `AskUser(reason)`; the reason names each untrusted source.
    """
    return _decide(TABLE, question)


def decider(table: Table) -> Callable[[Question], Verdict]:
    """`decide` over another table; it has a row for every class and a field for every origin."""
    return partial(_decide, table)


def _decide(table: Table, question: Question) -> Verdict:
    answer = table[question.effect][question.origin]
    if question.untrusted:
        answer = SEVERITY[max(SEVERITY.index(answer), SEVERITY.index(UNTRUSTED))]
    match answer:
        case "allow":
            return Allow()
        case "ask-unless-yes":
            return Allow() if question.assume_yes else AskUser(_reason(answer, question))
        case "ask":
            return AskUser(_reason(answer, question))
        case "deny":
            return Deny(_reason(answer, question))
        case _:
            assert_never(answer)


def _reason(answer: Answer, question: Question) -> str:
    first = REASONS[answer].format(effect=question.effect, origin=question.origin)
    sources = [UNTRUSTED_REASON.format(argument=argument, source=source) for argument, source in question.untrusted]
    return "; ".join([first, *sources])
