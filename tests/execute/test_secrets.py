"""Secrets: recognised, sealed, opened where a contract says so, and not seen where there are none."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from metnos.execute.faults import VaultFault
from metnos.execute.runner import Runners
from metnos.execute.secrets import Sealer, recogniser
from metnos.execute.vault import FileVault, MemoryVault
from metnos.plan.jsondata import canonical
from metnos.sdk import Effect, Result
from metnos.values.sealed import find_handles, handle

if TYPE_CHECKING:
    from tests.execute.conftest import World

# Put together here, so that no scanner of repositories takes this file for a leak.
ALNUM = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"
PEM = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA " + "PRIVATE KEY-----"
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0" + ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
BASIC = base64.b64encode(b"aladdin:open sesame").decode()

SECRETS = [
    ("AKIA" + "ABCDEFGH2345MNOP", None),
    ("ghp_" + ALNUM + "abcd", None),
    ("github_pat_" + ALNUM, None),
    ("glpat-" + ALNUM[:20], None),
    ("xoxb-" + "123456789012-" + ALNUM, None),
    ("AIza" + ALNUM + "abc", None),
    ("sk_live_" + ALNUM, None),
    ("sk-proj-" + ALNUM, None),
    ("hf_" + ALNUM + "ab", None),
    ("npm_" + ALNUM + "abcd", None),
    (JWT, None),
    (PEM, None),
    ("123456789:AA" + ALNUM + "a", None),
    ("AccountKey=" + "Ab1+" * 21 + "Ab==", "Ab1+" * 21 + "Ab=="),
    (f"Authorization: Bearer {ALNUM}", ALNUM),
    (f"authorization = 'token {ALNUM}'", ALNUM),
    (f"curl -H 'Authorization: Basic {BASIC}'", BASIC),
    (f"Basic {BASIC}", BASIC),
    ("postgresql://metnos:s3cr3t-pw@db.example/x", "s3cr3t-pw"),
    ("redis://:hunter22@cache:6379/0", "hunter22"),
    (f"https://x.example/a?b=1&access_token={ALNUM}&c=2", ALNUM),
    ('password = "swordfish"', "swordfish"),
    ("db_password: 'correct-horse'", "correct-horse"),
    ("passwd=hunter22", "hunter22"),
    ("PGPASSWORD=abc\nDB_PASSWORD=swordfish\n", "swordfish"),
    (f'api_key: "{ALNUM}"', ALNUM),
    (f"SECRET_KEY={ALNUM}", ALNUM),
    (f"aws_secret_access_key = {ALNUM}wxyz+/12", f"{ALNUM}wxyz+/12"),
    ("machine h login me password letmein99", "letmein99"),
    ("$2b$12$" + "abcdefghijklmnopqrstuv" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ01234", None),
]

HARMLESS = [
    "password = get_password(user)",
    "password: str",
    "def login(user, password=None):",
    "password=password",
    "token = self.token",
    "self.password = password",
    'password = ""',
    "password: ${DB_PASSWORD}",
    "PASSWORD=changeme",
    "api_key=YOUR_API_KEY",
    'password = "your-password-here"',
    "Enter your password: ",
    "The password must be at least 8 characters long.",
    "token: Optional[str] = None",
    "https://user:password@example.org/",
    "http://localhost:8080/path@version",
    "mailto:me@example.org",
    "git@github.com:owner/name.git",
    "sk-spinner-circle-fade-dot-eleven",
    "basic authentication",
    "Basic understanding of things",
    "bearer of bad news",
    "bearer tokens are explained below",
    "sha256:" + "0f" * 32,
    "550e8400-e29b-41d4-a716-446655440000",
    "secrets.toml",
    "password_reset_form.html",
    "passwords.txt",
    "tokenizer.json",
    "api_key.py",
    "id_rsa.pub",
    "test_token_parser.py",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI me@host",
    "tokens: 1200",
    "max_tokens=4096",
    "key: value",
    "secret: true",
    "ghp_" + "x" * 36,
    "token_count = 123456789012",
    "password: <redacted>",
    'CHANGE_PASSWORD = "FORCE_CHANGE_PASSWORD"',
    "next_page_token: null",
    "Passwort: vergessen",
    "password='%s'",
    "AKIA is a prefix",
]


@pytest.fixture(scope="module")
def sealer() -> Sealer:
    return Sealer(MemoryVault())


def seal(sealer: Sealer, data: Any, args: dict[str, Any] | None = None) -> tuple[Any, int]:
    raw = canonical(data)
    return sealer.seal(data, raw, args or {}) if sealer.may_hold(raw) else (data, 0)


@pytest.mark.parametrize(("text", "secret"), SECRETS, ids=[text[:24] for text, _ in SECRETS])
def test_each_kind_is_sealed_and_only_its_span(sealer: Sealer, text: str, secret: str | None) -> None:
    secret = secret or text
    for before, after in (("", ""), ("see ", " there"), ('{"a": "', '"}'), ("line\n", "\nline"), ("\t", "\t\\")):
        if text.startswith("PGPASS") and before not in ("", "line\n"):
            continue
        if "SECRET_KEY=" in text and before not in ("", "line\n"):
            continue
        sealed, count = seal(sealer, {"rows": [before + text + after]})
        assert count == 1, (before, sealed)
        (identity,) = find_handles(sealed)
        assert sealed["rows"][0] == before + text.replace(secret, handle(identity)) + after
        assert secret not in json.dumps(sealed)


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_text_is_left_alone(sealer: Sealer, text: str) -> None:
    for data in (text, [text], {"text": f"x\n{text}\ny"}, {text: 1}):
        assert seal(sealer, data) == (data, 0)


def test_a_field_is_known_by_its_name(sealer: Sealer) -> None:
    sealed, count = seal(
        sealer,
        [{"user": "me", "password": "swordfish", "db.api_key": "zzzz9"}, {"password": "none", "key": "abcdefgh"}],
    )
    assert count == 2
    assert sealed[0]["user"] == "me"
    assert sealed[0]["password"].startswith("⟦sealed:")
    assert sealed[1] == {"password": "none", "key": "abcdefgh"}


def test_equal_secrets_have_equal_handles_and_keys_are_sealed_too(sealer: Sealer) -> None:
    token = "ghp_" + ALNUM + "wxyz"
    sealed, count = seal(sealer, {token: [token, f"again {token}, {token}"]})
    assert count == 4
    assert len(find_handles(sealed)) == 1


def test_the_repositorys_own_files_hold_no_secret(sealer: Sealer, root: Path) -> None:
    """Code, manifests, docs and tests as ordinary text: what is found must be one of the examples in this file."""
    found: dict[str, int] = {}
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if path.suffix in {".py", ".toml", ".md", ".lark", ".json"} and relative.parts[0] in {
            "metnos",
            "catalog",
            "manifests",
            "docs",
            "scripts",
            "benchmarks",
        }:
            _, count = seal(sealer, path.read_text(encoding="utf-8"))
            if count:
                found[str(relative)] = count
    assert found == {}


def test_lists_of_file_names_hold_no_secret(sealer: Sealer) -> None:
    names = [str(path) for path in Path(sys.prefix).rglob("*")]
    assert len(names) > 1000
    assert seal(sealer, [{"path": name, "size": 1} for name in names])[1] == 0


def test_the_needles_let_nothing_slip(sealer: Sealer) -> None:
    """What the full patterns find in a string, the cheap test finds in its canonical bytes."""
    patterns = recogniser()
    everything = range(60)
    for text, _ in SECRETS:
        for around in ("{}", '"{}"', "\n{}\n", "\t{}", "\\{}"):
            whole = around.format(text)
            try:
                spans = patterns.spans(whole.encode(), [at for at in everything if at < 26])
            except IndexError:  # pragma: no cover
                raise
            if spans:
                assert sealer.may_hold(canonical({"x": whole}))


def test_a_forged_handle_is_broken(sealer: Sealer) -> None:
    forged = handle("0" * 32)
    assert seal(sealer, f"open {forged}")[0] == f"open ⟦not-sealed:{'0' * 32}⟧"
    assert seal(sealer, f"open {forged}", {"x": [forged]})[0] == f"open {forged}"


def test_everything_that_is_told_is_sealed(world: World) -> None:
    token = "ghp_" + ALNUM + "abcd"
    effect = Effect(cls="create", target=f"/x/{token}", undo={"t": token})
    outcome = world.now(world.host(lambda a, c: Result.done({"t": token}, effects=(effect,), warnings=(token,))))
    assert token not in repr(outcome)
    assert outcome.sealed == 4

    def fail(args: Any, ctx: Any) -> None:
        raise ValueError(f"bad token {token}")

    outcome = world.now(world.host(fail))
    assert outcome.error is not None
    assert token not in repr(outcome)
    assert outcome.error.message.startswith("ValueError: bad token ⟦sealed:")
    outcome = world.once(
        world.executor(
            f"import os, sys\ndef run(a, c):\n    print('{token}', file=sys.stderr, flush=True)\n    os._exit(1)\n"
        )
    )
    assert token not in repr(outcome)


def test_the_digest_is_of_the_sealed_data(world: World) -> None:
    from metnos.plan.jsondata import digest

    outcome = world.now(world.host(lambda a, c: {"t": "ghp_" + ALNUM + "abcd"}))
    assert outcome.digest == digest(outcome.data)


def test_only_a_named_argument_of_a_worker_is_opened(world: World, tmp_path: Path) -> None:
    vault = FileVault(tmp_path / "home")
    world.runners = Runners(world, sealer=Sealer(vault), workers=1)
    source = (
        "def run(a, c):\n    said = c.open_secret(a['x'])\n    assert 'swordfish' in said or not a['x'], said\n"
        "    return {'length': len(said), 'said': 'password = \"' + said + '\"'}\n"
    )
    sealed = handle(vault.put("swordfish"))
    opening = world.executor(source, opens_secrets=("x",))
    outcome = world.once(opening, {"x": sealed})
    assert outcome.data["length"] == 9
    assert outcome.data["said"] == f'password = "{sealed}"'  # and it is sealed again on its way back
    elsewhere = world.executor(source, opens_secrets=("y",))
    outcome = world.once(elsewhere, {"x": sealed, "y": "nothing"})
    assert outcome.error is not None
    assert outcome.error.code == "secret-not-granted"
    unknown = world.once(opening, {"x": handle("1" * 32)})
    assert unknown.error is not None
    assert unknown.error.code == "secret-not-granted"


# --- the vault ---------------------------------------------------------------------------------------------------


def test_the_vault_keeps_secrets_encrypted_under_a_private_key(tmp_path: Path) -> None:
    vault = FileVault(tmp_path)
    identity = vault.put("swordfish")
    assert vault.put("swordfish") == identity
    assert vault.put("other") != identity
    assert FileVault(tmp_path).get(identity) == "swordfish"
    assert FileVault(tmp_path).get("0" * 32) is None
    assert FileVault(tmp_path).get("../../../etc/passwd") is None
    stored = list((tmp_path / "vault").iterdir())
    assert len(stored) == 2
    assert all(b"swordfish" not in path.read_bytes() for path in stored)
    assert all(
        path.stat().st_mode & 0o077 == 0 for path in (*stored, tmp_path / "keys" / "vault.key", tmp_path / "vault")
    )


def test_no_key_is_made_before_the_first_secret(tmp_path: Path) -> None:
    assert FileVault(tmp_path).get("0" * 32) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["flip", "swap", "format", "key", "mode", "short", "gone"])
def test_a_damaged_vault_is_told(tmp_path: Path, damage: str) -> None:
    vault = FileVault(tmp_path)
    identity, other = vault.put("swordfish"), vault.put("other")
    box, key = tmp_path / "vault" / identity, tmp_path / "keys" / "vault.key"
    if damage == "flip":
        data = bytearray(box.read_bytes())
        data[-1] ^= 1
        box.write_bytes(data)
    elif damage == "swap":
        box.write_bytes((tmp_path / "vault" / other).read_bytes())
    elif damage == "format":
        box.write_bytes(b"\x09" + box.read_bytes()[1:])
    elif damage == "key":
        key.write_bytes(bytes(32))
    elif damage == "mode":
        key.chmod(0o644)
    elif damage == "short":
        key.write_bytes(b"short")
    else:
        key.unlink()
    with pytest.raises(VaultFault) as caught:
        FileVault(tmp_path).get(identity)
    assert caught.value.code in {"vault-key", "vault-broken"}


def test_a_secret_that_cannot_be_kept_lets_nothing_through(world: World, tmp_path: Path) -> None:
    vault = FileVault(tmp_path / "home")
    vault.put("x")
    (tmp_path / "home" / "keys" / "vault.key").chmod(0o644)
    world.runners = Runners(world, sealer=Sealer(FileVault(tmp_path / "home")))
    token = "ghp_" + ALNUM + "abcd"
    effect = Effect(cls="send", target=token)
    outcome = world.now(world.host(lambda a, c: Result.done({"t": token}, effects=(effect,))))
    assert outcome.status == "failed"
    assert outcome.error is not None
    assert outcome.error.code == "vault-key"
    assert [effect.cls for effect in outcome.effects] == ["send"]
    assert token not in repr(outcome)
