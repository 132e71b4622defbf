"""What overlaps, and that earlier unfinished steps are waited for: no more and no less."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.contracts.model import Contract, Resource
from metnos.turn.claims import MAX_CLAIMS, Board, absolute, claims_of, default_of, names_in, targets_of
from tests.support.turns import Play, opened, plan, step


def contract(*resources: Resource, **fields: Any) -> Contract:
    return Contract(name="x", version="1", resources=resources, **fields)


def root(arg: str | None = "path", value: str | None = None) -> Resource:
    return Resource(kind="root", arg=arg, value=value)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a/b", "/home/a/b"),
        ("./a/../b", "/home/b"),
        (".", "/home"),
        ("/x//y/", "/x/y"),
        ("../../..", "/"),
        ("//x", "/x"),
    ],
)
def test_paths_are_absolute_and_normalised(path: str, found: str) -> None:
    assert absolute(path, "/home") == found


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("a", ["a"]),
        ({"path": "a"}, ["a"]),
        (["a", {"path": "b"}], ["a", "b"]),
        ([], []),
        ({"path": 1}, None),
        ({"name": "a"}, None),
        ([["a"]], None),
        (["a", 1], None),
        (7, None),
        (None, None),
    ],
)
def test_names_in_arguments(value: Any, found: list[str] | None) -> None:
    assert names_in(value) == found


def test_claims_follow_the_contract() -> None:
    assert claims_of(contract(), {}, "/") == ()
    assert claims_of(Contract(name="x", version="1"), {}, "/") is None
    assert claims_of(contract(root()), {"path": "a"}, "/f") == (("root", "/f/a"),)
    assert claims_of(contract(root(None, "/etc")), {}, "/f") == (("root", "/etc"),)
    assert claims_of(contract(root(None, None)), {}, "/f") is None
    assert claims_of(contract(root()), {}, "/f") is None
    assert claims_of(contract(root()), {"path": ["a"] * (MAX_CLAIMS + 1)}, "/f") is None
    assert claims_of(contract(root()), {"path": []}, "/f") is None


def test_an_argument_that_is_not_given_counts_as_its_default() -> None:
    with_default = contract(root(), args={"properties": {"path": {"default": "."}}})
    assert claims_of(with_default, {}, "/f") == (("root", "/f"),)
    assert default_of(contract(args={"properties": {"path": True}}), "path") is None
    assert default_of(contract(args={}), "path") is None


def test_one_of_a_group_is_enough() -> None:
    either = contract(root(), root("files"), requires_one_of=(("path", "files"),))
    assert claims_of(either, {"files": [{"path": "a"}]}, "/f") == (("root", "/f/a"),)
    assert claims_of(either, {}, "/f") is None


def test_hosts_are_taken_out_of_addresses() -> None:
    host = contract(Resource(kind="host", arg="url"))
    assert claims_of(host, {"url": "https://Example.org:8443/a?b"}, "/") == (("host", "example.org"),)
    assert claims_of(host, {"url": "Example.org"}, "/") == (("host", "example.org"),)
    assert claims_of(host, {"url": "file:///x"}, "/") == (("host", "file:///x"),)


def test_targets_that_are_no_paths_are_shown_as_they_are() -> None:
    mixed = contract(root(), targets=("path", "to", "number", "missing"))
    assert targets_of(mixed, {"path": "a", "to": ["x@y", "z"], "number": 7}, "/f") == ("/f/a", "x@y", "z", "7")


# --- the board against the plain rule ----------------------------------------------------------------------------

claims = st.none() | st.lists(
    st.tuples(st.just("root"), st.sampled_from(["/", "/a", "/a/b", "/a/b/c", "/ab", "/d"]))
    | st.tuples(st.sampled_from(["host", "account"]), st.sampled_from(["x", "y"])),
    max_size=3,
).map(tuple)
entries = st.lists(st.tuples(claims, st.booleans()), max_size=8)


def overlap(one: Any, other: Any) -> bool:
    """The rule, said plainly."""
    if () in (one, other):
        return False
    if one is None or other is None:
        return True
    for (kind, a), (other_kind, b) in product(one, other):
        if kind == other_kind and (a == b or (kind == "root" and (inside(a, b) or inside(b, a)))):
            return True
    return False


def inside(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


@given(entries, st.lists(st.integers(0, 7), max_size=4))
def test_the_board_knows_every_conflict_and_no_other(placed: list[Any], gone: list[int]) -> None:
    board = Board()
    for number, (claimed, effect) in enumerate(placed):
        if claimed != ():
            board.place((number, 0), None, True)
            board.place((number, 0), claimed, effect)
    for number in gone:
        board.remove((number, 0))
    for number, (claimed, effect) in enumerate(placed):
        conflicts = {
            (other, 0)
            for other, (held, changes) in enumerate(placed[:number])
            if other not in gone and (effect or changes) and overlap(claimed, held)
        }
        found = board.blocker((number, 0), claimed, effect)
        assert (found in conflicts) if conflicts else found is None


# --- in a turn ---------------------------------------------------------------------------------------------------


def write(path: Any) -> dict[str, Any]:
    return step("save", {"path": path, "content": 1})


def allowed(*steps: dict[str, Any]) -> Play:
    from metnos.policy.model import Allow
    from tests.support.turns import rules

    return Play(opened(plan(*steps)), rules(policy=lambda question: Allow()))


def test_a_later_read_does_not_overtake_an_effect_it_conflicts_with() -> None:
    play = allowed(write("sub/a"), step("list", {"path": "sub"}), step("list", {"path": "other"}), step("list"))
    assert play.started == ["1.1", "1.3"]
    play.done("1.1", {"path": "a", "content": 1})
    assert play.started[2:] == ["1.2", "1.4"]


def test_a_later_effect_waits_for_earlier_reads_of_the_same_place() -> None:
    play = allowed(step("list", {"path": "sub"}), step("list", {"path": "other"}), write("sub/a"))
    assert play.started == ["1.1", "1.2"]
    play.done("1.1", {"entries": []})
    assert play.started[2:] == ["1.3"]


def test_undeclared_resources_conflict_with_every_effect_and_pure_steps_with_none() -> None:
    play = allowed(write("a"), step("peek"), step("peek"), step("noop", {"x": 1}))
    assert play.started == ["1.1", "1.4"]
    play.done("1.1", {"path": "a", "content": 1})
    assert play.started[2:] == ["1.2", "1.3"]


def test_what_is_not_resolved_yet_may_touch_everything() -> None:
    play = allowed(step("noop", {"x": 1}), write("${step1.v}"), write("b"))
    assert play.started == ["1.1"]
    play.done("1.1", {"v": "a"})
    assert play.started[1:] == ["1.2", "1.3"]


def test_effects_on_different_places_run_together_and_on_one_place_in_order() -> None:
    play = allowed(write("a"), write("b"), write("./a"), write("a/../b"))
    assert play.started == ["1.1", "1.2"]
    play.done("1.2", {"path": "b", "content": 1})
    assert play.started[2:] == ["1.4"]


def test_a_step_that_waits_for_consent_still_stands_before_later_ones() -> None:
    play = Play(opened(plan(write("a"), step("list"))))
    assert play.started == []
    play.approve()
    play.done("1.1", {"path": "a", "content": 1})
    assert play.started == ["1.1", "1.2"]


def test_a_skipped_or_failed_step_is_in_nobodys_way() -> None:
    skipped = step("save", {"path": "a", "content": 1}, when={"nonempty": 1})
    play = allowed(step("list", {"path": "x"}), skipped, step("peek"))
    play.done("1.1", {"entries": []})
    assert play.started == ["1.1", "1.3"]


def test_later_steps_wait_for_the_items_they_conflict_with() -> None:
    each = step("save", {"path": "${item}", "content": 1}, for_each=["a", "b"])
    play = allowed(each, step("list", {"path": "b"}), step("list", {"path": "c"}))
    assert play.started == ["1.1.1", "1.1.2", "1.3"]
    play.done("1.1.2", {"path": "b", "content": 1})
    assert play.started[3:] == ["1.2"]
