"""JSON Schema: what may be loaded, and the fast validator of what was.

Law: instances are judged by `jsonschema_rs` alone, with its linear regular-expression engine; `jsonschema` is the
reference in tests. A schema is judged once, before anything is validated with it, and each rule has its code:

- `schema-oversize`: at most 256 KiB, depth 32, 10,000 nodes.
- `schema-malformed`: the 2020-12 meta-schema holds, and nothing in it is other than JSON.
- `schema-unknown-keyword`: in our own contracts a misspelt keyword is an error, not an annotation.
- `schema-ref`: only `#` and `#/…` to a place that exists; no `$id`, anchors or dynamic references.
- `schema-ref-cycle`: no path of applicators leads from a schema to itself on the same instance.
- `schema-ref-bomb`: on one instance at most 2,000 schemas apply.
- `schema-pattern`: every pattern compiles in an engine without backtracking (no look-around, no back-reference).

A schema that has been loaded is never changed: validators are remembered by identity, then by digest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from metnos.contracts import schema_walk
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import digest

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

_MESSAGE_LIMIT = 200
_PATTERN_BYTES = 1024 * 1024
"""A compiled pattern is not larger than that."""
_CACHE_LIMIT = 4096


class Fault(NamedTuple):
    """One error of an instance."""

    pointer: str
    """RFC 6901 pointer into the instance; for an undeclared property, to the property itself."""
    message: str
    expected: str


class Validator:
    """Calling it gives every fault of an instance; none means valid. `is_valid` only answers yes or no."""

    __slots__ = ("_rust", "is_valid")

    def __init__(self, schema: dict[str, Any]) -> None:
        from jsonschema_rs import Draft202012Validator, RegexOptions

        self._rust: Draft202012Validator = Draft202012Validator(
            schema, pattern_options=RegexOptions(size_limit=_PATTERN_BYTES), offline=True
        )
        self.is_valid = self._rust.is_valid

    def __call__(self, data: Any) -> list[Fault]:
        try:
            if self.is_valid(data):
                return []
            return [fault for error in self._rust.iter_errors(data) for fault in _faults(error)]
        except ValueError as error:  # a value that JSON cannot hold
            return [Fault("", str(error)[:_MESSAGE_LIMIT], "JSON")]


def _faults(error: ValidationError) -> list[Fault]:
    pointer = pointer_of(error.instance_path)
    kind = error.kind.as_dict()
    message = error.message if len(error.message) <= _MESSAGE_LIMIT else error.message[:_MESSAGE_LIMIT] + "…"
    if "unexpected" in kind:
        unexpected: list[str] = kind["unexpected"]
        return [Fault(f"{pointer}/{escape(str(name))}", message, "no such property") for name in unexpected]
    return [Fault(pointer, message, _expected(kind, error.kind.name))]


_EXPECTED_BY = ("types", "property", "options", "expected_value", "limit", "pattern", "format", "multiple_of")


def _expected(kind: dict[str, Any], keyword: str) -> str:
    """What the failed keyword wanted, in one phrase."""
    for field in _EXPECTED_BY:
        if field in kind:
            value: Any = kind[field]
            text = ", ".join(map(str, cast("list[Any]", value))) if isinstance(value, list) else str(value)
            return f"{keyword}: {text}"[:_MESSAGE_LIMIT]
    return keyword


def escape(name: str) -> str:
    """One reference token of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def pointer_of(path: list[str | int] | tuple[str | int, ...]) -> str:
    """The JSON pointer of a path."""
    return "".join(f"/{escape(str(part))}" for part in path)


_by_identity: dict[int, tuple[dict[str, Any], Validator]] = {}
_by_digest: dict[str, Validator] = {}


def validator_for(schema: dict[str, Any]) -> Validator:
    """The validator of a schema that `check_schema` found sound.

    Raises:
        ValueError: The schema does not compile (it was not checked).
    """
    known = _by_identity.get(id(schema))
    if known is not None and known[0] is schema:
        return known[1]
    key = digest(schema)
    validator = _by_digest.get(key)
    if validator is None:
        validator = Validator(schema)
        if len(_by_digest) >= _CACHE_LIMIT:
            _by_digest.clear()
        _by_digest[key] = validator
    if len(_by_identity) >= _CACHE_LIMIT:
        _by_identity.clear()
    _by_identity[id(schema)] = (schema, validator)
    return validator


def check_schema(schema: Any, where: str = "", *, strict: bool = True) -> list[Diagnostic]:
    """Every fault that forbids loading this schema; none means `validator_for` takes it.

    Args:
        schema: What claims to be a JSON Schema; only its size is assumed to be bounded by the reader.
        where: Pointer of the schema in its manifest, put before each place.
        strict: Unknown keywords are faults; foreign schemas are read with False.
    """
    walked = schema_walk.walk(schema, where, strict=strict)
    if walked.faults:
        return walked.faults
    return _compiles(schema, where)


def _compiles(schema: dict[str, Any], where: str) -> list[Diagnostic]:
    from jsonschema_rs import ReferencingError, ValidationError

    try:
        validator_for(schema)
    except ValidationError as error:
        is_pattern = "pattern" in error.instance_path[-1:] or "patternProperties" in error.instance_path[-2:]
        return [
            Diagnostic(
                code="schema-pattern" if is_pattern else "schema-malformed",
                where=where + pointer_of(error.instance_path),
                found=error.message[:_MESSAGE_LIMIT],
                expected="a pattern without look-around and back-references" if is_pattern else "JSON Schema 2020-12",
            )
        ]
    except (ValueError, ReferencingError) as error:
        return [
            Diagnostic(
                code="schema-malformed", where=where, found=str(error)[:_MESSAGE_LIMIT], expected="JSON Schema 2020-12"
            )
        ]
    return []
