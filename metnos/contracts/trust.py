"""The trust root: which keys may sign which names, how many are needed, until when, and what is withdrawn.

Law: no disk and no clock here; the reference time and the highest version seen are arguments. Every check cites its
rule, in this order, and the first that fails gives the code:

- 1 `trust-expired`: the trust root itself is valid at the reference time.
- 2 `key-not-allowed`: exactly one role speaks for a name, the first whose patterns match; no role, no trust.
- 3 `key-expired`, `key-revoked`: such keys are not counted, as if they had not signed.
- 4 `signature-invalid`, `key-unknown`, `threshold-not-met`: distinct public keys reach the role's threshold.
- 5 Only then is the payload parsed (by the caller), and its name is the one asked for (`name-mismatch`, admission).
- 6 `manifest-revoked`: the trust root does not withdraw this version or these bytes.
- 7 `version-downgraded`: the version is not below the highest seen, whichever key signed it. Off if a development
  key was needed to reach the threshold: a checkout may go back and forth.

Rules 1 to 4 are `check`, rules 6 and 7 `check_version`. Names of plans are asked for as `plan/NAME`.
"""

from __future__ import annotations

from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from metnos.contracts.envelope import Envelope, Verification, key_id, verify
from metnos.contracts.versions import precedence
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import JSONFault, canonical, loads_strict


class Key(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A public key. Its id is computed from its bytes, never believed."""

    public: str
    """32 bytes in hex."""
    development: bool = False
    expires: datetime | None = None
    """From this time on it is not counted; with a zone."""
    revoked: datetime | None = None
    """It is not counted at all; when that was decided is kept for people."""


class Role(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who may sign which names."""

    names: tuple[str, ...]
    """Patterns with `*`, matched with case."""
    keys: tuple[str, ...]
    """Names of keys in `TrustRoot.keys`."""
    threshold: int


class Withdrawn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A manifest that must not be used any more: this version and all below, or these very bytes."""

    name: str
    up_to: str | None = None
    digest: str | None = None


class Trusted(msgspec.Struct, frozen=True, kw_only=True):
    """Rules 1 to 4 hold."""

    verification: Verification
    development: bool
    """A development key was needed to reach the threshold."""


class TrustRoot(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """`trust.json`. `id` names the root for good: versions seen are remembered under it."""

    schema: int
    id: str
    keys: dict[str, Key]
    roles: tuple[Role, ...]
    expires: datetime | None = None
    withdrawn: tuple[Withdrawn, ...] = ()

    def role_for(self, name: str) -> Role | None:
        """The first role whose patterns match (rule 2)."""
        return next((role for role in self.roles if any(fnmatchcase(name, one) for one in role.names)), None)

    def check(self, name: str, envelope: Envelope, now: datetime) -> Trusted | Diagnostic:
        """Rules 1 to 4: whether these bytes may be parsed as what `name` is.

        Args:
            name: What the caller asked for (`find_files`, `plan/large_files`), not what the payload says.
            envelope: As read from the file.
            now: The reference time, with zone.
        """
        where = f"/{name}"
        if self.expires is not None and now >= self.expires:
            return Diagnostic(
                code="trust-expired", where=where, found=self.expires.isoformat(), expected="a later date"
            )
        role = self.role_for(name)
        if role is None:
            return Diagnostic(code="key-not-allowed", where=where, found=name, expected="a role for this name")
        allowed, excluded = self._keys_of(role, now)
        verification = verify(envelope, allowed, role.threshold)
        if not verification.ok:
            return self._refusal(where, role, verification, excluded)
        firm = {allowed[one] for one in verification.signed_by if not self._is_development(allowed[one])}
        return Trusted(verification=verification, development=len(firm) < role.threshold)

    def _keys_of(self, role: Role, now: datetime) -> tuple[dict[str, bytes], dict[str, str]]:
        """Key id → public bytes of those that count, key id → code of those that do not (rule 3)."""
        allowed: dict[str, bytes] = {}
        excluded: dict[str, str] = {}
        for key in (self.keys[name] for name in role.keys):
            public = bytes.fromhex(key.public)
            if key.revoked is not None:
                excluded[key_id(public)] = "key-revoked"
            elif key.expires is not None and now >= key.expires:
                excluded[key_id(public)] = "key-expired"
            else:
                allowed[key_id(public)] = public
        # One public key may stand under two names, withdrawn under one of them: then it does not count at all.
        return {one: public for one, public in allowed.items() if one not in excluded}, excluded

    def _is_development(self, public: bytes) -> bool:
        return any(key.development for key in self.keys.values() if bytes.fromhex(key.public) == public)

    def _refusal(self, where: str, role: Role, verification: Verification, excluded: dict[str, str]) -> Diagnostic:
        """One code for why the threshold was missed: a broken signature weighs most, then a key that lapsed."""
        reasons = [(excluded.get(one, reason), one) for one, reason in verification.rejected]
        order = ("signature-invalid", "key-revoked", "key-expired", "key-unknown")
        code = next((name for name in order if any(reason == name for reason, _ in reasons)), "threshold-not-met")
        if verification.signed_by and code == "key-unknown":
            code = "threshold-not-met"
        listed = ", ".join(f"{one[:12]}: {reason}" for reason, one in reasons)
        found = f"{len(verification.signed_by)} of {role.threshold}" + (f" ({listed})" if listed else "")
        expected = f"signatures of {role.threshold} distinct keys among {', '.join(role.keys)}"
        return Diagnostic(code=code, where=where, found=found, expected=expected)

    def check_version(
        self, name: str, version: str, digest: str, *, seen: str | None, development: bool
    ) -> Diagnostic | None:
        """Rules 6 and 7.

        Args:
            name: Of the manifest, as verified.
            version: Of the manifest, as verified.
            digest: `sha256:…` of the payload.
            seen: The highest version of this name ever admitted under this root, or None.
            development: From `Trusted`.
        """
        for withdrawn in self.withdrawn:
            below = withdrawn.up_to is not None and precedence(version) <= precedence(withdrawn.up_to)
            if withdrawn.name == name and (below or withdrawn.digest == digest):
                return Diagnostic(
                    code="manifest-revoked", where=f"/{name}", found=version, expected="a version not withdrawn"
                )
        if not development and seen is not None and precedence(version) < precedence(seen):
            return Diagnostic(code="version-downgraded", where=f"/{name}", found=version, expected=f"{seen} or later")
        return None


class TrustFault(Exception):
    """`trust.json` is not a trust root."""


def read_trust(data: bytes) -> TrustRoot:
    """Parse `trust.json`, strictly.

    Raises:
        TrustFault: Not strict JSON, an unknown field, a key that is none, a role that nobody can fill, a time
            without zone, a version that is none.
    """
    try:
        root = msgspec.convert(loads_strict(data), TrustRoot)
    except (JSONFault, msgspec.ValidationError) as error:
        raise TrustFault(str(error)) from None
    if root.schema != 1:
        raise TrustFault(f"trust schema {root.schema} is not known")
    times = [root.expires, *(time for key in root.keys.values() for time in (key.expires, key.revoked))]
    if any(time is not None and time.tzinfo is None for time in times):
        raise TrustFault("a time has no zone")
    for name, key in root.keys.items():
        _check_key(name, key)
    for role in root.roles:
        _check_role(role, root)
    for withdrawn in root.withdrawn:
        _check_withdrawn(withdrawn)
    return root


def _check_key(name: str, key: Key) -> None:
    try:
        length = len(bytes.fromhex(key.public))
    except ValueError:
        raise TrustFault(f"key {name}: not hex") from None
    if length != 32:
        raise TrustFault(f"key {name}: an Ed25519 key has 32 bytes")


def _check_role(role: Role, root: TrustRoot) -> None:
    unknown = [name for name in role.keys if name not in root.keys]
    if unknown:
        raise TrustFault(f"role for {', '.join(role.names)}: unknown key {unknown[0]}")
    distinct = {bytes.fromhex(root.keys[name].public) for name in role.keys}
    if not 1 <= role.threshold <= len(distinct):
        raise TrustFault(
            f"role for {', '.join(role.names)}: threshold {role.threshold} of {len(distinct)} distinct keys"
        )


def _check_withdrawn(withdrawn: Withdrawn) -> None:
    if withdrawn.up_to is None and withdrawn.digest is None:
        raise TrustFault(f"withdrawn {withdrawn.name}: neither up_to nor digest")
    if withdrawn.up_to is not None:
        try:
            precedence(withdrawn.up_to)
        except ValueError as error:
            raise TrustFault(f"withdrawn {withdrawn.name}: {error}") from None


def write_trust(root: TrustRoot) -> bytes:
    """`trust.json` of a trust root: canonical JSON and a line end."""
    table: Any = msgspec.to_builtins(root)
    return canonical(table) + b"\n"
