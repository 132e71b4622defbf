"""Admission: one signed manifest with its code is let in, or refused with a reason.

Law: bytes come in through `Source`, and the bytes that were hashed are the bytes that go out; nothing is read twice.
No clock: the reference time is an argument. One bad manifest never touches another. Order, first failure decides:

    envelope → signature (trust.py, rules 1-4) → strict JSON → shape, schemas, rules → name → SDK → withdrawn,
    version → expiry → every code file's length and digest → distributions → platform → Admitted

Of a manifest's code files every one is looked at, and all that fail are named.
"""

from __future__ import annotations

import hashlib
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, cast

import msgspec

from metnos.contracts.catalog import Admitted, Refused
from metnos.contracts.envelope import MANIFEST_TYPE, Envelope, EnvelopeFault, read_envelope
from metnos.contracts.manifest import contract_of
from metnos.contracts.trust import Trusted, TrustRoot
from metnos.contracts.versions import distribution_of, installed_version, satisfies
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import JSONFault, loads_strict
from metnos.sdk import SDK_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metnos.contracts.model import CodeFile, Contract

MAX_CODE_BYTES = 1024 * 1024
"""Largest code file."""


class Source(Protocol):
    """Where code bytes come from."""

    def read(self, executor: str, file: str, limit: int) -> bytes:
        """At most `limit` bytes of a code file.

        Raises:
            OSError: It cannot be read, or is not a plain file.
        """
        ...


class Refusal(Exception):
    """Carries the reason out of a step of admission; never leaves this module."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(diagnostics[0].code)
        self.diagnostics = diagnostics


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What admission is judged by, the same for every manifest of a catalog."""

    trust: TrustRoot
    now: Any
    """Reference time, a `datetime` with zone."""
    seen: Any = None
    """Name → highest version seen; None: the memory is damaged, so release keys are refused."""
    platform: str = sys.platform


def admit(name: str, data: bytes, source: Source, terms: Terms) -> Admitted | Refused:
    """Admit one manifest.

    Args:
        name: What the file is called; the payload must say the same.
        data: The envelope file's bytes.
        source: Gives the code bytes, once.
        terms: Trust root, reference time, versions seen, platform.
    """
    try:
        trusted, table = _verified(name, data, terms)
        contract = _contract(name, table)
        _version(contract, trusted, terms)
        _expiry(table, terms)
        code = _all_code(contract, source)
        contract = msgspec.structs.replace(contract, distributions=_distributions(contract))
        _platform(contract, terms.platform)
    except Refusal as refusal:
        first, *more = refusal.diagnostics
        return Refused(name=name, diagnostic=first, more=tuple(more))
    return Admitted(contract=contract, code=code, development=trusted.development)


def verified_payload(
    name: str, data: bytes, payload_type: str, trust: TrustRoot, now: datetime
) -> Trusted | Diagnostic:
    """Envelope and signature only: the bytes that may be parsed as what `name` is, or why not."""
    try:
        envelope: Envelope = read_envelope(data, payload_type)
    except EnvelopeFault as fault:
        expected = "a DSSE envelope"
        return Diagnostic(code="envelope-malformed", where=fault.where, found=fault.message, expected=expected)
    return trust.check(name, envelope, now)


def _verified(name: str, data: bytes, terms: Terms) -> tuple[Trusted, dict[str, Any]]:
    trusted = verified_payload(name, data, MANIFEST_TYPE, terms.trust, terms.now)
    if isinstance(trusted, Diagnostic):
        raise Refusal(trusted)
    try:
        table: Any = loads_strict(trusted.verification.payload)
    except JSONFault as fault:
        raise Refusal(
            Diagnostic(code="manifest-syntax", where=fault.where, found=fault.message, expected="strict JSON")
        ) from None
    if not isinstance(table, dict):
        raise Refusal(Diagnostic(code="manifest-field", where="", found=type(table).__name__, expected="a table"))
    return trusted, cast("dict[str, Any]", table)


def _contract(name: str, table: dict[str, Any]) -> Contract:
    contract = contract_of(table)
    if isinstance(contract, list):
        raise Refusal(*contract)
    if contract.name != name:
        raise Refusal(Diagnostic(code="name-mismatch", where="/name", found=contract.name, expected=name))
    if table.get("sdk") != SDK_VERSION:
        found = str(table.get("sdk", "none"))
        raise Refusal(Diagnostic(code="sdk-version", where="/sdk", found=found, expected=str(SDK_VERSION)))
    return contract


def _version(contract: Contract, trusted: Trusted, terms: Terms) -> None:
    seen: Mapping[str, str] | None = terms.seen
    if seen is None and not trusted.development:
        expected = "METNOS_HOME/trust/seen.json as Metnos wrote it"
        raise Refusal(Diagnostic(code="seen-damaged", where=f"/{contract.name}", found="unreadable", expected=expected))
    fault = terms.trust.check_version(
        contract.name,
        contract.version,
        contract.digest,
        seen=(seen or {}).get(contract.name),
        development=trusted.development,
    )
    if fault is not None:
        raise Refusal(fault)


def _expiry(table: dict[str, Any], terms: Terms) -> None:
    expires = table.get("expires")
    if expires is None:
        return
    try:
        over = terms.now >= datetime.fromisoformat(expires)
    except ValueError:
        raise Refusal(Diagnostic(code="manifest-field", where="/expires", found=expires, expected="a time")) from None
    if over:
        raise Refusal(Diagnostic(code="manifest-expired", where="/expires", found=expires, expected="a later time"))


def _all_code(contract: Contract, source: Source) -> dict[str, bytes]:
    code: dict[str, bytes] = {}
    faults: list[Diagnostic] = []
    for file in contract.files:
        try:
            code[file.name] = _code(contract.name, file, source)
        except Refusal as refusal:
            faults += refusal.diagnostics
    if faults:
        raise Refusal(*faults)
    return code


def _code(name: str, file: CodeFile, source: Source) -> bytes:
    where = f"/files/{file.name}"
    if not file.sha256:
        raise Refusal(Diagnostic(code="file-digest", where=where, found="none", expected="a digest for each file"))
    try:
        data = source.read(name, file.name, file.length + 1)
    except OSError as error:
        found = error.strerror or type(error).__name__
        raise Refusal(Diagnostic(code="file-missing", where=where, found=found, expected="a readable file")) from None
    if len(data) != file.length:
        found = f"{len(data)} bytes" if len(data) < file.length else f"more than {file.length} bytes"
        raise Refusal(Diagnostic(code="file-length", where=where, found=found, expected=f"{file.length} bytes"))
    sha256 = hashlib.sha256(data).hexdigest()
    if sha256 != file.sha256:
        raise Refusal(Diagnostic(code="file-digest", where=where, found=sha256, expected=file.sha256))
    return data


def _distributions(contract: Contract) -> tuple[str, ...]:
    """The declared distributions at the versions that are installed, `name@version`."""
    found: list[str] = []
    for index, requirement in enumerate(contract.distributions):
        name = distribution_of(requirement)
        version = installed_version(name)
        where = f"/distributions/{index}"
        if version is None:
            raise Refusal(
                Diagnostic(code="distribution-missing", where=where, found="not installed", expected=requirement)
            )
        if not satisfies(version, requirement):
            raise Refusal(Diagnostic(code="distribution-version", where=where, found=version, expected=requirement))
        found.append(f"{name}@{version}")
    return tuple(found)


def _platform(contract: Contract, platform: str) -> None:
    if contract.platforms and platform not in contract.platforms:
        expected = ", ".join(contract.platforms)
        raise Refusal(Diagnostic(code="platform-unsupported", where="/platforms", found=platform, expected=expected))
