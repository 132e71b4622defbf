"""Agreement: two (request, plan) pairs of one form that are one plan with other values (anti-unification).

Law: everything that is not a slot must be equal in both, and every slot must be what some reading of it gives in both.
A reading that fails for one of the two is dropped, a shape that was seen is added: so an agreement never says more
than both pairs show. A slot with one value in both was not seen to vary, and stays in the key where the plan holds
literals that the contracts do not explain.

    agree((first, plan), (second, other), catalog)      # two proposals
    agree(entry.general, (request, plan), catalog)      # what is learned already, and one more
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import Any, cast

import msgspec

from metnos.cache.generalise.binding import render, said_of, same_data
from metnos.cache.generalise.general import bind_general, generalise
from metnos.cache.generalise.shape import shape_of
from metnos.cache.generalise.uses import Disagree, General, NotGeneral, Reading
from metnos.cache.templates.template import Bound, Refusal
from metnos.contracts.catalog import Catalog
from metnos.plan.jsondata import canonical, is_list, is_object, pointer
from metnos.request.model import Request

Pair = tuple[Request, dict[str, Any]]
"""A request and the plan that served it."""
MOST_WAYS = 256
"""Combinations of readings of one string that are tried."""
_USE = re.compile(r"\$\{SLOT:s([0-9]+)\}")


def agree(first: General | Pair, second: Pair, catalog: Catalog) -> General | Disagree:
    """One general plan for both, or why there is none.

    Args:
        first: A general plan that was learned, or a pair.
        second: A pair of the same form (which grade of it, the caller knows).
        catalog: The contracts of both plans.
    """
    if isinstance(first, General):
        return _refined(first, second)
    request, other = first[0], second[0]
    if request.language != other.language or request.loose_form != other.loose_form:
        return Disagree("form", f"{request.loose_form} ≠ {other.loose_form}")
    if [slot.kind for slot in request.slots] != [slot.kind for slot in other.slots]:
        return Disagree("kinds")
    varied = [not same_data(a.value, b.value) for a, b in zip(request.slots, other.slots, strict=True)]
    if not any(varied):
        return Disagree("same-values")
    result: General | Disagree = Disagree("plan")
    for one, two in ((first, second), (second, first)):
        general = _general(one, catalog, [index for index, differs in enumerate(varied) if not differs])
        result = general if isinstance(general, Disagree) else _refined(general, two)
        if isinstance(result, General):
            return result
    return result


def _general(pair: Pair, catalog: Catalog, constant: list[int]) -> General | Disagree:
    """The general plan of one pair; slots that did not vary stay closed if anything in it is unexplained."""
    general = generalise(pair[0], pair[1], catalog)
    if isinstance(general, General) and general.free_literals and any(use.index in constant for use in general.uses):
        general = generalise(pair[0], pair[1], catalog, closed=constant)
    return Disagree("not-general", general.reason) if isinstance(general, NotGeneral) else general


def _refined(general: General, pair: Pair) -> General | Disagree:
    request, plan = pair
    slots = request.slots
    if request.language != general.language or tuple(slot.kind for slot in slots) != general.kinds:
        return Disagree("kinds")
    for index, value in general.fixed.items():
        if not same_data(slots[index].value, value):
            return Disagree("fixed", f"{slots[index].text} ≠ {value}")
    seen = {index: shape_of(slots[index], general.apart, effects=not general.read_only) for index in general.shapes}
    readings = _surviving(general, pair)
    if isinstance(readings, Disagree):
        new = [index for index, shape in seen.items() if shape not in general.shapes[index]]
        # Another plan for another shape of values is no contradiction: "list.md" is written in another format.
        return Disagree("shape", f"{slots[new[0]].text}: {seen[new[0]]}") if new else readings
    shapes = {index: tuple(dict.fromkeys((*known, seen[index]))) for index, known in general.shapes.items()}
    refined = msgspec.structs.replace(
        general,
        uses=tuple(
            msgspec.structs.replace(use, readings=kept) for use, kept in zip(general.uses, readings, strict=True)
        ),
        shapes=shapes,
        # The plan is the same although the words of the slot differ: they are not in it.
        fixed_texts={index: said for index, said in general.fixed_texts.items() if said == said_of(slots[index])},
    )
    found = bind_general(refined, slots)
    if isinstance(found, Bound) and canonical(found.plan) == canonical(plan):
        return refined
    return Disagree("plan", found.detail if isinstance(found, Refusal) else "")


def _surviving(general: General, pair: Pair) -> list[tuple[Reading, ...]] | Disagree:
    """Of each use the readings that make the second plan, too."""
    request, plan = pair
    ways = [_ways(general, number, request) for number in range(len(general.uses))]
    kept = [use.readings for use in general.uses]
    for place, opened, seen in _beside(general.plan, plan, ""):
        numbers = sorted({int(number) for number in _USE.findall(opened)}) if isinstance(opened, str) else []
        if not numbers:
            if not same_data(opened, seen):
                return Disagree("plan", place)
            continue
        fitting = _fitting(cast("str", opened), seen, numbers, ways)
        for at, number in enumerate(numbers):
            values = [combination[at] for combination in fitting]
            kept[number] = tuple(
                reading
                for reading in kept[number]
                if any(same_data(value, ways[number].get(reading)) for value in values)
            )
            if not kept[number]:
                return Disagree("plan", place)
    return kept


def _ways(general: General, number: int, request: Request) -> dict[Reading, Any]:
    """Reading → what it gives for this request; those that give something."""
    use = general.uses[number]
    found: dict[Reading, Any] = {}
    for reading in use.readings:
        value = render(msgspec.structs.replace(use, readings=(reading,)), request.slots[use.index], general.language)
        if not isinstance(value, Refusal):
            found[reading] = value
    return found


def _fitting(opened: str, seen: Any, numbers: list[int], ways: list[dict[Reading, Any]]) -> list[tuple[Any, ...]]:
    """Values of the uses with which `opened` is `seen`."""
    found: list[tuple[Any, ...]] = []
    choices = [_distinct(ways[number].values()) for number in numbers]
    for tried, combination in enumerate(product(*choices)):
        if tried >= MOST_WAYS:
            return []
        values = dict(zip(numbers, combination, strict=True))
        whole = _USE.fullmatch(opened)
        text = (
            values[int(whole[1])] if whole else _USE.sub(lambda used, values=values: str(values[int(used[1])]), opened)
        )
        if same_data(text, seen):
            found.append(combination)
    return found


def _distinct(values: Any) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if not any(same_data(value, other) for other in found):
            found.append(value)
    return found


def _beside(opened: Any, seen: Any, where: str) -> Iterator[tuple[str, Any, Any]]:
    """(pointer, ours, theirs) of every leaf, and of every place where the two are no longer alike."""
    if is_object(opened) and is_object(seen) and opened.keys() == seen.keys():
        for key, value in opened.items():
            yield from _beside(value, seen[key], pointer(where, key))
    elif is_list(opened) and is_list(seen) and len(opened) == len(seen):
        for index, value in enumerate(opened):
            yield from _beside(value, seen[index], pointer(where, index))
    else:
        yield where, opened, seen
