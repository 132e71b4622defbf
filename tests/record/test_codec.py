from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.policy.model import AskUser
from metnos.record import codec
from metnos.record.chain import digest
from metnos.record.faults import RecordFault
from metnos.record.recorder import Recorder
from metnos.sdk import Effect, Failure
from metnos.turn.facts import PolicyDecided, TurnClosed
from metnos.turn.inputs import DialogAnswered, EffectProbed, StepFailed, StepFinished, TurnOpened
from metnos.turn.rules import Reaction

json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6) | st.just("$blob"), inner, max_size=3)
    ),
    max_leaves=12,
)


def through(item):
    body, data = codec.encode_input(item)
    blobs = {} if data is None else {digest(data): data}
    return codec.decode_input(body, codec.fetch_from(blobs)), body, data


@given(json)
def test_any_data_comes_back_as_it_was(data):
    item = StepFinished(step="1.1", data=data, counters={"n": 1}, effects=(Effect(cls="create", target="a"),))
    assert through(item)[0] == item


@given(json)
def test_no_data_can_pass_for_a_marker(data):
    body = through(StepFinished(step="1.1", data=data))[1]
    markers = codec.blobs_in("step_finished", body)
    kept_apart = codec.encode_input(StepFinished(step="1.1", data=data))[1]
    assert [marker.blob for marker in markers] == ([] if kept_apart is None else [digest(kept_apart)])


@pytest.mark.parametrize("make", [StepFinished, lambda **f: EffectProbed(found="done", **f)])
@pytest.mark.parametrize(("size", "apart"), [(codec.INLINE_BYTES - 2, False), (codec.INLINE_BYTES - 1, True)])
def test_data_over_eight_kibibytes_is_kept_apart(make, size, apart):
    item = make(step="1.1", data="x" * size)  # two quotation marks more as JSON
    back, body, data = through(item)
    assert back == item
    assert (data is not None) == apart
    assert apart == (b'"$blob"' in body)
    assert not apart or len(body) < 300


def test_a_body_is_the_same_whatever_the_order_of_keys():
    one = codec.encode_input(StepFinished(step="1", data={"b": 1, "a": {"d": 1, "c": 2}}))
    other = codec.encode_input(StepFinished(step="1", data={"a": {"c": 2, "d": 1}, "b": 1}))
    assert one == other


@pytest.mark.parametrize(
    "body",
    [
        b'{"at":1,"input":"cancelled","more":1}',
        b'{"at":1,"effects":[{"class":"create","more":1,"target":"a"}],"input":"step_stopped","step":"1.1"}',
        b'{"input":"cancelled","at":1}',
        b'{"at":1, "input":"cancelled"}',
        b'{"at":1,"at":2,"input":"cancelled"}',
        b'{"at":"1","input":"cancelled"}',
        b'{"at":1,"input":"no_such"}',
        b'{"at":1}',
        b'{"at":1,"input":"cancelled"',
        b"\xff",
        b"[" * 100_000,
        b'{"data":{"$blob":"sha256:0"},"input":"step_finished","step":"1"}',
        b'{"data":{"$blob":1,"size":1},"input":"step_finished","step":"1"}',
        b'{"data":{"$blob":"sha256:0","more":1,"size":1},"input":"step_finished","step":"1"}',
    ],
)
def test_strict_reading_refuses_what_this_version_would_not_have_written(body):
    with pytest.raises(RecordFault) as caught:
        codec.decode_input(body, codec.fetch_from({}))
    assert caught.value.code == "record-malformed"


def test_strict_reading_takes_what_was_written():
    assert codec.decode_input(b'{"at":1,"by":"local","input":"cancelled"}', codec.fetch_from({})).at == 1
    for fact in (TurnClosed(outcome="error", code="x"), PolicyDecided(step="1.1", verdict=AskUser("why"))):
        assert codec.decode_fact(codec.encode(fact)) == fact
    for body in (b'{"fact":"turn_closed","outcome":"error","x":1}', b'{"fact":"nothing"}', b"\xff"):
        with pytest.raises(RecordFault, match="record-malformed"):
            codec.decode_fact(body)


def test_tolerant_reading_never_fails():
    assert codec.decode_tolerant(b'{"at":1,"new":{"a":1}}') == {"at": 1, "new": {"a": 1}}
    assert [codec.decode_tolerant(body) for body in (b"", b"[1]", b"\xff", b"[" * 100_000)] == [{}, {}, {}, {}]


def test_a_blob_must_hold_what_the_marker_says():
    item = StepFinished(step="1.1", data="x" * 10_000)
    body, data = codec.encode_input(item)
    with pytest.raises(RecordFault, match="blob-missing"):
        codec.decode_input(body, codec.fetch_from({}))
    with pytest.raises(RecordFault, match="blob-altered"):
        codec.decode_input(body, codec.fetch_from({digest(data): data[:-1] + b"y"}))
    garbage = b"not json"
    marker = codec.encode(msgspec.structs.replace(item, data=codec.Marker(digest(garbage), len(garbage))))
    with pytest.raises(RecordFault, match="record-malformed"):
        codec.decode_input(marker, codec.fetch_from({digest(garbage): garbage}))


@pytest.mark.parametrize("value", [object(), {1: {2}, "a": object()}, "\ud800"])
def test_what_is_no_json_is_named_before_anything_is_recorded(value):
    recorder = Recorder("t")
    recorder.add(TurnOpened(turn="t", now="x"), Reaction())
    before = (recorder.seq, recorder.hash)
    for item in (StepFinished(step="1", data=value), DialogAnswered(dialog="d", answers={"a": value})):
        with pytest.raises(RecordFault, match="record-unencodable"):
            recorder.add(item, Reaction())
    assert (recorder.seq, recorder.hash, len(recorder.rows)) == (*before, 1)


def test_every_kind_is_either_an_input_or_a_fact():
    assert not codec.INPUT_KINDS.keys() & codec.FACT_KINDS.keys()
    assert len(codec.KIND_OF) == len(codec.INPUT_KINDS) + len(codec.FACT_KINDS)
    assert (
        codec.decode_input(codec.encode(StepFailed(step="1", error=Failure(cls="data", code="x"))), {}.get).step == "1"
    )
