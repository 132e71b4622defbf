"""The policy: every cell of the table, what tightens it, and what never loosens it."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.contracts.model import Origin
from metnos.policy.decide import decide
from metnos.policy.model import Allow, AskUser, Deny, Question, Verdict
from metnos.policy.table import SEVERITY, TABLE
from metnos.sdk import EFFECT_CLASSES, EffectClass

ORIGINS: tuple[Origin, ...] = get_args(Origin)


def ask(
    effect: EffectClass, origin: Origin = "catalog", *, yes: bool = False, untrusted: tuple[tuple[str, str], ...] = ()
) -> Verdict:
    question = Question(
        owner="ada",
        channel="terminal",
        executor="x@1",
        origin=origin,
        effect=effect,
        assume_yes=yes,
        untrusted=untrusted,
    )
    return decide(question)


def test_the_table_has_every_cell() -> None:
    assert set(TABLE) == set(EFFECT_CLASSES)
    assert all(set(row) == set(ORIGINS) for row in TABLE.values())
    assert {answer for row in TABLE.values() for answer in row.values()} == set(SEVERITY)


@pytest.mark.parametrize("origin", ORIGINS)
def test_the_first_policy(origin: Origin) -> None:
    assert isinstance(ask("read", origin), Allow)
    assert isinstance(ask("create", origin), AskUser)
    assert isinstance(ask("create", origin, yes=True), Allow)
    for effect in ("change", "delete"):
        assert isinstance(ask(effect, origin, yes=True), AskUser), "a yes in advance is for creating only"
    assert isinstance(ask("send", origin, yes=True), Deny)
    assert isinstance(ask("execute", origin, yes=True), AskUser if origin == "host" else Deny)


def test_an_untrusted_value_is_asked_about_with_its_source() -> None:
    fed = (("path", "untrusted:https://a.example"), ("host", "untrusted:mail"))
    for yes in (False, True):
        verdict = ask("read", yes=yes, untrusted=fed)
        assert isinstance(verdict, AskUser)
        assert "path comes from untrusted:https://a.example" in verdict.reason
        assert "host comes from untrusted:mail" in verdict.reason
        assert isinstance(ask("create", yes=yes, untrusted=fed), AskUser)
    assert isinstance(ask("send", untrusted=fed), Deny), "it never loosens"


@given(
    st.sampled_from(EFFECT_CLASSES),
    st.sampled_from(ORIGINS),
    st.booleans(),
    st.lists(st.tuples(st.text(), st.text()), max_size=2).map(tuple),
)
def test_untrusted_values_only_tighten(
    effect: EffectClass, origin: Origin, yes: bool, fed: tuple[tuple[str, str], ...]
) -> None:
    order = (Allow, AskUser, Deny)
    plain, fed_too = ask(effect, origin, yes=yes), ask(effect, origin, yes=yes, untrusted=fed)
    assert order.index(type(fed_too)) >= order.index(type(plain))
    assert ask(effect, origin, yes=yes, untrusted=fed) == fed_too
