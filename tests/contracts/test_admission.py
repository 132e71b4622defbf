"""Admission on real folders: one bad manifest is refused by name, and the others stay."""

from __future__ import annotations

import json
import os
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from metnos.contracts import admission, load
from metnos.contracts.admission import Terms, admit
from metnos.contracts.build import Signer, payload_of, trust_root
from metnos.contracts.catalog import Admitted, Catalog, Refused
from metnos.contracts.envelope import MAX_BYTES, PLAN_TYPE, sign
from metnos.contracts.load import load_catalog, load_plans, read_plans, version_of
from metnos.contracts.seen import SeenFault, raise_seen, read_seen
from metnos.contracts.trust import TrustRoot, read_trust, write_trust
from metnos.plan.codes import CODES
from metnos.plan.jsondata import canonical
from tests.support.signing import CODE, NOW, key

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = len(list((ROOT / "manifests").glob("*.toml")))


def opened(catalog: Path, home: Path | None = None) -> Catalog:
    return load_catalog(catalog, home=home, now=NOW)


def one(catalog: Catalog) -> Refused:
    """The only refusal; the other seven were admitted."""
    assert len(catalog.refused) == 1, catalog.refused
    (refused,) = catalog.refused
    assert len(catalog.names()) == SHIPPED - 1
    assert catalog.get(refused.name) is None
    assert refused.diagnostic.code in CODES
    return refused


def table(**changes: Any) -> dict[str, Any]:
    found = tomllib.loads((ROOT / "manifests" / "find_files.toml").read_text())
    return {**found, **changes}


def replace(catalog: Path, payload: bytes, *, signer: int = 1, name: str = "find_files") -> None:
    (catalog / "manifests" / f"{name}.dsse.json").write_bytes(sign(payload, key(signer)))


def retrust(catalog: Path, **changes: Any) -> None:
    path = catalog / "trust.json"
    path.write_bytes(write_trust(msgspec.structs.replace(read_trust(path.read_bytes()), **changes)))


def test_all_are_admitted_and_the_bytes_hashed_are_the_bytes_handed_out(signed: Path) -> None:
    catalog = opened(signed)
    assert len(catalog.names()) == SHIPPED
    assert catalog.refused == ()
    (signed / "executors" / "find_files" / "executor.py").write_bytes(b"import os; os.abort()")
    assert catalog.code("find_files") == {"executor.py": CODE}
    contract = catalog.get("filter_entries")
    assert contract is not None
    assert contract.distributions[0].startswith("google-re2@")


def test_a_tampered_payload_is_refused(signed: Path) -> None:
    path = signed / "manifests" / "find_files.dsse.json"
    envelope = json.loads(path.read_bytes())
    other = json.loads((signed / "manifests" / "read_files.dsse.json").read_bytes())
    path.write_bytes(json.dumps({**envelope, "payload": other["payload"]}).encode())
    assert one(opened(signed)).diagnostic.code == "signature-invalid"


def test_an_envelope_under_another_name_is_refused(signed: Path) -> None:
    path = signed / "manifests" / "find_files.dsse.json"
    path.write_bytes((signed / "manifests" / "read_files.dsse.json").read_bytes())
    assert one(opened(signed)).diagnostic.code == "name-mismatch"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (CODE[:-1] + b" ", "file-digest"),
        (CODE + b"#", "file-length"),
        (CODE[:-1], "file-length"),
        (b"x" * 10_000_000, "file-length"),
    ],
    ids=["other bytes", "longer", "shorter", "huge"],
)
def test_a_tampered_code_file_is_refused(signed: Path, code: bytes, found: str) -> None:
    (signed / "executors" / "find_files" / "executor.py").write_bytes(code)
    refused = one(opened(signed))
    assert refused.diagnostic.code == found
    assert refused.diagnostic.where == "/files/executor.py"


def test_a_huge_file_is_not_read_whole(signed: Path) -> None:
    with (signed / "executors" / "find_files" / "executor.py").open("wb") as stream:
        stream.truncate(1 << 40)
    with (signed / "manifests" / "read_files.dsse.json").open("wb") as stream:
        stream.truncate(1 << 40)
    assert sorted(refused.diagnostic.code for refused in opened(signed).refused) == ["file-length", "manifest-oversize"]


@pytest.mark.parametrize("kind", ["gone", "link", "folder", "fifo"])
def test_code_is_a_plain_file(signed: Path, kind: str, tmp_path: Path) -> None:
    path = signed / "executors" / "find_files" / "executor.py"
    path.unlink()
    if kind == "link":
        (tmp_path / "same.py").write_bytes(CODE)
        path.symlink_to(tmp_path / "same.py")
    elif kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    assert one(opened(signed)).diagnostic.code == "file-missing"


def test_an_envelope_that_cannot_be_read_is_refused(signed: Path) -> None:
    path = signed / "manifests" / "find_files.dsse.json"
    path.unlink()
    path.symlink_to("read_files.dsse.json")
    assert one(opened(signed)).diagnostic.code == "file-missing"
    path.unlink()
    path.write_bytes(b"{}")
    assert one(opened(signed)).diagnostic.code == "envelope-malformed"


def test_a_wrong_key_is_refused(signed: Path) -> None:
    replace(signed, payload_of(table(), {"executor.py": CODE}), signer=2)
    assert one(opened(signed)).diagnostic.code == "key-unknown"


def test_expiry_and_revocation_reach_every_manifest(signed: Path) -> None:
    retrust(signed, expires=NOW)
    assert {refused.diagnostic.code for refused in opened(signed).refused} == {"trust-expired"}
    root = read_trust((signed / "trust.json").read_bytes())
    retrust(signed, expires=None, keys={"release": msgspec.structs.replace(root.keys["release"], revoked=NOW)})
    assert {refused.diagnostic.code for refused in opened(signed).refused} == {"key-revoked"}
    assert opened(signed).names() == ()


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (b"{", "manifest-syntax"),
        (b"[]", "manifest-field"),
        (b'{"name": "a", "name": "b"}', "manifest-syntax"),
        (payload_of(table(surprise=1), {"executor.py": CODE}), "manifest-unknown-field"),
        (payload_of(table(name="found_files"), {"executor.py": CODE}), "name-mismatch"),
        (canonical({**json.loads(payload_of(table(), {"executor.py": CODE})), "sdk": 99}), "sdk-version"),
        (canonical({**table(), "sdk": 1}), "file-digest"),
        (canonical(table()), "sdk-version"),
        (payload_of(table(distributions=["no-such-thing"]), {"executor.py": CODE}), "distribution-missing"),
        (payload_of(table(distributions=["msgspec>=99"]), {"executor.py": CODE}), "distribution-version"),
        (payload_of(table(platforms=["win32"]), {"executor.py": CODE}), "platform-unsupported"),
        (payload_of(table(args={"$ref": "#"}), {"executor.py": CODE}), "schema-ref-cycle"),
    ],
)
def test_a_signed_manifest_with_a_fault_is_refused(signed: Path, payload: bytes, code: str) -> None:
    replace(signed, payload)
    assert one(opened(signed)).diagnostic.code == code


def test_all_faults_of_a_signed_manifest_are_told(signed: Path) -> None:
    replace(signed, payload_of(table(surprise=1, version="1"), {"executor.py": CODE}))
    refused = one(opened(signed))
    assert [fault.code for fault in (refused.diagnostic, *refused.more)] == ["manifest-unknown-field", "manifest-field"]


def test_a_platform_that_fits_is_admitted(signed: Path) -> None:
    replace(signed, payload_of(table(platforms=["linux", "darwin", "win32"]), {"executor.py": CODE}))
    assert opened(signed).refused == ()


# --- versions only go up --------------------------------------------------------------------------------------


def test_a_version_once_seen_is_not_gone_below(signed: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    replace(signed, payload_of(table(version="9.1.0"), {"executor.py": CODE}))
    assert opened(signed, home).refused == ()
    assert read_seen(home, "metnos")["find_files"] == "9.1.0"
    replace(signed, payload_of(table(), {"executor.py": CODE}))
    assert one(opened(signed, home)).diagnostic.code == "version-downgraded"
    assert opened(signed, tmp_path / "other home").refused == ()
    assert opened(signed).refused == ()


def test_whichever_key_signed(signed: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    replace(signed, payload_of(table(version="9.1.0"), {"executor.py": CODE}))
    opened(signed, home)
    other = trust_root(Signer(key=key(2), development=False)).keys["release"]
    root = read_trust((signed / "trust.json").read_bytes())
    role = msgspec.structs.replace(root.roles[0], keys=("release", "next"))
    retrust(signed, keys={**root.keys, "next": other}, roles=(role,))
    replace(signed, payload_of(table(), {"executor.py": CODE}), signer=2)
    assert one(opened(signed, home)).diagnostic.code == "version-downgraded"


def test_a_development_key_may_go_back_and_leaves_no_memory(tree: Path, tmp_path: Path) -> None:
    from metnos.contracts.build import build

    out, home = tmp_path / "dev", tmp_path / "home"
    build(tree, out, Signer(key=key(1), development=True))
    replace(out, payload_of(table(version="9.0.0"), {"executor.py": CODE}))
    assert opened(out, home).refused == ()
    replace(out, payload_of(table(), {"executor.py": CODE}))
    assert opened(out, home).refused == ()
    assert not (home / "trust").exists()


def test_the_memory_is_written_only_when_something_rose(signed: Path, tmp_path: Path) -> None:
    opened(signed, tmp_path)
    path = tmp_path / "trust" / "seen.json"
    before = path.stat()
    opened(signed, tmp_path)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert raise_seen(tmp_path, "metnos", {"find_files": "0.9.0"}) is False
    assert raise_seen(tmp_path, "another root", {"find_files": "0.9.0"}) is True
    assert read_seen(tmp_path, "metnos")["find_files"] == table()["version"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b'{"schema":2,"roots":{}}',
        b'{"schema":1,"roots":{"metnos":{"find_files":"one"}}}',
        b'{"schema":1,"roots":{},"x":1}',
    ],
)
def test_a_damaged_memory_refuses_release_keys_and_is_not_overwritten(
    signed: Path, tmp_path: Path, data: bytes
) -> None:
    (tmp_path / "trust").mkdir()
    (tmp_path / "trust" / "seen.json").write_bytes(data)
    catalog = opened(signed, tmp_path)
    assert {refused.diagnostic.code for refused in catalog.refused} == {"seen-damaged"}
    assert catalog.names() == ()
    assert (tmp_path / "trust" / "seen.json").read_bytes() == data
    with pytest.raises(SeenFault):
        raise_seen(tmp_path, "metnos", {"a": "1.0.0"})


def test_a_home_that_cannot_be_written_is_said(signed: Path, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    catalog = opened(signed, tmp_path / "home")
    assert catalog.names() == ()
    home = tmp_path / "other"
    home.mkdir()
    (home / "trust").mkdir()
    (home / "trust" / "seen.lock").mkdir()
    catalog = opened(signed, home)
    assert len(catalog.names()) == SHIPPED
    assert [refused.name for refused in catalog.refused] == ["seen.json"]


# --- the folder -----------------------------------------------------------------------------------------------


def test_no_folder_no_catalog(tmp_path: Path) -> None:
    catalog = load_catalog(tmp_path / "none", home=None)
    assert [refused.diagnostic.code for refused in catalog.refused] == ["catalog-missing"]
    assert read_plans(tmp_path / "none").refused == catalog.refused
    assert load_plans(tmp_path / "none") == {}


def test_a_damaged_trust_root_admits_nothing(signed: Path) -> None:
    (signed / "trust.json").write_bytes(b"{}")
    assert [refused.diagnostic.code for refused in opened(signed).refused] == ["trust-malformed"]
    (signed / "trust.json").unlink()
    (signed / "trust.json").mkdir()
    assert [refused.diagnostic.code for refused in opened(signed).refused] == ["trust-malformed"]


def test_a_trust_root_alone_is_an_empty_catalog(signed: Path, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "trust.json").write_bytes((signed / "trust.json").read_bytes())
    catalog = opened(tmp_path / "bare")
    assert (catalog.names(), catalog.refused) == ((), ())


def test_templates_are_the_exact_bytes_that_were_signed(signed: Path) -> None:
    assert load_plans(signed, now=NOW) == {"large_files": b'id = "large_files"\nversion = "1.0.0"\n'}
    assert load_plans(signed) == load_plans(signed, now=datetime.now(UTC))


def test_a_manifest_cannot_stand_in_for_a_template(signed: Path) -> None:
    path = signed / "plans" / "large_files.dsse.json"
    path.write_bytes((signed / "manifests" / "find_files.dsse.json").read_bytes())
    (signed / "plans" / "other.dsse.json").write_bytes(sign(b"x", key(2), PLAN_TYPE))
    (signed / "plans" / "third.dsse.json").write_bytes(b"x" * (MAX_BYTES + 1))
    (signed / "plans" / "note.txt").write_bytes(b"")
    plans = read_plans(signed, now=NOW)
    assert plans.verified == {}
    assert [(refused.name, refused.diagnostic.code) for refused in plans.refused] == [
        ("plan/large_files", "envelope-malformed"),
        ("plan/other", "key-unknown"),
        ("plan/third", "manifest-oversize"),
    ]


def test_admission_reads_each_file_once(signed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = load.read_bounded

    def counted(path: Path, limit: int) -> bytes:
        read.append(str(path))
        return real(path, limit)

    monkeypatch.setattr(load, "read_bounded", counted)
    opened(signed)
    files = sum(len(tomllib.loads(path.read_text())["files"]) for path in (ROOT / "manifests").glob("*.toml"))
    assert len(read) == len(set(read)) == 1 + SHIPPED + files


class Memory:
    """Code from memory."""

    def read(self, executor: str, file: str, limit: int) -> bytes:
        return CODE


def test_admission_needs_no_disk() -> None:
    trust: TrustRoot = trust_root(Signer(key=key(1), development=False))
    payload = payload_of(table(), {"executor.py": CODE})
    found = admit("find_files", sign(payload, key(1)), Memory(), Terms(trust=trust, now=NOW, seen={}))
    assert isinstance(found, Admitted)
    assert found.code == {"executor.py": CODE}
    assert not found.development
    assert isinstance(admit("x", b"", Memory(), Terms(trust=trust, now=NOW)), Refused)
    assert admission.MAX_CODE_BYTES == 1024 * 1024


def test_the_version_of_a_template_is_read_wherever_it_stands() -> None:
    assert version_of(b'id = "x"\nversion = "1.2.0"\r\n') == "1.2.0"
    assert version_of(b"id = 'x'\na = 1\nb = 2\nc = 3\nversion = '1.2.0-rc.1'\n") == "1.2.0-rc.1"
    assert version_of(b'[a]\nb = "c"\nc = "d"\nd = "e"\nversion = "1.0.0"\n') is None
    for broken in (b"", b"version = 1", b'version = "1.0"', b"\xff", b"version = ", b"a = " + b"[" * 5000):
        assert version_of(broken) is None
