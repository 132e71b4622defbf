"""Calls written as Python, `[cd(folder='a'), sort('b.txt')]`, read as data.

Law: parsed, never evaluated: names, dotted names and literals are all that is understood.
"""

from __future__ import annotations

import ast
from typing import Any

from metnos.evaluate.importing.model import ReadFault

MAX_CHARS = 100_000


def read_calls(text: str, where: str, order: dict[str, list[str]]) -> list[tuple[str, dict[str, Any]]]:
    """Name and arguments of each call.

    Args:
        text: One call, or a list of calls.
        where: Place of the text.
        order: Tool → its arguments in order, for those that are given by position.

    Raises:
        ReadFault: It is something else.
    """
    if len(text) > MAX_CHARS:
        raise ReadFault(where, f"{len(text)} characters", f"at most {MAX_CHARS}")
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ReadFault(where, text[:60], "calls as Python writes them: `name(argument=value)`") from None
    nodes = body.elts if isinstance(body, ast.List | ast.Tuple) else [body]
    return [_call(node, where, order) for node in nodes]


def _call(node: ast.expr, where: str, order: dict[str, list[str]]) -> tuple[str, dict[str, Any]]:
    if not isinstance(node, ast.Call):
        raise ReadFault(where, ast.unparse(node)[:60], "a call")
    name = _dotted(node.func, where)
    arguments: dict[str, Any] = {}
    names = order.get(name, [])
    for position, value in enumerate(node.args):
        if position >= len(names):
            raise ReadFault(where, ast.unparse(node)[:60], "arguments with their names", "nothing describes this tool")
        arguments[names[position]] = _literal(value, where)
    for keyword in node.keywords:
        if keyword.arg is None:
            raise ReadFault(where, ast.unparse(node)[:60], "arguments with their names")
        arguments[keyword.arg] = _literal(keyword.value, where)
    return name, arguments


def _dotted(node: ast.expr, where: str) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value, where)}.{node.attr}"
    raise ReadFault(where, ast.unparse(node)[:60], "the name of a tool")


def _literal(node: ast.expr, where: str) -> Any:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise ReadFault(where, ast.unparse(node)[:60], "a literal value") from None
    return _as_json(value, where)


def _as_json(value: Any, where: str) -> Any:
    if isinstance(value, dict):
        return {str(name): _as_json(held, where) for name, held in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list | tuple):
        return [_as_json(held, where) for held in value]  # pyright: ignore[reportUnknownVariableType]
    if value is None or isinstance(value, str | int | float):
        return value
    raise ReadFault(where, type(value).__name__, "a JSON value")
