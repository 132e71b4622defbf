"""From counts to what a page draws: lengths in parts of 100, shares, words for numbers. Pure."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, Final

from metnos.evaluate.reporting.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from metnos.evaluate.reporting.model import Distribution, Matrix

MOST_ROWS: Final = 20
"""Of a plot; the rest is one row."""
TONES: Final[dict[str, str]] = {"success": "good", "partial": "half", "suspended": "half", "unobserved": "half"}
"""Outcome → how its bar looks; any other is `bad`."""
COLUMN: Final = 10
"""Width of a bin, in the units of the drawing."""
SHADES: Final = 4


def share(part: int, whole: int) -> str:
    """A share in percent, with a digit behind the point."""
    return f"{100 * part / whole:.1f}" if whole else "-"


def bars(
    counts: Mapping[str, int], whole: int, *, then: Mapping[str, int] | None = None, tone: str = "now", rest: str = "…"
) -> list[dict[str, Any]]:
    """Rows of a bar plot, at most `MOST_ROWS`.

    Args:
        counts: Name → how many, in the order of the rows.
        whole: What shares are shares of.
        then: The same of the recorded turns.
        tone: `outcome`: by the name; else that of all bars.
        rest: Name of the row for all further ones.
    """
    then = then or {}
    names = [*counts, *(name for name in then if name not in counts)]
    told = [(name, counts.get(name, 0), then.get(name, 0)) for name in names[:MOST_ROWS]]
    left = names[MOST_ROWS:]
    if left:
        told.append((rest, sum(counts.get(name, 0) for name in left), sum(then.get(name, 0) for name in left)))
    most = max([1, *(max(count, before) for _, count, before in told)])
    return [
        {
            "label": name,
            "count": count,
            "then": before,
            "width": f"{100 * count / most:.2f}",
            "then_width": f"{100 * before / most:.2f}",
            "share": share(count, whole),
            "tone": TONES.get(name, "bad") if tone == "outcome" else tone,
        }
        for name, count, before in told
    ]


def columns(one: Distribution, title: str, summary: str, told: Callable[[int], str]) -> dict[str, Any]:
    """A histogram: bins side by side, those of the recorded turns in the second half of each."""
    with_then = bool(one.recorded)
    width = COLUMN / 2 - 0.5 if with_then else COLUMN - 1
    most = max([1, *one.now, *one.recorded])
    bins: list[dict[str, Any]] = []
    for place, (low, end) in enumerate(one.bins if one.bins != ((0, 1),) else ()):  # all are 0: nothing to see
        count, then = one.now[place], one.recorded[place] if with_then else 0
        height, then_height = 98 * count / most, 98 * then / most
        bins.append({
            "x": place * COLUMN,
            "y": f"{100 - height:.2f}",
            "height": f"{height:.2f}",
            "then_x": place * COLUMN + COLUMN / 2,
            "then_y": f"{100 - then_height:.2f}",
            "then_height": f"{then_height:.2f}",
            "count": count,
            "then": then,
            "label": f"{told(low)} – {told(end)}" if end - low > 1 else told(low),
        })  # fmt: skip
    ticks = sorted({0, len(bins) // 3, 2 * len(bins) // 3, len(bins) - 1}) if bins else []
    return {
        "id": f"spread-{one.name.replace('_', '-')}",
        "title": title,
        "summary": summary,
        "bins": bins,
        "bar": width,
        "width": max(1, len(bins)) * COLUMN,
        "with_then": with_then,
        "ticks": [told(one.bins[place][0]) for place in ticks],
    }


def cells(matrix: Matrix) -> dict[str, Any]:
    """The matrix, each cell with its shade; the diagonal, where both call the same, is marked."""
    most = max([1, *(count for row in matrix.cells for count in row)])
    rows = [
        {
            "name": name,
            "cells": [
                {
                    "count": count,
                    "tone": f"{_shade(count, most)}{' same' if column == place and name != NOTHING else ''}",
                }
                for column, count in enumerate(matrix.cells[place])
            ],
        }
        for place, name in enumerate(matrix.tools)
    ]
    return {"tools": matrix.tools, "rows": rows, "other": matrix.other}


def _shade(count: int, most: int) -> str:
    return f"h{max(1, round(SHADES * sqrt(count / most)))}" if count else ""


def duration(us: int) -> str:
    """A time in the unit that fits it."""
    if us < 1_000:
        return f"{us} µs"
    return (
        f"{us / 1e3:.3g} ms"
        if us < 1_000_000
        else f"{us / 1e6:.3g} s"
        if us < 1_000_000_000
        else f"{us // 1_000_000} s"
    )


def number(count: int) -> str:
    """A number with its thousands apart."""
    return f"{count:,}".replace(",", "\u202f")
