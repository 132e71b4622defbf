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

    from metnos.contracts.model import Contract
    from metnos.drivers.parts import Parts
    from metnos.execute.outcome import StepOutcome

PROBED = "find_files"
"""The executor that a worker is tried with: it only looks."""


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


def _plans(parts: Parts) -> Iterator[Finding]:
    library = parts.library
    plans = len(library.ids)
    unsigned = [f"{one.name}: {one.diagnostic.code}" for one in parts.plans.refused]
    bad = "; ".join([*unsigned, *(f"{name}: {why}" for name, why in library.refused.items())])
    yield Finding(
        name="plans",
        ok=plans > 0 and not bad,
        found=f"{plans} signed templates" + (f", refused: {bad}" if bad else ""),
        hint="reinstall, or run `make install` in a checkout",
    )


def _files(_parts: Parts) -> Iterator[Finding]:
    from metnos.execute import beneath

    by_kernel = beneath.best() is beneath.by_openat2
    yield Finding(
        name="files",
        ok=True,
        found="opened by openat2" if by_kernel else "opened component by component: openat2 is missing here",
    )


def _workers(parts: Parts) -> Iterator[Finding]:
    """One real step in a real worker: list an empty folder."""
    from tempfile import TemporaryDirectory
    from time import monotonic

    contract = parts.catalog.get(PROBED)
    if contract is None:
        return
    started = monotonic()
    with TemporaryDirectory() as folder:
        outcome = _run_probe(parts, contract, folder)
    took = f"{(monotonic() - started) * 1000:.0f} ms"
    error = "" if outcome.error is None else f"{outcome.error.code}: {outcome.error.message}"
    yield Finding(
        name="workers",
        ok=outcome.status == "finished",
        found=error or f"a worker started and ran {contract.name} in {took}",
        hint="a worker is a second Python process: look at limits on processes and memory",
    )


def _run_probe(parts: Parts, contract: Contract, folder: str) -> StepOutcome:
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    from metnos.execute.grant import Grant
    from metnos.turn.commands import StartStep

    command = StartStep(
        step="1.1",
        operation="doctor",
        executor=contract.reference,
        args={"path": folder},
        digest="",
        effect="read",
        placement=contract.placement,
        timeout_s=contract.limits.timeout_s,
    )
    grant = Grant(turn="doctor", folder=folder, roots=(folder,), now="2000-01-01T00:00:00+00:00")
    with ThreadPoolExecutor(1) as thread:  # a loop of its own, whatever runs in this thread
        return thread.submit(lambda: asyncio.run(parts.runners.run(command, contract, grant))).result()


def _models(parts: Parts) -> Iterator[Finding]:
    """What is configured, and whether it could be opened; nothing is loaded and no server is asked."""
    from metnos.propose.models.config import read_models
    from metnos.propose.models.looking import fault_of_model

    config = read_models(parts.settings.home)
    if not config.models:
        yield Finding(name="models", ok=True, found="none: requests that no known plan serves are not understood")
        return
    middle = config.of_role("middle")
    yield Finding(
        name="models",
        ok=bool(middle),
        found=f"{', '.join(config.models)}; plans are written by: {', '.join(middle) or 'none'}",
        hint=f"metnos model add {next(iter(config.models))} --role middle",
    )
    for name, model in config.models.items():
        fault = fault_of_model(model)
        if fault is not None:
            yield Finding(name=f"model {name}", ok=False, found=fault.message, hint=fault.hint)


CHECKS: tuple[Callable[[Parts], Iterator[Finding]], ...] = (
    _python,
    _sqlite,
    _home,
    _roots,
    _catalog,
    _plans,
    _files,
    _workers,
    _models,
)
