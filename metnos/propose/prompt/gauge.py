"""What separates a request that can be done from one that cannot: thresholds on margins, set for one model and prompt.

Law: pure. A case is what the model said (`margin`: log probability of yes less that of no; `other`: of "none of these" less
that of the likeliest thing to do, `propose.acts`; in nats), what routing said
(`weak`: it found little), and whether it can be done. What the reading of the request leaves no doubt about it decides:
where "none of these" is likelier by `Gauge.other`, which no request was that can be done, and where it is `BAND` less likely
than that. Between the two yes or no decides. A logistic regression over both gives the
least margin and what a weak signal takes off; then the threshold goes down until at most `MOST_FALSE` of what can be
done is refused. What is reported is measured on cases that were left out.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from metnos.propose.doubt import DOUBT

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_FALSE: Final = 0.03
"""Of what can be done: so much may be refused where the gauge is set. Left out cases come out somewhat worse."""
FOLDS: Final = 9
ABOVE: Final = 1.0
"""Nats above the most that a request had that can be done."""
BAND: Final = 2.0
"""Nats below the threshold of the reading in which it is left to yes or no."""
_ROUNDS: Final = 60
_RIDGE: Final = 0.02
_MOST_SHIFT: Final = 6.0


class Case(NamedTuple):
    margin: float
    weak: bool
    possible: bool
    other: float | None = None
    """None: the request was not read."""


class Gauge(msgspec.Struct, frozen=True, kw_only=True):
    """Where one model, told one prompt, says yes."""

    least: float = 0.0
    """Nats by which yes has to be more likely than no; below 0: by which it may be less likely."""
    weak: float = 1.0
    """Nats that are taken off where routing's signal is weak: it finds no tool for a part, or none that fits well."""
    doubt: float = DOUBT
    """Nats of surprise from which a plan of this model is shown before it runs (`metnos.propose.doubt`)."""

    other: float | None = None
    """Nats by which "none of these" has to be likelier than anything to be done, for a request to be refused for that
    alone; None: of this model no reading counts."""

    def read(self, other: float | None) -> float | None:
        """Nats by which a request passes for what was read in it; below 0: it does not; None: that decides nothing."""
        if self.other is None or other is None:
            return None
        over = other - self.other
        if over >= 0:
            return -math.inf
        return -over if over < -BAND else None

    def lead(self, margin: float, *, weak: bool) -> float:
        """Nats by which a request passes; below 0: it does not."""
        return margin - (self.weak if weak else 0.0) - self.least

    def admits(self, case: Case) -> bool:
        """Whether a request passes."""
        read = self.read(case.other)
        return (self.lead(case.margin, weak=case.weak) if read is None else read) >= 0


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """On cases that the gauge was not set on."""

    refused: float
    """Of what cannot be done."""
    false: float
    """Of what can be done."""


DEFAULT: Final = Gauge()
"""Of a model that nobody has calibrated: as it says itself."""


def set_on(cases: Sequence[Case]) -> Gauge:
    """The gauge of these cases.

    Raises:
        ValueError: They are not of both kinds.
    """
    if len({case.possible for case in cases}) < 2:
        raise ValueError("a gauge needs requests that can be done, and requests that cannot")
    spread = max(1e-6, *(abs(case.margin) for case in cases))
    slope, shift, _ = _fitted([(case.margin / spread, float(case.weak), case.possible) for case in cases])
    taken = min(_MOST_SHIFT, max(0.0, -shift / max(slope, 1e-6) * spread))
    slope, _, base = _fitted([((case.margin - taken * case.weak) / spread, 0.0, case.possible) for case in cases])
    least = -base / max(slope, 1e-6) * spread
    values = sorted(case.margin - taken * case.weak for case in cases if case.possible)
    others = [case.other for case in cases if case.possible and case.other is not None]
    return Gauge(
        least=round(min(least, values[int(len(values) * MOST_FALSE)]), 3),
        weak=round(taken, 3),
        other=round(max(others) + ABOVE, 3) if others else None,
    )


def best_of(cases: Sequence[Case]) -> tuple[Gauge, Rates]:
    """The gauge of these cases with the reading of requests or without it, whichever tells more of them apart; its rates.

    Raises:
        ValueError: Too few of one kind.
    """
    unread = [case._replace(other=None) for case in cases]
    read, plain = left_out(cases), left_out(unread)
    better = read.refused - read.false >= plain.refused - plain.false
    return (set_on(cases), read) if better else (set_on(unread), plain)


def rates(gauge: Gauge, cases: Sequence[Case]) -> Rates:
    """How many of each kind it refuses."""
    refused = [not gauge.admits(case) for case in cases]
    bad = [one for one, case in zip(refused, cases, strict=True) if not case.possible]
    good = [one for one, case in zip(refused, cases, strict=True) if case.possible]
    return Rates(refused=sum(bad) / max(1, len(bad)), false=sum(good) / max(1, len(good)))


def left_out(cases: Sequence[Case], folds: int = FOLDS) -> Rates:
    """The same by cross-validation: each case is judged by a gauge that was set without it.

    Raises:
        ValueError: Too few of one kind.
    """
    ordered = sorted(range(len(cases)), key=lambda at: (cases[at].possible, at))
    total = Rates(refused=0.0, false=0.0)
    kinds = {kind: sum(case.possible is kind for case in cases) for kind in (True, False)}
    for fold in range(folds):
        out = [cases[at] for number, at in enumerate(ordered) if number % folds == fold]
        rest = [cases[at] for number, at in enumerate(ordered) if number % folds != fold]
        gauge, shares = set_on(rest), {kind: sum(case.possible is kind for case in out) for kind in (True, False)}
        found = rates(gauge, out)
        total = Rates(
            refused=total.refused + found.refused * shares[False] / kinds[False],
            false=total.false + found.false * shares[True] / kinds[True],
        )
    return Rates(refused=round(total.refused, 4), false=round(total.false, 4))


def _fitted(points: Sequence[tuple[float, float, bool]]) -> tuple[float, float, float]:
    """Weights of margin and weak signal, and the base: Newton's method on the ridged log likelihood."""
    weights = [0.0, 0.0, 0.0]
    for _ in range(_ROUNDS):
        gradient = [_RIDGE * weights[0], _RIDGE * weights[1], 0.0]
        curve = [[_RIDGE, 0.0, 0.0], [0.0, _RIDGE, 0.0], [0.0, 0.0, 1e-9]]
        for margin, missing, possible in points:
            row = (margin, missing, 1.0)
            chance = 1 / (1 + math.exp(-max(-30.0, min(30.0, sum(w * x for w, x in zip(weights, row, strict=True))))))
            for i in range(3):
                gradient[i] += (chance - possible) * row[i]
                for j in range(3):
                    curve[i][j] += chance * (1 - chance) * row[i] * row[j]
        step = _solved(curve, gradient)
        weights = [weight - one for weight, one in zip(weights, step, strict=True)]
        if max(map(abs, step)) < 1e-9:
            break
    return weights[0], weights[1], weights[2]


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """By elimination; the matrix is positive definite."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(3):
        pivot = rows[i][i] or 1e-12
        rows[i] = [value / pivot for value in rows[i]]
        for j in range(3):
            if j != i:
                factor = rows[j][i]
                rows[j] = [left - factor * above for left, above in zip(rows[j], rows[i], strict=True)]
    return [row[3] for row in rows]
