from __future__ import annotations

import os
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.evaluate.measures.figures import TurnFigures
from metnos.evaluate.measures.histogram import Histogram
from metnos.evaluate.measures.intervals import MOST_UNITS, Interval, Paired, wilson
from metnos.evaluate.measures.passk import pass_hat
from metnos.evaluate.measures.prices import PriceFault, Prices, load_prices, read_prices
from metnos.evaluate.measures.result import EvalRow, Matched, PlanMatch
from metnos.evaluate.measures.sums import Sums

figures = st.builds(
    TurnFigures,
    turn=st.text("abc", min_size=1),
    group=st.sampled_from(["", "1", "2"]),
    succeeded=st.booleans(),
    cause=st.sampled_from(["", "io-error", "not-found"]),
    cause_tool=st.sampled_from(["", "read"]),
    tools=st.lists(st.sampled_from(["read", "write"])).map(tuple),
    verdicts=st.dictionaries(st.sampled_from(["allow", "ask"]), st.integers(1, 9)),
    latency_us=st.integers(0, 2**40),
    tokens_in=st.integers(0, 5000),
)


def summed(rows):
    sums = Sums()
    for row in rows:
        sums.add(row)
    return sums


@given(st.lists(figures, max_size=30), st.integers(1, 5), st.randoms(use_true_random=False))
def test_however_turns_are_cut_and_merged_the_bytes_are_the_same(rows, shards, random):
    whole = summed(rows).encoded()
    parts = [summed(rows[start::shards]) for start in range(shards)]
    random.shuffle(parts)
    merged = Sums()
    for part in parts:
        merged.merge(part)
    assert merged.encoded() == whole


@given(st.lists(st.integers(0, 2**50), min_size=1), st.integers(1, 100))
def test_a_quantile_is_too_small_by_less_than_one_part_in_32(numbers, percent):
    spread = Histogram()
    for number in numbers:
        spread.add(number)
    exact = sorted(numbers)[-(-len(numbers) * percent // 100) - 1]
    found = spread.quantile(percent, 100)
    assert found <= exact < found + max(1, -(-found // 32))
    assert (spread.count, spread.total) == (len(numbers), sum(numbers))
    assert sum(count for _, _, count in spread.bars()) == len(numbers)


def test_a_histogram_without_numbers_and_with_negative_ones():
    assert Histogram().quantile(1, 2) == 0
    spread = Histogram()
    spread.add(-5)
    assert (spread.quantile(1, 1), spread.total) == (0, 0)


def test_pass_k_is_the_share_of_draws_of_k_trials_that_all_succeed():
    from itertools import combinations

    trials = [True, True, False, True, False]
    for k in (1, 2, 3):
        draws = list(combinations(trials, k))
        found = pass_hat([(5, 3)], k)
        assert (found.groups, found.value) == (1, pytest.approx(sum(map(all, draws)) / len(draws)))
    assert pass_hat([(5, 3), (1, 1)], 2).groups == 1
    assert pass_hat([], 1).value == 0
    with pytest.raises(ValueError, match="at least 1"):
        pass_hat([(1, 1)], 0)


def test_pass_k_of_sums_takes_a_turn_without_a_group_for_a_group_of_its_own():
    rows = [TurnFigures(turn=f"g{n}", group="g", succeeded=n > 0) for n in range(4)]
    rows += [TurnFigures(turn=f"s{n}", succeeded=n == 0) for n in range(2)]
    sums = summed(rows)
    assert (sums.pass_k(1).groups, sums.pass_k(1).value) == (3, pytest.approx((0.75 + 1 + 0) / 3))
    assert (sums.pass_k(2).groups, sums.pass_k(2).value) == (1, pytest.approx(0.5))


def test_wilson_holds_at_both_ends_and_covers_what_it_says():
    assert wilson(0, 0) == Interval(0.0, 1.0)
    assert wilson(0, 10).low == 0.0
    assert wilson(10, 10).high == 1.0
    # Newcombe 1998, table I: 81 of 263, 95 %
    assert (round(wilson(81, 263).low, 4), round(wilson(81, 263).high, 4)) == (0.2553, 0.3662)
    with pytest.raises(ValueError, match="no share"):
        wilson(3, 2)


def test_a_paired_bootstrap_finds_what_is_there_and_nothing_where_nothing_is():
    random = Random(5)
    noise, change = Paired(), Paired()
    for number in range(300):
        before = int(random.random() < 0.6)
        noise.add(str(number), before, int(random.random() < 0.6))
        change.add(str(number), before, int(before and random.random() < 0.7))
    assert not noise.changed(seed=1).certain
    worse = change.changed(seed=1)
    assert worse.certain
    assert worse.interval.high < 0
    assert worse.interval.around(worse.difference)
    assert worse == change.changed(seed=1)
    assert worse != change.changed(seed=2)
    assert not Paired().changed(seed=1).certain


@pytest.mark.parametrize("units", [10, MOST_UNITS + 50])
def test_pairs_are_the_same_however_they_are_merged(units):
    pairs = [(str(n), n % 3, n % 5) for n in range(units)]
    whole, parts = Paired(), [Paired() for _ in range(3)]
    for number, pair in enumerate(pairs):
        whole.add(*pair)
        parts[number % 3].add(*pair)
    for order in ((0, 1, 2), (2, 0, 1)):
        merged = Paired()
        for number in order:
            merged.merge(parts[number])
        assert merged.blocked == (units > MOST_UNITS)
        assert merged.changed(seed=3, rounds=50) == whole.changed(seed=3, rounds=50)


def test_matches_are_the_same_however_they_are_merged():
    rows = [
        EvalRow(
            turn=f"t{n}",
            recorded=TurnFigures(turn=f"t{n}", succeeded=True, plans=1),
            now=TurnFigures(turn=f"t{n}", plan_source="cache" if n % 2 else "model", plans=n % 3),
            match=PlanMatch(exact=n % 2 == 0, tools=True, edges_both=n, edges_now=n + 1, edges_recorded=n),
            answer="same" if n % 2 else "unobserved",
            diverged="commands" if n % 4 == 0 else "",
            false_hit=n == 3,
        )
        for n in range(12)
    ]
    whole, left, right = Matched(), Matched(), Matched()
    for number, row in enumerate(rows):
        whole.add(row)
        (left if number % 3 else right).add(row)
    right.merge(left)
    assert right == whole
    assert (whole.exact, whole.hits, whole.hits_judged, whole.false_hits, whole.newly_refused) == (6, 6, 6, 1, 4)
    assert (whole.edge_recall, whole.edge_precision) == (1.0, 66 / 78)
    assert whole.edge_f1 == pytest.approx(2 * 66 / (66 + 78))
    assert Matched().edge_f1 == 0


def test_every_shipped_price_says_where_and_when_it_was_read():
    prices = Prices.shipped()
    assert prices.models
    assert all(price.source and price.date.startswith("20") for price in prices.models.values())
    assert prices.cost("gpt-4o-mini", 1000, 100) == 210
    assert prices.cost("gpt-4o-mini-2024-07-18", 1000, 100) == 210
    assert prices.cost("nobody", 1000, 100) is None


def test_a_table_of_the_owner_goes_before_the_shipped_one(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'form = "metnos.prices/1"\ncurrency = "USD"\n[models.mine]\ninput = "0.5"\noutput = "1"\nsource = "me"\ndate = "2026"\n'
    )
    prices = load_prices(path)
    assert (prices.cost("mine", 3, 0), prices.cost("mine", 1, 0), prices.cost("gpt-4o", 1, 0)) == (2, 1, 3)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("form = 1", "p.toml"),
        ('form = "metnos.prices/2"\ncurrency = "USD"', "p.toml: form"),
        ('form = "metnos.prices/1"\ncurrency = "USD"\nmodel = 1', "p.toml"),
        (
            'form = "metnos.prices/1"\ncurrency = "USD"\n[models.a]\ninput = "x"\noutput = "1"\nsource = "s"\ndate = "d"',
            "p.toml: models.a.input",
        ),
        (
            'form = "metnos.prices/1"\ncurrency = "USD"\n[models.a]\ninput = "1"\noutput = "-1"\nsource = "s"\ndate = "d"',
            "p.toml: models.a.output",
        ),
    ],
)
def test_a_table_that_is_none_says_where(text, where):
    with pytest.raises(PriceFault) as caught:
        read_prices(text.encode(), "p.toml")
    assert caught.value.where == where


def test_another_currency_and_a_file_that_is_not_there(tmp_path):
    with pytest.raises(PriceFault, match="EUR"):
        Prices.shipped().joined(
            read_prices(
                b'form="metnos.prices/1"\ncurrency="EUR"\n[models.a]\ninput="1"\noutput="1"\nsource="s"\ndate="d"', "p"
            )
        )
    with pytest.raises(PriceFault):
        load_prices(tmp_path / "none.toml")


def test_a_table_of_prices_is_a_plain_file(tmp_path):
    for make in (os.mkfifo, os.mkdir):
        make(tmp_path / make.__name__)
        with pytest.raises(PriceFault) as found:
            load_prices(tmp_path / make.__name__)
        assert found.value.message == "not a plain file"
