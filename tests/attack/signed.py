"""Row 10: catalogs that were tampered with, by whoever can write the folder; and row 13 where a manifest is the bomb.

Each case damages a copy of a small signed catalog and lists it in a home of its own: the executor is refused by a named
code, and a plan that uses it does nothing.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from metnos.contracts.envelope import key_id, public_bytes, sign
from metnos.contracts.keys import sign_own
from metnos.contracts.trust import read_trust
from tests.attack.table import Case, Seen, Stage
from tests.support.signing import key
from tests.support.terminal import ROOT

NAME = "find_files"
SOON = datetime.now(UTC) + timedelta(days=1)
Damage = Callable[[Path], None]


def source(folder: Path, version: str = "1.0.0") -> Path:
    """A folder of one executor, as its author keeps it."""
    made = folder / f"source-{version}"
    (made / NAME).mkdir(parents=True)
    text = (ROOT / "manifests" / f"{NAME}.toml").read_text()
    (made / NAME / "manifest.toml").write_text(re.sub(r'version = "[\d.]+"', f'version = "{version}"', text, count=1))
    shutil.copy(ROOT / "catalog" / "executors" / NAME / "executor.py", made / NAME)
    return made


def signed(stage: Stage, version: str = "1.0.0", seeds: tuple[int, ...] = (1,), threshold: int = 1) -> Path:
    """The same as a catalog, with release keys."""
    out = stage.shared.base / "catalogs" / stage.name / version
    sign_own(source(out.parent, version), out, {f"k{seed}": key(seed) for seed in seeds}, threshold, SOON)
    return out


def listed(stage: Stage, catalog: Path) -> Seen:
    """The catalog as the command line tells it; and nothing of it may run."""
    stage.home = stage.shared.base / "homes" / stage.name
    stage.environment["METNOS_CATALOG"] = str(catalog)
    before = fixed(catalog)
    seen = stage.cli("catalog")
    assert seen.document["tools"] == []
    assert fixed(catalog) == before
    return seen


def fixed(folder: Path) -> list[str]:
    return sorted(map(repr, folder.rglob("*")))


def damaged(damage: Damage, **more: Any) -> Callable[[Stage], Seen]:
    def attack(stage: Stage) -> Seen:
        out = signed(stage, **more)
        damage(out)
        return listed(stage, out)

    return attack


def envelope(out: Path) -> Path:
    return out / "manifests" / f"{NAME}.dsse.json"


def code(out: Path) -> Path:
    return out / "executors" / NAME / "executor.py"


def payload(change: Callable[[bytes], bytes], seed: int | None = None) -> Damage:
    """Another payload; with the old signature, or signed anew by the key `seed`."""

    def damage(out: Path) -> None:
        there = json.loads(envelope(out).read_bytes())
        new = change(base64.b64decode(there["payload"]))
        if seed is None:
            there["payload"] = base64.b64encode(new).decode()
            envelope(out).write_text(json.dumps(there))
        else:
            envelope(out).write_bytes(sign(new, key(seed)))

    return damage


def fields(**changes: Any) -> Callable[[bytes], bytes]:
    return lambda data: json.dumps({**json.loads(data), **changes}, sort_keys=True, separators=(",", ":")).encode()


def args(schema: dict[str, Any]) -> Callable[[bytes], bytes]:
    """A manifest whose arguments are these."""
    return fields(
        args={"type": "object", "additionalProperties": False, **schema}, targets=[], trusted=[], resources=[]
    )


def write(place: Callable[[Path], Path], data: bytes) -> Damage:
    return lambda out: place(out).write_bytes(data) and None


def instead(place: Callable[[Path], Path], make: Callable[[Path], Any]) -> Damage:
    """Something else in a file's place."""

    def damage(out: Path) -> None:
        place(out).unlink()
        make(place(out))

    return damage


def root(**changes: Any) -> Damage:
    """Another trust root."""

    def damage(out: Path) -> None:
        there = read_trust((out / "trust.json").read_bytes())
        (out / "trust.json").write_bytes(msgspec.json.encode(msgspec.structs.replace(there, **changes)))

    return damage


def twice(out: Path) -> None:
    """One key, under two ids, for a threshold of two."""
    there = json.loads(envelope(out).read_bytes())
    there["signatures"].append({**there["signatures"][0], "keyid": key_id(public_bytes(key(1)))})
    there["signatures"] = [one for one in there["signatures"] if one["keyid"] == key_id(public_bytes(key(1)))]
    envelope(out).write_text(json.dumps(there))


def one_of_two(out: Path) -> None:
    there = json.loads(envelope(out).read_bytes())
    there["signatures"] = there["signatures"][:1]
    envelope(out).write_text(json.dumps(there))


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def outlived(stage: Stage) -> Seen:
    """Version 2 was used here; then 1 is put in its place by somebody with the right key."""
    stage.home = stage.shared.base / "homes" / stage.name
    newer = signed(stage, "2.0.0")
    stage.environment["METNOS_CATALOG"] = str(newer)
    assert [tool["version"] for tool in stage.cli("catalog").document["tools"]] == ["2.0.0"]
    return listed(stage, signed(stage, "1.0.0"))


def forgotten(stage: Stage) -> Seen:
    """The memory of versions is damaged, so that nobody could tell."""
    stage.home = stage.shared.base / "homes" / stage.name
    (stage.home / "trust").mkdir(parents=True, mode=0o700)
    (stage.home / "trust" / "seen.json").write_bytes(b"{" * 1000)
    return listed(stage, signed(stage))


def bomb(levels: int) -> dict[str, Any]:
    made: dict[str, Any] = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$defs": {**made, f"d{levels}": {"type": "string"}}, "properties": {"x": {"$ref": "#/$defs/d0"}}}


def _case(kind: str, name: str, code: str, damage: Damage, row: int = 10, **more: Any) -> Case:
    return Case(row=row, kind=kind, name=name, code=code, status=4, attack=damaged(damage, **more))


PAST = datetime(2020, 1, 1, tzinfo=UTC)
CASES: tuple[Case, ...] = (
    _case("tampered", "a manifest's limits are lifted", "signature-invalid",
          payload(fields(limits={"timeout_s": 3600}))),
    _case("tampered", "a manifest is signed by a stranger", "key-unknown", payload(fields(version="1.0.1"), seed=9)),
    _case("tampered", "a line is added to the code", "file-length", lambda out: code(out).write_bytes(code(out).read_bytes() + b"\nx=1\n") and None),
    _case("tampered", "a letter of the code is another", "file-digest",
          lambda out: code(out).write_bytes(code(out).read_bytes().replace(b"def run", b"def rum")) and None),
    _case("tampered", "the code is a link to the same code", "file-missing",
          instead(code, lambda path: path.symlink_to(ROOT / "catalog" / "executors" / NAME / "executor.py"))),
    _case("tampered", "the code is a pipe", "file-missing", instead(code, os.mkfifo)),
    _case("tampered", "the code is a terabyte", "file-length", instead(code, sparse)),
    _case("tampered", "the code is gone", "file-missing", lambda out: code(out).unlink()),
    _case("tampered", "an envelope is renamed", "name-mismatch",
          lambda out: envelope(out).rename(out / "manifests" / "read_files.dsse.json") and None),
    _case("tampered", "one of two signatures is removed", "threshold-not-met", one_of_two, seeds=(1, 2), threshold=2),
    _case("tampered", "one key signs twice for two", "threshold-not-met", twice, seeds=(1, 2), threshold=2),
    _case("tampered", "an unknown field", "manifest-unknown-field", payload(fields(surprise=1), seed=1)),
    _case("duplicate JSON", "a manifest's key twice", "manifest-syntax",
          payload(lambda data: data.replace(b"{", b'{"name":"x",', 1), seed=1)),
    _case("duplicate JSON", "an envelope's key twice", "envelope-malformed",
          lambda out: envelope(out).write_bytes(envelope(out).read_bytes().replace(b"{", b'{"payload":"",', 1)) and None),
    _case("deep JSON", "an envelope of brackets", "envelope-malformed", write(envelope, b"[" * 100_000)),
    _case("deep JSON", "a trust root of brackets", "trust-malformed", write(lambda out: out / "trust.json", b"[" * 100_000)),
    _case("odd file", "an envelope is a pipe", "file-missing", instead(envelope, os.mkfifo)),
    _case("odd file", "an envelope is a folder", "file-missing", instead(envelope, os.mkdir)),
    _case("odd file", "an envelope is a terabyte", "manifest-oversize", instead(envelope, sparse)),
    _case("odd file", "the trust root is /dev/zero", "trust-malformed",
          instead(lambda out: out / "trust.json", lambda path: path.symlink_to("/dev/zero"))),
    _case("odd file", "the trust root is a pipe", "trust-malformed", instead(lambda out: out / "trust.json", os.mkfifo)),
    _case("catalog", "the trust root is gone", "catalog-missing", lambda out: (out / "trust.json").unlink()),
    _case("catalog", "the trust root is of another", "key-unknown",
          lambda out: (out / "trust.json").write_bytes((out / "trust.json").read_bytes().replace(
              public_bytes(key(1)).hex().encode(), public_bytes(key(8)).hex().encode())) and None),
    _case("not UTF-8", "an envelope's name is no text", "name-mismatch",
          lambda out: os.rename(envelope(out), os.fsencode(out) + b"/manifests/f\xff\xfe.dsse.json")),
    _case("not UTF-8", "an envelope is no text", "envelope-malformed", write(envelope, bytes(range(256)))),
    _case("expired", "the trust root has ended", "trust-expired", root(expires=PAST)),
    _case("expired", "the manifest has ended", "manifest-expired",
          payload(fields(expires="2020-01-01T00:00:00Z"), seed=1)),
    Case(row=10, kind="downgraded", name="an older version, rightly signed", code="version-downgraded", status=4, attack=outlived),
    Case(row=10, kind="downgraded", name="the memory of versions is damaged", code="seen-damaged", status=4, attack=forgotten),
    _case("$ref", "a bomb of 2^40", "schema-ref-bomb", payload(args(bomb(40)), seed=1), row=13),
    _case("$ref", "a cycle", "schema-ref-cycle", row=13,
          damage=payload(args({"$defs": {"a": {"$ref": "#/$defs/a"}}, "properties": {"x": {"$ref": "#/$defs/a"}}}), seed=1)),
    _case("$ref", "a place in the network", "schema-ref", row=13,
          damage=payload(args({"properties": {"x": {"$ref": "http://127.0.0.1/x"}}}), seed=1)),
    _case("regex", "a pattern that looks back", "schema-pattern", row=13,
          damage=payload(args({"properties": {"x": {"type": "string", "pattern": r"^(a)\1+$"}}}), seed=1)),
    _case("large integer", "a manifest of 30 digits", "manifest-syntax", row=13,
          damage=payload(lambda data: data.replace(b"{", b'{"limit":' + b"9" * 30 + b",", 1), seed=1)),
)  # fmt: skip
