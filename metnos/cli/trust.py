"""`metnos catalog verify|sign|keys`: what is trusted, and by whom; keys and catalogs of one's own.

Law: nothing here decides about trust: `contracts` does.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from metnos.cli import exits
from metnos.cli.catalog import tell_refused
from metnos.cli.options import Desk, command
from metnos.cli.output import Fault, hint_of_code
from metnos.text import message


@command(name="verify")
@click.argument("folder", required=False, type=click.Path(file_okay=False))
def verify_command(desk: Desk, folder: str | None) -> int:
    """Verify every envelope and code file of the catalog (or of FOLDER) anew, and name what fails."""
    from metnos.contracts.verify import verify_catalog

    settings = desk.settings()
    directory = settings.catalog if folder is None else Path(folder)
    found = verify_catalog(directory, home=settings.home)
    if desk.output.json:
        counted = {"manifests": found.manifests, "files": found.files, "plans": found.plans}
        desk.output.data({"folder": str(directory), "ok": found.ok, **counted, "failed": found.failed})
    else:
        counted = {"manifests": found.manifests, "files": found.files, "plans": found.plans}
        desk.output.line(message("catalog.verified", desk.language, **counted))
    tell_refused(desk, found.failed)
    return exits.OK if found.ok else exits.TRUST


@command(name="sign")
@click.argument("source", type=click.Path(exists=True, file_okay=False))
@click.option("--out", required=True, type=click.Path(file_okay=False), help="The catalog folder to write.")
@click.option("--key", "keys", required=True, multiple=True, help="Name of a key of yours, or a file; repeatable.")
@click.option("--threshold", type=int, help="How many of the keys must have signed; all of them if left out.")
@click.option("--expires", help="When the trust root ends: an ISO time with a zone.")
def sign_command(
    desk: Desk, source: str, out: str, keys: tuple[str, ...], threshold: int | None, expires: str | None
) -> int:
    """Sign a folder of executors of your own (NAME/manifest.toml, NAME/executor.py, plans/*.toml) into a catalog."""
    from metnos.contracts.build import BuildFault
    from metnos.contracts.keys import open_key, sign_own

    settings = desk.settings()
    opened = {Path(name).stem if "/" in name else name: open_key(settings.home, name) for name in keys}
    until = None if expires is None else _time(expires)
    _replaceable(Path(out))
    try:
        needed = len(opened) if threshold is None else threshold
        report = sign_own(Path(source), Path(out).absolute(), opened, needed, until)
    except BuildFault as fault:
        desk.output.diagnostics(fault.diagnostics)
        first = fault.diagnostics[0]
        told = message("catalog.unsigned", desk.language, count=len(fault.diagnostics), source=source)
        hint = first.hint or hint_of_code(first.code)
        raise Fault(first.code, told, where=first.where, hint=hint, status=exits.NOT_OK) from None
    if desk.output.json:
        desk.output.data({"out": out, "executors": report.executors, "plans": report.plans, "changed": report.changed})
    else:
        counted = {"executors": report.executors, "plans": report.plans, "out": out}
        desk.output.line(message("catalog.signed", desk.language, **counted))
    return exits.OK


@command(name="keys")
@click.option("--new", "name", help="Make a key of this name, readable by you alone.")
def keys_command(desk: Desk, name: str | None) -> int:
    """List your signing keys, or make one. Private keys are never shown."""
    from metnos.contracts.keys import new_key, own_keys

    home = desk.settings().home
    found = own_keys(home) if name is None else [new_key(home, name)]
    if desk.output.json:
        desk.output.data({"keys": found})
    else:
        for one in found:
            desk.output.line(f"{one.name}  {one.id}  {one.path}")
    return exits.OK


def _time(text: str) -> datetime:
    now = datetime.now(UTC)
    hint = f"--expires {now.year + 1}-01-31T00:00:00Z"
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise Fault("usage", f"{text!r} is no time with a zone", hint=hint, status=exits.USAGE)
    if found <= now:
        raise Fault(
            "usage", f"{text!r} is past: nothing that is signed would be admitted", hint=hint, status=exits.USAGE
        )
    return found


def _replaceable(out: Path) -> None:
    """A folder that is no catalog is not replaced by one."""
    if out.is_dir() and any(out.iterdir()) and not (out / "trust.json").is_file():
        raise Fault("usage", f"{out} holds other things", hint="name a new folder, or a catalog", status=exits.USAGE)
