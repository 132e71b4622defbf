from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.record import chain
from metnos.record.model import Record

FIELDS = ("t-1", 3, "step_started", 1_764_500_000_000_000, b'{"a":"\xc3\xa8"}', "sha256:" + "0" * 64, chain.NO_COMMANDS)


def test_the_hash_of_a_known_record_never_changes():
    assert chain.record_hash(*FIELDS) == KNOWN
    assert chain.first("t-1") == FIRST
    assert chain.NO_COMMANDS == "sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"


@pytest.mark.parametrize("seed", ["0", "1", "random"])
def test_hashes_do_not_depend_on_the_hash_seed_or_the_locale(seed, root):
    code = f"from metnos.record import chain; print(chain.record_hash(*{FIELDS!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": seed, "LC_ALL": "C", "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == KNOWN


@pytest.mark.parametrize("position", range(7))
def test_every_field_is_covered(position):
    other = list(FIELDS)
    value = other[position]
    other[position] = value + 1 if isinstance(value, int) else value + value[:1]
    assert chain.record_hash(*other) != chain.record_hash(*FIELDS)


texts = st.text(alphabet="a1:,", max_size=6)
records = st.tuples(texts, st.integers(0, 20), texts, st.integers(-5, 20), st.binary(max_size=6), texts, texts)


@given(records, records)
def test_no_two_records_are_framed_alike(one, other):
    assert (chain.record_hash(*one) == chain.record_hash(*other)) == (one == other)


@given(st.lists(st.tuples(texts, st.integers(0, 2**53), st.binary(max_size=90), st.none() | st.binary(max_size=9))))
def test_a_writer_links_as_the_definition_says(records):
    prev = chain.first("t-1")
    unlinked = [(chain.framed(kind), kind, at, body, asked) for kind, at, body, asked in records]
    rows = list(chain.link("t-1", chain.hasher("t-1"), 4, prev, unlinked))
    for seq, (row, (kind, at, body, asked)) in enumerate(zip(rows, records, strict=True), 5):
        commands = "" if asked is None else chain.digest(asked or b"[]")
        made = chain.record_hash("t-1", seq, kind, at, body, prev, commands)
        assert row == ("t-1", seq, kind, at, body, prev, made, commands)
        prev = made


heads = st.tuples(texts, texts, st.integers(0, 20), texts)


@given(heads, heads)
def test_no_two_heads_are_framed_alike(one, other):
    assert (chain.head_payload(*one) == chain.head_payload(*other)) == (one == other)


KNOWN = "sha256:fb9b1b1e2081b6da92de0e682e0c92893e2c9265439c160a592cd9d99c9560f0"
FIRST = "sha256:209e10cd01862dbfbdbd7091832f885c5c7f6359e85dd4a60c09a486f1ed1100"


wide = st.text(max_size=6).filter(lambda text: text.isprintable())


@given(wide, st.integers(-5, 2**60), wide, st.integers(-5, 2**60), st.binary(max_size=30), wide, wide)
def test_what_is_hashed_in_one_pass_has_the_same_hash(turn, seq, kind, at, body, prev, commands):
    record = Record(turn, seq, kind, at, body, prev, "", commands)
    assert chain.hash_after(chain.hasher(turn), record) == chain.recompute(record)
