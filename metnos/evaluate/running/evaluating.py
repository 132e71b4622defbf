"""A whole run: every turn of a collection evaluated, in this process or in several, row by row, until it is done or stopped.

    evaluation = Evaluation(read_run(Path("RUN.toml")), settings)
    result = evaluation.run(Path("result.json"))

Law: rows are written in the order of the turns, whoever evaluates them, so a run that was killed goes on behind its last
row and its result is that of a run that was not. Shards are read by who evaluates them; the rows of one shard are the most
that is held of each worker. A run whose turns depend on each other (`cache.mode = "learn"`), or that asks a real model, is
one process.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from metnos.evaluate.collections.model import Fault, Turn
from metnos.evaluate.mapping.model import Faults
from metnos.evaluate.mapping.shards import Backend, each_shard
from metnos.evaluate.measures.figures import Labels, figures_of
from metnos.evaluate.measures.intervals import wilson
from metnos.evaluate.measures.prices import Prices, load_prices
from metnos.evaluate.measures.result import EvalResult, EvalRow, Matched, Meta, Stopped
from metnos.evaluate.measures.sums import Sums
from metnos.evaluate.running.choosing import chooses, is_chosen, sample
from metnos.evaluate.running.judging import evaluate_turn
from metnos.evaluate.running.parts import RunParts, open_parts
from metnos.evaluate.running.rows import Rows, RowsFault, finished_run, row_of, rows_path
from metnos.evaluate.unread import SHOWN
from metnos.record.faults import RecordFault

if TYPE_CHECKING:
    from pathlib import Path

    from metnos.contracts.model import Contract
    from metnos.evaluate.collections.model import Collection, Shard
    from metnos.evaluate.measures.figures import TurnFigures
    from metnos.evaluate.running.runfile import Run
    from metnos.settings import Settings

Progress: TypeAlias = "Callable[[Told], None]"


class Told(NamedTuple):
    """How far a run is."""

    done: int
    """Turns."""
    share: float | None
    """Of the work, 0 to 1; None: nobody knows."""
    seconds: float
    left: float | None
    """Seconds, at the pace so far."""


class Part(NamedTuple):
    """What one shard, or one turn of it, came to."""

    rows: bytes
    faults: Faults
    passed: tuple[str, str] | None = None
    """A turn that was not evaluated because it has its row: id, and hash of its last record."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker needs to know; can be pickled."""

    run: Any
    """A `Run`."""
    settings: Any
    beside: tuple[Contract, ...] | None
    chosen: frozenset[str] | None
    """Ids of a sample; None: all."""

    def open(self) -> Callable[[Shard], Part]:
        """Who evaluates whole shards."""
        return Worker(self).whole


class Worker:
    """Evaluates shards: the parts are opened once."""

    def __init__(self, job: Job, parts: RunParts | None = None) -> None:
        self._turns = job.run.file.turns
        self._chosen = job.chosen
        self.prices = prices_of(job.run)
        self._parts = parts or open_parts(job.run, job.settings, job.beside)

    def pieces(self, shard: Shard, passing: int = 0) -> Iterator[Part]:
        """Each turn by itself, for who writes it down at once; a fault of the collection is one without a row.

        Args:
            shard: To read.
            passing: So many of its turns have their rows.
        """
        for item in shard.read():
            if isinstance(item, Fault):
                yield Part(b"", Faults({item.code: 1}, [item]))
                continue
            figures = self._chosen_figures(item)
            if figures is None:
                continue
            if passing:
                passing -= 1
                sha = item.log.records[-1].hash if item.log.records else ""
                yield Part(b"", Faults(), (item.log.turn, sha))
            else:
                row = evaluate_turn(self._parts, item, self.prices, figures)
                yield Part(msgspec.json.encode(row) + b"\n", Faults())

    def whole(self, shard: Shard) -> Part:
        """All of a shard."""
        rows, faults = list[bytes](), Faults()
        for piece in self.pieces(shard):
            rows.append(piece.rows)
            faults.merge(piece.faults)
        return Part(b"".join(rows), faults)

    def _chosen_figures(self, turn: Turn) -> TurnFigures | None:
        """None: the run is not about this turn."""
        if self._chosen is not None and turn.log.turn not in self._chosen:
            return None
        figures = figures_of(turn.log, Labels.of(turn.labels), self.prices)
        return None if chooses(self._turns) and not is_chosen(self._turns, figures, turn.labels) else figures


def prices_of(run: Run) -> Prices:
    """The prices of a run: the shipped ones, and its own before them."""
    written = run.file.measure.prices
    return load_prices(run.path(written)) if written else Prices.shipped()


class Evaluation:
    """One run."""

    def __init__(
        self,
        run: Run,
        settings: Settings,
        collection: Collection,
        *,
        workers: int = 1,
        backend: Backend = "processes",
        progress: Progress | None = None,
        fresh: bool = False,
    ) -> None:
        """Prepare; nothing is read.

        Args:
            run: What is wanted.
            settings: Of this installation.
            collection: The turns.
            workers: Processes, or workers of Ray.
            backend: Whose workers. A run that is one process is this one.
            progress: Told after each turn or shard.
            fresh: Forget the rows that are there.

        Raises:
            RunFault: A part cannot be had.
            PriceFault: The prices cannot.
            ScriptFault: The script cannot.
        """
        self.run = run
        self._settings = settings
        self._collection = collection
        self._progress = progress
        self._fresh = fresh
        self._beside = collection.contracts()
        self.parts = open_parts(run, settings, self._beside)
        self._backend: Backend = "processes" if self.parts.one_process else backend
        self._workers = 1 if self.parts.one_process else workers
        self.prices = prices_of(run)
        self._now, self._recorded, self._matched = Sums(), Sums(), Matched()
        self._faults = Faults()
        self._sha = hashlib.sha256(b"metnos.turns/1\n")
        self._newly_failed = 0
        self._began = 0.0
        self._weight = 0
        self._of: int | None = None
        self._by_weight = False

    @property
    def digest(self) -> str:
        """Of the run with the rules, catalog and policy that it meets here."""
        base, rules = self.parts.base, self.parts.rules
        told = (self.run.digest(), base.digest, rules.digest, rules.policy_digest, self.parts.catalog.digest)
        return f"sha256:{hashlib.sha256(' '.join(told).encode()).hexdigest()}"

    def evaluate(self, out: Path) -> EvalResult:
        """Do it, or go on with it; the rows are beside `out`, the result is the caller's to write.

        Raises:
            RowsFault: What lies there are the rows of another run, or of other turns.
            OSError: Turns cannot be read, or rows not written.
            RecordFault: The same, of a journal.
        """
        digest = self.digest
        job = Job(run=self.run, settings=self._settings, beside=self._beside, chosen=self._chosen())
        stopped: Stopped = ""
        self._began = time.monotonic()
        self._of = self._whole()
        with Rows(rows_path(out), digest, fresh=self._fresh, finished=finished_run(out)) as rows:
            try:
                stopped = self._all(job, rows)
            except KeyboardInterrupt:
                stopped = "interrupted"
        return self._result(digest, out, stopped)

    # --- the walk -----------------------------------------------------------------------------------------------------

    def _all(self, job: Job, rows: Rows) -> Stopped:
        before = rows.before()
        with closing(self._parts_of(job, rows.kept)) as parts:
            for part in parts:
                self._faults.merge(part.faults)
                if part.passed is not None:
                    self._count(_same(next(before), part.passed, rows.path))
                elif not self._take(part.rows, before, rows):
                    return ""
                self._tell()
                if stopped := self._enough():
                    return stopped
        return ""

    def _take(self, lines: bytes, before: Iterator[EvalRow], rows: Rows) -> bool:
        """Count rows and write those that are new; False: there are as many as are wanted."""
        limit, fresh = self.run.file.turns.limit, list[bytes]()
        for line in lines.splitlines(keepends=True):
            if limit is not None and self._now.turns >= limit:
                break
            row = row_of(line, "a row")
            was = next(before, None)
            if was is None:
                fresh.append(line)
            self._count(row if was is None else _same(was, (row.turn, row.log), rows.path))
        rows.add(b"".join(fresh))
        return limit is None or self._now.turns < limit

    def _parts_of(self, job: Job, kept: int) -> Generator[Part]:
        """Parts in the order of the collection; what has its row is passed over, unless later turns depend on it."""
        shards, worker = iter(self._collection.shards()), Worker(job, self.parts)
        passing = 0 if self.run.file.parts.cache.mode == "learn" else kept
        while passing or (self._workers <= 1 and self._backend == "processes"):
            shard = next(shards, None)
            if shard is None:
                return
            for piece in worker.pieces(shard, passing):
                passing -= piece.passed is not None
                yield piece
            self._weight += shard.weight
        yield from self._pooled(job, shards)

    def _pooled(self, job: Job, shards: Iterator[Shard]) -> Generator[Part]:
        with closing(each_shard(job, shards, workers=self._workers, backend=self._backend, ordered=True)) as finished:
            for one in finished:
                if one.result is None:
                    hint = "what was evaluated is kept: the same command goes on"
                    raise RecordFault("worker-lost", f"{one.place.shard.name}: {one.lost}", hint=hint)
                yield one.result
                self._weight += one.place.shard.weight

    def _chosen(self) -> frozenset[str] | None:
        if self.run.file.turns.sample is None:
            return None
        items = (item for shard in self._collection.shards() for item in shard.read())
        return sample(items, self.run.file.turns, self.prices)

    def _whole(self) -> int | None:
        """Of what `_weight` is a part; None: nobody knows."""
        turns = self.run.file.turns
        if turns.limit is not None or turns.sample is not None:
            return min(number for number in (turns.limit, turns.sample) if number is not None)
        if self.run.file.parts.proposer.kind == "model" and turns.path != "-":  # slow: counting them is nothing
            return sum(isinstance(item, Turn) for shard in self._collection.shards() for item in shard.read())
        self._by_weight = True
        return self._collection.weight()

    def _count(self, row: EvalRow) -> None:
        self._now.add(row.now)
        self._recorded.add(row.recorded)
        self._matched.add(row)
        self._sha.update(f"{row.turn} {row.log}\n".encode())
        self._newly_failed += row.recorded.succeeded and row.now.known and not row.now.succeeded

    def _tell(self) -> None:
        if self._progress is None:
            return
        done, seconds = self._now.turns, time.monotonic() - self._began
        reached = self._weight if self._by_weight else done
        share = min(1.0, reached / self._of) if self._of else None
        left = seconds / share - seconds if share else None
        self._progress(Told(done, share, seconds, left))

    def _enough(self) -> Stopped:
        """Why no further turn is evaluated; empty: none of the bounds is reached."""
        budget, now = self.run.file.budget, self._now
        if budget.seconds and time.monotonic() - self._began >= budget.seconds:
            return "seconds"
        if budget.tokens and now.total("tokens_in") + now.total("tokens_out") >= budget.tokens:
            return "tokens"
        if budget.cost and now.total("cost") >= round(budget.cost * 1_000_000):
            return "cost"
        early = budget.early
        if early.failures and self._newly_failed >= early.failures:
            return "early"
        if early.width and now.judged >= early.after:
            found = wilson(now.total("succeeded"), now.judged)
            if found.high - found.low <= early.width:
                return "early"
        return ""

    def _result(self, digest: str, out: Path, stopped: Stopped) -> EvalResult:
        from metnos import __version__

        run, rules = self.run.file, self.parts.rules
        meta = Meta(
            run=digest,
            name=run.name or self.run.name,
            turns=run.turns.path,
            collection=f"sha256:{self._sha.hexdigest()}",
            metnos=__version__,
            rules=rules.digest,
            catalog=self.parts.catalog.digest,
            policy=rules.policy_digest,
            prices=self.prices.currency,
            seed=run.compare.seed,
            parts=self.parts.told,
            rows=rows_path(out).name,
            seconds=round(time.monotonic() - self._began, 3),
            stopped=stopped,
            faults=self._faults.counts,
            unread=tuple(self._faults.named[:SHOWN]),
        )
        now, recorded = self._now, self._recorded
        return EvalResult(
            meta=meta,
            now=now,
            recorded=recorded,
            matched=self._matched,
            success=wilson(min(now.total("succeeded"), now.judged), now.judged),
            pass_k=tuple(now.pass_k(k) for k in run.measure.pass_k),
            pass_k_recorded=tuple(recorded.pass_k(k) for k in run.measure.pass_k),
        )


def _same(was: EvalRow, found: tuple[str, str], path: Path) -> EvalRow:
    """The row that is there, if it is that of the turn that is there."""
    if (was.turn, was.log) == found:
        return was
    hint = "the turns have changed since: begin anew with --fresh"
    message = f"turn {was.turn} was evaluated here, and in its place is {found[0]} now, or another record of it"
    raise RowsFault("rows-of-another-run", str(path), message, hint)
