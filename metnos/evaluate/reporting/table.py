"""A report as lines of text for a terminal. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metnos.evaluate.reporting.page import tiles_of
from metnos.evaluate.reporting.plots import bars, duration, number
from metnos.text import message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.evaluate.reporting.model import Report

WIDE = 24
"""Characters of a bar."""
NAME = 44


def lines_of(report: Report, language: str | None = None) -> Iterator[str]:
    """The lines, headings included."""
    for tile in tiles_of(report, language):
        yield f"{tile['label']:{NAME}} {tile['value'].replace(chr(0x202F), ' ')}  {tile['note']}".rstrip()
    for one in report.distributions:
        told = duration if one.name == "latency_us" else number
        key = "latency" if one.name == "latency_us" else "tokens"
        if sum(one.now):
            yield f"{message(f'report.{key}', language):{NAME}} p50 {told(one.p50)}, p95 {told(one.p95)}".replace("\u202f", " ")
    stages = {message(f"report.stage.{name}", language): count for name, count in report.funnel}
    then = report.recorded_outcomes if report.compared else None
    for title, rows in (
        ("outcomes", bars(report.outcomes, report.turns, then=then)),
        ("funnel", bars(stages, report.turns)),
        ("causes", bars(report.causes, report.turns)),
        ("missed", bars(report.missed, report.turns)),
        ("tools", bars(report.tools, sum(report.tools.values()))),
    ):
        if rows:
            yield from ("", message(f"report.{title}", language))
            yield from (_row(row, with_then=title == "outcomes" and report.compared) for row in rows)
    for code, count in report.unread.items():
        yield message("drift.unread", language, count=count, code=code)


def _row(row: dict[str, Any], *, with_then: bool) -> str:
    bar = "█" * round(WIDE * float(row["width"]) / 100)
    then = f"  ({row['then']})" if with_then else ""
    return f"  {row['label']:{NAME - 2}} {row['count']:>8} {row['share']:>6} %  {bar}{then}".rstrip()
