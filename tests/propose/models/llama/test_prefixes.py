"""Which prefixes are at hand, and which makes room."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from metnos.propose.models.llama.prefixes import ROOM, Place, Prefixes, alike

PLANS = list(range(2000))
READS = list(range(5000, 5700))
TURN = list(range(9000, 9300))


def prefixes(*held: list[int], context: int = 4096) -> Prefixes:
    made = Prefixes((0, 5), context)
    for tokens in held:
        place = made.placed(tokens)
        for gone in place.gone:
            made.hold(gone, ())
        made.hold(place.sequence, tokens)
    return made


def test_two_prefixes_that_are_used_by_turns_stay() -> None:
    made = prefixes(PLANS, READS, PLANS, READS)
    assert made.placed(PLANS) == Place(0, len(PLANS))
    assert made.placed(READS) == Place(5, len(READS))


def test_the_one_wanted_least_lately_makes_room() -> None:
    assert prefixes(PLANS, READS).placed(TURN).sequence == 0
    assert prefixes(PLANS, READS, PLANS).placed(TURN).sequence == 5


def test_what_is_mostly_the_same_takes_its_place() -> None:
    changed = [*PLANS[:1900], *TURN]
    assert prefixes(READS, PLANS).placed(changed) == Place(5, 1900)
    longer = [*PLANS[:100], *TURN]
    assert prefixes(READS, PLANS).placed(longer) == Place(0, 0)  # else 1,900 tokens would be given up for 100


def test_what_begins_a_prefix_is_at_hand_with_it() -> None:
    made = prefixes(PLANS, READS)
    assert made.placed(PLANS[:100]) == Place(0, 100)
    made.want(0)
    assert made.placed(TURN).sequence == 5
    assert made.placed(PLANS) == Place(0, len(PLANS))


def test_where_the_context_is_small_only_one_stays() -> None:
    place = prefixes(PLANS, context=2000 + ROOM).placed(READS)
    assert place == Place(5, 0, gone=(0,))
    assert prefixes(PLANS, context=2000 + 700 + ROOM).placed(READS).gone == ()


def test_the_nearest_of_none_is_nothing() -> None:
    assert prefixes().nearest(PLANS).alike == 0
    assert prefixes(READS, PLANS).nearest([*PLANS[:30], 1]) == Place(5, 30)


@given(st.lists(st.integers(0, 3).map(lambda n: [n] * (40 * n + 5)), max_size=12), st.integers(60, 400))
def test_what_is_at_hand_leaves_room_and_is_what_was_put_there(wanted: list[list[int]], context: int) -> None:
    made = Prefixes((0, 5), context + ROOM)
    stands: dict[int, list[int]] = {}
    for tokens in wanted:
        place = made.placed(tokens)
        assert place.alike == alike(stands.get(place.sequence, []), tokens)
        assert place.sequence not in place.gone
        for gone in place.gone:
            made.hold(gone, ())
            stands.pop(gone)
        if place.alike == len(tokens):
            made.want(place.sequence)
            continue
        made.hold(place.sequence, tokens)
        stands[place.sequence] = tokens
        assert len(stands) == 1 or sum(map(len, stands.values())) <= context
