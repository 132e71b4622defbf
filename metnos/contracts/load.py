"""Loading a signed catalog folder: the disk side of admission.

Law: reads each file once, bounded, without following a link in the last component; trusts nothing that
`admission.admit` did not pass. A folder that is missing, or whose trust root is damaged, gives an empty catalog that
says so in `refused`; nothing raises on bad data.

    build/catalog/
      trust.json                    who may sign what
      manifests/NAME.dsse.json      payload: the manifest as canonical JSON, with file digests
      executors/NAME/executor.py …  code bytes
      plans/NAME.dsse.json          payload: the exact TOML bytes of a template
"""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from metnos import plainfile
from metnos.contracts.admission import Terms, admit, verified_payload
from metnos.contracts.catalog import Admitted, Catalog, Refused
from metnos.contracts.envelope import MAX_BYTES, PLAN_TYPE
from metnos.contracts.seen import SeenFault, raise_seen, read_seen
from metnos.contracts.trust import Trusted, TrustFault, TrustRoot, read_trust
from metnos.contracts.versions import precedence
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import digest_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SUFFIX = ".dsse.json"
_TRUST_BYTES = 256 * 1024


class Plans(msgspec.Struct, frozen=True, kw_only=True):
    """Publisher-signed templates: name → the exact TOML bytes that were signed; and what was refused."""

    verified: dict[str, bytes]
    signers: dict[str, tuple[str, ...]] = {}
    """Name → ids of the keys whose signatures were counted."""
    refused: tuple[Refused, ...] = ()


def load_catalog(directory: Path, *, home: Path | None, now: datetime | None = None, remember: bool = True) -> Catalog:
    """Admit every manifest of a catalog folder, each on its own.

    Args:
        directory: As laid out above.
        home: METNOS_HOME, where the highest versions seen are kept; None: they are not (tests, tools).
        now: Reference time with zone; the clock's if left out.
        remember: Raise the versions seen to those admitted; who only looks does not.
    """
    trust = _trust(directory)
    if isinstance(trust, Refused):
        return Catalog(refused=(trust,))
    terms = Terms(trust=trust, now=now or datetime.now(UTC), seen=_seen(home, trust))
    source = _Folder(directory / "executors")
    results = [_one(path, source, terms) for path in _envelopes(directory / "manifests")]
    admitted = [result for result in results if isinstance(result, Admitted)]
    refused = [result for result in results if isinstance(result, Refused)]
    if home is not None and remember:
        versions = {one.contract.name: one.contract.version for one in admitted if not one.development}
        refused += _remember(home, trust, versions, terms.seen)
    return Catalog(admitted, refused=refused)


def load_plans(directory: Path, *, home: Path | None = None, now: datetime | None = None) -> dict[str, bytes]:
    """The verified templates of a catalog folder: name → TOML bytes. `read_plans` also says what was refused."""
    return read_plans(directory, home=home, now=now).verified


def read_plans(
    directory: Path, *, home: Path | None = None, now: datetime | None = None, remember: bool = True
) -> Plans:
    """Verify every template of a catalog folder, each on its own; rules and arguments as for manifests."""
    trust = _trust(directory)
    if isinstance(trust, Refused):
        return Plans(verified={}, refused=(trust,))
    terms = Terms(trust=trust, now=now or datetime.now(UTC), seen=_seen(home, trust))
    verified: dict[str, bytes] = {}
    signers: dict[str, tuple[str, ...]] = {}
    versions: dict[str, str] = {}
    refused: list[Refused] = []
    for path in _envelopes(directory / "plans"):
        name = path.name.removesuffix(SUFFIX)
        found = _plan(f"plan/{name}", _bounded(path), terms)
        if isinstance(found, Diagnostic):
            refused.append(Refused(name=f"plan/{name}", diagnostic=found))
            continue
        trusted, version = found
        verified[name] = trusted.verification.payload
        signers[name] = trusted.verification.signed_by
        if not trusted.development:
            versions[f"plan/{name}"] = version
    if home is not None and remember:
        refused += _remember(home, trust, versions, terms.seen)
    return Plans(verified=verified, signers=signers, refused=tuple(refused))


def _plan(name: str, data: bytes | Diagnostic, terms: Terms) -> tuple[Trusted, str] | Diagnostic:
    """One template through every rule of `trust.py`; its version beside it."""
    if isinstance(data, Diagnostic):
        return data
    trusted = verified_payload(name, data, PLAN_TYPE, terms.trust, terms.now)
    if isinstance(trusted, Diagnostic):
        return trusted
    payload = trusted.verification.payload
    version = version_of(payload)
    if version is None:
        expected = "`version`, a semantic version"
        return Diagnostic(code="manifest-field", where=f"/{name}", found="no version", expected=expected)
    seen: Mapping[str, str] | None = terms.seen
    if seen is None and not trusted.development:
        expected = "a memory of versions that can be read"
        return Diagnostic(code="seen-damaged", where=f"/{name}", found="trust/seen.json", expected=expected)
    fault = terms.trust.check_version(
        name,
        version,
        digest_bytes(payload),
        seen=(seen or {}).get(name),
        development=trusted.development,
    )
    return fault or (trusted, version)


_VERSION = re.compile(rb'version = "([^"\\]*)"')


def version_of(template: bytes) -> str | None:
    """The version that a template says it is; None if there is none, or it is no semantic version.

    Whole TOML is read only where the line does not stand among the first: there are dozens of templates at each start.
    """
    lines = template.split(b"\n", 4)[:4]
    found = next((match for line in lines if (match := _VERSION.fullmatch(line.rstrip(b"\r")))), None)
    try:
        said: object = found.group(1).decode() if found else tomllib.loads(template.decode()).get("version")
        precedence(str(said))
    except (ValueError, RecursionError):
        return None
    return str(said)


def _trust(directory: Path) -> TrustRoot | Refused:
    name = "trust.json"
    try:
        return read_trust(read_bounded(directory / name, _TRUST_BYTES))
    except FileNotFoundError:
        fault = Diagnostic(code="catalog-missing", where="", found=name, expected="a signed catalog")
    except (TrustFault, OSError) as error:
        fault = Diagnostic(code="trust-malformed", where="", found=str(error)[:200], expected="a trust root")
    return Refused(name=name, diagnostic=fault)


def _seen(home: Path | None, trust: TrustRoot) -> dict[str, str] | None:
    """None if the memory is damaged."""
    if home is None:
        return {}
    try:
        return read_seen(home, trust.id)
    except (SeenFault, OSError):
        return None


def _remember(home: Path, trust: TrustRoot, versions: dict[str, str], seen: dict[str, str] | None) -> list[Refused]:
    """Raise the versions seen. Where that fails the catalog still serves, and says so."""
    if seen is None or all(seen.get(name) == version for name, version in versions.items()):
        return []
    try:
        raise_seen(home, trust.id, versions)
    except (SeenFault, OSError) as error:
        expected = "a home that can be written"
        fault = Diagnostic(code="seen-damaged", where="", found=str(error)[:200], expected=expected)
        return [Refused(name="seen.json", diagnostic=fault)]
    return []


def _one(path: Path, source: _Folder, terms: Terms) -> Admitted | Refused:
    name = path.name.removesuffix(SUFFIX)
    data = _bounded(path)
    return Refused(name=name, diagnostic=data) if isinstance(data, Diagnostic) else admit(name, data, source, terms)


def _envelopes(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.name.endswith(SUFFIX))
    except OSError:
        return []


def _bounded(path: Path) -> bytes | Diagnostic:
    try:
        data = read_bounded(path, MAX_BYTES + 1)
    except OSError as error:
        return Diagnostic(code="file-missing", where="", found=str(error.strerror), expected="a readable file")
    if len(data) > MAX_BYTES:
        found = f"more than {MAX_BYTES} bytes"
        return Diagnostic(code="manifest-oversize", where="", found=found, expected=f"at most {MAX_BYTES}")
    return data


class _Folder:
    """Code files below `executors/`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, executor: str, file: str, limit: int) -> bytes:
        return read_bounded(self._folder / executor / file, limit)


def read_bounded(path: Path, limit: int) -> bytes:
    """At most `limit` bytes of a plain file; its last component is not followed if it is a link.

    Raises:
        OSError: It cannot be opened, or is no plain file.
    """
    return plainfile.read_at_most(path, limit, links=False)
