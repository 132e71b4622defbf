"""`metnos catalog verify|sign|keys` in a process of its own: each refusal by its code, keys of one's own, own catalogs."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from metnos.contracts.build import Signer, own_folder, sign_tree
from metnos.contracts.envelope import PLAN_TYPE, key_id, public_bytes, read_envelope, sign
from metnos.contracts.keys import open_key, sign_own
from metnos.contracts.trust import Key, Role, TrustRoot, Withdrawn, read_trust, write_trust
from metnos.plan.codes import CODES
from metnos.plan.jsondata import canonical, loads_strict
from tests.cli.conftest import SLOW, SLOW_CODE
from tests.support.signing import key
from tests.support.terminal import Metnos

TOOL = "find_files_slow"
PLAN = 'id = "wait"\nversion = "1.0.0"\n'
PAST = datetime(2020, 1, 1, tzinfo=UTC)


def public(seed: int, **more: Any) -> Key:
    return Key(public=public_bytes(key(seed)).hex(), **more)


ROOT = TrustRoot(
    schema=1,
    id="own-test",
    keys={"a": public(1), "b": public(2), "c": public(3)},
    roles=(Role(names=("*",), keys=("a", "b", "c"), threshold=2),),
)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    made = tmp_path / "sources"
    (made / TOOL).mkdir(parents=True)
    (made / TOOL / "manifest.toml").write_text(SLOW)
    (made / TOOL / "executor.py").write_text(SLOW_CODE)
    (made / "plans").mkdir()
    (made / "plans" / "wait.toml").write_text(PLAN)
    return made


@pytest.fixture
def own(sources: Path, tmp_path: Path) -> Path:
    """One executor and one plan, signed by two keys of three, of which two are needed."""
    out = tmp_path / "own"
    sign_tree(own_folder(sources), out, Signer(key=(key(1), key(2)), development=False), ROOT)
    return out


def manifest(own: Path) -> Path:
    return own / "manifests" / f"{TOOL}.dsse.json"


def table(own: Path) -> dict[str, Any]:
    found = loads_strict(read_envelope(manifest(own).read_bytes()).payload)
    assert isinstance(found, dict)
    return found


def resign(own: Path, payload: bytes, *seeds: int) -> None:
    manifest(own).write_bytes(sign(payload, [key(seed) for seed in seeds or (1, 2)]))


def retrust(own: Path, **changes: Any) -> None:
    (own / "trust.json").write_bytes(write_trust(msgspec.structs.replace(ROOT, **changes)))


def edit(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    held = json.loads(path.read_bytes())
    change(held)
    path.write_text(json.dumps(held))


def key_twice(own: Path) -> None:
    """One key under two names, and two signatures of it."""
    retrust(own, keys={**ROOT.keys, "a2": public(1)}, roles=(Role(names=("*",), keys=("a", "a2", "c"), threshold=2),))
    resign(own, canonical(table(own)), 1, 1)


def same_key_in_other_letters(own: Path) -> None:
    keys = {**ROOT.keys, "a2": Key(public=ROOT.keys["a"].public.upper())}
    retrust(own, keys=keys, roles=(Role(names=("*",), keys=("a", "a2", "c"), threshold=2),))
    edit(manifest(own), lambda held: held["signatures"].pop())
    edit(manifest(own), lambda held: held["signatures"].append({**held["signatures"][0], "keyid": "0" * 64}))


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


REFUSED: dict[str, tuple[Callable[[Path], Any], str, str]] = {
    "payload changed": (lambda own: edit(manifest(own), lambda held: held.update(payload="e30=")), TOOL, "signature-invalid"),
    "one signature too few": (lambda own: resign(own, canonical(table(own)), 1), TOOL, "threshold-not-met"),
    "one key signs twice": (key_twice, TOOL, "threshold-not-met"),
    "one key under two ids": (same_key_in_other_letters, TOOL, "threshold-not-met"),
    "keys that nobody knows": (lambda own: resign(own, canonical(table(own)), 8, 9), TOOL, "key-unknown"),
    "a key that was revoked": (lambda own: retrust(own, keys={**ROOT.keys, "b": public(2, revoked=PAST)}), TOOL, "key-revoked"),
    "a key that has expired": (lambda own: retrust(own, keys={**ROOT.keys, "b": public(2, expires=PAST)}), TOOL, "key-expired"),
    "a trust root that has expired": (lambda own: retrust(own, expires=PAST), TOOL, "trust-expired"),
    "a name that nobody may sign": (lambda own: retrust(own, roles=(Role(names=("plan/*",), keys=("a",), threshold=1),)), TOOL, "key-not-allowed"),
    "a manifest that has expired": (lambda own: resign(own, canonical({**table(own), "expires": "2020-01-01T00:00:00Z"})), TOOL, "manifest-expired"),
    "an expiry that is no time": (lambda own: resign(own, canonical({**table(own), "expires": "2020-13-01T00:00:00Z"})), TOOL, "manifest-field"),
    "a manifest that was withdrawn": (lambda own: retrust(own, withdrawn=(Withdrawn(name=TOOL, up_to="1.0.0"),)), TOOL, "manifest-revoked"),
    "a plan that was withdrawn": (lambda own: retrust(own, withdrawn=(Withdrawn(name="plan/wait", up_to="1.0.0"),)), "plan/wait", "manifest-revoked"),
    "a plan without a version": (
        lambda own: (own / "plans" / "wait.dsse.json").write_bytes(sign(b'id = "wait"\n', [key(1), key(2)], PLAN_TYPE)),
        "plan/wait",
        "manifest-field",
    ),
    "a plan with another's signature": (
        lambda own: shutil.copy(manifest(own), own / "plans" / "wait.dsse.json"),
        "plan/wait",
        "envelope-malformed",
    ),
    "a field that nobody knows": (lambda own: resign(own, canonical({**table(own), "extra": 1})), TOOL, "manifest-unknown-field"),
    "a field that is given twice": (
        lambda own: resign(own, canonical(table(own))[:-1] + b',"version":"2.0.0"}'),
        TOOL,
        "manifest-syntax",
    ),
    "a manifest under another name": (lambda own: manifest(own).rename(own / "manifests" / "other.dsse.json"), "other", "name-mismatch"),
    "an envelope with a field too many": (lambda own: edit(manifest(own), lambda held: held.update(note="x")), TOOL, "envelope-malformed"),
    "an envelope with a field twice": (
        lambda own: manifest(own).write_text(manifest(own).read_text().rstrip()[:-1] + ',"payload":"e30="}'),
        TOOL,
        "envelope-malformed",
    ),
    "a trust root with a field too many": (lambda own: edit(own / "trust.json", lambda held: held.update(note="x")), "trust.json", "trust-malformed"),
    "a trust root with a field twice": (
        lambda own: (own / "trust.json").write_text((own / "trust.json").read_text().rstrip()[:-1] + ',"schema":1}'),
        "trust.json",
        "trust-malformed",
    ),
    "a threshold that nobody can reach": (
        lambda own: edit(own / "trust.json", lambda held: held["roles"][0].update(threshold=4)),
        "trust.json",
        "trust-malformed",
    ),
    "no trust root": (lambda own: (own / "trust.json").unlink(), "trust.json", "catalog-missing"),
    "code that was changed": (
        lambda own: (own / "executors" / TOOL / "executor.py").write_text(SLOW_CODE.replace("Waits", "Wakes")),
        TOOL,
        "file-digest",
    ),
    "code that is longer": (lambda own: append(own / "executors" / TOOL / "executor.py", "#"), TOOL, "file-length"),
    "code that is gone": (lambda own: (own / "executors" / TOOL / "executor.py").unlink(), TOOL, "file-missing"),
    "code that nobody signed": (
        lambda own: (own / "executors" / TOOL / "more.py").write_text(""),
        f"executors/{TOOL}/more.py",
        "file-unsigned",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("damage", "name", "code"), REFUSED.values(), ids=REFUSED)
def test_each_refusal_is_named(metnos: Metnos, own: Path, damage: Callable[[Path], Any], name: str, code: str) -> None:
    damage(own)
    done = metnos("--json", "catalog", "verify", str(own))
    assert done.status == 4, done.err
    told = done.json
    assert told["ok"] is False
    assert (name, code) in [(one["name"], one["diagnostic"]["code"]) for one in told["failed"]]
    assert code in CODES
    assert "Traceback" not in done.err


def test_what_holds_is_counted(metnos: Metnos, own: Path) -> None:
    done = metnos("catalog", "verify", METNOS_CATALOG=str(own))
    assert (done.status, done.out) == (0, "verified: 1 manifests with 1 code files, 1 plans\n")
    told = metnos("catalog", "--json", "verify", str(own)).json
    assert told == {"folder": str(own), "ok": True, "manifests": 1, "files": 1, "plans": 1, "failed": []}
    assert "1 file di codice" in metnos("--lang", "it", "catalog", "verify", str(own)).out


def test_every_code_file_that_fails_is_named(metnos: Metnos, sources: Path, own: Path) -> None:
    (sources / TOOL / "more.py").write_text("X = 1\n")
    (sources / TOOL / "manifest.toml").write_text(SLOW.replace('["executor.py"]', '["executor.py", "more.py"]'))
    sign_tree(own_folder(sources), own, Signer(key=(key(1), key(2)), development=False), ROOT)
    (own / "executors" / TOOL / "executor.py").write_text("")
    (own / "executors" / TOOL / "more.py").unlink()
    (failed,) = metnos("--json", "catalog", "verify", str(own)).json["failed"]
    faults = [failed["diagnostic"], *failed["more"]]
    assert [(fault["code"], fault["where"]) for fault in faults] == [
        ("file-length", "/files/executor.py"),
        ("file-missing", "/files/more.py"),
    ]


# ------------------------------------------------------------------------------------------------ rollback


def test_versions_of_manifests_and_plans_only_go_up(metnos: Metnos, own: Path, tmp_path: Path) -> None:
    use = {"METNOS_CATALOG": str(own)}
    old = tmp_path / "old"
    shutil.copytree(own, old)
    assert metnos("catalog", "verify", **use).status == 0
    assert not (metnos.home / "trust" / "seen.json").exists(), "looking remembers nothing"
    newer = canonical({**table(own), "version": "1.1.0"})
    resign(own, newer)
    (own / "plans" / "wait.dsse.json").write_bytes(
        sign(PLAN.replace("1.0.0", "1.0.1").encode(), [key(2), key(3)], PLAN_TYPE)
    )
    metnos("catalog", **use)
    metnos("examples", **use)
    seen = json.loads((metnos.home / "trust" / "seen.json").read_bytes())
    assert seen["roots"] == {"own-test": {TOOL: "1.1.0", "plan/wait": "1.0.1"}}
    back = metnos("--json", "catalog", "verify", str(old))
    assert back.status == 4
    assert [(one["name"], one["diagnostic"]["code"]) for one in back.json["failed"]] == [
        (TOOL, "version-downgraded"),
        ("plan/wait", "version-downgraded"),
    ]
    listed = metnos("--json", "catalog", METNOS_CATALOG=str(old))
    assert listed.status == 4
    assert listed.json["tools"] == []


def test_a_damaged_memory_of_versions_trusts_nothing(metnos: Metnos, own: Path) -> None:
    (metnos.home / "trust").mkdir(parents=True)
    (metnos.home / "trust" / "seen.json").write_text("{}")
    done = metnos("--json", "catalog", "verify", str(own))
    assert done.status == 4
    assert {(one["name"], one["diagnostic"]["code"]) for one in done.json["failed"]} == {
        (TOOL, "seen-damaged"),
        ("plan/wait", "seen-damaged"),
    }


# ------------------------------------------------------------------------------------------------ keys


def test_keys_are_made_and_listed_and_belong_to_their_owner(metnos: Metnos) -> None:
    assert metnos("--json", "catalog", "keys").json == {"keys": []}
    (made,) = metnos("--json", "catalog", "keys", "--new", "ada").json["keys"]
    path = Path(made["path"])
    assert path.is_relative_to(metnos.home)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert made["id"] == key_id(bytes.fromhex(made["public"]))
    assert path.read_bytes().hex() not in json.dumps(made)
    listed = metnos("catalog", "keys")
    assert (listed.status, listed.out) == (0, f"ada  {made['id']}  {path}\n")
    held = path.read_bytes()
    again = metnos("--json", "catalog", "keys", "--new", "ada")
    assert (again.status, again.error["code"], path.read_bytes()) == (2, "key-exists", held)


@pytest.mark.parametrize("name", ["", "../x", ".hidden", "a b", "x" * 65])
def test_a_keys_name_is_no_path(metnos: Metnos, name: str) -> None:
    done = metnos("--json", "catalog", "keys", f"--new={name}")
    assert done.status != 0
    assert done.error["code"] == "bad-name"
    assert not list(metnos.home.rglob("*.ed25519"))


def test_a_key_that_others_can_read_is_not_used(metnos: Metnos, sources: Path, tmp_path: Path) -> None:
    (made,) = metnos("--json", "catalog", "keys", "--new", "ada").json["keys"]
    Path(made["path"]).chmod(0o640)
    for arguments in (["keys"], ["sign", str(sources), "--out", str(tmp_path / "out"), "--key", "ada"]):
        done = metnos("--json", "catalog", *arguments)
        assert (done.status, done.error["code"]) == (4, "key-exposed")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("held", "code", "status"), [(None, "key-missing", 2), (b"short", "key-malformed", 4)])
def test_a_key_that_is_none(
    metnos: Metnos, sources: Path, tmp_path: Path, held: bytes | None, code: str, status: int
) -> None:
    path = tmp_path / "mine.key"
    if held is not None:
        path.touch(mode=0o600)
        path.write_bytes(held)
    done = metnos("--json", "catalog", "sign", str(sources), "--out", str(tmp_path / "out"), "--key", str(path))
    assert (done.status, done.error["code"], done.error["where"]) == (status, code, str(path))


# ------------------------------------------------------------------------------------------------ catalogs of one's own


def test_a_folder_of_ones_own_is_signed_and_used(metnos: Metnos, sources: Path, tmp_path: Path) -> None:
    for name in ("ada", "bob", "eve"):
        assert metnos("catalog", "keys", "--new", name).status == 0
    out = tmp_path / "mine"
    made = metnos(
        "catalog", "sign", str(sources), "--out", str(out), "--key", "ada", "--key", "bob", "--threshold", "1"
    )
    assert (made.status, made.out) == (0, f"signed 1 executors and 1 plans: {out}\n")
    root = read_trust((out / "trust.json").read_bytes())
    assert (sorted(root.keys), root.roles[0].threshold, root.expires) == (["ada", "bob"], 1, None)
    use = {"METNOS_CATALOG": str(out)}
    assert metnos("catalog", "list", **use).out.startswith(TOOL)
    assert metnos("--json", "catalog", "show", TOOL, **use).json["name"] == TOOL
    assert metnos("catalog", "verify", **use).status == 0
    # Other keys, the same catalog: its root keeps its id, so versions go on going up.
    signing = ["--json", "catalog", "sign", str(sources), "--out", str(out), "--key", "eve", "--expires"]
    again = metnos(*signing, "2999-01-01T00:00:00Z").json
    assert again == {"out": str(out), "executors": 1, "plans": 1, "changed": True}
    renewed = read_trust((out / "trust.json").read_bytes())
    assert (renewed.id, list(renewed.keys)) == (root.id, ["eve"])
    sign_own(sources, out, {"eve": open_key(metnos.home, "eve")}, 1, datetime(2020, 1, 1, tzinfo=UTC))
    assert metnos("catalog", "verify", **use).status == 4


@pytest.mark.parametrize(
    ("more", "code", "status"),
    [
        (["--threshold", "2"], "threshold-not-met", 4),
        (["--threshold", "0"], "threshold-not-met", 4),
        (["--expires", "tomorrow"], "usage", 2),
        (["--expires", "2030-01-01T00:00:00"], "usage", 2),
    ],
)
def test_what_cannot_be_signed_leaves_nothing(
    metnos: Metnos, sources: Path, tmp_path: Path, more: list[str], code: str, status: int
) -> None:
    metnos("catalog", "keys", "--new", "ada")
    done = metnos("--json", "catalog", "sign", str(sources), "--out", str(tmp_path / "out"), "--key", "ada", *more)
    assert (done.status, done.error["code"]) == (status, code)
    assert not (tmp_path / "out").exists()


def test_a_manifest_with_a_fault_is_named_and_nothing_is_signed(metnos: Metnos, sources: Path, tmp_path: Path) -> None:
    metnos("catalog", "keys", "--new", "ada")
    append(sources / TOOL / "manifest.toml", '\n[extra]\nx = "y"\n')
    (sources / "bare").mkdir()
    (sources / "bare" / "executor.py").write_text(SLOW_CODE)
    done = metnos("--json", "catalog", "sign", str(sources), "--out", str(tmp_path / "out"), "--key", "ada")
    assert done.status == 1
    assert done.error["code"] == "manifest-unknown-field"
    assert "manifest-missing" in done.err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_no_catalog_is_not_replaced(metnos: Metnos, sources: Path, folder: Path) -> None:
    metnos("catalog", "keys", "--new", "ada")
    done = metnos("--json", "catalog", "sign", str(sources), "--out", str(folder), "--key", "ada")
    assert (done.status, done.error["code"]) == (2, "usage")
    assert (folder / "a.txt").read_text() == "alpha\n"


def test_a_root_that_has_ended_is_not_signed(metnos: Metnos, sources: Path, tmp_path: Path) -> None:
    metnos("catalog", "keys", "--new", "ada")
    sign = ("catalog", "sign", str(sources), "--out", str(tmp_path / "out"), "--key", "ada", "--expires")
    done = metnos("--json", *sign, "2020-01-01T00:00:00Z")
    assert (done.status, done.error["code"]) == (2, "usage")
    again = metnos(*sign, done.error["hint"].removeprefix("--expires "))
    assert again.status == 0, again.err


def test_a_plan_that_names_a_refused_tool_is_told_why(metnos: Metnos, own: Path) -> None:
    append(own / "executors" / TOOL / "executor.py", "#\n")
    (metnos.folder / "one.plan").write_text(f'1 {TOOL} path="a.txt"\nend text="x"\n')
    for command in (("check", "one.plan"), ("run", "one.plan"), ("catalog", "show", TOOL)):
        done = metnos(*command, METNOS_CATALOG=str(own))
        assert done.status != 0
        assert f"refused: {TOOL}: file-" in done.err, done.err
        assert "expected: " in done.err
    assert "refused: " not in metnos("run", "one.plan").err
