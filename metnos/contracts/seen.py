"""The highest versions seen: METNOS_HOME/trust/seen.json, trust root id → manifest name → version.

Law: only raised, never lowered; written atomically under a lock and only when something rose. A file that cannot be
read refuses every manifest signed by a release key: whoever can damage it must not be able to roll back.
"""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

import msgspec

from metnos import plainfile
from metnos.contracts.versions import precedence
from metnos.plan.jsondata import JSONFault, canonical, loads_strict

if TYPE_CHECKING:
    from pathlib import Path

_FILE = "seen.json"
_MOST_BYTES = 256 * 1024


class SeenFault(Exception):
    """`seen.json` is damaged."""


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema: int
    roots: dict[str, dict[str, str]]


def read_seen(home: Path, root: str) -> dict[str, str]:
    """Name → highest version seen under this trust root; empty if nothing was ever seen.

    Raises:
        SeenFault: The file is there and is not what `raise_seen` writes.
    """
    return dict(_read(home).roots.get(root, {}))


def _read(home: Path) -> _File:
    try:
        data = plainfile.read(home / "trust" / _FILE, _MOST_BYTES)
    except FileNotFoundError:
        return _File(schema=1, roots={})
    try:
        found = msgspec.convert(loads_strict(data), _File)
        for names in found.roots.values():
            for version in names.values():
                precedence(version)
    except (JSONFault, msgspec.ValidationError, ValueError) as error:
        raise SeenFault(str(error)) from None
    if found.schema != 1:
        raise SeenFault(f"schema {found.schema} is not known")
    return found


def raise_seen(home: Path, root: str, versions: dict[str, str]) -> bool:
    """Remember versions that are higher than those remembered; whether anything rose.

    Raises:
        SeenFault: The file is damaged.
        OSError: The home cannot be written.
    """
    folder = home / "trust"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(folder / "seen.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        file = _read(home)
        known = file.roots.get(root, {})
        risen = {
            name: version
            for name, version in versions.items()
            if name not in known or precedence(version) > precedence(known[name])
        }
        if risen:
            _replace(folder / _FILE, _File(schema=1, roots={**file.roots, root: {**known, **risen}}))
        return bool(risen)
    finally:
        os.close(lock)


def _replace(path: Path, file: _File) -> None:
    temporary = path.with_name(f"{_FILE}.new")
    with temporary.open("wb") as stream:
        stream.write(canonical(msgspec.to_builtins(file)) + b"\n")
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)
