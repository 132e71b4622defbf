"""Keys of one's own: METNOS_HOME/trust/keys/NAME.ed25519, each readable by its owner alone.

Law: a private key is made here, read here, and shown nowhere; nothing is ever overwritten. A key that others can read
is not used.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from metnos.contracts.build import Signer, make_key, own_folder, parse_key, sign_tree
from metnos.contracts.envelope import key_id, public_bytes
from metnos.contracts.load import read_bounded
from metnos.contracts.trust import Key, Role, TrustFault, TrustRoot, read_trust

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from metnos.contracts.build import Report

SUFFIX = ".ed25519"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_MAX_BYTES = 16 * 1024


class KeyFault(Exception):
    """A key cannot be made or used. `code` is one of the table's."""

    def __init__(self, code: str, message: str, where: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.where = where


class OwnKey(msgspec.Struct, frozen=True, kw_only=True):
    """What may be shown of a key."""

    name: str
    id: str
    """SHA-256 of the public bytes, as in envelopes."""
    public: str
    """32 bytes in hex."""
    path: str


def folder_of(home: Path) -> Path:
    """Where an installation's signing keys lie."""
    return home / "trust" / "keys"


def new_key(home: Path, name: str) -> OwnKey:
    """Make a key.

    Raises:
        KeyFault: There is one of this name, or the name is none.
        OSError: The home cannot be written.
    """
    if _NAME.fullmatch(name) is None:
        raise KeyFault("bad-name", f"{name!r} is no name of a key: letters, digits, `-` and `_`")
    path = folder_of(home) / f"{name}{SUFFIX}"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    if path.exists():
        raise KeyFault("key-exists", f"there is a key called {name!r}", str(path))
    make_key(path)
    return _shown(name, path, open_key(home, name))


def own_keys(home: Path) -> list[OwnKey]:
    """The keys of an installation, by name.

    Raises:
        KeyFault: One of them cannot be used.
    """
    names = sorted(path.name.removesuffix(SUFFIX) for path in folder_of(home).glob(f"*{SUFFIX}"))
    return [_shown(name, folder_of(home) / f"{name}{SUFFIX}", open_key(home, name)) for name in names]


def open_key(home: Path, name: str) -> Any:
    """The private key called `name`, or in the file of that path.

    Raises:
        KeyFault: It is not there, others can read it, or it is no key.
    """
    from pathlib import Path

    path = folder_of(home) / f"{name}{SUFFIX}" if _NAME.fullmatch(name) else Path(name)
    try:
        data = read_bounded(path, _MAX_BYTES)
        exposed = path.stat().st_mode & 0o077
    except OSError as fault:
        raise KeyFault("key-missing", f"no key {name!r}: {fault.strerror or fault}", str(path)) from None
    if exposed:
        raise KeyFault("key-exposed", f"others can read the key {name!r}", str(path))
    try:
        return parse_key(data)
    except ValueError as fault:
        raise KeyFault("key-malformed", str(fault), str(path)) from None


def _shown(name: str, path: Path, key: Any) -> OwnKey:
    public = public_bytes(key)
    return OwnKey(name=name, id=key_id(public), public=public.hex(), path=str(path))


def own_root(
    keys: dict[str, Any], threshold: int, expires: datetime | None = None, root: str | None = None
) -> TrustRoot:
    """The trust root of a catalog that all of these keys sign.

    Args:
        keys: Name → private key.
        threshold: How many distinct ones are needed.
        expires: When the root ends.
        root: Its id; None: one made from the keys.

    Raises:
        KeyFault: There are fewer distinct keys than the threshold asks for.
    """
    publics = {name: public_bytes(key) for name, key in keys.items()}
    distinct = sorted(set(publics.values()))
    if not 1 <= threshold <= len(distinct):
        raise KeyFault("threshold-not-met", f"{len(distinct)} distinct keys, but a threshold of {threshold}")
    return TrustRoot(
        schema=1,
        id=root or f"own-{key_id(b''.join(distinct))[:16]}",
        keys={name: Key(public=public.hex()) for name, public in publics.items()},
        roles=(Role(names=("*",), keys=tuple(publics), threshold=threshold),),
        expires=expires,
    )


def _root_at(out: Path) -> str | None:
    try:
        return read_trust(read_bounded(out / "trust.json", _MAX_BYTES)).id
    except (OSError, TrustFault):
        return None


def sign_own(source: Path, out: Path, keys: dict[str, Any], threshold: int, expires: datetime | None = None) -> Report:
    """Sign a folder of one's own executors into a catalog folder.

    A catalog that is signed anew keeps the id of its root, so that versions go on going up when keys change.

    Raises:
        KeyFault: See `own_root`.
        BuildFault: A manifest, code file or template is at fault; `out` is as it was.
        OSError: The disk failed; `out` is as it was.
    """
    root = own_root(keys, threshold, expires, _root_at(out))
    return sign_tree(own_folder(source), out, Signer(key=tuple(keys.values()), development=False), root)
