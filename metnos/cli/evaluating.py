"""`metnos eval`: recorded turns run again with other parts, measured, compared. Nothing is executed."""

from __future__ import annotations

import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metnos.cli import exits
from metnos.cli.options import Desk, command
from metnos.cli.output import Fault, echo
from metnos.text import message

if TYPE_CHECKING:
    from collections.abc import Generator

    from metnos.evaluate.collections.model import Collection
    from metnos.evaluate.importing import ImportReport
    from metnos.evaluate.mapping.shards import Backend
    from metnos.evaluate.measures.result import EvalResult
    from metnos.evaluate.running.evaluating import Progress, Told
    from metnos.evaluate.running.runfile import Run

ENDING = ".eval.json"
RESULT, JUNIT, PAGE = b'{"form":"metnos.eval/', b"<?xml", b"<!doctypehtml"
"""How the files that this command writes begin, without their white space."""
MOST_BEGIN = 64
BIG = 3
"""Parts of a collection from which on it is worth starting processes."""


@command()
@click.argument("source", metavar="RUN.toml|TURNS")
@click.option("--import", "form", metavar="FORM", help="TURNS is a data set of this form, such as tau.")
@click.option("--baseline", type=click.Path(dir_okay=False), help="Result of another run; exit 1 if this one is worse.")
@click.option("--out", type=click.Path(dir_okay=False), help="File of the result; default: beside RUN.toml.")
@click.option("--workers", type=click.IntRange(1, 256), help="Processes; default: as many as are worth it.")
@click.option("--on", "backend", type=click.Choice(["processes", "ray"]), default="processes", show_default=True)
@click.option("--fresh", is_flag=True, help="Begin anew, whatever rows are there.")
@click.option("--junit", type=click.Path(dir_okay=False), help="Write the comparison as JUnit XML, too.")
@click.option("--report", "page", type=click.Path(dir_okay=False), metavar="FILE.html", help="Write a page, too.")
@click.option("--annotations", is_flag=True, help="Print regressions as annotations of a GitHub workflow, too.")
def eval_command(
    desk: Desk,
    source: str,
    form: str | None,
    baseline: str | None,
    out: str | None,
    workers: int | None,
    backend: Any,
    fresh: bool,
    junit: str | None,
    page: str | None,
    annotations: bool,
) -> int:
    """Evaluate recorded turns as RUN.toml says, or TURNS as they are: a home, *.jsonl, a folder, `-` for stdin.

    Commands of the turns are answered from what was recorded; what was not recorded is told, never run. A run that was
    stopped goes on where it was. The exit code is 1 if something is worse than in the baseline or, without one, could not be
    read.
    """
    with tempfile.TemporaryDirectory(prefix="metnos-eval-") as scratch:
        run, unread = _run(desk, source, form, Path(scratch))
        written = out or run.file.report.out
        path = _out(run, source, written, Path(scratch))
        base = _baseline(run, baseline, path)
        pages = page or run.path(run.file.report.page) if page or run.file.report.page else None
        for place, kind in ((path, RESULT), (junit, JUNIT), (pages, PAGE)):
            if place is not None:
                _may_write(Path(place), kind)
        result = _evaluate(desk, run, path, workers, backend, fresh=fresh)
        if base is not None:
            result = _compare(result, path, base, run)
        _write(path, result)
        _show(desk, result, path if path.parent != Path(scratch) else None)
        if junit is not None:
            _write_junit(Path(junit), result)
        if pages is not None:
            _write_page(desk, result, path, Path(pages))
        if annotations:
            _annotate(desk, result, Path(source))
    if result.meta.stopped == "interrupted":
        return exits.CANCELLED
    whole = base is not None or not unread  # against a baseline, only what is worse counts
    return exits.OK if result.passed and whole else exits.NOT_OK


def _run(desk: Desk, source: str, form: str | None, scratch: Path) -> tuple[Run, int]:
    """The run of a file; or one over turns, with nothing swapped. A data set is imported first.

    Returns the run, and how many records of the data set could not be read.
    """
    from metnos.evaluate.running.imported import imported
    from metnos.evaluate.running.runfile import Turns, read_run, run_of

    run = read_run(Path(source)) if source.endswith(".toml") else run_of(Turns(path=source))
    run, report = imported(run, scratch / "imported", form or "")
    if report is not None:
        _tell_import(desk, report)
    return run, 0 if report is None else report.unread


def _may_write(path: Path, kind: bytes) -> None:
    """What is there may be written over only if an evaluation wrote it: never turns, a run file, or a text of somebody's.

    Raises:
        Fault: `usage`, something else is there.
        OSError: It cannot be read.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        begins = b"".join(file.read(MOST_BEGIN).split())
    if begins and not begins.startswith(kind):
        hint = "name a new file, or take this one away"
        raise Fault("usage", "something else is there", where=str(path), hint=hint, status=exits.USAGE)


def _tell_import(desk: Desk, report: ImportReport) -> None:
    dropped = ", ".join(f"{what} {count}" for what, count in report.dropped.items()) or "0"
    desk.output.note(
        message(
            "eval.imported",
            desk.language,
            turns=report.turns,
            calls=report.calls,
            tools=report.tools,
            dropped=dropped,
            unread=report.unread,
        )
    )


def _out(run: Run, source: str, written: str | None, scratch: Path) -> Path:
    """Where the result goes: as it was said, else beside the run file, else nowhere that is kept."""
    if written:
        return run.path(written) if written == run.file.report.out else Path(written).resolve()
    if source.endswith(".toml"):
        path = Path(source).resolve()
        return path.with_name(path.name.removesuffix(".toml") + ENDING)
    return scratch / f"result{ENDING}"


def _baseline(run: Run, given: str | None, out: Path) -> Path | None:
    """The other result, looked at before anything is done.

    Raises:
        Fault: `usage`, it is the file that this run writes.
    """
    from metnos.evaluate.comparing.baseline import read_result

    written = run.file.compare.baseline
    path = Path(given).resolve() if given else run.path(written) if written else None
    if path is None:
        return None
    read_result(path)
    if path == out:
        hint = "give another place with --out"
        raise Fault(
            "usage", "the baseline would be overwritten by this run", where=str(path), hint=hint, status=exits.USAGE
        )
    return path


def _evaluate(desk: Desk, run: Run, out: Path, workers: int | None, backend: Backend, *, fresh: bool) -> EvalResult:
    from metnos.evaluate.collections.opening import open_collection
    from metnos.evaluate.running.evaluating import Evaluation

    path = run.file.turns.path
    stream = path == "-"
    collection = open_collection(path if stream else run.path(path), sys.stdin.buffer if stream else None)
    count = workers or (1 if stream else _worth(collection))
    with _progress(desk) as progress:
        evaluation = Evaluation(
            run, desk.settings(), collection, workers=count, backend=backend, progress=progress, fresh=fresh
        )
        return evaluation.evaluate(out)


def _worth(collection: Collection) -> int:
    """As many processes as this one may use, if there is enough to do."""
    from metnos.evaluate.mapping.shards import workers_here

    parts = collection.shards()
    enough = all(next(parts, None) is not None for _ in range(BIG))
    return workers_here() if enough else 1


@contextmanager
def _progress(desk: Desk) -> Generator[Progress | None]:
    """A line on stderr that is written over, where a person looks at it."""
    if desk.output.json or not sys.stderr.isatty():
        yield None
        return
    last = -1.0

    def tell(told: Told) -> None:
        nonlocal last
        if told.seconds - last >= 0.2:
            last = told.seconds
            echo(f"\r\x1b[K{_told(desk, told)}", nl=False, err=True)

    try:
        yield tell
    finally:
        echo("\r\x1b[K", nl=False, err=True)


def _told(desk: Desk, told: Told) -> str:
    if told.left is None or told.share is None:
        return message("eval.progress", desk.language, done=told.done, seconds=f"{told.seconds:.0f}")
    return message(
        "eval.progress_left", desk.language, done=told.done, share=f"{told.share:.0%}", left=f"{told.left:.0f}"
    )


def _compare(result: EvalResult, out: Path, baseline: Path, run: Run) -> EvalResult:
    from metnos.evaluate.comparing.baseline import compare
    from metnos.evaluate.running.rows import rows_path

    return compare(result, rows_path(out), baseline, run.file.compare)


def _write(path: Path, result: EvalResult) -> None:
    """The result, whole or not at all."""
    import msgspec

    draft = path.with_name(f".{path.name}.draft")
    draft.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")
    draft.replace(path)


def _show(desk: Desk, result: EvalResult, path: Path | None) -> None:
    from metnos.evaluate.running.telling import lines_of

    if desk.output.json:
        desk.output.data(result)
        return
    for line in lines_of(result, desk.language):
        desk.output.line(line)
    if path is not None:
        desk.output.note(message("eval.written", desk.language, path=path))


def _write_junit(path: Path, result: EvalResult) -> None:
    from metnos.evaluate.checking.reports import junit

    path.write_bytes(junit(result))


def _write_page(desk: Desk, result: EvalResult, out: Path, to: Path) -> None:
    from metnos.cli.report import effects_by_catalog, save_page
    from metnos.evaluate.reporting.evaluated import report_of
    from metnos.evaluate.running.rows import read_rows, rows_path

    report = report_of(result, read_rows(rows_path(out)), effects_by_catalog(desk.settings()))
    size = save_page(report, to, desk.language)
    desk.output.note(message("report.written", desk.language, path=to, bytes=size))


def _annotate(desk: Desk, result: EvalResult, source: Path) -> None:
    from metnos.evaluate.checking.reports import annotated

    for line in annotated(result, source, desk.language):
        echo(line, err=desk.output.json)
