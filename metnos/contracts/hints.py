"""Type hints as JSON Schema, and calls between JSON data and hinted functions.

Law: msgspec says what a hint means in JSON; a hint it cannot say raises `TypeError`. Values are converted only where a
hint is more than JSON (a dataclass, a struct, a time): plain functions are called as they are.
"""

from __future__ import annotations

import inspect
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, cast, get_args, get_origin, is_typeddict

import msgspec

from metnos.plan.jsondata import JSONFault, canonical
from metnos.sdk import Result

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_PLAIN = (str, int, float, bool, NoneType, Any, object, list, dict)


def is_plain(hint: Any) -> bool:
    """Whether JSON data are already what the hint says."""
    if any(hint is plain for plain in _PLAIN):
        return True
    origin = get_origin(hint)
    if origin is Literal:
        return True
    if origin in (list, dict, Union, UnionType):
        return all(is_plain(part) for part in get_args(hint))
    return is_typeddict(hint) and all(is_plain(part) for part in msgspec_hints(hint).values())


def msgspec_hints(hint: Any) -> dict[str, Any]:
    """The fields of a TypedDict with their types."""
    from typing import get_type_hints

    return {name: _without_required(part) for name, part in get_type_hints(hint).items()}


def _without_required(hint: Any) -> Any:
    from typing import NotRequired, Required

    return get_args(hint)[0] if get_origin(hint) in (NotRequired, Required) else hint


def schema_of(hint: Any) -> dict[str, Any]:
    """JSON Schema of one hint, definitions inside.

    Raises:
        TypeError: JSON cannot say it.
    """
    (schema,), definitions = _components([hint])
    return _with(schema, definitions)


def arguments_schema(known: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """A closed object with one property for each parameter; one without a default is required.

    Args:
        known: Parameter → hint.
        defaults: Parameter → default, `inspect.Parameter.empty` where there is none.

    Raises:
        TypeError: A hint that JSON cannot say.
        ValueError: A default that no plan could write.
    """
    schemas, definitions = _components(list(known.values()))
    properties = dict(zip(known, schemas, strict=True))
    for name, default in defaults.items():
        if default is not inspect.Parameter.empty and (default is None or isinstance(default, (str, int, float, bool))):
            _require_json(name, default)
            properties[name] = {**properties[name], "default": default}
    required = [name for name in known if defaults[name] is inspect.Parameter.empty]
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return _with({**schema, "required": required} if required else schema, definitions)


def _require_json(name: str, default: Any) -> None:
    try:
        canonical(default)
    except JSONFault as fault:
        raise ValueError(f"the default of `{name}` is nothing that JSON can say: {fault.message}") from None


def _components(types: list[Any]) -> tuple[tuple[dict[str, Any], ...], dict[str, Any]]:
    from metnos.contracts.hint_types import refine

    try:
        schemas, definitions = msgspec.json.schema_components(types)
    except (TypeError, msgspec.ValidationError) as error:
        raise TypeError(f"a hint has no JSON Schema: {error}") from None
    for hint, schema in zip(types, schemas, strict=True):
        refine(hint, schema, definitions)
    return schemas, definitions


def _with(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "$defs": definitions} if definitions else schema


def caller(
    function: Callable[..., Any], known: dict[str, Any], returned: Any, *, wants_context: bool, is_async: bool
) -> Callable[[dict[str, Any], Any], Any]:
    """`call(args, ctx)` of a function: JSON data in, JSON data or a `Result` out (awaitable if `is_async`)."""
    rich = {name: hint for name, hint in known.items() if not is_plain(hint)}
    plain_out = returned is Result or (returned is not Any and is_plain(returned))

    def enter(args: dict[str, Any]) -> dict[str, Any]:
        return {name: msgspec.convert(value, rich[name]) if name in rich else value for name, value in args.items()}

    def invoke(args: dict[str, Any], ctx: Any) -> Any:
        given = enter(args) if rich else args
        return function(**given, ctx=ctx) if wants_context else function(**given)

    async def awaited(args: dict[str, Any], ctx: Any) -> Any:
        return leave(await _as_awaitable(invoke(args, ctx)))

    if plain_out:
        return invoke
    return awaited if is_async else lambda args, ctx: leave(invoke(args, ctx))


def _as_awaitable(value: Any) -> Awaitable[Any]:
    return value


def leave(value: Any) -> Any:
    """What a function returned as JSON data; a `Result` as it is."""
    return value if isinstance(value, Result) else _lists(msgspec.to_builtins(value))


def _lists(value: Any) -> Any:
    """Tuples as lists, so that what a step gave live is what a replay reads."""
    if isinstance(value, dict):
        return {key: _lists(part) for key, part in cast("dict[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_lists(part) for part in cast("list[Any]", value)]
    return value
