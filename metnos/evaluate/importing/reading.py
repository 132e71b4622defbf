"""Files of JSON, line by line or whole, each value with the place that a fault names.

Law: bounded memory for lines; a bad line is a fault with its place and the reading goes on. Numbers, keys and surrogates
are held to what the log can hold (`plan.jsondata`): a value that could not be written again is refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from metnos.evaluate.importing.model import Notes, ReadFault
from metnos.plan.jsondata import JSONFault, is_list, is_object, loads_strict

MAX_RECORD_BYTES = 64 * 1024 * 1024
"""One line."""
MAX_FILE_BYTES = 512 * 1024 * 1024
"""One file that holds a single value."""
MAX_DEPTH = 64

Row: TypeAlias = "tuple[Any, str]"
"""A value, and where it stands: `file:line`, or `file#/index`."""


def files(source: Path, suffixes: tuple[str, ...], *, deep: bool = False) -> list[Path]:
    """The files of a source in order of their names: it itself, or what lies in it.

    Raises:
        ReadFault: `import-source`, there is none.
    """
    if source.is_file():
        return [source]
    pattern = "**/*" if deep else "*"
    found = sorted(path for path in source.glob(pattern) if path.is_file() and path.name.endswith(suffixes))
    if not found:
        expected = f"a file, or a folder with files that end in {', '.join(suffixes)}"
        what = "no such file or folder" if not source.exists() else "no such file in it"
        raise ReadFault(str(source), what, expected, code="import-source")
    return found


def rows(path: Path, notes: Notes) -> Iterator[Row]:
    """Each value of a file: of JSON Lines a line, of a JSON list an element, else the one value that it holds."""
    if path.suffix == ".jsonl" or _looks_like_lines(path):
        yield from _lines(path, notes)
        return
    whole = _whole(path, notes)
    if is_list(whole):
        yield from ((value, f"{path}#/{index}") for index, value in enumerate(whole))
    elif whole is not None:
        yield whole, f"{path}:1"


def _looks_like_lines(path: Path) -> bool:
    """Some data sets call JSON Lines `.json`: the first line is then an object that is whole."""
    with path.open("rb") as file:
        first = file.readline(MAX_RECORD_BYTES).strip()
        if not first.startswith(b"{") or not file.readline(8).strip():
            return False
    try:
        return is_object(loads_strict(first, max_bytes=MAX_RECORD_BYTES, max_depth=MAX_DEPTH))
    except JSONFault:
        return False


def _lines(path: Path, notes: Notes) -> Iterator[Row]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_RECORD_BYTES + 1):
            number += 1
            where = f"{path}:{number}"
            if len(line) > MAX_RECORD_BYTES:
                notes.fault(ReadFault(where, "a longer line", f"at most {MAX_RECORD_BYTES} bytes"))
                while line and not line.endswith(b"\n"):
                    line = file.readline(MAX_RECORD_BYTES)
            elif line.strip():
                value = _value(line, where, notes)
                if value is not None:
                    yield value, where


def _whole(path: Path, notes: Notes) -> Any:
    where = f"{path}:1"
    if path.stat().st_size > MAX_FILE_BYTES:
        notes.fault(ReadFault(where, "a longer file", f"at most {MAX_FILE_BYTES} bytes, or JSON Lines"))
        return None
    return _value(path.read_bytes(), where, notes)


def _value(text: bytes, where: str, notes: Notes) -> Any:
    try:
        return loads_strict(text, max_bytes=MAX_FILE_BYTES, max_depth=MAX_DEPTH)
    except JSONFault as fault:
        place = f"{where}{fault.where}" if fault.where else where
        notes.fault(ReadFault(place, fault.message, "strict JSON", code=fault.code))
        return None


def each(found: Iterator[Row], notes: Notes, read: Callable[[dict[str, Any], str], Any]) -> Iterator[Any]:
    """What `read` makes of each row that is an object; what it refuses is a fault, and the next row is read.

    Args:
        found: The rows.
        notes: Where faults are kept.
        read: From (object, place) to what the importer hands on; it raises `ReadFault`.
    """
    for value, where in found:
        try:
            yield read(_object(value, where), where)
        except ReadFault as fault:
            notes.fault(fault)


def _object(value: Any, where: str) -> dict[str, Any]:
    if is_object(value):
        return value
    raise ReadFault(where, kind(value), "an object")


# --- fields ------------------------------------------------------------------------------------------------------


def kind(value: Any) -> str:
    """What a person calls a JSON value."""
    return next((name for type_, name in _KINDS if isinstance(value, type_)), "a number")


_KINDS = ((dict, "an object"), (list, "a list"), (str, "a text"), (bool, "true or false"), (type(None), "null"))


def text_of(record: dict[str, Any], name: str, where: str, default: str | None = None) -> str:
    """A field that is a text.

    Raises:
        ReadFault: It is none, or is missing and there is no `default`.
    """
    value = record.get(name, default)
    if type(value) is str:
        return value
    raise ReadFault(f"{where}/{name}", "nothing" if name not in record else kind(value), "a text")


def list_of(record: dict[str, Any], name: str, where: str, *, missing: bool = False) -> list[Any]:
    """A field that is a list; with `missing`, none may be there.

    Raises:
        ReadFault: See there.
    """
    value = record.get(name)
    if is_list(value):
        return value
    if missing and value is None:
        return []
    raise ReadFault(f"{where}/{name}", "nothing" if name not in record else kind(value), "a list")


def object_of(record: dict[str, Any], name: str, where: str, *, missing: bool = False) -> dict[str, Any]:
    """A field that is an object; with `missing`, none may be there.

    Raises:
        ReadFault: See there.
    """
    value = record.get(name)
    if is_object(value):
        return value
    if missing and value is None:
        return {}
    raise ReadFault(f"{where}/{name}", "nothing" if name not in record else kind(value), "an object")
