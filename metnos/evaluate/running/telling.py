"""A result in lines for a person: a plain table, in the language that is spoken.

Law: says what was counted and of how many; a rate never stands without its interval or its number of turns. Every
sentence is in the text tables; names of tools, guards and codes are as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.evaluate.unread import unread_lines
from metnos.text import message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.evaluate.measures.passk import PassK
    from metnos.evaluate.measures.result import Difference, EvalResult, Matched, Regression
    from metnos.evaluate.measures.sums import Sums

MOST: Final = 10
"""Rows of a list."""
WIDTH: Final = 26
MILLION: Final = 1_000_000


def lines_of(result: EvalResult, language: str | None) -> Iterator[str]:
    """The whole table, then the comparison if there is one."""
    say = _Say(language)
    yield from _head(result, say)
    yield from _outcomes(result, say)
    yield from _plans(result, say)
    yield from _costs(result, say)
    if result.baseline:
        yield from _comparison(result, say)


class _Say:
    def __init__(self, language: str | None) -> None:
        self.language = language

    def message(self, key: str, **values: object) -> str:
        return message(key, self.language, **values)

    def row(self, label: str, *told: str) -> str:
        """A label and what is beside it."""
        return f"{label:<{WIDTH}}  {'  '.join(filter(None, told))}".rstrip()


def _head(result: EvalResult, say: _Say) -> Iterator[str]:
    meta, now = result.meta, result.now
    yield say.message("eval.turns", name=meta.name, turns=now.turns, seconds=f"{meta.seconds:.1f}")
    for part, what in meta.parts.items():
        yield "  " + say.message("eval.swapped", part=part, what=what)
    if meta.stopped:
        yield say.message("eval.stopped", why=meta.stopped)
    if not now.turns:
        yield "  " + say.message("eval.none")
    if result.matched.faults:
        yield "  " + say.message("eval.faults", count=result.matched.faults)
    for code, count in meta.faults.items():
        yield "  " + say.message("eval.unread", code=code, count=count)
    yield from unread_lines(sum(meta.faults.values()), meta.unread, say.language, heading="")


def _outcomes(result: EvalResult, say: _Say) -> Iterator[str]:
    now, before, found = result.now, result.recorded, result.success
    share = _share(now.total("succeeded"), now.judged)
    yield say.row(
        say.message("eval.succeeded"),
        f"{now.total('succeeded')}/{now.judged}  {share}",
        f"({found.low:.1%} – {found.high:.1%})",
    )
    if before.total("succeeded") != now.total("succeeded") or before.judged != now.judged:
        yield say.row(say.message("eval.recorded"), f"{before.total('succeeded')}/{before.judged}")
    if now.unknown:
        yield say.row(say.message("eval.unknown"), str(now.unknown))
    for told in result.pass_k:
        if told.groups and (told.k == 1 or now.groups):
            yield f"{f'pass^{told.k}':<{WIDTH}}  {_pass_k(told, say)}"
    yield from _list(say.message("eval.outcomes"), now.counted("outcome"), say)
    yield from _list(say.message("eval.causes"), now.counted("cause"), say)
    yield from _list(say.message("eval.failures"), now.counted("error_codes"), say)


def _pass_k(told: PassK, say: _Say) -> str:
    return f"{told.value:.3f}  {say.message('eval.groups', groups=told.groups)}"


def _plans(result: EvalResult, say: _Say) -> Iterator[str]:
    matched, now = result.matched, result.now
    yield say.row(
        say.message("eval.valid"), f"{now.total('valid')}/{now.turns}  {_share(now.total('valid'), now.turns)}"
    )
    if matched.compared:
        same = "  ".join(
            f"{say.message(f'match.{name}')} {_share(getattr(matched, name), matched.compared)}"
            for name in ("exact", "tools", "arguments")
        )
        yield say.row(say.message("eval.match"), same, say.message("eval.of", count=matched.compared))
    if matched.compared:
        yield say.row(say.message("eval.edges"), _edges(matched, say))
    answers = (matched.answers_same, matched.answers_other, matched.unobserved)
    if any(answers):
        yield say.row(
            say.message("eval.answers"),
            say.message("eval.answered", same=answers[0], other=answers[1], unobserved=answers[2]),
        )
    if matched.hits:
        yield say.row(
            say.message("eval.hits"),
            str(matched.hits),
            say.message("eval.false_hits", count=matched.false_hits, judged=matched.hits_judged),
        )
    yield from _list(say.message("eval.guards"), now.counted("guards"), say)
    yield from _list(say.message("eval.verdicts"), now.counted("verdicts"), say)
    yield from _list(
        say.message("eval.diverged"), dict(sorted(matched.diverged.items(), key=lambda one: (-one[1], one[0]))), say
    )


def _edges(matched: Matched, say: _Say) -> str:
    """Precision, recall, F1; a share of nothing is none."""
    now, recorded = matched.edges_now, matched.edges_recorded
    if not now and not recorded:
        return say.message("eval.no_edges")
    precision = f"{matched.edge_precision:.3f}" if now else "–"
    recall = f"{matched.edge_recall:.3f}" if recorded else "–"
    return f"P {precision}  R {recall}  F1 {matched.edge_f1:.3f}"


def _costs(result: EvalResult, say: _Say) -> Iterator[str]:
    now = result.now
    yield say.row(
        say.message("eval.calls"),
        say.message(
            "eval.steps", steps=now.total("steps"), repeated=now.total("repeated_calls"), failed=now.total("failed")
        ),
    )
    if now.total("approvals_asked"):
        yield say.row(say.message("eval.approvals"), str(now.total("approvals_asked")))
    if now.total("model_calls"):
        tokens = say.message(
            "eval.tokens", calls=now.total("model_calls"), into=now.total("tokens_in"), out=now.total("tokens_out")
        )
        cost = f"{now.total('cost') / MILLION:.6f} {result.meta.prices}"
        unpriced = say.message("eval.unpriced", count=now.total("unpriced")) if now.total("unpriced") else ""
        yield say.row(say.message("eval.models"), tokens)
        yield say.row(say.message("eval.cost"), cost, unpriced)
    yield say.row(say.message("eval.latency"), _latency(now))


def _latency(now: Sums) -> str:
    spread = now.spreads.get("latency_us")
    if spread is None:
        return "–"
    return "  ".join(f"p{percent} {spread.quantile(percent, 100) / MILLION:.3f} s" for percent in (50, 95, 99))


def _comparison(result: EvalResult, say: _Say) -> Iterator[str]:
    yield ""
    yield say.message(
        "eval.baseline", run=result.baseline[:19], pairs=max((one.pairs for one in result.differences), default=0)
    )
    for one in result.differences:
        if one.judgement != "same" or one.before != one.after:
            yield _difference(one, say)
    if not result.regressions:
        yield say.message("eval.passed")
    for regression in result.regressions:
        yield from regression_lines(regression, say)


def _difference(one: Difference, say: _Say) -> str:
    change = f"{one.before:.4g} → {one.after:.4g}"
    return f"  {one.measure:<16}{change:<24}[{one.low:+.4g}, {one.high:+.4g}]  {say.message(f'judged.{one.judgement}')}"


def regression_lines(one: Regression, say: _Say) -> Iterator[str]:
    """A regression, then its turns with what was asked in them."""
    mark = say.message("eval.ignored") if one.ignored else say.message("eval.regression")
    place = "".join((f" · {one.step}" if one.step else "", f" · {one.field}" if one.field else ""))
    told = say.message(f"worse.{one.kind}", what=one.what, count=one.count)
    yield f"{mark}: {told}{place}{f' ({one.detail})' if one.detail else ''}"
    for turn in one.turns[:MOST]:
        yield f"    {turn}"
    for request in one.requests[:MOST]:
        yield f"    “{request}”"


def _list(label: str, counts: dict[str, int], say: _Say) -> Iterator[str]:
    held = list(counts.items())
    if held:
        told = "  ".join(f"{name} {count}" for name, count in held[:MOST])
        yield say.row(label, told, f"(+{len(held) - MOST})" if len(held) > MOST else "")


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def speaker(language: str | None) -> _Say:
    """For who tells one regression by itself."""
    return _Say(language)
