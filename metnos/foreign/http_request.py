"""One call of an OpenAPI operation as a request: pure, nothing is sent here.

Law: every argument goes exactly where the pinned operation says, escaped whole: an argument never becomes another
segment of the path, another parameter or another header.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import msgspec

from metnos.foreign.faults import CallFault
from metnos.foreign.tables import is_list, is_table

if TYPE_CHECKING:
    from metnos.foreign.model import Operation, Parameter

_JOINTS = {"comma": ",", "space": " ", "pipe": "|"}
_FORBIDDEN = frozenset(map(chr, (*range(0x20), 0x7F)))


class HttpRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is sent."""

    method: str
    url: str
    headers: dict[str, str] = {}
    body: bytes | None = None


def request_of(base: str, operation: Operation, args: dict[str, Any]) -> HttpRequest:
    """The request of one call.

    Raises:
        CallFault: An argument cannot stand where it belongs.
    """
    path = operation.path
    query: list[tuple[str, str]] = []
    headers = {"accept": "application/json, text/*;q=0.5"}
    body: bytes | None = None
    for parameter in operation.parameters:
        value = args.get(parameter.argument)
        if value is None:
            continue
        if parameter.place == "path":
            path = path.replace("{" + parameter.name + "}", _segment(parameter, value))
        elif parameter.place == "query":
            query += _pairs(parameter, value)
        elif parameter.place == "header":
            headers[parameter.name] = _header(parameter, value)
        else:
            body = _json(value).encode()
            headers["content-type"] = "application/json"
    if "{" in path:
        raise _misfit(operation.path, "a part of the path is missing")
    url = base + path
    if query:
        url += "?" + urlencode(query, quote_via=quote)
    return HttpRequest(method=operation.method, url=url, headers=headers, body=body)


def _segment(parameter: Parameter, value: Any) -> str:
    text = ",".join(quote(_scalar(parameter, each), safe="") for each in _list(value))
    if text in ("", ".", ".."):
        raise _misfit(parameter.argument, "this is no segment of a path")
    return text


def _pairs(parameter: Parameter, value: Any) -> list[tuple[str, str]]:
    name, style = parameter.name, parameter.style
    if style == "json":
        return [(name, _json(value))]
    if style in ("fields", "deep"):
        if not is_table(value):
            raise _misfit(parameter.argument, "an object belongs here")
        fields: dict[str, Any] = value
        spelled = "{1}" if style == "fields" else "{0}[{1}]"
        return [
            (spelled.format(name, key), _scalar(parameter, each)) for key, each in fields.items() if each is not None
        ]
    if style in _JOINTS:
        return [(name, _JOINTS[style].join(_scalar(parameter, each) for each in _list(value)))]
    return [(name, _scalar(parameter, each)) for each in _list(value)]


def _header(parameter: Parameter, value: Any) -> str:
    text = _json(value) if parameter.style == "json" else ",".join(_scalar(parameter, each) for each in _list(value))
    if not _FORBIDDEN.isdisjoint(text) or not text.isascii():
        raise _misfit(parameter.argument, "this cannot stand in a header")
    return text


def _list(value: Any) -> list[Any]:
    return value if is_list(value) else [value]


def _scalar(parameter: Parameter, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise _misfit(parameter.argument, "a single value belongs here")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _misfit(argument: str, message: str) -> CallFault:
    return CallFault("arguments", "value-misfit", message, where=f"/{argument}")
