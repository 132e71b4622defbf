"""Looking after the store: what is in it, whether it holds, how often it serves, and what has to go.

Law: it serves nobody. An entry earns its place by being used: where there are too many, those go first that were never
used, the oldest before the newest, then those used least; what was learned last is spared, it had no chance yet. Uses
are counted in memory and written down at the close, in rows of numbers that nothing but this eviction believes.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from metnos.cache.entries.entry import Entry, Mark
from metnos.cache.entries.front import Bad, Front, Known
from metnos.cache.entries.validity import DAY, first_difference, tools_of
from metnos.cache.model import Asking
from metnos.cache.templates.template import lines
from metnos.plan.jsondata import loads_strict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from metnos.cache.entries.disk import Tampered
    from metnos.cache.entries.store import Alarm
    from metnos.cache.entries.validity import World
    from metnos.cache.templates.library import TemplateLibrary
    from metnos.contracts.catalog import Catalog

SHARDS = 16
SPARED = 10
"""One in so many entries, the newest, is not evicted."""
LEAVES = 9
"""Of ten entries that an eviction finds, so many are left."""
MOST_USES = 1_000_000
_COUNTS = msgspec.json.Decoder(dict[str, int])


class EntryView(msgspec.Struct, frozen=True, kw_only=True):
    """One entry, as it is told to people."""

    entry: str
    """Reference, `KEY@sha256:…`."""
    layer: str
    grade: str
    scope: str
    language: str
    form: str
    """Of the request; of a template its first example."""
    tools: tuple[str, ...]
    read_only: bool
    evidence: str
    turns: tuple[str, ...]
    admitted_at: int
    """µs since 1970 UTC; 0 for a template."""
    uses: int
    state: str
    """`valid`, or the reason why it is not served now."""
    signer: str


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """What looking at every row came to."""

    rows: int
    sound: int
    bad: dict[str, int]
    """Reason → rows that were put into quarantine."""
    alarms: tuple[Alarm, ...]

    @property
    def ok(self) -> bool:
        """Whether every row holds."""
        return not self.bad


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """How full the store is, and what it is good for."""

    rows: int
    bytes: int
    kinds: dict[str, int]
    """`l0`, `l1`, … → rows."""
    uses: int
    alarms: int


class Tending:
    """Looks after one store."""

    def __init__(self, front: Front, world: World, most: int) -> None:
        self._front = front
        self._store = front.store
        self._world = world
        self._most = most
        self._written = 0

    def entries(self, asking: Asking, tool: str = "", catalog: Catalog | None = None) -> Iterator[EntryView]:
        """The entries of who asks, and the shared ones, oldest first.

        Args:
            asking: Who, and when.
            tool: Only those that name it; empty: all.
            catalog: Their state is the one that they would have under these tools; None: under those of now.
        """
        counts = self.counts()
        world = self._world if catalog is None else self._world.over(catalog)
        for key in self._store.every_key():
            if isinstance(key, str) and key[:3] not in ("l0:", "l1:"):
                continue
            known = self._front.examine(key, asking.now)
            entry = known.kept if isinstance(known, Known) else None
            if (
                not isinstance(known, Known)
                or not isinstance(entry, Entry)
                or entry.scope not in (asking.owner, "shared")
            ):
                continue
            if not tool or tool in entry.depends.executors:
                yield self._view(known, entry, counts.get(str(key), 0), asking, world)

    def _view(self, known: Known, entry: Entry, uses: int, asking: Asking, world: World) -> EntryView:
        here = msgspec.structs.replace(asking, channel=entry.depends.channel)
        differs = first_difference(entry, world, here)
        return EntryView(
            entry=known.reference,
            layer=entry.layer,
            grade=entry.grade,
            scope=entry.scope,
            language=entry.language,
            form=entry.form,
            tools=tools_of(entry.plan),
            read_only=entry.read_only,
            evidence=entry.evidence,
            turns=entry.turns,
            admitted_at=entry.admitted_at,
            uses=uses,
            state="valid" if differs is None else differs[0],
            signer=known.signer,
        )

    def show(self, reference: str, asking: Asking) -> Entry | None:
        """The whole entry of a reference, or of its beginning; None: none, or more than one, or another owner's."""
        found: list[Entry] = []
        for key in self._rows():
            if isinstance(key, str) and reference and (key.startswith(reference) or reference.startswith(key)):
                known = self._front.examine(key, asking.now)
                kept = known.kept if isinstance(known, Known) else None
                if isinstance(kept, Entry) and kept.scope in (asking.owner, "shared"):
                    found.append(kept)
        return found[0] if len(found) == 1 else None

    def _rows(self) -> Iterator[str | Tampered]:
        """Every row that can be looked at: those that count uses are signed by nobody, and are no tampering."""
        return (key for key in self._store.every_key() if not (isinstance(key, str) and key.startswith("uses:")))

    def verify(self, now: int) -> Verified:
        """Look at every row anew; what does not hold goes into quarantine."""
        rows = sound = 0
        bad: dict[str, int] = {}
        for key in self._rows():
            rows += 1
            known = self._front.examine(key, now)
            if isinstance(known, Bad):
                bad[known.reason] = bad.get(known.reason, 0) + 1
            else:
                sound += 1
        if bad:
            self._store.took_back()
        return Verified(rows=rows, sound=sound, bad=bad, alarms=self._store.alarms())

    def prune(self, asking: Asking, *, older: int | None = None, everything: bool = False) -> int:
        """Take away what will not be served again: expired, with a tool that changed, under other rules.

        Args:
            asking: Who asks, and when; everybody's entries are looked at.
            older: Besides, what was learned so many days ago or longer.
            everything: All of it, marks and anti-entries too.

        Returns:
            How many rows went.
        """
        gone = 0
        for key in self._store.every_key() if everything else self._rows():
            known = None if everything and isinstance(key, str) else self._front.examine(key, asking.now)
            if everything or (isinstance(known, Known) and self._is_over(known, asking, older)):
                self._store.drop(key)
                gone += 1
        if gone:
            self._store.took_back()
        return gone

    def _is_over(self, known: Known, asking: Asking, older: int | None) -> bool:
        kept = known.kept
        if isinstance(kept, Mark):
            return older is not None and asking.now - kept.at >= older * DAY
        if not isinstance(kept, Entry):
            return False
        if older is not None and asking.now - kept.admitted_at >= older * DAY:
            return True
        here = msgspec.structs.replace(asking, owner=kept.scope, channel=kept.depends.channel)
        differs = first_difference(kept, self._world, here)
        return differs is not None and differs[0] in OVER

    def stats(self) -> Stats:
        """Numbers; a count that somebody has changed in the file is a wrong number and nothing else."""
        kinds: dict[str, int] = {}
        for key in self._store.every_key():
            kind = key.partition(":")[0] if isinstance(key, str) else "tampered"
            kinds[kind] = kinds.get(kind, 0) + 1
        rows, size = self._store.size()
        counted = self.counts()
        return Stats(rows=rows, bytes=size, kinds=kinds, uses=sum(counted.values()), alarms=len(self._store.alarms()))

    # --- uses and eviction ---------------------------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        """Key → uses, as far as they are written down, and those of this process."""
        found = dict(self._front.served)
        for shard in range(SHARDS):
            for key, uses in self._read(shard).items():
                found[key] = found.get(key, 0) + uses
        return found

    def flush(self) -> None:
        """Write down the uses that were counted here."""
        served, self._front.served = self._front.served, {}
        shards: dict[int, dict[str, int]] = {}
        for key, uses in served.items():
            shards.setdefault(_shard_of(key), {})[key] = uses
        for shard, counted in shards.items():
            with self._store.locked():
                all_of = self._read(shard)
                for key, uses in counted.items():
                    all_of[key] = min(MOST_USES, all_of.get(key, 0) + uses)
                self._store.put(_shard_key(shard), msgspec.json.encode(all_of))

    def grown(self, rows: int) -> None:
        """So many rows were written: once in a while, look whether there are too many."""
        self._written += rows
        if self._written >= min(256, max(8, self._most // SPARED)):
            self._written = 0
            self.evict()

    def evict(self) -> int:
        """Make room, if there are more entries than there may be; how many went."""
        keys = [key for key in self._store.every_key() if isinstance(key, str)]
        entries = [key for key in keys if key[:3] in ("l0:", "l1:")]
        if len(entries) <= self._most:
            return 0
        counts = self.counts()
        at_stake = entries[: len(entries) - max(1, self._most // SPARED)]
        worth = sorted(range(len(at_stake)), key=lambda at: (counts.get(at_stake[at], 0), at))
        victims = [at_stake[at] for at in worth[: len(entries) - self._most * LEAVES // 10]]
        for key in victims:
            self._front.forget(key)
        left = set(entries) - set(victims)
        for shard in range(SHARDS):
            with self._store.locked():
                before = self._read(shard)
                after = {
                    key: uses // 2 for key, uses in before.items() if key in left
                }  # what was used once is forgotten
                if before:
                    self._store.put(_shard_key(shard), msgspec.json.encode(after))
        return len(victims)

    def _read(self, shard: int) -> dict[str, int]:
        row: Any = self._store.get(_shard_key(shard))
        if not isinstance(row, bytes):
            return {}
        try:
            return {key: uses for key, uses in _COUNTS.decode(row).items() if 0 <= uses <= MOST_USES}
        except msgspec.MsgspecError:
            return {}


OVER: frozenset[str] = frozenset((
    "executor-changed", "executor-removed", "rules-changed", "policy-changed", "lexicon-changed", "expired",
))  # fmt: skip
"""Reasons that do not pass; a tool that cannot run now may run later."""


def template_views(
    library: TemplateLibrary, signers: Mapping[str, tuple[str, ...]], catalog: Catalog, tool: str = ""
) -> Iterator[EntryView]:
    """The publisher's templates as `Tending.entries` tells of what was learned; no use of them is counted.

    Args:
        library: The admitted ones.
        signers: Name of the envelope → ids of the keys that signed it.
        catalog: Where their tools are looked for.
        tool: Only those that call it; empty: all.
    """
    for one in library.listed:
        source = one.template.source
        plan: Any = loads_strict(source.plan)
        tools = tools_of(plan)
        if tool and tool not in tools:
            continue
        examples = [line for text in source.examples.values() for line in lines(text)]
        yield EntryView(
            entry=one.reference,
            layer="template",
            grade="strict",
            scope="shared",
            language=" ".join(source.wordings),
            form=examples[0] if examples else source.id,
            tools=tools,
            read_only=source.effect == "read",
            evidence="signature",
            turns=(),
            admitted_at=0,
            uses=0,
            state="executor-removed" if any(catalog.get(name) is None for name in tools) else "valid",
            signer=", ".join(signers.get(one.name, ())),
        )


def _shard_of(key: str) -> int:
    return int(key[-2:], 16) % SHARDS


def _shard_key(shard: int) -> str:
    return f"uses:{sha256(b'metnos.cache-uses/1 %d' % shard).hexdigest()}"
