"""What an installation is like: each finding has what was found, and how to mend it.

Law: it looks and reports; it changes nothing but what opening an engine makes anyway.
"""

from __future__ import annotations

import os
import platform
import stat
import sys
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from metnos.drivers.parts import Parts


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that was looked at."""

    name: str
    ok: bool
    found: str
    hint: str = ""


def examine(parts: Parts) -> list[Finding]:
    """Look at everything; a check that cannot be made is itself a finding."""
    return [finding for check in CHECKS for finding in _guarded(check, parts)]


def _guarded(check: Callable[[Parts], Iterator[Finding]], parts: Parts) -> list[Finding]:
    try:
        return list(check(parts))
    except Exception as fault:  # noqa: BLE001 - a doctor that dies of the illness is of no use
        name = check.__name__.lstrip("_")
        return [Finding(name=name, ok=False, found=f"{type(fault).__name__}: {fault}", hint=getattr(fault, "hint", ""))]


def _python(_parts: Parts) -> Iterator[Finding]:
    yield Finding(
        name="python", ok=sys.version_info >= (3, 11), found=platform.python_version(), hint="Python 3.11 or newer"
    )


def _sqlite(parts: Parts) -> Iterator[Finding]:
    from metnos.record.sqlite import SqliteJournal

    if not isinstance(parts.journal, SqliteJournal):
        return
    mode = parts.journal.mode()
    yield Finding(
        name="sqlite",
        ok=mode.journal == "wal",
        found=f"{mode.library}, journal {mode.journal}",
        hint="install the pysqlite3 wheel: this SQLite can lose committed writes in WAL mode",
    )


def _home(parts: Parts) -> Iterator[Finding]:
    home = parts.settings.home
    mode = stat.S_IMODE(home.stat().st_mode) if home.is_dir() else 0o700
    yield Finding(name="home", ok=not mode & 0o077, found=f"{home} ({mode:04o})", hint=f"chmod 700 {home}")
    yield Finding(name="home-writable", ok=os.access(home, os.W_OK), found=str(home), hint="set METNOS_HOME")


def _roots(parts: Parts) -> Iterator[Finding]:
    roots = ", ".join(map(str, parts.settings.roots)) or "none"
    yield Finding(
        name="roots",
        ok=bool(parts.settings.roots),
        found=roots,
        hint="neither `/` nor the home folder is granted by default: name one with --root DIR",
    )


def _catalog(parts: Parts) -> Iterator[Finding]:
    catalog = parts.catalog
    refused = "; ".join(f"{one.name}: {one.diagnostic.code}" for one in catalog.refused)
    yield Finding(
        name="catalog",
        ok=bool(catalog.names()) and not refused,
        found=f"{len(catalog.names())} tools admitted" + (f", refused: {refused}" if refused else ""),
        hint=f"no signed catalog in {parts.settings.catalog}: run `make install` in a checkout, or reinstall",
    )
    plans = len(parts.library)
    yield Finding(name="plans", ok=plans > 0, found=f"{plans} signed templates", hint="reinstall")


def _files(_parts: Parts) -> Iterator[Finding]:
    from metnos.execute.roots import opening_method

    method = opening_method()
    yield Finding(
        name="files",
        ok=True,
        found=f"opened by {method}",
        hint="openat2 is missing here; the slower fallback refuses the same escapes",
    )


def _workers(parts: Parts) -> Iterator[Finding]:
    took = parts.runners.try_worker()
    yield Finding(name="workers", ok=True, found=f"a worker starts in {took * 1000:.0f} ms")


CHECKS: tuple[Callable[[Parts], Iterator[Finding]], ...] = (
    _python,
    _sqlite,
    _home,
    _roots,
    _catalog,
    _files,
    _workers,
)
