"""OTLP's JSON encoding of spans, read as plain data.

Law: knows the encoding (camel case or snake case, 64-bit integers as texts, ids in hex) and no convention.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from metnos.evaluate.importing.model import ReadFault
from metnos.evaluate.importing.reading import kind
from metnos.plan.jsondata import JSONFault, is_list, is_object, loads_strict

MAX_DEPTH = 32
_MAX_ATTRIBUTE = 16 * 1024 * 1024


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One span."""

    trace: str
    id: str
    parent: str = ""
    name: str = ""
    started: int = 0
    ended: int = 0
    """µs since 1970 UTC."""
    attributes: dict[str, Any] = {}
    failed: bool = False
    message: str = ""
    events: int = 0
    where: str = ""


def spans_in(record: dict[str, Any], where: str) -> Iterator[Span]:
    """The spans of one export (`resourceSpans`), or the one span that the record is.

    Raises:
        ReadFault: It is neither.
    """
    resources = record.get("resourceSpans", record.get("resource_spans"))
    if resources is None and ("traceId" in record or "trace_id" in record):
        yield _span(record, where)
        return
    if not is_list(resources):
        raise ReadFault(f"{where}/resourceSpans", kind(resources), "a list, as OTLP JSON has it")
    for r, resource in enumerate(resources):
        scopes = _get(resource, "scopeSpans", "scope_spans")
        for s, scope in enumerate(scopes if is_list(scopes) else []):
            found = _get(scope, "spans", "spans")
            for n, span in enumerate(found if is_list(found) else []):
                yield _span(span, f"{where}/resourceSpans/{r}/scopeSpans/{s}/spans/{n}")


def _get(record: Any, name: str, other: str) -> Any:
    return record.get(name, record.get(other)) if is_object(record) else None


def _span(record: Any, where: str) -> Span:
    trace, name = _get(record, "traceId", "trace_id"), _get(record, "spanId", "span_id")
    if not is_object(record) or not isinstance(trace, str) or not isinstance(name, str):
        raise ReadFault(where, "no ids", "a span with `traceId` and `spanId`")
    status = _get(record, "status", "status")
    code = _get(status, "code", "code")
    parent = _get(record, "parentSpanId", "parent_span_id")
    called, message = record.get("name"), _get(status, "message", "message")
    events = record.get("events")
    return Span(
        trace=trace,
        id=name,
        parent=parent if isinstance(parent, str) else "",
        name=called if isinstance(called, str) else "",
        started=_micros(_get(record, "startTimeUnixNano", "start_time_unix_nano"), where),
        ended=_micros(_get(record, "endTimeUnixNano", "end_time_unix_nano"), where),
        attributes=_attributes(record.get("attributes"), where),
        failed=code in (2, "2", "STATUS_CODE_ERROR"),
        message=message if isinstance(message, str) else "",
        events=len(events) if is_list(events) else 0,
        where=where,
    )


def _micros(value: Any, where: str) -> int:
    if value is None:
        return 0
    if isinstance(value, int | str) and str(value).isdecimal():
        return int(value) // 1_000
    raise ReadFault(where, kind(value), "a time in nanoseconds")


def _attributes(raw: Any, where: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for entry in raw if is_list(raw) else []:
        name = entry.get("key") if is_object(entry) else None
        if not isinstance(name, str):
            raise ReadFault(f"{where}/attributes", kind(entry), "a list of `{key, value}`")
        found[name] = any_value(entry.get("value"), where)
    return found


def any_value(raw: Any, where: str, depth: int = 0) -> Any:
    """An `AnyValue` as data.

    Raises:
        ReadFault: It is none.
    """
    if depth > MAX_DEPTH or not is_object(raw) or len(raw) > 1:
        raise ReadFault(where, kind(raw), "a value as OTLP has it: `{stringValue: …}`")
    if not raw:
        return None
    ((name, value),) = raw.items()
    match name:
        case "stringValue" | "boolValue" | "doubleValue" | "bytesValue":
            return value
        case "intValue":
            return int(value) if isinstance(value, int | str) and str(value).lstrip("-").isdecimal() else value
        case "arrayValue":
            return [any_value(item, where, depth + 1) for item in _values(value)]
        case "kvlistValue":
            pairs = [pair for pair in _values(value) if is_object(pair)]
            return {str(pair.get("key", "")): any_value(pair.get("value"), where, depth + 1) for pair in pairs}
        case _:
            raise ReadFault(where, name, "stringValue, boolValue, intValue, doubleValue, arrayValue or kvlistValue")


def _values(value: Any) -> list[Any]:
    held = value.get("values") if is_object(value) else None
    return held if is_list(held) else []


def structured(value: Any, where: str) -> Any:
    """An attribute that holds data: as such, or as JSON text.

    Raises:
        ReadFault: A text that is no JSON.
    """
    if not isinstance(value, str):
        return value
    try:
        return loads_strict(value, max_bytes=_MAX_ATTRIBUTE, max_depth=64)
    except JSONFault as fault:
        raise ReadFault(where, fault.message, "JSON text", code=fault.code) from None
