"""Signing a tree: the same bytes for the same sources, every fault told, nothing left half done."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from metnos.contracts import build as module
from metnos.contracts.build import BuildFault, Signer, build, main, open_signer
from metnos.contracts.envelope import public_bytes
from metnos.contracts.load import load_catalog, load_plans
from metnos.contracts.trust import read_trust
from metnos.plan.codes import CODES
from tests.support.signing import key

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = len(list((ROOT / "manifests").glob("*.toml")))
RELEASE = Signer(key=key(1), development=False)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def faults(source: Path, out: Path) -> list[tuple[str, str]]:
    """(code, place within the tree) of every fault."""
    with pytest.raises(BuildFault) as caught:
        build(source, out, RELEASE)
    assert all(fault.code in CODES for fault in caught.value.diagnostics)
    assert all(fault.where in str(caught.value) for fault in caught.value.diagnostics)
    return [(fault.code, fault.where.removeprefix(f"{source}/")) for fault in caught.value.diagnostics]


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_the_same_sources_give_the_same_bytes_and_nothing_is_moved(tree: Path, tmp_path: Path) -> None:
    out, other = tmp_path / "one", tmp_path / "deep" / "two"
    first = build(tree, out, RELEASE)
    inode = out.stat().st_ino
    again = build(tree, out, RELEASE)
    build(tree, other, RELEASE)
    assert (first.changed, again.changed) == (True, False)
    assert (first.executors, first.plans) == (SHIPPED, 1)
    assert out.stat().st_ino == inode
    assert snapshot(out) == snapshot(other)


def test_a_change_replaces_the_folder_and_leaves_nothing_behind(tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    build(tree, out, RELEASE)
    (tree / "catalog" / "plans" / "large_files.toml").unlink()
    (tree / "catalog" / "plans" / "count_files.toml").write_bytes(b'id = "count_files"\nversion = "1.0.0"\n')
    assert build(tree, out, RELEASE).changed
    assert [path.name for path in (out / "plans").iterdir()] == ["count_files.dsse.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "source"]


def test_the_payload_holds_digests_lengths_and_the_sdk(signed: Path) -> None:
    import base64

    payload = json.loads(
        base64.b64decode(json.loads((signed / "manifests" / "find_files.dsse.json").read_bytes())["payload"])
    )
    code = (signed / "executors" / "find_files" / "executor.py").read_bytes()
    assert payload["files"] == [
        {"name": "executor.py", "sha256": hashlib.sha256(code).hexdigest(), "length": len(code)}
    ]
    assert payload["sdk"] == 1


def test_a_failed_disk_leaves_what_was_there(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    build(tree, out, RELEASE)
    before = snapshot(out)
    (tree / "catalog" / "plans" / "large_files.toml").write_bytes(b"id = 'x'\nversion = '1.0.0'\n")

    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "no space left")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="no space"):
        build(tree, out, RELEASE)
    assert snapshot(out) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "source"]


def test_every_fault_is_told_in_one_pass_and_nothing_is_signed(tree: Path, tmp_path: Path) -> None:
    manifests, code = tree / "manifests", tree / "catalog" / "executors"
    edit(manifests / "find_files.toml", "families", "familie")
    edit(manifests / "read_files.toml", 'name = "read_files"', 'name = "read_files_x"')
    (manifests / "sort_entries.toml").write_text("x = \n")
    edit(manifests / "filter_entries.toml", "google-re2>=1.1", "google-re2>=99")
    edit(manifests / "take_entries.toml", "resources = []", 'resources = []\ndistributions = ["no-such-thing"]')
    (code / "compute_stats" / "executor.py").unlink()
    (code / "render_table" / "executor.py").write_bytes(b"#" * (1 << 20) + b"#")
    (code / "write_files" / "executor.py").write_text(
        "import os\nimport metnos.engine\nfrom socket import *\nimport yaml\n"
    )
    (code / "stray").mkdir()
    (code / "stray" / "executor.py").write_text("")
    (tree / "catalog" / "plans" / "large_files.toml").write_text("x = 1\nx = 2\n")
    (tree / "catalog" / "plans" / "huge.toml").write_text("#" * (256 * 1024 + 1))
    out = tmp_path / "out"
    assert sorted(faults(tree, out)) == sorted(
        [
            ("distribution-missing", "manifests/take_entries.toml#/distributions/0"),
            ("distribution-version", "manifests/filter_entries.toml#/distributions/0"),
            ("file-length", "catalog/executors/render_table/executor.py"),
            ("file-missing", "catalog/executors/compute_stats/executor.py"),
            ("import-forbidden", "catalog/executors/write_files/executor.py:2"),
            ("import-forbidden", "catalog/executors/write_files/executor.py:4"),
            ("manifest-missing", "catalog/executors/stray"),
            ("manifest-oversize", "catalog/plans/huge.toml"),
            ("manifest-syntax", "catalog/plans/large_files.toml#"),
            ("manifest-syntax", "manifests/sort_entries.toml#"),
            ("manifest-unknown-field", "manifests/find_files.toml#/familie"),
            ("name-mismatch", "manifests/read_files.toml#/name"),
        ]
    )
    assert not out.exists()


def test_other_files_of_an_executor_are_signed_too(tree: Path, tmp_path: Path) -> None:
    edit(tree / "manifests" / "find_files.toml", '["executor.py"]', '["executor.py", "words.py", "messages.toml"]')
    folder = tree / "catalog" / "executors" / "find_files"
    (folder / "executor.py").write_text("import words\n")
    (folder / "words.py").write_text("")
    (folder / "messages.toml").write_text("import = 'not Python'\n")
    build(tree, tmp_path / "out", RELEASE)
    catalog = load_catalog(tmp_path / "out", home=None)
    assert set(catalog.code("find_files")) == {"executor.py", "words.py", "messages.toml"}


# --- keys -----------------------------------------------------------------------------------------------------


def test_a_development_key_is_made_once_and_for_its_owner(tmp_path: Path) -> None:
    one, two = open_signer(tmp_path, None), open_signer(tmp_path, None)
    path = tmp_path / "build" / "keys" / "dev.ed25519"
    assert one.development
    assert public_bytes(one.key) == public_bytes(two.key)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_of_two_builds_at_once_one_key_wins(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "dev.ed25519"
    module.make_key(path)
    first = path.read_bytes()
    module.make_key(path)
    assert path.read_bytes() == first


def test_a_release_key_is_read_in_three_forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private = key(7)
    forms = {
        "raw": private.private_bytes_raw(),
        "hex": private.private_bytes_raw().hex().encode() + b"\n",
        "pem": private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    }
    for name, data in forms.items():
        path = tmp_path / name
        path.write_bytes(data)
        monkeypatch.setenv("METNOS_RELEASE_KEY", str(path))
        signer = open_signer(tmp_path, None)
        assert (public_bytes(signer.key), signer.development) == (public_bytes(private), False)
        assert public_bytes(open_signer(tmp_path, path).key) == public_bytes(private)


def test_a_file_that_is_no_key_is_refused(tmp_path: Path) -> None:
    other = generate_private_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    for data in (b"", b"not a key", b"ab" * 40, other):
        path = tmp_path / "key"
        path.write_bytes(data)
        with pytest.raises(ValueError):  # noqa: PT011 - whatever says it, it is one sentence on stderr
            open_signer(tmp_path, path)


def test_the_trust_root_of_a_checkout_is_not_that_of_a_release() -> None:
    release = module.trust_root(RELEASE)
    development = module.trust_root(Signer(key=key(1), development=True))
    assert release.id == "metnos"
    assert development.id.startswith("metnos-dev-")
    assert [one.development for one in development.keys.values()] == [True]


# --- the command ----------------------------------------------------------------------------------------------


def test_the_command_prints_one_line(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tree / "build" / "catalog"
    assert main(["--source", str(tree), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"signed {SHIPPED} executors and 1 plans with a development key: {out}\n"
    assert main(["--source", str(tree), "--out", str(out)]) == 0
    assert capsys.readouterr().out.endswith(", unchanged\n")


def test_the_command_says_what_is_wrong(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "manifests" / "find_files.toml").write_text("x = \n")
    assert main(["--source", str(tree), "--out", str(tree / "out")]) == 1
    assert "find_files.toml#: manifest-syntax" in capsys.readouterr().err
    assert main(["--source", str(tree), "--out", str(tree / "out"), "--key", str(tree / "none")]) == 1
    assert capsys.readouterr().err.startswith("cannot sign: ")


def test_as_a_module_with_a_release_key(tree: Path, tmp_path: Path) -> None:
    path = tmp_path / "release.key"
    path.write_bytes(key(9).private_bytes_raw())
    command = [sys.executable, "-m", "metnos.contracts.build", "--source", ".", "--out", "out"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "METNOS_RELEASE_KEY": str(path)}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "release key" in done.stdout
    root = read_trust((tree / "out" / "trust.json").read_bytes())
    assert root.keys["release"].public == public_bytes(key(9)).hex()
    assert load_catalog(tree / "out", home=tmp_path / "home").refused == ()


def test_what_is_shipped_is_signed_and_admitted(tmp_path: Path) -> None:
    report = build(ROOT, tmp_path / "out", RELEASE)
    catalog = load_catalog(tmp_path / "out", home=None)
    assert catalog.refused == ()
    assert len(catalog.names()) == report.executors == len(list((ROOT / "manifests").glob("*.toml")))
    plans = {path.stem: path.read_bytes() for path in (ROOT / "catalog" / "plans").glob("*.toml")}
    assert load_plans(tmp_path / "out") == plans


@pytest.mark.parametrize("version", [None, "1", "one", 'x"y'])
def test_a_template_needs_a_version_that_can_go_up(tree: Path, tmp_path: Path, version: str | None) -> None:
    line = "" if version is None else f"version = '{version}'\n"
    (tree / "catalog" / "plans" / "large_files.toml").write_text(f"id = 'x'\n{line}")
    with pytest.raises(BuildFault) as caught:
        build(tree, tmp_path / "out", RELEASE)
    (fault,) = caught.value.diagnostics
    assert (fault.code, fault.expected) == ("manifest-missing-field", "version")
