"""A registered function as an executor: class `host`, in this process, vouched for by whoever registers it.

Law: the contract comes from the signature's type hints and from what is declared, never from the function's name or
code. Undeclared, its effect is `execute`, which is asked about. Faults of a registration raise at once: they are the
caller's, and no plan has been seen yet.

    @executor(name="get_rate", version="1.0.0", effect="read", description="Rate of one currency in another.")
    async def get_rate(base: str, quote: str = "EUR") -> dict[str, float]: ...

    Engine.open(executors=[get_rate])
"""

from __future__ import annotations

import functools
import inspect
import re
from typing import TYPE_CHECKING, Any, TypedDict, cast, get_type_hints

import msgspec

from metnos.contracts import hints
from metnos.contracts.host import HostExecutor
from metnos.contracts.model import (
    Consumes,
    Contract,
    EffectRule,
    Intent,
    Limits,
    Produces,
    Resource,
)
from metnos.contracts.versions import precedence
from metnos.plan.jsondata import digest
from metnos.sdk import EFFECT_CLASSES, EffectClass, Result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Unpack

_NAME = re.compile(r"[A-Za-z0-9._-]{1,128}")
CONTEXT = "ctx"
"""A parameter of this name gets the `Context`."""


class Declared(TypedDict, total=False):
    """What may be declared beside name, version, effect and description; see `Contract` for each."""

    families: tuple[Intent, ...]
    consumes: Consumes
    produces: Produces
    requires_one_of: tuple[tuple[str, ...], ...]
    idempotent: bool
    probe: bool
    undo: bool
    per_entry_approval: bool
    targets: tuple[str, ...]
    trusted: tuple[str, ...]
    own_text: tuple[str, ...]
    sensitive: tuple[str, ...]
    opens_secrets: tuple[str, ...]
    field_of_input: tuple[str, ...]
    missing_arg: str
    resources: tuple[Resource, ...]
    limits: Limits


DECLARED_AS: dict[str, type[Any]] = {"consumes": Consumes, "produces": Produces, "limits": Limits}
"""Declared field → what it must be."""


def executor(
    bare: None = None,
    /,
    *,
    version: str,
    name: str | None = None,
    effect: EffectClass | tuple[EffectRule, ...] = "execute",
    description: str = "",
    descriptions: dict[str, str] | None = None,
    args: dict[str, Any] | None = None,
    result: dict[str, Any] | None = None,
    **declared: Unpack[Declared],
) -> Callable[[Callable[..., Any]], HostExecutor]:
    """Register a function, sync or async; a bound method, a `functools.partial` or an object with `__call__` as well.

    A parameter called `ctx` gets the `Context`. Effects are `read`, `create`, `change`, `delete`, `send`, `execute`;
    policy allows a read, asks for the rest, and denies `send`.

        @executor(version="1.0.0", effect="read", produces=Produces(kind="city"), consumes=Consumes(into="names", kinds=("city",)))

    Args:
        version: Semantic; raise it when what the function does changes, since its code is not hashed.
        name: The tool's name in plans; the function's own if left out.
        effect: A class, or rules of which the last has no `when`.
        description: One English sentence; the first line of the docstring if left out.
        descriptions: The same by language code.
        args: JSON Schema of the arguments, instead of the type hints.
        result: JSON Schema of what is returned, instead of the type hint.
        declared: Fields of the contract: `consumes=Consumes(...)`, `produces=Produces(...)` (for `from_step`),
            `targets`, `trusted`, `own_text`, `sensitive`, `resources=(Resource(...),)` (`()`: touches nothing),
            `requires_one_of`, `idempotent`, `limits=Limits(...)`.

    Raises:
        TypeError: A parameter or hint that JSON cannot say.
        ValueError: A name, version, effect or schema that no contract may have.
    """
    if bare is not None:
        raise TypeError('write @executor(version="1.0.0"), then the function')
    _require_declared(declared)

    def register(function: Callable[..., Any]) -> HostExecutor:
        written = _written(function, name)
        parameters = _parameters(function, written)
        found = _hints(written)
        returned = found.pop("return", Any)
        wants_context = CONTEXT in parameters
        known = {key: found.get(key, Any) for key in parameters if key != CONTEXT}
        contract = Contract(
            name=_name(name or written.__name__),
            version=_version(version),
            origin="host",
            placement="host",
            args=args or hints.arguments_schema(known, {k: p.default for k, p in parameters.items() if k != CONTEXT}),
            result=result if result is not None else _result_schema(returned),
            effects=_effects(effect),
            descriptions={"en": description or _first_line(written), **(descriptions or {})},
            **declared,
        )
        contract = _sound(contract, written)
        is_async = inspect.iscoroutinefunction(written)
        call = hints.caller(function, known, returned, wants_context=wants_context, is_async=is_async)
        return HostExecutor(contract=contract, function=function, is_async=is_async, call=call)

    return register


def _require_declared(declared: Mapping[str, Any]) -> None:
    for name, kind in DECLARED_AS.items():
        value = declared.get(name)
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"{name} is {kind.__name__}(...), not {type(value).__name__}")
    for resource in declared.get("resources") or ():
        if not isinstance(resource, Resource):
            raise TypeError(f"resources holds Resource(...), not {type(resource).__name__}")


def _written(function: Any, name: str | None) -> Any:
    """The `def` behind a function, a bound method, a `functools.partial` or an object with `__call__`.

    Raises:
        TypeError: It is none of these, or an object without `name=`.
    """
    while isinstance(function, functools.partial):
        function = cast("Any", function).func
    if inspect.isroutine(function):
        return function
    if inspect.isclass(function) or not callable(function):
        raise TypeError(f"@executor goes on a def or an async def, not on {type(function).__name__}")
    if name is None:
        raise TypeError(f"a {type(function).__name__} has no name in a plan: give name=")
    return type(function).__call__


def _parameters(function: Any, written: Any) -> dict[str, inspect.Parameter]:
    """What a plan may give: what a `functools.partial` has bound is the host's, and no argument."""
    bound: dict[str, Any] = getattr(function, "keywords", {})  # of a partial; nothing else has it
    parameters = {key: one for key, one in inspect.signature(function).parameters.items() if key not in bound}
    for at, parameter in enumerate(parameters.values()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{written.__qualname__}: the parameter {parameter} has no name in a plan")
        if at == 0 and parameter.name in ("self", "cls") and parameter.annotation is parameter.empty:
            raise TypeError(f"{written.__qualname__}: register the method of an object: executor(...)(thing.method)")
    return parameters


class _Annotated:
    """Carries annotations to `get_type_hints` without that of the context, which is often imported for types only."""

    def __init__(self, annotations: dict[str, Any]) -> None:
        self.__annotations__ = annotations


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    annotations = {key: hint for key, hint in function.__annotations__.items() if key != CONTEXT}
    try:
        return get_type_hints(_Annotated(annotations), globalns=function.__globals__, include_extras=True)
    except NameError as error:
        raise TypeError(f"{function.__qualname__}: {error}; a hint must be importable from its module") from None


def _name(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r} is no tool name: letters, digits, dot, hyphen and underscore, at most 128")
    return name


def _version(version: str) -> str:
    precedence(version)
    return version


def _effects(effect: EffectClass | tuple[EffectRule, ...]) -> tuple[EffectRule, ...]:
    rules = (EffectRule(effect=effect),) if isinstance(effect, str) else effect
    unknown = [rule.effect for rule in rules if rule.effect not in EFFECT_CLASSES]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no effect class: {', '.join(EFFECT_CLASSES)}")
    if not rules or rules[-1].when is not None or any(rule.when is None for rule in rules[:-1]):
        raise ValueError("of the effect rules the last has no `when`, and each other has one")
    return rules


def _result_schema(returned: Any) -> dict[str, Any]:
    return {} if returned is Any or returned is Result else hints.schema_of(returned)


def _first_line(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _sound(contract: Contract, function: Callable[..., Any]) -> Contract:
    """The contract with its digest.

    The digest covers where the function is, its version, schemas and all that is declared; not its code, which may
    close over anything. That is why `version` has no default.
    """
    from metnos.contracts.schemas import check_schema

    faults = [
        *check_schema(contract.args, "/args", strict=False),
        *check_schema(contract.result, "/result", strict=False),
    ]
    if faults:
        raise ValueError(f"{contract.name}: {faults[0].code} at {faults[0].where}: {faults[0].found}")
    known = contract.args.get("properties", {})
    named = [*contract.targets, *contract.trusted, *contract.own_text, *contract.sensitive, *contract.opens_secrets]
    named += [*contract.field_of_input, *(name for group in contract.requires_one_of for name in group)]
    named += [contract.consumes.into] if contract.consumes else []
    named += [name for rule in contract.effects for name in rule.when or ()]
    unknown = next((name for name in named if name not in known), None)
    if unknown is not None:
        raise ValueError(f"{contract.name}: {unknown!r} is declared and is no argument")
    origin = f"{function.__module__}.{function.__qualname__}"
    return msgspec.structs.replace(contract, digest=digest(["metnos.host/1", origin, msgspec.to_builtins(contract)]))
