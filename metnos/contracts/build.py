"""`python -m metnos.contracts.build`: sign manifests and templates of a source tree into a catalog folder.

Law: the only place where a private key is read. What it writes is what `load.py` reads; every manifest is checked
here by the very rules that admission applies, and any fault ends the build with every fault listed. The output is made
beside its place and moved there whole; the same sources, key and SDK give the same bytes, and then nothing is moved.

    python -m metnos.contracts.build --source . --out build/catalog [--key FILE]

Key: `--key`, else the file that METNOS_RELEASE_KEY names, else a development key made on first use
(`SOURCE/build/keys/dev.ed25519`, mode 0600). A key file holds 32 raw bytes, 64 hex digits, or PEM (PKCS 8).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from metnos import plainfile
from metnos.contracts.admission import MAX_CODE_BYTES
from metnos.contracts.envelope import MANIFEST_TYPE, PLAN_TYPE, key_id, public_bytes, sign
from metnos.contracts.imports import check_imports
from metnos.contracts.load import SUFFIX, read_bounded, version_of
from metnos.contracts.manifest import check_manifest, read_table
from metnos.contracts.trust import Key, Role, TrustRoot, write_trust
from metnos.contracts.versions import distribution_of, installed_version, satisfies
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import canonical
from metnos.sdk import SDK_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

RELEASE_KEY = "METNOS_RELEASE_KEY"
ROOT_ID = "metnos"
MAX_PLAN_BYTES = 256 * 1024
_KEY_BYTES = 16 * 1024


class BuildFault(Exception):
    """The sources cannot be signed; `diagnostics` says why, each with a file in `where`."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__(
            "\n".join(f"{d.where}: {d.code}: {d.found} (expected: {d.expected}) {d.hint}".rstrip() for d in diagnostics)
        )
        self.diagnostics = diagnostics


class Signer(msgspec.Struct, frozen=True, kw_only=True):
    """The key that signs (or several, each of which does), and whether it is a development key."""

    key: Any
    development: bool


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """Where the sources lie."""

    manifests: dict[str, Path]
    """Executor → its manifest."""
    code: dict[str, Path]
    """Executor → the folder of its code; every folder with an `executor.py` counts."""
    plans: tuple[Path, ...]
    shipped: bool = True
    """The rules for executors of this repository hold too."""


def checkout(source: Path) -> Tree:
    """`manifests/NAME.toml`, `catalog/executors/NAME/`, `catalog/plans/*.toml`."""
    manifests = {path.stem: path for path in sorted((source / "manifests").glob("*.toml"))}
    executors = source / "catalog" / "executors"
    written = {folder.name: folder for folder in sorted(executors.glob("*/")) if (folder / "executor.py").exists()}
    return Tree(
        manifests=manifests,
        code={**written, **{name: executors / name for name in manifests}},
        plans=tuple(sorted((source / "catalog" / "plans").glob("*.toml"))),
    )


def own_folder(source: Path) -> Tree:
    """`NAME/manifest.toml` beside `NAME/executor.py` …, `plans/*.toml`: executors of one's own."""
    folders = {folder.name: folder for folder in sorted(source.glob("*/")) if folder.name != "plans"}
    return Tree(
        manifests={
            name: folder / "manifest.toml" for name, folder in folders.items() if (folder / "manifest.toml").exists()
        },
        code={name: folder for name, folder in folders.items() if (folder / "executor.py").exists()},
        plans=tuple(sorted((source / "plans").glob("*.toml"))),
        shipped=False,
    )


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What a build did."""

    executors: int
    plans: int
    development: bool
    changed: bool


def build(source: Path, out: Path, signer: Signer) -> Report:
    """Sign the checkout at `source` into `out`; see `sign_tree`."""
    return sign_tree(checkout(source), out, signer, trust_root(signer))


def sign_tree(tree: Tree, out: Path, signer: Signer, root: TrustRoot) -> Report:
    """Sign a tree of sources into `out`, with this trust root.

    Raises:
        BuildFault: A manifest, code file or template is at fault; `out` is as it was.
        OSError: The disk failed; `out` is as it was.
    """
    files: dict[str, bytes] = {"trust.json": write_trust(root)}
    faults: list[Diagnostic] = []
    for name, path in tree.manifests.items():
        faults += _executor(name, path, tree, signer.key, files)
    for path in tree.plans:
        faults += _plan(path, signer.key, files)
    for name, folder in tree.code.items():
        if name not in tree.manifests:
            expected = f"manifests/{name}.toml" if tree.shipped else "manifest.toml"
            faults.append(
                Diagnostic(code="manifest-missing", where=str(folder), found="no manifest", expected=expected)
            )
    if faults:
        raise BuildFault(faults)
    changed = _publish(files, out)
    return Report(executors=len(tree.manifests), plans=len(tree.plans), development=signer.development, changed=changed)


def trust_root(signer: Signer) -> TrustRoot:
    """A trust root in which one key signs everything."""
    public = public_bytes(signer.key)
    name = "development" if signer.development else "release"
    root = f"{ROOT_ID}-dev-{key_id(public)[:12]}" if signer.development else ROOT_ID
    return TrustRoot(
        schema=1,
        id=root,
        keys={name: Key(public=public.hex(), development=signer.development)},
        roles=(Role(names=("*",), keys=(name,), threshold=1),),
    )


def payload_of(table: dict[str, Any], code: dict[str, bytes]) -> bytes:
    """The signed payload: the manifest's table with file digests and the SDK's version, as canonical JSON."""
    files = [
        {"name": name, "sha256": hashlib.sha256(code[name]).hexdigest(), "length": len(code[name])}
        for name in table["files"]
    ]
    signed: Any = {**table, "files": files, "sdk": SDK_VERSION}
    return canonical(signed)


def _executor(name: str, path: Path, tree: Tree, key: Any, files: dict[str, bytes]) -> list[Diagnostic]:
    """Add one executor's envelope and code to `files`; or its faults, placed in its files."""
    table = read_table(plainfile.read(path, MAX_PLAN_BYTES))
    if isinstance(table, list):
        return _placed(table, str(path))
    faults = check_manifest(table, shipped=tree.shipped)
    if not faults and table["name"] != name:
        faults = [Diagnostic(code="name-mismatch", where="/name", found=table["name"], expected=name)]
    if faults:
        return _placed(faults, str(path))
    folder = tree.code.get(name, path.parent)
    code: dict[str, bytes] = {}
    for file in table["files"]:
        faults += _code(folder / file, file, table, code)
    faults += _placed(_distributions(table), str(path))
    if not faults:
        files[f"manifests/{name}{SUFFIX}"] = sign(payload_of(table, code), key, MANIFEST_TYPE)
        files.update({f"executors/{name}/{file}": data for file, data in code.items()})
    return faults


def _code(path: Path, name: str, table: dict[str, Any], code: dict[str, bytes]) -> list[Diagnostic]:
    try:
        data = read_bounded(path, MAX_CODE_BYTES + 1)
    except OSError as error:
        return [Diagnostic(code="file-missing", where=str(path), found=str(error.strerror), expected="a plain file")]
    if len(data) > MAX_CODE_BYTES:
        return [Diagnostic(code="file-length", where=str(path), found="too long", expected=f"{MAX_CODE_BYTES} bytes")]
    code[name] = data
    if not name.endswith(".py"):
        return []
    return check_imports(str(path), data, table["files"], table.get("distributions", ()))


def _distributions(table: dict[str, Any]) -> list[Diagnostic]:
    faults: list[Diagnostic] = []
    for index, requirement in enumerate(table.get("distributions", ())):
        version = installed_version(distribution_of(requirement))
        if version is None or not satisfies(version, requirement):
            code = "distribution-missing" if version is None else "distribution-version"
            where = f"/distributions/{index}"
            faults.append(Diagnostic(code=code, where=where, found=version or "not installed", expected=requirement))
    return faults


def _plan(path: Path, key: Any, files: dict[str, bytes]) -> list[Diagnostic]:
    data = plainfile.read_at_most(path, MAX_PLAN_BYTES + 1)
    if len(data) > MAX_PLAN_BYTES:
        expected = f"at most {MAX_PLAN_BYTES} bytes"
        return [Diagnostic(code="manifest-oversize", where=str(path), found="more", expected=expected)]
    table = read_table(data)
    if isinstance(table, list):
        return _placed(table, str(path))
    if version_of(data) is None:
        fault = Diagnostic(
            code="manifest-missing-field", where="", found=str(table.get("version", "")), expected="version"
        )
        return _placed([fault], str(path))
    files[f"plans/{path.stem}{SUFFIX}"] = sign(data, key, PLAN_TYPE)
    return []


def _placed(faults: list[Diagnostic], path: str) -> list[Diagnostic]:
    return [msgspec.structs.replace(fault, where=f"{path}#{fault.where}") for fault in faults]


def _publish(files: dict[str, bytes], out: Path) -> bool:
    """Put the files at `out` in one move; False if they are there already."""
    if _holds(out, files):
        return False
    out.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    old = fresh.with_name(f"{fresh.name}-old")
    try:
        for name, data in files.items():
            path = fresh / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        fresh.chmod(0o755)
        if out.exists():
            out.rename(old)
        fresh.rename(out)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
    return True


def _holds(out: Path, files: dict[str, bytes]) -> bool:
    there = (
        {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()} if out.is_dir() else set[str]()
    )
    return there == set(files) and all((out / name).read_bytes() == data for name, data in files.items())


def open_signer(source: Path, key: Path | None) -> Signer:
    """The key to sign with; see the module's text.

    Raises:
        ValueError: The file holds no Ed25519 private key.
        OSError: It cannot be read or made.
    """
    release = os.environ.get(RELEASE_KEY)
    chosen = key or (Path(release) if release else None)
    if chosen is not None:
        return Signer(key=parse_key(plainfile.read(chosen, _KEY_BYTES)), development=False)
    path = source / "build" / "keys" / "dev.ed25519"
    if not path.exists():
        make_key(path)
    return Signer(key=parse_key(plainfile.read(path, _KEY_BYTES)), development=True)


def parse_key(data: bytes) -> Ed25519PrivateKey:
    """A private key: 32 raw bytes, 64 hex digits, or PEM (PKCS 8).

    Raises:
        ValueError: It is none.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    if data.startswith(b"-----BEGIN"):
        loaded = load_pem_private_key(data, password=None)
        if not isinstance(loaded, Ed25519PrivateKey):
            raise ValueError("the key is not an Ed25519 private key")
        return loaded
    raw = data if len(data) == 32 else bytes.fromhex(data.decode("ascii", "replace").strip())
    return Ed25519PrivateKey.from_private_bytes(raw)


def make_key(path: Path) -> None:
    """A new key in a file of its owner's; of two makers at once, one key wins and both use it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as stream:  # noqa: PTH123 - opened with its mode
        stream.write(os.urandom(32))
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, print one line, and give the exit code: 0, or 1 with every fault on stderr."""
    parser = argparse.ArgumentParser(prog="metnos.contracts.build", description="Sign manifests and plans.")
    parser.add_argument("--source", type=Path, default=Path())
    parser.add_argument("--out", type=Path, default=Path("build/catalog"))
    parser.add_argument("--key", type=Path)
    options = parser.parse_args(arguments)
    try:
        report = build(options.source, options.out, open_signer(options.source, options.key))
    except BuildFault as fault:
        print(fault, file=sys.stderr)  # noqa: T201 - a command
        return 1
    except (OSError, ValueError) as error:
        print(f"cannot sign: {error}", file=sys.stderr)  # noqa: T201 - a command
        return 1
    kind = "development" if report.development else "release"
    state = "" if report.changed else ", unchanged"
    print(f"signed {report.executors} executors and {report.plans} plans with a {kind} key: {options.out}{state}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
