"""Joins entries with those of a second collection that have the same key: one entry for each pair, in order.

Law: the first's fields stay as they are. A field of the second that any of the first has too is called by the prefix
and its name; the second's key is left out, for it is equal. A key that is null, or absent, equals nothing. Values are
equal as JSON: 1 and 1.0 are one number, `true` is none. A number equals the text that spells it: the same column may hold
numbers in one table, and in another a word among them.
"""

from __future__ import annotations

from typing import Any

from metnos.sdk import Context, Result

MOST = 200_000
"""Pairs of one join: many to many grows with the square."""


class Lacking(Exception):
    """An entry has no such field."""

    def __init__(self, argument: str, at: int, field: str) -> None:
        super().__init__(f"entry {at + 1} of {argument} has no field {field}")
        self.where = f"/{argument}/{at}/{field.replace('~', '~0').replace('/', '~1')}"


def run(args: dict[str, Any], _ctx: Context) -> Result:
    """Join."""
    first: list[dict[str, Any]] = args["entries"]
    second: list[dict[str, Any]] = args["other"]
    on, other_on = _listed(args["on"]), _listed(args.get("other_on", args["on"]))
    if len(on) != len(other_on):
        message = f"{len(on)} fields cannot equal {len(other_on)}"
        return Result.failed("arguments", "bad-value", message, where="/other_on")
    missing = args.get("missing", "error")
    try:
        keys = _keys("entries", first, on, missing)
        other_keys = _keys("other", second, other_on, missing)
    except Lacking as fault:
        hint = 'set missing to "drop" or "null"'
        return Result.failed("data", "value-missing", str(fault), where=fault.where, hint=hint)
    except TypeError:
        return Result.failed("data", "value-type", "a list or an object is no key", where="/on")
    by_key: dict[Any, list[dict[str, Any]]] = {}
    taken = {name for entry in first for name in entry}
    names = {name: None for entry in second for name in entry if name not in other_on}
    renamed = {name: args.get("prefix", "other_") + name if name in taken else name for name in names}
    if len(taken.union(renamed.values())) < len(taken) + len(renamed):
        twice = next(new for new in renamed.values() if new in taken or list(renamed.values()).count(new) > 1)
        message, hint = f"two fields would be called {twice}", "set another prefix"
        return Result.failed("arguments", "field-taken", message, where="/prefix", hint=hint)
    for entry, key in zip(second, other_keys, strict=True):
        if key is not None:
            given = {new: entry[name] for name, new in renamed.items() if name in entry}
            by_key.setdefault(key, []).append(given)
    nothing: list[dict[str, Any]] = [dict.fromkeys(renamed.values())] if args.get("how", "inner") == "left" else []
    made: list[dict[str, Any]] = []
    alone = 0
    for at, (entry, key) in enumerate(zip(first, keys, strict=True)):
        if missing == "drop" and any(field not in entry for field in on):
            continue
        found = by_key.get(key, nothing) if key is not None else nothing
        alone += found is nothing
        made += [entry | given for given in found]
        if len(made) > MOST:
            message = f"more than {MOST} pairs after {at + 1} entries"
            return Result.failed(
                "oversize", "too-many", message, where="/on", hint="join on more fields, or dedupe first"
            )
    return Result.done({"entries": made, "count": len(made)}, counters={"unmatched": alone})


def _listed(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names


def _keys(argument: str, entries: list[dict[str, Any]], fields: list[str], missing: str) -> list[Any]:
    """The key of each entry; None for one that equals nothing.

    Raises:
        Lacking: An entry has no such field, and that is an error.
        TypeError: A key is no scalar.
    """
    keys: list[Any] = []
    for at, entry in enumerate(entries):
        lacking = next((field for field in fields if field not in entry), None)
        if lacking is not None and missing == "error":
            raise Lacking(argument, at, lacking)
        values = [entry.get(field) for field in fields]
        if any(isinstance(value, list | dict) for value in values):
            raise TypeError
        # A truth value is told apart from the numbers 0 and 1, which it equals in Python.
        key = tuple((isinstance(value, bool), _spelled(value)) for value in values)
        keys.append(None if any(value is None for value in values) else key)
    return keys


def _spelled(value: Any) -> Any:
    """A number as text, without decimals that say nothing; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return str(int(value)) if isinstance(value, int) or value.is_integer() else repr(value)
