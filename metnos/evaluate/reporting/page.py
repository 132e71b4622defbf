"""A report as one page of HTML that needs nothing else: no request goes out, by its own policy.

Law: style and script are the files beside this one, named by their hashes in the policy, so nothing else on the page can
be either, whatever the recorded text is. Text is escaped by jinja2 (autoescape, undefined names are errors); what is drilled
down to travels as JSON in a data block in which `<`, `>` and `&` are spelled as escapes, and is shown by `textContent`.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import msgspec

from metnos.evaluate.reporting.plots import bars, cells, columns, duration, number, share
from metnos.text import message

if TYPE_CHECKING:
    from jinja2 import Template

    from metnos.evaluate.reporting.model import Report

WORDS: Final[tuple[str, ...]] = (
    "name", "count", "recorded", "now", "nothing", "as_table", "range", "skip", "unread", "broken", "regressions", "kind", "what",
    "detail", "differences", "measure", "before", "after", "interval", "judgement", "outcomes", "funnel", "latency",
    "tokens", "causes", "missed", "tools", "failed", "matrix", "matrix_hint", "matrix_other", "turns", "noscript", "filter",
    "outcome", "all", "order", "request", "source", "more", "close", "theme_auto", "theme_light", "theme_dark", "open",
    "order_given", "order_latency", "order_tokens", "order_request", "diverged", "shown", "cause", "was", "differs",
    "labels", "answer", "diff", "plan", "plan_now", "plan_then", "plan_graph", "steps", "step", "tool", "turn", "state", "why",
    "only_now", "only_then", "graph",
)  # fmt: skip
"""Keys below `report.` that the page uses."""
TILES: Final = ("steps", "model_calls", "tokens_in", "tokens_out", "cost", "approvals_asked")
"""Sums that stand first, where they are not 0."""
_ESCAPES: Final = {ord(one): f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029"}


def words_of(language: str) -> dict[str, str]:
    """The words of a page; what is in braces is filled in by its script."""
    return {name: message(f"report.{name}", language) for name in WORDS}


def as_data(value: Any) -> str:
    """JSON that cannot end the element it stands in."""
    return msgspec.json.encode(value).decode().translate(_ESCAPES)


def html_of(report: Report, language: str | None = None) -> str:
    """The page.

    Args:
        report: As it was gathered.
        language: Of its words: `en` or `it`.

    Raises:
        ImportError: jinja2 is not installed (extra `evaluate`).
    """
    from markupsafe import Markup

    language = language or "en"
    words = words_of(language)
    style, script = _file("page.css"), _file("page.js")
    data = as_data({"words": words, "rows": report.rows, "plans": report.plans, "diffs": report.diffs})
    return _template().render(
        language=language,
        title=report.title or words["turns"],
        words=words,
        policy=policy_of(style, script),
        style=Markup(style),  # noqa: S704 - a file of this package
        script=Markup(script),  # noqa: S704 - a file of this package
        data=Markup(data),  # noqa: S704 - `as_data` has spelled out what could end it
        named=message("report.named", language, named=number(len(report.rows)), turns=number(report.turns)),
        facts=list(report.facts.items()),
        **_plots(report, words, language),
    )


def policy_of(style: str, script: str) -> str:
    """The Content-Security-Policy: this style, this script, nothing else and nobody else."""
    return f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _file(name: str) -> str:
    return files("metnos.evaluate.reporting").joinpath(name).read_text("utf-8")


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.from_string(_file("page.html.j2"))


# --- what the template is given -----------------------------------------------------------------------------------------


def _plots(report: Report, words: dict[str, str], language: str) -> dict[str, Any]:
    latency, tokens = report.distributions
    spreads = {
        "latency": columns(latency, words["latency"], _summary(duration(latency.p50), duration(latency.p95)), duration),
        "tokens": columns(tokens, words["tokens"], _summary(number(tokens.p50), number(tokens.p95)), number),
    }
    calls = sum(report.tools.values())
    rest = words["matrix_other"]
    return {
        "compared": report.compared,
        "tiles": tiles_of(report, language),
        "unread": list(report.unread.items()),
        "broken": list(report.broken.items()),
        "regressions": [_regression(one) for one in report.regressions],
        "differences": [_difference(one) for one in report.differences],
        "outcomes": bars(
            report.outcomes,
            report.turns,
            then=report.recorded_outcomes if report.compared else None,
            tone="outcome",
            rest=rest,
        ),
        "funnel": bars(
            {message(f"report.stage.{name}", language): count for name, count in report.funnel}, report.turns
        ),
        "causes": bars(report.causes, report.turns, tone="bad", rest=rest),
        "missed": bars(report.missed, report.turns, tone="other", rest=rest),
        "tools": bars(report.tools, calls, tone="now", rest=rest),
        "failed": bars(report.failed_tools, sum(report.failed_tools.values()), tone="bad", rest=rest),
        "matrix": cells(report.matrix),
        **spreads,
    }


def _summary(p50: str, p95: str) -> str:
    return f"p50 {p50}, p95 {p95}"


def tiles_of(report: Report, language: str | None) -> list[dict[str, str]]:
    """The figures that stand first: label, value, and a note."""
    totals, before = report.totals, report.recorded_totals
    tiles = [_tile("turns", language, number(report.turns))]
    notes = [message("report.interval_of", language, low=f"{100 * report.low:.1f}", high=f"{100 * report.high:.1f}")]
    if report.judged < report.turns:
        notes.append(message("report.unjudged", language, count=report.turns - report.judged))
    if report.compared:
        notes.append(_before(f"{share(before.get('succeeded', 0), report.turns)} %", language))
    tiles.append(_tile("succeeded", language, f"{share(report.succeeded, report.judged)} %", "; ".join(notes)))
    for name in TILES:
        if totals.get(name) or before.get(name):
            note = _before(number(before.get(name, 0)), language) if report.compared else ""
            tiles.append(_tile(name, language, number(totals.get(name, 0)), note))
    return tiles


def _before(value: str, language: str | None) -> str:
    return message("report.recorded_of", language, value=value)


def _tile(name: str, language: str | None, value: str, note: str = "") -> dict[str, str]:
    return {"label": message(f"report.tile.{name}", language), "value": value, "note": note}


def _regression(one: dict[str, Any]) -> dict[str, Any]:
    place = " ".join(str(one[name]) for name in ("step", "field") if one.get(name))
    detail = "; ".join(filter(None, (str(one.get("detail", "")), place)))
    asked = [str(text) for text in one.get("requests", ())][:3]
    return {
        "kind": one.get("kind", ""),
        "what": one.get("what", ""),
        "count": one.get("count", 0),
        "detail": detail,
        "turns": ", ".join(map(str, one.get("turns", ())))[:200] + (f" ({'; '.join(asked)})" if asked else ""),
    }


def _difference(one: dict[str, Any]) -> dict[str, Any]:
    judgement = str(one.get("judgement", "same"))
    return {
        "measure": one.get("measure", ""),
        "before": f"{one.get('before', 0):.4g}",
        "after": f"{one.get('after', 0):.4g}",
        "interval": f"{one.get('low', 0):+.3g} … {one.get('high', 0):+.3g}",
        "judgement": judgement,
        "tone": {"better": "good", "worse": "bad"}.get(judgement, ""),
    }
