"""What an executor may import: `Result`, `Effect`, `Failure`, and the context it is handed.

Law: this module imports nothing of Metnos but JSON's type, starts fast (a worker imports it), and is
versioned: a change of shape raises `SDK_VERSION`, which is part of every executor signature.

    from metnos.sdk import Context, Result

    def run(args, ctx: Context) -> Result:
        return Result.done({"text": args["text"].upper()})

An effect that may not be repeated can bring a `probe(args, ctx)` (and `probe = true` in its manifest): after a crash
it looks whether the effect of `ctx.operation` was made, and changes nothing. It returns the result that `run` would
have given, or `"absent"`, or `"unknown"`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

SDK_VERSION = 1

EffectClass = Literal["read", "create", "change", "delete", "send", "execute"]
EFFECT_CLASSES: tuple[EffectClass, ...] = ("read", "create", "change", "delete", "send", "execute")

ErrorClass = Literal[
    "arguments",  # the call is wrong: caller's fault
    "missing",  # a file, record or address that is not there
    "data",  # the data lack a field, an index, or have the wrong type
    "denied",  # roots, permissions, policy of the outside world
    "conflict",  # it is there already, or it changed meanwhile
    "oversize",  # past a declared limit
    "timeout",
    "memory",
    "crashed",  # the worker died
    "cancelled",
    "unavailable",  # a service, model or program cannot be reached
    "operational",  # the outside world failed in another way (rate limit, disk, network)
    "internal",  # a bug in the executor
]


class Effect(msgspec.Struct, frozen=True, kw_only=True, rename={"cls": "class"}, omit_defaults=True):
    """One change that was made outside: what the user is told, and what an undo needs."""

    cls: EffectClass
    target: str
    before: str | None = None
    """Digest of what was there, `sha256:…`; None if nothing was."""
    after: str | None = None
    undo: dict[str, Any] | None = None


class Option(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One way on that a failure leaves to a person: a `[[choice]]` of the manifest, and the values of its `fill`."""

    key: str
    args: dict[str, Any] = {}
    """Argument → the value that the step would be run again with; what the manifest sets need not be said."""


class Failure(msgspec.Struct, frozen=True, kw_only=True, rename={"cls": "class"}, omit_defaults=True):
    """Why a step failed: class, stable code, place (JSON pointer or path), what to do about it."""

    cls: ErrorClass
    code: str
    message: str = ""
    where: str = ""
    hint: str = ""
    retryable: bool = False
    options: tuple[Option, ...] = ()
    """What a person could choose instead; only what the contract declares is ever offered. Nothing may have been done."""


class Result(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What `run` returns. `${stepN}` in a plan is `data`; effects and counters are not addressable."""

    version: int = SDK_VERSION
    ok: bool = True
    data: Any = None
    effects: tuple[Effect, ...] = ()
    counters: dict[str, int] = {}
    truncated: bool = False
    warnings: tuple[str, ...] = ()
    error: Failure | None = None

    @classmethod
    def done(
        cls,
        data: Any,
        *,
        effects: tuple[Effect, ...] = (),
        counters: dict[str, int] | None = None,
        truncated: bool = False,
        warnings: tuple[str, ...] = (),
    ) -> Result:
        """A success."""
        return cls(data=data, effects=effects, counters=counters or {}, truncated=truncated, warnings=warnings)

    @classmethod
    def failed(
        cls,
        error_class: ErrorClass,
        code: str,
        message: str = "",
        *,
        where: str = "",
        hint: str = "",
        retryable: bool = False,
        effects: tuple[Effect, ...] = (),
        options: tuple[Option, ...] = (),
    ) -> Result:
        """A failure; `effects` lists what had been done all the same, `options` what a person could choose instead."""
        error = Failure(
            cls=error_class,
            code=code,
            message=message,
            where=where,
            hint=hint,
            retryable=retryable,
            options=options,
        )
        return cls(ok=False, error=error, effects=effects)


class FileEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One directory entry as `Files.scan` yields it."""

    path: str
    """Relative to the folder the user stands in where it lies below it, else absolute; for reading."""
    name: str
    is_dir: bool
    is_file: bool
    is_link: bool
    size: int
    modified_ns: int
    path_bytes: str | None = None
    """Percent-encoded bytes of a path that is not UTF-8; `path` then shows U+FFFD and cannot be acted on."""


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """What `Files` did to one file. Places are `{path, path_bytes?}`, absolute: what an undo needs."""

    target: dict[str, str]
    """Where it is now; for what was put into the trash, where it was."""
    size: int = 0
    source: dict[str, str] | None = None
    """Where it came from."""
    before: str | None = None
    """Digest of what bore the target's name; None if nothing did, or it could not be read."""
    after: str | None = None
    """Digest of the file itself; None if it could not be read."""
    kept: dict[str, str] | None = None
    """Where in the trash that lies which was replaced or deleted."""


def path_of(value: str | dict[str, str]) -> str:
    """The path to act on: of a string itself, of an entry its `path_bytes` if it has them, else its `path`."""
    if isinstance(value, str):
        return value
    odd = value.get("path_bytes")
    if odd is None:
        return value["path"]
    from os import fsdecode
    from urllib.parse import unquote_to_bytes

    return fsdecode(unquote_to_bytes(odd))


class Files(Protocol):
    """Files under the granted roots, opened beneath them; symlinks are not followed, nothing escapes.

    Every method raises `FilesError` (in this module) with an error class and a code.
    """

    skipped: Any
    """What the scans of this call could not see, reason → count: `unreadable`, `vanished`, `too-deep`."""
    warnings: Any
    """The first of those places, each `reason: path`; a list of str."""

    def scan(self, path: str, *, recursive: bool, hidden: bool) -> Any:
        """Iterate `FileEntry` below `path`, folders before their contents, names in byte order."""
        ...

    def stat(self, path: str) -> FileEntry: ...

    def read(self, path: str, *, limit: int) -> tuple[bytes, int]:
        """The first `limit` bytes, and the size of the whole file, in bytes."""
        ...

    def blocks(self, path: str) -> Any:
        """Iterate the bytes of the whole file, in blocks of at most 1 MiB; `changed` where it changed meanwhile."""
        ...

    def write(self, path: str, data: bytes, *, overwrite: bool, make_dirs: bool = True) -> tuple[str | None, str]:
        """Write atomically (temporary file beside it, fsync, link or rename); digests before and after."""
        ...

    # What follows takes the operation id: the same operation again finds what it did, and does the rest.

    def place(self, path: str) -> dict[str, str]:
        """Where `path` is, absolute: as a receipt names it."""
        ...

    def is_fresh(self, path: str) -> bool:
        """Whether what is at `path` came there in this turn: so a step that was cut off knows its own work."""
        ...

    def keep(self, path: str, *, unless: str, operation: str) -> FileChange | None:
        """Keep what is at `path` in the trash too, before it is replaced by what has the digest `unless`.

        `kept` and `before` are of what was there; None: there is nothing to keep, or nothing that is not so already.
        """
        ...

    def make_dir(self, path: str) -> tuple[dict[str, str], ...]:
        """Make a folder and those above it; the places of those that were made, outermost first."""
        ...

    def remove_dir(self, path: str) -> bool:
        """Remove an empty folder; False if there is none."""
        ...

    def copy(self, source: str, target: str, *, overwrite: bool, operation: str) -> FileChange:
        """A whole copy under another name, with time and permission bits; what is replaced is kept in the trash."""
        ...

    def move(
        self, source: str, target: str, *, overwrite: bool, operation: str, expected: str | None = None
    ) -> FileChange:
        """Another name, also on another file system; what is replaced is kept in the trash.

        `expected`: the digest that the file must have; then, too, a move that is done already is a success.
        """
        ...

    def find_moved(self, source: str, target: str, *, operation: str) -> FileChange | Literal["unknown"] | None:
        """Whether a `move` that was cut off was made; None: it was not, and may be run again."""
        ...

    def trash(self, path: str, *, operation: str, expected: str | None = None) -> FileChange:
        """Into the trash of its root; nothing is unlinked."""
        ...

    def restore(self, place: str, target: str, *, digest: str, over: str | None, operation: str) -> FileChange:
        """Out of the trash; `over`: digest of what may be replaced, which is kept; None: nothing may be."""
        ...


class FilesError(Exception):
    """A refusal or failure of `Files`: `cls` is an `ErrorClass`, `code` stable, `path` the place."""

    def __init__(self, cls: ErrorClass, code: str, path: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.cls: ErrorClass = cls
        self.code = code
        self.path = path
        self.message = message
        self.hint = hint


def beside(files: Files, path: str, *, tries: int = 99) -> str | None:
    """A free name in the same folder, `notes-2.txt` for `notes.txt`; None if none of the first is free, or it cannot be shown.

    Free is what it was when it was looked at: whoever uses the name must still refuse to replace.
    """
    if not path.isprintable():
        return None
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    if not stem:
        stem, dot, ending = name, "", ""
    for number in range(2, tries + 1):
        other = f"{folder}{slash}{stem}-{number}{dot}{ending}"
        try:
            files.stat(other)
        except FilesError as fault:
            if fault.cls == "missing":
                return other
            return None
    return None


class Context(Protocol):
    """All that an executor gets beside its arguments."""

    files: Files
    operation: str
    """Operation id: the same id means the same effect (idempotence key)."""
    fence: int
    deadline: float
    """Seconds on `time.monotonic`'s clock of this process; past it the runner stops the step."""
    now: str
    """The turn's one reference time, ISO 8601 with zone."""

    def progress(self, done: int, total: int | None = None, note: str = "") -> None: ...

    def open_secret(self, text: str) -> str:
        """`text` with every sealed handle in it opened; only in arguments the contract names."""
        ...


Run: TypeAlias = "Callable[[dict[str, Any], Context], Result]"
Probe: TypeAlias = "Callable[[dict[str, Any], Context], Result | Literal['absent', 'unknown']]"
