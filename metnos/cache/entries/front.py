"""The verified front: what was read, looked at and found to hold, kept in memory until something is taken back.

Law: nothing gets in but what a signature or a stamp vouches for and what stands under its own key. A row that fails is
taken out of the store, put into quarantine, and an alarm is sounded; whoever asked gets the reason. Between processes
the store's `state` is the only link: where something was taken back everything is read anew, where something was added
what was not there is looked for again, and whatever it says, what was read is read again after `FRESH`, so that a crash between two writes is forgotten soon. Safe between threads.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import msgspec

from metnos.cache.entries.entry import Entry, Kept, from_bytes, reference, to_bytes
from metnos.cache.entries.key import key_of
from metnos.cache.entries.signing import Keys, unpack
from metnos.cache.entries.store import Alarm, Store
from metnos.cache.model import MissReason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metnos.cache.entries.disk import Tampered
    from metnos.cache.entries.signing import Row

FRESH = 60_000_000
"""µs for which what was read is believed without looking at the store again."""
LIMIT = 50_000
"""What is kept in memory; beyond it everything is read anew."""


class Known(msgspec.Struct, frozen=True):
    """A row that was looked at, ready to be served."""

    kept: Kept
    reference: str
    """`KEY@sha256:…`."""
    plan: bytes
    """An entry's plan as JSON, decoded anew at each use: nobody can change what others will be served."""
    signer: str
    read_at: int
    ready: list[Any]
    """What the caller made of it once (how an `l1` entry's slots are bound); empty at first."""


class Bad(msgspec.Struct, frozen=True):
    """A row that is not believed, and why."""

    reason: MissReason
    detail: str = ""


class Front:
    """Rows of one store, read with one set of keys."""

    def __init__(self, store: Store, keys: Keys) -> None:
        self.store = store
        self._keys = keys
        self._known: dict[str, Known] = {}
        self._absent: dict[str, int] = {}
        """Keys that had no row, and when they were looked for; of no use once something was added."""
        self._state = (-1, -1)
        self._lock = threading.Lock()
        self.served: dict[str, int] = {}
        """Key → uses since they were last written down."""

    def read(self, key: str, scopes: tuple[str, ...], now: int) -> Known | Bad | None:
        """What is kept under `key`, if it may be believed.

        Args:
            key: Of the store.
            scopes: Whose it may be.
            now: µs since 1970 UTC.

        Raises:
            StoreFault: the disk failed.
        """
        return self.read_all((key,), scopes, now)[0]

    def read_all(self, keys: Sequence[str], scopes: tuple[str, ...], now: int) -> list[Known | Bad | None]:
        """As `read`, of several keys; the disk is looked at once at most.

        Raises:
            StoreFault: the disk failed.
        """
        state = self.store.state()
        if state != self._state:
            self._catch_up(state)
        found: list[Known | Bad | None] = []
        unread: list[str] = []
        for key in keys:
            known = self._known.get(key)
            if known is not None and 0 <= now - known.read_at < FRESH:
                found.append(known)
                continue
            found.append(None)
            if not 0 <= now - self._absent.get(key, now + 1) < FRESH:
                unread.append(key)
        if unread:
            rows = self.store.get_many(unread)
            looked = {key: self._take(key, rows.get(key), scopes, now, state) for key in unread}
            found = [looked.get(key, there) for key, there in zip(keys, found, strict=True)]
        return found

    def _take(
        self, key: str, row: bytes | Tampered | None, scopes: tuple[str, ...], now: int, state: tuple[int, int]
    ) -> Known | Bad | None:
        """What the disk says of a key; remembered if it may be."""
        looked = None if row is None else self._look(key, row, scopes, now)
        if not isinstance(looked, Bad):
            self._keep(key, looked, now, state)
        return looked

    def _catch_up(self, state: tuple[int, int]) -> None:
        """Forget what another process, or we, have changed since."""
        with self._lock:
            if state[0] != self._state[0]:
                self._known.clear()
            self._absent.clear()
            self._state = state

    def write(self, kept: Kept) -> str:
        """Sign and keep; returns its reference.

        Raises:
            StoreFault: the disk failed.
            JSONFault: it holds something that is not JSON.
        """
        body = to_bytes(kept)
        key = key_of(kept)
        row = self._keys.seal(body)
        with self.store.locked():
            before = self.store.get(key)
            self.store.put(key, row)
        if before is None:
            self.store.added()
        else:
            self.store.took_back()  # another process may hold what stood here
        return reference(key, body)

    def used(self, key: str) -> None:
        """Count one use; written down when the cache is closed or pruned, never when something is read."""
        self.served[key] = self.served.get(key, 0) + 1

    def examine(self, key: str | Tampered, now: int) -> Known | Bad | None:
        """What is kept under `key`, whoever's it is: for looking after the store, never for serving.

        Raises:
            StoreFault: the disk failed.
        """
        if not isinstance(key, str):
            bad = Bad("malformed-row", key.why)
            self.store.quarantine(Alarm(at=now, key="", reason=bad.reason, detail=bad.detail), key.found)
            self.store.drop(key)
            return bad
        found = self.store.get(key)
        return None if found is None else self._look(key, found, None, now)

    def forget(self, key: str) -> None:
        """Take away what may be served as well as not: other processes may go on with it."""
        with self._lock:
            self._known.pop(key, None)
        self.store.drop(key)

    def drop(self, key: str) -> None:
        """Take away what is kept under `key`, in every process."""
        self._known.pop(key, None)
        self.store.drop(key)
        self.store.took_back()

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def _keep(self, key: str, known: Known | None, now: int, state: tuple[int, int]) -> None:
        with self._lock:
            if state != self._state:
                return  # it may have been taken back, or added, since it was read
            if known is None:
                self._known.pop(key, None)
                if len(self._absent) >= LIMIT:
                    self._absent.clear()
                self._absent[key] = now
                return
            if len(self._known) >= LIMIT:
                self._known.clear()
            self._known[key] = known

    def _look(self, key: str, found: bytes | Tampered, scopes: tuple[str, ...] | None, now: int) -> Known | Bad:
        row = unpack(found) if isinstance(found, bytes) else None
        if row is None:
            detail = "" if isinstance(found, bytes) else found.why
            return self._set_aside(key, Bad("malformed-row", detail), found, now)
        stamped = self._keys.stamp_holds(key, row)
        if not stamped:
            bad = self._distrust(row)
            if bad is not None:
                return self._set_aside(key, bad, found, now)
        kept = self._parse(key, row, scopes)
        if isinstance(kept, Bad):
            return self._set_aside(key, kept, found, now)
        if not stamped:
            self.store.put(key, self._keys.stamped(key, row))
        plan = msgspec.json.encode(kept.plan) if isinstance(kept, Entry) else b""
        return Known(kept, reference(key, row.body), plan, row.signer, now, [])

    def _distrust(self, row: Row) -> Bad | None:
        """Why a row without a stamp of ours is not believed; None: it is."""
        if not self._keys.is_trusted(row.signer):
            return Bad("signer-unknown", row.signer)
        return None if self._keys.signature_holds(row) else Bad("bad-signature")

    def _parse(self, key: str, row: Row, scopes: tuple[str, ...] | None) -> Kept | Bad:
        """What the body says, if it belongs here."""
        try:
            kept = from_bytes(row.body)
        except (ValueError, msgspec.MsgspecError) as fault:
            return Bad("malformed-row", str(fault))
        if scopes is not None and kept.scope not in scopes:
            return Bad("foreign-scope", kept.scope)
        if key_of(kept) != key:
            return Bad("key-differs")
        return kept

    def _set_aside(self, key: str, bad: Bad, found: bytes | Tampered, now: int) -> Bad:
        """Into quarantine with it; then it is gone from the store."""
        row = found if isinstance(found, bytes) else found.found
        self.store.quarantine(Alarm(at=now, key=key, reason=bad.reason, detail=bad.detail), row)
        self.store.drop(key)
        return bad
