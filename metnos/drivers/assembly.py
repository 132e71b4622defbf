"""The parts of an engine, put together: catalog, templates, journal, runners; the clock and Ctrl-C.

Law: every import of a heavy room stands inside the function that needs it, so that an engine costs only what is used.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from metnos.context import OwnerContext

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Generator, Iterable, Mapping
    from pathlib import Path

    from metnos.cache.near.gates import Confirm
    from metnos.cache.plancache import PlanCache
    from metnos.cache.templates.library import TemplateLibrary
    from metnos.contracts.catalog import Catalog, HostExecutor, Refused
    from metnos.contracts.load import Plans
    from metnos.contracts.model import Contract
    from metnos.drivers.live import LiveTurn
    from metnos.execute.runner import Runners
    from metnos.plan.jsondata import JSON
    from metnos.record.store import Journal
    from metnos.settings import Settings
    from metnos.turn.rules import Rules

CACHE_KEY = "cache.ed25519"
"""Below `METNOS_HOME/keys`: 32 bytes, hexadecimal, mode 0600."""
SETTINGS_TEMPLATE = """\
# Settings of this Metnos home. Remove the `#` to use one.
# roots = ["~/Documents"]     # folders that may be read and written beside the current one
# language = "en"             # or "it"; default: the one that explains more of a request
# zone = "Europe/Rome"        # default: the machine's
"""


def wall_clock() -> int:
    """µs since 1970-01-01 UTC."""
    return time.time_ns() // 1000


def owner_context(settings: Settings, owner: str, channel: str) -> OwnerContext:
    """Whose turns these are, and from where."""
    return OwnerContext(
        owner=owner,
        actor=owner,
        channel=channel,
        language=settings.language,
        zone=settings.zone,
        folder=str(settings.folder),
        roots=tuple(map(str, settings.roots)),
    )


class Interrupts:
    """Ctrl-C, turned into `Cancelled` for the turns under way."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: list[LiveTurn] = []
        self._catching = False

    @contextmanager
    def watching(self, turn: LiveTurn) -> Generator[None]:
        """`turn` is cancelled if an interrupt comes meanwhile."""
        with self._lock:
            self._turns.append(turn)
        try:
            yield
        finally:
            with self._lock:
                if turn in self._turns:  # not in a child that was forked meanwhile
                    self._turns.remove(turn)

    def leave(self) -> None:
        """In a child that was forked: its copies of the turns under way give up, before they write or run anything."""
        self._lock = threading.Lock()
        turns, self._turns = self._turns, []
        for turn in turns:
            turn.writer.release()

    @contextmanager
    def caught(self) -> Generator[None]:
        """While inside, the first SIGINT cancels the turns under way, and a second one raises `KeyboardInterrupt`."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGINT)

        def caught(_number: int, _frame: object) -> None:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            turns = list(self._turns)
            for turn in turns:
                turn.ask_cancel()
            if not turns:
                raise KeyboardInterrupt

        signal.signal(signal.SIGINT, caught)
        self._catching = True
        try:
            yield
        finally:
            self._catching = False
            signal.signal(signal.SIGINT, before)

    @contextmanager
    def waking(self, loop: AbstractEventLoop) -> Generator[None]:
        """A signal wakes `loop`, also one that comes just before it lies down: without this it would sleep on."""
        if not self._catching or threading.current_thread() is not threading.main_thread():
            yield
            return
        import socket

        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            end.setblocking(False)
        loop.add_reader(ours, lambda: ours.recv(4096))
        before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(ours)
            ours.close()
            theirs.close()


def open_catalog(
    settings: Settings, executors: Iterable[HostExecutor], contracts: Iterable[Contract], *, shipped: bool
) -> Catalog:
    """The signed catalog (if `shipped`), with the host's functions and foreign contracts."""
    from metnos.contracts.catalog import Catalog

    if shipped:
        from metnos.contracts.load import load_catalog

        catalog = load_catalog(settings.catalog, home=settings.home)
    else:
        catalog = Catalog()
    functions, others = tuple(executors), tuple(contracts)
    if functions:
        catalog = catalog.with_functions(functions)
    return catalog.with_contracts(others) if others else catalog


def read_plans(settings: Settings, *, shipped: bool) -> Plans:
    """The publisher-signed templates of the catalog folder, and what was refused of them."""
    from metnos.contracts.load import Plans, read_plans

    return read_plans(settings.catalog, home=settings.home) if shipped else Plans(verified={}, refused=())


def refused_template(name: str, why: str) -> Refused:
    """A template whose signature holds and that is none, or another one than its envelope says."""
    from metnos.contracts.catalog import Refused
    from metnos.plan.diagnostics import Diagnostic

    return Refused(name=f"plan/{name}", diagnostic=Diagnostic(code="template-invalid", where="", found=why))


def open_journal(settings: Settings, *, memory: bool) -> Journal:
    """The journal of this home, or one in memory."""
    if memory:
        from metnos.record.memory import MemoryJournal

        return MemoryJournal()
    from metnos.record.sqlite import SqliteJournal

    return SqliteJournal(settings.home)


def open_plan_cache(
    settings: Settings,
    catalog: Catalog,
    rules: Rules,
    library: TemplateLibrary,
    *,
    lexicon: str,
    memory: bool,
    confirm: Confirm | None = None,
) -> PlanCache:
    """The plan cache of this home, or one in memory; nothing is read or made before its first use."""
    from metnos.cache.entries.memory import MemoryStore
    from metnos.cache.entries.signing import Keys
    from metnos.cache.entries.store import DiskStore
    from metnos.cache.entries.validity import DAY, World
    from metnos.cache.plancache import PlanCache

    world = World(
        catalog,
        rules=rules.digest,
        policy=rules.policy_digest,
        lexicon=lexicon,
        normalise=rules.normalise,
        share=settings.cache_share,
        near_error=settings.cache_near_error,
        max_age=settings.cache_days * DAY,
    )
    most = settings.cache_entries
    if memory:
        seed = os.urandom(32)
        return PlanCache(MemoryStore(), Keys(lambda: seed), world, library, most=most, confirm=confirm)
    store = DiskStore(settings.home / "cache")
    keys = Keys(lambda: _cache_seed(settings.home))
    return PlanCache(store, keys, world, library, most=most, confirm=confirm)


def _cache_seed(home: Path) -> bytes:
    """The secret that entries are signed and stamped with."""
    from metnos.cache.entries.store import StoreFault
    from metnos.record.faults import RecordFault
    from metnos.record.keys import open_seed

    try:
        return open_seed(home / "keys", CACHE_KEY)
    except RecordFault as fault:
        raise StoreFault("cache-key", str(fault)) from fault


def has_imports(settings: Settings) -> bool:
    """Whether this home has tools of other protocols; asked without loading anything."""
    return (settings.home / "foreign").is_dir()


def has_models(settings: Settings) -> bool:
    """Whether this home has models configured; asked without loading anything."""
    return (settings.home / "models.toml").is_file()


def open_runners(
    settings: Settings, catalog: Catalog, *, memory: bool, externals: Mapping[str, Any] | None = None
) -> Runners:
    """Inline, worker and host runners, with the vault of this home, and the clients of other protocols."""
    from metnos.execute.runner import Runners

    if memory:
        return Runners(catalog, externals=externals)
    from metnos.execute.secrets import Sealer
    from metnos.execute.vault import FileVault

    return Runners(catalog, sealer=Sealer(FileVault(settings.home)), externals=externals)


def initialise(settings: Settings) -> dict[str, str]:
    """Make the home, its key, its database and its settings file; nothing is overwritten."""
    from metnos.record.keys import open_key
    from metnos.record.sqlite import SqliteJournal
    from metnos.settings import SETTINGS_FILE

    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = settings.home / SETTINGS_FILE
    if not path.exists():
        path.write_text(SETTINGS_TEMPLATE, encoding="utf-8")
    open_key(settings.home / "keys")
    journal = SqliteJournal(settings.home)
    journal.mode()
    journal.close()
    return {"home": str(settings.home), "settings": str(path)}


def json_schema(what: str) -> JSON:
    """The JSON Schema of `plan` or `manifest` files."""
    if what == "plan":
        from metnos.plan.schema import plan_schema

        return plan_schema()
    from metnos.contracts.manifest import manifest_schema

    found: Any = manifest_schema()
    return found
