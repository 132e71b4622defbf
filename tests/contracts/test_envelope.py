"""Envelopes: what is signed, what is counted, and that securesystemslib says the same."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from securesystemslib.dsse import Envelope as Reference
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey

from metnos.contracts.envelope import (
    MANIFEST_TYPE,
    MAX_BYTES,
    PLAN_TYPE,
    EnvelopeFault,
    key_id,
    pae,
    public_bytes,
    read_envelope,
    sign,
    verify,
)
from tests.support.signing import key


def allowed(*seeds: int) -> dict[str, bytes]:
    return {key_id(public_bytes(key(seed))): public_bytes(key(seed)) for seed in seeds}


def altered(data: bytes, **changes: Any) -> bytes:
    return json.dumps({**json.loads(data), **changes}).encode()


def test_what_was_signed_is_verified_and_handed_out() -> None:
    found = verify(read_envelope(sign(b'{"a":1}', key(1))), allowed(1), 1)
    assert found.ok
    assert found.payload == b'{"a":1}'
    assert found.signed_by == (key_id(public_bytes(key(1))),)
    assert found.rejected == ()


def test_one_altered_byte_is_noticed() -> None:
    data = altered(sign(b"pay 1", key(1)), payload=base64.b64encode(b"pay 9").decode())
    found = verify(read_envelope(data), allowed(1), 1)
    assert not found.ok
    assert found.rejected == ((key_id(public_bytes(key(1))), "signature-invalid"),)


def test_a_payload_cannot_pass_for_another_type() -> None:
    data = sign(b"x", key(1), PLAN_TYPE)
    with pytest.raises(EnvelopeFault, match="payload type"):
        read_envelope(data, MANIFEST_TYPE)
    forged = read_envelope(altered(data, payloadType=MANIFEST_TYPE), MANIFEST_TYPE)
    assert not verify(forged, allowed(1), 1).ok


def test_another_key_does_not_count() -> None:
    found = verify(read_envelope(sign(b"x", key(2))), allowed(1), 1)
    assert not found.ok
    assert found.rejected == ((key_id(public_bytes(key(2))), "key-unknown"),)


def test_two_keys_reach_a_threshold_of_two() -> None:
    data = sign(b"x", [key(1), key(2)])
    assert verify(read_envelope(data), allowed(1, 2), 2).ok
    assert not verify(read_envelope(data), allowed(1, 3), 2).ok
    assert not verify(read_envelope(sign(b"x", key(1))), allowed(1, 2), 2).ok


def test_one_key_under_two_ids_is_one_key() -> None:
    """`securesystemslib` counts it twice (reliability, fact 7)."""
    table = json.loads(sign(b"x", key(1)))
    signature = table["signatures"][0]["sig"]
    data = altered(sign(b"x", key(1)), signatures=[{"keyid": "a", "sig": signature}, {"keyid": "b", "sig": signature}])
    public = public_bytes(key(1))
    found = verify(read_envelope(data), {"a": public, "b": public}, 2)
    assert not found.ok
    assert (found.signed_by, found.rejected) == (("a",), (("b", "key-counted-already"),))
    keys = [SSlibKey(name, "ed25519", "ed25519", {"public": public.hex()}) for name in "ab"]
    assert len(Reference.from_dict(json.loads(data)).verify(keys, 2)) == 2


def test_a_key_that_is_none_and_a_signature_that_is_none_do_not_count() -> None:
    data = altered(sign(b"x", key(1)), signatures=[{"keyid": "a", "sig": ""}])
    assert not verify(read_envelope(data), {"a": public_bytes(key(1))}, 1).ok
    assert not verify(read_envelope(data), {"a": b"short"}, 1).ok


def test_a_threshold_below_one_is_a_bug_of_the_caller() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        verify(read_envelope(sign(b"x", key(1))), allowed(1), 0)


GOOD = sign(b"x", key(1))


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b"", ""),
        (b"[]", ""),
        (b'{"payload": "", "payload": "", "payloadType": "", "signatures": []}', "/payload"),
        (b"{" + b" " * MAX_BYTES + b"}", ""),
        (altered(GOOD, extra=1), ""),
        (altered(GOOD, payload=3), "/payload"),
        (altered(GOOD, payload="é"), "/payload"),
        (altered(GOOD, payload="YQ"), "/payload"),
        (altered(GOOD, payload="Y Q="), "/payload"),
        (altered(GOOD, payload="-_8="), "/payload"),
        (altered(GOOD, payloadType="text/plain"), "/payloadType"),
        (altered(GOOD, signatures=[]), "/signatures"),
        (altered(GOOD, signatures={}), "/signatures"),
        (altered(GOOD, signatures=[{"keyid": "a", "sig": ""}] * 33), "/signatures"),
        (altered(GOOD, signatures=[3]), "/signatures/0"),
        (altered(GOOD, signatures=[{"keyid": 3, "sig": ""}]), "/signatures/0"),
        (altered(GOOD, signatures=[{"keyid": "a"}]), "/signatures/0"),
        (altered(GOOD, signatures=[{"keyid": "a", "sig": "?"}]), "/signatures/0/sig"),
    ],
)
def test_what_is_no_envelope_is_refused_at_its_place(data: bytes, where: str) -> None:
    with pytest.raises(EnvelopeFault) as caught:
        read_envelope(data)
    assert caught.value.where == where


@given(st.binary(max_size=200), st.text(max_size=40))
def test_the_encoding_is_that_of_securesystemslib(payload: bytes, kind: str) -> None:
    assert pae(kind, payload) == Reference(payload, kind, {}).pae()


@given(
    st.binary(max_size=200),
    st.sets(st.integers(1, 3), min_size=1),
    st.sets(st.integers(1, 4), min_size=1),
    st.integers(1, 3),
)
def test_verdicts_are_those_of_securesystemslib(
    payload: bytes, signers: set[int], trusted: set[int], threshold: int
) -> None:
    data = sign(payload, [key(seed) for seed in sorted(signers)])
    keys = [
        SSlibKey(name, "ed25519", "ed25519", {"public": public.hex()}) for name, public in allowed(*trusted).items()
    ]
    try:
        Reference.from_dict(json.loads(data)).verify(keys, threshold)
        expected = True
    except (VerificationError, ValueError):
        expected = False
    assert verify(read_envelope(data), allowed(*trusted), threshold).ok == expected


def test_what_securesystemslib_signs_is_read_here() -> None:
    signer = CryptoSigner(key(5))
    envelope = Reference(b"payload", MANIFEST_TYPE, {})
    envelope.sign(signer)
    found = verify(
        read_envelope(json.dumps(envelope.to_dict()).encode()), {signer.public_key.keyid: public_bytes(key(5))}, 1
    )
    assert found.ok
