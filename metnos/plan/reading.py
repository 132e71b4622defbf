"""A plan written as text: JSON or line notation, told apart by how it begins.

Law: form only, and only as far as an object with `steps`; `plan.parse` judges what is in it. Bad text never raises.
"""

from __future__ import annotations

from typing import Any, cast

from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import JSONFault, loads_strict
from metnos.plan.write import to_json

_JSON_BEGINS = ("{", "[", '"')


def read_text(written: bytes | str) -> tuple[dict[str, Any] | None, tuple[Diagnostic, ...]]:
    """A plan as an object, or why the text is none."""
    if _marked(written):  # nobody sees it, so what is wrong with the first line would not be understood
        return None, (Diagnostic(code="not-utf8", where="", found="a byte order mark before the first character"),)
    try:
        if not _looks_like_json(written):
            return _from_lines(written)
        data: Any = loads_strict(written)
    except JSONFault as fault:
        return None, (Diagnostic(code=fault.code, where=fault.where, found=fault.message),)
    return as_object(data)


def as_object(data: Any) -> tuple[dict[str, Any] | None, tuple[Diagnostic, ...]]:
    """JSON data as a plan object, or that they are none."""
    if isinstance(data, dict):
        return cast("dict[str, Any]", data), ()
    found = type(data).__name__
    return None, (Diagnostic(code="wrong-type", where="", found=found, expected="an object with `steps`"),)


def _marked(written: bytes | str) -> bool:
    return written.startswith("\ufeff") if isinstance(written, str) else written.startswith(b"\xef\xbb\xbf")


def _looks_like_json(written: bytes | str) -> bool:
    text = written if isinstance(written, str) else written.decode("utf-8", "replace")
    return text.lstrip(" \t\r\n").startswith(_JSON_BEGINS)


def _from_lines(written: bytes | str) -> tuple[dict[str, Any] | None, tuple[Diagnostic, ...]]:
    from metnos.plan.notation import parse_lines

    try:
        text = written if isinstance(written, str) else written.decode("utf-8")
    except UnicodeDecodeError as fault:
        return None, (Diagnostic(code="not-utf8", where="", found=f"byte {fault.start}"),)
    parsed = parse_lines(text)
    if parsed.plan is None or parsed.diagnostics:
        return None, parsed.diagnostics
    return to_json(parsed.plan), ()
