"""Imports on disk: one file each below `METNOS_HOME/foreign`, owner-only, replaced whole.

Law: what is read is verified before it is believed: owner, mode, size, strict JSON, format, and the digest of each
tool. A file that does not hold is refused by name; the others still load.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from metnos.drafts import drafted_beside
from metnos.foreign.faults import ImportFault
from metnos.foreign.model import FORMAT, Import
from metnos.foreign.pins import pin_of
from metnos.plan.jsondata import JSONFault, loads_strict

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = "foreign"
SUFFIX = ".json"
MOST_BYTES = 16 * 1024 * 1024
NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")


def require_name(name: str) -> str:
    """`name`, if an import may be called so.

    Raises:
        ImportFault: `import-name`.
    """
    if not NAME.fullmatch(name):
        hint = "a small letter, then at most 31 small letters, digits, `-` or `_`"
        raise ImportFault("import-name", f"an import cannot be called {name!r}", where=name, hint=hint)
    return name


def save(home: Path, imported: Import) -> Path:
    """Write it whole or not at all; an earlier one of the same name is replaced."""
    folder = home / FOLDER
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / (require_name(imported.name) + SUFFIX)
    with drafted_beside(path) as (draft, handle):
        with os.fdopen(handle, "wb", closefd=False) as file:
            file.write(msgspec.json.format(msgspec.json.encode(imported, order="sorted"), indent=1) + b"\n")
            file.flush()
            os.fsync(handle)
        draft.replace(path)
    return path


def remove(home: Path, name: str) -> None:
    """Forget an import.

    Raises:
        ImportFault: `import-unknown`.
    """
    try:
        (home / FOLDER / (require_name(name) + SUFFIX)).unlink()
    except FileNotFoundError:
        raise ImportFault("import-unknown", f"nothing is imported as {name}", where=name) from None


def load(home: Path) -> Iterator[Import | tuple[str, ImportFault]]:
    """Every import in name order; one that does not hold as (name, fault)."""
    try:
        names = sorted(path.name for path in (home / FOLDER).iterdir() if path.name.endswith(SUFFIX))
    except (FileNotFoundError, NotADirectoryError):
        return
    for file in names:
        name = file.removesuffix(SUFFIX)
        if name.startswith("."):
            continue
        try:
            yield read(home / FOLDER / file)
        except ImportFault as fault:
            yield name, fault


def find(home: Path, name: str) -> Import:
    """The import called `name`.

    Raises:
        ImportFault: There is none, or it does not hold.
    """
    path = home / FOLDER / (require_name(name) + SUFFIX)
    if not path.exists():
        raise ImportFault("import-unknown", f"nothing is imported as {name}", where=name)
    return read(path)


def read(path: Path) -> Import:
    """One file.

    Raises:
        ImportFault: `import-broken`, and what is wrong with it.
    """
    name = path.name.removesuffix(SUFFIX)
    try:
        data = loads_strict(_bytes(path), max_bytes=MOST_BYTES, max_depth=64)
        imported = msgspec.convert(data, Import)
    except OSError as fault:
        raise _broken(path, fault.strerror or str(fault)) from fault
    except JSONFault as fault:
        raise _broken(path, f"{fault.code} at {fault.where or '/'}") from fault
    except msgspec.ValidationError as fault:
        raise _broken(path, str(fault)) from fault
    if imported.format != FORMAT:
        raise _broken(path, f"it has format {imported.format}; this version reads {FORMAT}")
    if imported.name != name:
        raise _broken(path, f"it is the import {imported.name}")
    for tool in imported.tools:
        if tool.digest != pin_of(tool.name, tool.description, tool.input_schema, tool.output_schema):
            raise _broken(path, f"the tool {tool.name} is not what was pinned")
    return imported


def _bytes(path: Path) -> bytes:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise _broken(path, "it is not a file that only its owner may write")
        return file.read(MOST_BYTES + 1)


def _broken(path: Path, what: str) -> ImportFault:
    hint = "import it again, or remove it: `metnos catalog remove NAME`"
    return ImportFault("import-broken", what, where=str(path), hint=hint)
