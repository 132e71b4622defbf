"""Cases as files: JSON with the recorded turn in it, or TOML with the turn in a file of its own beside.

    save_case(case, Path("largest.toml"))       # and largest.turn.jsonl
    case = load_case(Path("largest.toml"))      # its `record` is there again

Law: what is written can be read again and is the same case. Reading is strict: an unknown field is refused with its place,
because it might be a misspelt expectation.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any, Final, cast

import msgspec

from metnos import plainfile
from metnos.drafts import drafted_beside
from metnos.evaluate.cases.model import FORM, Case
from metnos.evaluate.collections.turnlog import decode_turn
from metnos.record.codec import encode
from metnos.record.faults import RecordFault
from metnos.record.model import TurnLog

MOST_BYTES: Final = 256 * 1024 * 1024
TURN: Final = ".turn.jsonl"
_decoder = msgspec.json.Decoder(Case)


def case_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of a case; in TOML it is the same."""
    schema = msgspec.json.schema(Case, ref_template="#/$defs/{name}")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": FORM}
    return msgspec.json.decode(msgspec.json.encode({**head, **schema}))  # defaults that are tuples are lists then


def case_text(case: Case) -> str:
    """The case as JSON, the turn in it."""
    return msgspec.json.format(encode(case), indent=2).decode() + "\n"


def save_case(case: Case, path: Path) -> tuple[Path, ...]:
    """Write a case; its ending decides the form. What is there is replaced.

    Returns:
        The files that were written.

    Raises:
        OSError: What the system says.
    """
    if path.suffix != ".toml" or case.record is None:
        return (_write(path, case_text(case).encode()),)
    beside = path.with_suffix(TURN)
    told = msgspec.structs.replace(case, record=None, log=beside.name)
    written = _write(beside, encode(case.record) + b"\n")
    return (_write(path, toml_of(msgspec.json.decode(msgspec.json.encode(told))).encode()), written)


def load_case(path: Path) -> Case:
    """Read a case, and the turn that lies beside it.

    Raises:
        RecordFault: `case-invalid`, with the place.
        OSError: A file cannot be read.
    """
    data = plainfile.read(path, MOST_BYTES)
    try:
        is_toml = path.suffix == ".toml"
        case = msgspec.convert(tomllib.loads(data.decode()), Case) if is_toml else _decoder.decode(data)
    except (msgspec.MsgspecError, tomllib.TOMLDecodeError, UnicodeError, RecursionError) as fault:
        raise RecordFault("case-invalid", f"{path}: {fault}") from fault
    if case.form != FORM:
        raise RecordFault("case-invalid", f"{path}: the form is {case.form[:40]!r}, this version reads {FORM}")
    if case.record is None and case.log:
        name = PurePosixPath(case.log)
        if len(name.parts) != 1 or name.name in ("", ".", "..") or "\0" in case.log:
            raise RecordFault("case-invalid", f"{path}: `log` names a file beside the case, not {case.log[:80]!r}")
        line = plainfile.read(path.with_name(case.log), MOST_BYTES)
        return msgspec.structs.replace(case, record=_record(line, path))
    return case


def log_of(case: Case) -> TurnLog:
    """The recorded turn of a case.

    Raises:
        RecordFault: `case-invalid`, it has none; `turnlog-malformed`.
    """
    if case.record is None:
        raise RecordFault("case-invalid", f"the case {case.name!r} holds no recorded turn")
    return decode_turn(encode(case.record), case.name).log


def _record(line: bytes, path: Path) -> Any:
    from metnos.evaluate.collections.turnlog import TurnLine

    try:
        return msgspec.json.decode(line, type=TurnLine)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as fault:
        raise RecordFault("case-invalid", f"the turn beside {path}: {fault}") from fault


def _write(path: Path, data: bytes) -> Path:
    with drafted_beside(path, 0o644) as (draft, handle):
        with open(handle, "wb", closefd=False) as out:
            out.write(data)
        draft.replace(path)
    return path


# --- TOML ------------------------------------------------------------------------------------------------------------


def toml_of(table: dict[str, Any]) -> str:
    """A table as TOML, lists of tables as such; what holds null is written as JSON in a text."""
    lines: list[str] = []
    _table(table, (), lines)
    return "\n".join(lines).lstrip("\n") + "\n"


def _table(table: dict[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    below = {name: held for name, held in table.items() if _is_section(held, path)}
    lines += [f"{_key(name)} = {_value(held)}" for name, held in table.items() if name not in below]
    for name, held in below.items():
        inner = (*path, name)
        title = ".".join(map(_key, inner))
        for one in cast("list[dict[str, Any]]", [held] if isinstance(held, dict) else held):
            lines += ["", f"[[{title}]]" if isinstance(held, list) else f"[{title}]"]
            _table(one, inner, lines)


def _is_section(held: Any, path: tuple[str, ...]) -> bool:
    if len(path) > 1:
        return False
    listed = cast("list[Any]", held) if isinstance(held, list) else []
    return isinstance(held, dict) or (bool(listed) and all(isinstance(one, dict) for one in listed))


def _value(held: Any) -> str:
    if isinstance(held, bool):
        return "true" if held else "false"
    if isinstance(held, int | float):
        return repr(held)
    if isinstance(held, str):
        return _text(held)
    if b"null" in encode(held) and _has_null(held):
        return _text(encode(held).decode())
    if isinstance(held, list | tuple):
        return f"[{', '.join(map(_value, cast('list[Any]', held)))}]"
    inside = ", ".join(f"{_key(name)} = {_value(one)}" for name, one in cast("dict[str, Any]", held).items())
    return f"{{ {inside} }}" if inside else "{}"


def _has_null(held: Any) -> bool:
    if isinstance(held, dict):
        return any(map(_has_null, cast("dict[str, Any]", held).values()))
    return any(map(_has_null, cast("list[Any]", held))) if isinstance(held, list | tuple) else held is None


def _key(name: str) -> str:
    plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if plain else _text(name)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
