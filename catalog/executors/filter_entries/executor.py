"""Keeps the entries whose field satisfies a condition; their order stays.

Law: numbers compare with numbers, text with text, times (ISO 8601 with offset) as instants; anything else is an
error that names the entry. Whether a column holds numbers or text nobody has to know: a value that spells a number is
that number to one that is found, and a number that is looked for in text is its spelling. Patterns run on RE2, which
cannot be made slow. `ignore_case` is about text alone.

A field that is left open is any field: an entry stays if one of its values satisfies the condition (for `ne`, if none
equals), and a value of another type does not. Only of an order is it the one field that holds numbers (`leftopen.py`).
"""

from __future__ import annotations

import operator
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast
from unicodedata import normalize

from metnos.sdk import Context, Result

from .leftopen import is_open, number_column

if TYPE_CHECKING:
    from collections.abc import Callable

    Test = Callable[[Any], bool]

ORDER = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}
TEXT = {"starts_with": str.startswith, "ends_with": str.endswith}
PLAIN = re.compile(r"-?(0|[1-9][0-9]*)([.][0-9]+)?")


class Mismatch(Exception):
    """The field cannot be compared with the value."""


def run(args: dict[str, Any], _ctx: Context) -> Result:
    """Filter."""
    field, missing = args["field"], args.get("missing", "error")
    try:
        test = _test(args["op"], args["value"], ignore_case=args.get("ignore_case", False))
    except Mismatch as fault:
        return Result.failed("arguments", "bad-value", str(fault), where="/value")
    if is_open(field, args["entries"]):
        if args["op"] not in ORDER:
            whole = _any(args["op"], args["value"], ignore_case=args.get("ignore_case", True))
            found = [entry for entry in args["entries"] if whole(entry)]
            return Result.done({"entries": found, "count": len(found)})
        field = number_column(args["entries"], "field")
        if isinstance(field, Result):
            return field
    kept: list[dict[str, Any]] = []
    for at, entry in enumerate(args["entries"]):
        if field not in entry:
            if missing == "error":
                return _lacking(at, field)
            if missing == "drop":
                continue
        try:
            if test(entry.get(field)):
                kept.append(entry)
        except Mismatch as fault:
            return Result.failed("data", "value-type", str(fault), where=f"/entries/{at}/{_escaped(field)}")
    return Result.done({"entries": kept, "count": len(kept)})


def _any(op: str, value: Any, *, ignore_case: bool) -> Test:
    """The test of whole entries, of which no field was named; who names none does not know its case either."""
    test = _test("eq" if op == "ne" else op, value, ignore_case=ignore_case)

    def holds(found: Any) -> bool:
        try:
            return test(found)
        except Mismatch:
            return False

    return lambda entry: any(map(holds, entry.values())) == (op != "ne")


def _lacking(at: int, field: str) -> Result:
    hint = 'set missing to "drop" or "null"'
    message = f"entry {at + 1} has no field {field}"
    return Result.failed("data", "value-missing", message, where=f"/entries/{at}/{_escaped(field)}", hint=hint)


def _escaped(field: str) -> str:
    return field.replace("~", "~0").replace("/", "~1")


def _test(op: str, value: Any, *, ignore_case: bool) -> Test:
    """The test of one field; without case, both sides are folded first (a pattern folds by itself)."""
    if not ignore_case:
        return _plain_test(op, value)
    if op == "matches" and isinstance(value, str):
        return _matching(value, ignore_case=True)
    test = _plain_test(op, _folded(value))
    return lambda found: test(_folded(found))


def _folded(value: Any) -> Any:
    """Text without the difference of case and of composed accents; of a list, each element; a time as it is."""
    if isinstance(value, list):
        return [_folded(item) for item in cast("list[Any]", value)]
    if not isinstance(value, str) or _instant(value) is not None:
        return value
    return value.lower() if value.isascii() else normalize("NFC", normalize("NFC", value).casefold())


def _plain_test(op: str, value: Any) -> Test:
    if op in ("eq", "ne"):
        return lambda found: _equal(found, value) == (op == "eq")
    if op in ORDER:
        return _ordered(ORDER[op], value)
    if op == "in":
        if not isinstance(value, list):
            raise Mismatch("`in` needs a list of values")
        choices = cast("list[Any]", value)
        return lambda found: any(_equal(found, choice) for choice in choices)
    if op == "contains":
        return lambda found: _contains(found, value)
    if _kind(value) == "number":
        value = _spelled(value)
    if not isinstance(value, str):
        raise Mismatch(f"`{op}` needs text, not {_kind(value)}")
    if op == "matches":
        return _matching(value)
    return lambda found: TEXT[op](_text(found), value) if found is not None else False


def _ordered(compare: Callable[[Any, Any], bool], value: Any) -> Test:
    if _kind(value) not in ("number", "text"):
        raise Mismatch(f"an order needs a number or text, not {_kind(value)}")
    instant = _instant(value)
    number = _number(value)

    def test(found: Any) -> bool:
        if found is None:
            return False
        if number is not None and _kind(found) == "number":
            return compare(found, number)
        if _kind(found) != _kind(value):
            raise Mismatch(f"{_kind(found)} cannot be compared with {_kind(value)}")
        if instant is not None and (when := _instant(found)) is not None:
            return compare(when, instant)
        return compare(found, value)

    return test


def _equal(found: Any, value: Any) -> bool:
    kinds = (_kind(found), _kind(value))
    if kinds == ("number", "text"):
        return found == _number(value)
    if kinds == ("text", "number"):
        return found == _spelled(value)
    if kinds[0] != kinds[1]:
        return False
    if found == value:
        return True
    instant = _instant(value)
    return instant is not None and instant == _instant(found)


def _contains(found: Any, value: Any) -> bool:
    if found is None:
        return False
    if isinstance(found, list):
        return any(_equal(item, value) for item in cast("list[Any]", found))
    if _kind(value) == "number":
        value = _spelled(value)
    if not isinstance(value, str):
        raise Mismatch(f"text cannot contain {_kind(value)}")
    return value in _text(found)


def _matching(pattern: str, *, ignore_case: bool = False) -> Test:
    import re2 as untyped  # only where a pattern is used

    re2: Any = untyped
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as fault:
        raise Mismatch(f"the pattern cannot be read: {fault}") from fault
    return lambda found: found is not None and compiled.search(_text(found)) is not None


def _text(found: Any) -> str:
    if _kind(found) == "number":
        return _spelled(found)
    if not isinstance(found, str):
        raise Mismatch(f"the field holds {_kind(found)}, not text")
    return found


def _number(value: Any) -> int | float | None:
    """The number that a text plainly spells."""
    if not isinstance(value, str) or PLAIN.fullmatch(value.strip()) is None:
        return None
    return float(value) if "." in value else int(value)


def _spelled(number: float) -> str:
    """A number as text, without decimals that say nothing."""
    return str(int(number)) if isinstance(number, int) or number.is_integer() else repr(number)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, int | float):
        return "number"
    return {str: "text", list: "a list", dict: "an object", type(None): "null"}[type(value)]


def _instant(value: Any) -> datetime | None:
    """The instant that a full ISO time with offset means; None for other text."""
    if not isinstance(value, str) or len(value) < 17 or value[4:5] != "-" or value[10:11] not in ("T", " "):
        return None
    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        return None
    return when if when.tzinfo is not None else None
