"""A result held against a baseline: paired differences with their intervals, and the regressions.

    result = compare(result, Path("now.rows.jsonl"), read_result(Path("baseline.json")), Path("baseline.rows.jsonl"), how)

Law: pairs are turns of the same id and the same recording. Memory holds the place of each row of the baseline and sums of
bounded size; rows are read one at a time. The same rows and the same seed give the same comparison.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, Self

import msgspec

from metnos.evaluate.comparing.regressed import KINDS, Gathered, worse_in
from metnos.evaluate.measures.intervals import Paired
from metnos.evaluate.measures.measured import MEASURES
from metnos.evaluate.measures.result import FORM, NAMED, Difference, EvalResult, EvalRow, Regression
from metnos.evaluate.running.rows import read_header, read_rows, row_of, rows_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from metnos.evaluate.running.runfile import Compare

MAKE: Final = "`metnos eval RUN.toml --out FILE` writes one"


class BaselineFault(Exception):
    """A baseline that nothing can be compared with.

    Attributes:
        code: `bad-baseline`.
        where: The file.
        message: What is wrong with it.
        hint: How to get one.
    """

    code = "bad-baseline"

    def __init__(self, where: str, message: str, hint: str = MAKE) -> None:
        super().__init__(f"{where}: {message}")
        self.where, self.message, self.hint = where, message, hint


def read_result(path: Path) -> EvalResult:
    """A result from its file.

    Raises:
        BaselineFault: It cannot be read, or is none.
    """
    try:
        result = msgspec.json.decode(path.read_bytes(), type=EvalResult)
    except OSError as fault:
        raise BaselineFault(str(path), fault.strerror or str(fault)) from fault
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise BaselineFault(str(path), f"no result of an evaluation: {fault}") from fault
    if result.form != FORM:
        raise BaselineFault(str(path), f"the form is {result.form!r}, not {FORM}")
    return result


def compare(result: EvalResult, rows: Path, baseline: Path, how: Compare) -> EvalResult:
    """The result with what differs from a baseline.

    Args:
        result: Of now.
        rows: Its rows.
        baseline: File of the other result; its rows lie beside it.
        how: Seed, level, tolerances.

    Raises:
        BaselineFault: The baseline has no rows, or none of these turns.
        RowsFault: Rows cannot be read.
    """
    other = read_result(baseline)
    with _Rows(rows_path(baseline)) as before:
        pairs, gathered, new = {name: Paired() for name in MEASURES}, Gathered(NAMED), 0
        for row in read_rows(rows):
            was = before.of(row)
            if was is None:
                new += 1
                continue
            _count(pairs, was, row)
            worse = worse_in(was, row)
            if worse is not None:
                gathered.add(row.turn, row.recorded.request, worse)
        unread = _unread(other, result)
        # of a run that was stopped nobody knows whether the others are there
        missing = () if result.meta.stopped else before.missing(sum(one.count for one in unread))
    if not any(one.units for one in pairs.values()):
        hint = f"run it over the same turns; {MAKE}"
        raise BaselineFault(str(baseline), f"it has none of these {new} turns", hint)
    differences = tuple(_difference(name, paired, how) for name, paired in pairs.items() if paired.units)
    regressions = [*unread, *missing, *gathered.all(), *_measured(differences, how)]
    told = tuple(msgspec.structs.replace(one, ignored=one.kind in how.ignore) for one in regressions)
    return msgspec.structs.replace(result, baseline=other.meta.run, differences=differences, regressions=told)


def _unread(other: EvalResult, result: EvalResult) -> tuple[Regression, ...]:
    """What cannot be read now and could then: it has no row, so no pair shows that it is gone."""
    more = {code: count - other.meta.faults.get(code, 0) for code, count in result.meta.faults.items()}
    return tuple(Regression(kind="fault", what=code, count=count) for code, count in more.items() if count > 0)


def _count(pairs: dict[str, Paired], was: EvalRow, row: EvalRow) -> None:
    unit = row.recorded.group or row.turn
    for name, measure in MEASURES.items():
        before, now = measure.of(was), measure.of(row)
        if before is not None and now is not None:
            pairs[name].add(unit, before, now)


def _difference(name: str, paired: Paired, how: Compare) -> Difference:
    found = paired.changed(how.seed, how.level, how.rounds)
    better = MEASURES[name].better
    judgement: Literal["same", "better", "worse"] = "same"
    if found.certain:
        judgement = "better" if (found.difference > 0) == (better == "up") else "worse"
    return Difference(
        measure=name,
        pairs=found.pairs,
        before=found.before,
        after=found.after,
        low=found.interval.low,
        high=found.interval.high,
        better=better,
        judgement=judgement,
    )


def _measured(differences: tuple[Difference, ...], how: Compare) -> Iterator[Regression]:
    """Measures that are surely worse, by more than is tolerated."""
    for one in differences:
        counts = MEASURES[one.measure].counts or one.measure in how.tolerance
        change = one.after - one.before
        loss = -change if one.better == "up" else change
        if counts and one.judgement == "worse" and loss > how.tolerance.get(one.measure, 0.0):
            detail = f"{one.before:.4g} → {one.after:.4g} (difference {one.low:.4g} to {one.high:.4g})"
            yield Regression(kind="measure", what=one.measure, count=one.pairs, detail=detail)


class _Rows:
    """Rows of a file by turn, each read when it is asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = path.open("rb")
        except OSError as fault:
            raise BaselineFault(str(path), f"its rows: {fault.strerror}", "keep the rows beside the result") from fault
        self._places: dict[str, int] = {}
        self._paired = set[str]()
        read_header(self._file.readline(), path)
        place = self._file.tell()
        for line in iter(self._file.readline, b""):
            self._places[row_of(line, f"{path.name} at byte {place}").turn] = place
            place += len(line)

    def of(self, row: EvalRow) -> EvalRow | None:
        """The row of the same turn; None: there is none, or of another recording."""
        place = self._places.get(row.turn)
        if place is None:
            return None
        self._file.seek(place)
        found = row_of(self._file.readline(), f"{self._path.name} at byte {place}")
        if found.log != row.log:
            return None
        self._paired.add(row.turn)
        return found

    def missing(self, explained: int) -> tuple[Regression, ...]:
        """The turns that no row was of, as one regression; none, if there are none.

        Args:
            explained: As many are gone because what is in their place cannot be read, which is told by itself.
        """
        gone = [turn for turn in self._places if turn not in self._paired]
        count = len(gone) - explained
        if count <= 0:
            return ()
        turns = () if explained else tuple(gone[:NAMED])
        return (Regression(kind="missing-turns", what="turns", count=count, turns=turns),)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._file.close()


__all__ = ["KINDS", "BaselineFault", "compare", "read_result"]
