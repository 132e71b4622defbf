"""The trust root: each rule refuses by its own code, and no rule helps another."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from metnos.contracts.envelope import Envelope, public_bytes, read_envelope, sign
from metnos.contracts.trust import (
    Key,
    Role,
    Trusted,
    TrustFault,
    TrustRoot,
    Withdrawn,
    read_trust,
    write_trust,
)
from metnos.plan.codes import CODES
from metnos.plan.diagnostics import Diagnostic
from tests.support.signing import NOW, key

SECOND = timedelta(seconds=1)


def public(seed: int, **fields: Any) -> Key:
    return Key(public=public_bytes(key(seed)).hex(), **fields)


def root(**changes: Any) -> TrustRoot:
    made = TrustRoot(
        schema=1,
        id="test",
        keys={"a": public(1), "b": public(2), "c": public(3)},
        roles=(
            Role(names=("plan/*",), keys=("c",), threshold=1),
            Role(names=("write_*", "send_*"), keys=("a", "b"), threshold=2),
            Role(names=("find_*", "read_*"), keys=("a",), threshold=1),
        ),
    )
    return msgspec.structs.replace(made, **changes)


def envelope(*seeds: int) -> Envelope:
    return read_envelope(sign(b"{}", [key(seed) for seed in seeds]))


def code(found: Trusted | Diagnostic | None) -> str:
    assert isinstance(found, Diagnostic), found
    assert found.code in CODES
    return found.code


def test_the_keys_of_a_role_sign_its_names_and_no_others() -> None:
    assert isinstance(root().check("find_files", envelope(1), NOW), Trusted)
    assert isinstance(root().check("plan/find_files", envelope(3), NOW), Trusted)
    assert code(root().check("find_files", envelope(3), NOW)) == "key-unknown"
    assert code(root().check("plan/find_files", envelope(1), NOW)) == "key-unknown"
    assert code(root().check("delete_files", envelope(1, 2, 3), NOW)) == "key-not-allowed"


def test_the_first_role_that_matches_speaks() -> None:
    strict = root(roles=(Role(names=("find_files",), keys=("b",), threshold=1), *root().roles))
    assert code(strict.check("find_files", envelope(1), NOW)) == "key-unknown"
    assert isinstance(strict.check("find_dirs", envelope(1), NOW), Trusted)


def test_effects_may_need_two_keys() -> None:
    assert isinstance(root().check("write_files", envelope(1, 2), NOW), Trusted)
    assert code(root().check("write_files", envelope(1), NOW)) == "threshold-not-met"
    assert code(root().check("write_files", envelope(1, 3), NOW)) == "threshold-not-met"
    assert code(root().check("write_files", envelope(1, 1), NOW)) == "threshold-not-met"


def test_a_broken_signature_is_named_as_such() -> None:
    broken = msgspec.structs.replace(envelope(1), payload=b"[]")
    found = root().check("find_files", broken, NOW)
    assert code(found) == "signature-invalid"
    assert isinstance(found, Diagnostic)
    assert found.found.startswith("0 of 1")


def test_the_root_expires_at_its_second() -> None:
    dated = root(expires=NOW)
    assert code(dated.check("find_files", envelope(1), NOW)) == "trust-expired"
    assert isinstance(dated.check("find_files", envelope(1), NOW - SECOND), Trusted)


def test_a_key_expires_at_its_second() -> None:
    dated = root(keys={**root().keys, "a": public(1, expires=NOW)})
    assert code(dated.check("find_files", envelope(1), NOW)) == "key-expired"
    assert isinstance(dated.check("find_files", envelope(1), NOW - SECOND), Trusted)
    assert code(dated.check("write_files", envelope(1, 2), NOW)) == "key-expired"


def test_a_revoked_key_never_counts() -> None:
    revoked = root(keys={**root().keys, "a": public(1, revoked=NOW + SECOND)})
    assert code(revoked.check("find_files", envelope(1), NOW)) == "key-revoked"


def test_a_key_revoked_under_one_name_is_revoked_under_all() -> None:
    twice = root(
        keys={**root().keys, "a2": public(1, revoked=NOW)},
        roles=(Role(names=("*",), keys=("a", "a2", "b"), threshold=1),),
    )
    assert code(twice.check("find_files", envelope(1), NOW)) == "key-revoked"
    assert isinstance(twice.check("find_files", envelope(2), NOW), Trusted)


def test_development_is_when_a_development_key_was_needed() -> None:
    mixed = root(keys={"a": public(1, development=True), "b": public(2), "c": public(3)})
    assert mixed.check("find_files", envelope(1), NOW).development  # type: ignore[union-attr]
    assert mixed.check("write_files", envelope(1, 2), NOW).development  # type: ignore[union-attr]
    assert not mixed.check("plan/x", envelope(3), NOW).development  # type: ignore[union-attr]
    either = msgspec.structs.replace(mixed, roles=(Role(names=("*",), keys=("a", "b"), threshold=1),))
    assert not either.check("find_files", envelope(1, 2), NOW).development  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("version", "seen", "refused"),
    [
        ("1.0.0", None, False),
        ("1.0.0", "1.0.0", False),
        ("1.0.1", "1.0.0", False),
        ("1.0.0", "1.0.1", True),
        ("1.9.0", "1.10.0", True),
        ("2.0.0-rc.1", "2.0.0", True),
        ("2.0.0-rc.2", "2.0.0-rc.10", True),
        ("2.0.0", "2.0.0-rc.10", False),
    ],
)
def test_versions_only_go_up(version: str, seen: str | None, refused: bool) -> None:
    found = root().check_version("find_files", version, "sha256:0", seen=seen, development=False)
    assert (found is not None) == refused
    if refused:
        assert code(found) == "version-downgraded"
    assert root().check_version("find_files", version, "sha256:0", seen=seen, development=True) is None


def test_what_was_withdrawn_stays_out() -> None:
    gone = root(
        withdrawn=(Withdrawn(name="find_files", up_to="1.2.0"), Withdrawn(name="read_files", digest="sha256:0"))
    )

    def check(name: str, version: str, digest: str) -> Diagnostic | None:
        return gone.check_version(name, version, digest, seen=None, development=True)

    assert code(check("find_files", "1.2.0", "sha256:1")) == "manifest-revoked"
    assert check("find_files", "1.2.1", "sha256:1") is None
    assert code(check("read_files", "1.0.0", "sha256:0")) == "manifest-revoked"
    assert check("read_files", "1.0.0", "sha256:1") is None


def test_a_trust_file_reads_as_it_was_written() -> None:
    made = root(
        expires=NOW,
        keys={**root().keys, "c": public(3, development=True, expires=NOW, revoked=NOW)},
        withdrawn=(Withdrawn(name="x", up_to="1.0.0"),),
    )
    assert read_trust(write_trust(made)) == made


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "schema 2"),
        ({"keys": {**root().keys, "a": Key(public="zz")}}, "not hex"),
        ({"keys": {**root().keys, "a": Key(public="00")}}, "32 bytes"),
        ({"keys": {"a": public(1)}}, "unknown key"),
        ({"roles": (Role(names=("*",), keys=("a",), threshold=0),)}, "threshold 0"),
        ({"roles": (Role(names=("*",), keys=("a", "a"), threshold=2),)}, "1 distinct"),
        (
            {"keys": {"a": public(1), "b": public(1)}, "roles": (Role(names=("*",), keys=("a", "b"), threshold=2),)},
            "1 distinct",
        ),
        ({"expires": datetime(2026, 1, 1)}, "no zone"),  # noqa: DTZ001 - the fault itself
        ({"keys": {"a": public(1, expires=datetime(2026, 1, 1))}, "roles": ()}, "no zone"),  # noqa: DTZ001
        ({"withdrawn": (Withdrawn(name="x"),)}, "neither"),
        ({"withdrawn": (Withdrawn(name="x", up_to="1"),)}, "semantic"),
    ],
)
def test_a_trust_file_with_a_fault_is_none(change: dict[str, Any], message: str) -> None:
    with pytest.raises(TrustFault, match=message):
        read_trust(write_trust(root(**change)))


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", write_trust(root())[:-3] + b',"extra":1}', b'{"id":"a","id":"b"}'])
def test_a_trust_file_is_strict(data: bytes) -> None:
    with pytest.raises(TrustFault):
        read_trust(data)
