"""Inputs and facts as bytes, and back: strict for execution, tolerant for reading.

Law: the stored bytes are the truth; the hash is over them. Strict means that writing what was read gives the same
bytes again, so an unknown, missing or misspelt field is refused and never dropped. Tolerant reading gives plain
dicts and never fails on a field it does not know.

`data` of a result over `INLINE_BYTES` is kept apart and replaced by the marker `{"$blob": "sha256:…", "size": n}`.
Data that itself has a top-level `$blob` is kept apart whatever its size, so a marker in a stored body is always a
marker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, get_args

import msgspec

from metnos.record.chain import digest
from metnos.record.faults import RecordFault
from metnos.turn.facts import AnyFact
from metnos.turn.inputs import AnyInput, EffectProbed, StepFinished

INLINE_BYTES = 8 * 1024
MARKER = "$blob"
MARKED = b'"$blob"'
"""What stands in a body that may hold a marker."""

Fetch: TypeAlias = Callable[[str], bytes]
"""Digest of a blob → its bytes; raises `RecordFault` if it is not there."""

encode: Callable[[Any], bytes] = msgspec.json.Encoder(order="sorted").encode
"""JSON with sorted keys: a body, or a list of commands to digest."""

INPUT_KINDS: dict[str, type[Any]] = {str(t.__struct_config__.tag): t for t in get_args(AnyInput)}
FACT_KINDS: dict[str, type[Any]] = {str(t.__struct_config__.tag): t for t in get_args(AnyFact)}
KIND_OF: dict[type[Any], str] = {t: kind for kind, t in (*INPUT_KINDS.items(), *FACT_KINDS.items())}
WITH_DATA: tuple[type[Any], ...] = (StepFinished, EffectProbed)
"""Inputs whose `data` may be kept apart."""

_input_decoder = msgspec.json.Decoder(AnyInput)
_fact_decoder = msgspec.json.Decoder(AnyFact)
_object_decoder = msgspec.json.Decoder(dict[str, Any])


class Marker(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"blob": MARKER}):
    """Stands in a stored body for data that is kept in the blob folder."""

    blob: str
    size: int
    """Bytes of the data as JSON."""


def encode_input(item: AnyInput) -> tuple[bytes, bytes | None]:
    """The body to store, and the data to keep apart (None: nothing).

    Raises:
        RecordFault: `record-unencodable`, the input holds something that is not JSON.
    """
    try:
        if type(item) in WITH_DATA:
            return _encode_result(item)
        return encode(item), None
    except (TypeError, ValueError, OverflowError, RecursionError) as fault:
        raise RecordFault("record-unencodable", f"{KIND_OF[type(item)]}: {fault}") from fault


def _encode_result(item: Any) -> tuple[bytes, bytes | None]:
    body = encode(item)
    if len(body) <= INLINE_BYTES and not _looks_like_marker(item.data):
        return body, None
    data = encode(item.data)
    if len(data) <= INLINE_BYTES and not _looks_like_marker(item.data):
        return body, None
    marker = Marker(digest(data), len(data))
    return encode(msgspec.structs.replace(item, data=marker)), data


def _looks_like_marker(data: Any) -> bool:
    return isinstance(data, dict) and MARKER in data


def marker_of(data: Any) -> Marker | None:
    """The marker that stored `data` is, or None if it is data.

    Raises:
        RecordFault: `record-malformed`, a marker of another shape.
    """
    if not _looks_like_marker(data):
        return None
    try:
        return msgspec.convert(data, Marker)
    except msgspec.ValidationError as fault:
        raise RecordFault("record-malformed", f"blob marker: {fault}") from fault


def blobs_in(kind: str, body: bytes) -> tuple[Marker, ...]:
    """Blobs that a stored body refers to.

    Raises:
        RecordFault: `record-malformed`.
    """
    if INPUT_KINDS.get(kind) not in WITH_DATA or MARKED not in body:
        return ()
    found = marker_of(decode_tolerant(body).get("data"))
    return () if found is None else (found,)


def decode_input(body: bytes, fetch: Fetch) -> AnyInput:
    """The input that was recorded, its data inlined again.

    Raises:
        RecordFault: `record-malformed`, or what `fetch` raises.
    """
    try:
        item = _input_decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        raise RecordFault("record-malformed", f"no input of this version: {fault}") from fault
    _same_bytes(item, body)
    if isinstance(item, StepFinished | EffectProbed):
        marker = marker_of(item.data)
        if marker is not None:
            return msgspec.structs.replace(item, data=_blob_data(fetch(marker.blob), marker))
    return item


def decode_fact(body: bytes) -> AnyFact:
    """The fact that was recorded.

    Raises:
        RecordFault: `record-malformed`.
    """
    try:
        fact = _fact_decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        raise RecordFault("record-malformed", f"no fact of this version: {fault}") from fault
    _same_bytes(fact, body)
    return fact


def decode_tolerant(body: bytes) -> dict[str, Any]:
    """The body as a plain object; an empty one if it is not JSON."""
    try:
        return _object_decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}


def fetch_from(blobs: Mapping[str, bytes]) -> Fetch:
    """A `Fetch` over blobs that were loaded with the log."""

    def fetch(blob: str) -> bytes:
        data = blobs.get(blob)
        if data is None:
            raise RecordFault("blob-missing", f"{blob} is not with the log")
        return data

    return fetch


def _blob_data(data: bytes, marker: Marker) -> Any:
    if len(data) != marker.size or digest(data) != marker.blob:
        raise RecordFault("blob-altered", f"{marker.blob} does not hold what was stored")
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        raise RecordFault("record-malformed", f"{marker.blob}: {fault}") from fault


def _same_bytes(item: Any, body: bytes) -> None:
    if encode(item) != body:
        raise RecordFault("record-malformed", "the body has a field or a spelling that this version does not know")
