"""A collection is written in another form, one turn at a time.

    report = export_collection("otel", [(turn, rules)], Path("spans.jsonl"))

Law: bounded memory. The file is whole or it is not there: it is written beside its place and moved there at the end; what
is there is never written over. A turn that cannot be read is counted and named, and the next is written.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from metnos.evaluate.collections.beside import keep_contracts, keep_labels
from metnos.evaluate.collections.model import Collection, Fault, Item, Turn
from metnos.evaluate.collections.turnlog import encode_turn
from metnos.evaluate.drafting import drafted_folder
from metnos.evaluate.exporting import inspect, otel, trace
from metnos.evaluate.exporting.view import RunView, view_of
from metnos.record.faults import RecordFault

if TYPE_CHECKING:
    from metnos.turn.rules import Rules

Pairs: TypeAlias = "Iterable[tuple[Item, Rules | None]]"

EXPORTS: Final[dict[str, str]] = {
    "jsonl": "one turn a line, metnos.turnlog/1: whole, verifiable, replayable",
    "parquet": "a sealed collection (a folder), for queries",
    "inspect": "an Inspect log, .eval",
    "otel": "OpenTelemetry GenAI spans, OTLP JSON, one export a line",
    "trace": "ExecutionTrace, metnos.trace/1, one a line",
}
"""Form → what it is."""
FOLDERS: Final = ("parquet", "jsonl")
"""Forms of which a collection can be a folder, with its contracts."""
MAX_FAULTS: Final = 100
_LINES: Final[dict[str, Callable[[RunView], bytes]]] = {"otel": otel.encode, "trace": trace.encode}


class ExportFault(Exception):
    """Nothing can be written there; `code`, `where` and `hint` are for people."""

    def __init__(self, code: str, where: str, message: str, hint: str = "") -> None:
        super().__init__(f"{where}: {message}")
        self.code, self.where, self.message, self.hint = code, where, message, hint


class ExportReport(msgspec.Struct, kw_only=True):
    """What came of one export."""

    form: str
    to: str
    turns: int = 0
    unresolved: int = 0
    """Calls whose arguments are as their plans wrote them: no rules at hand could follow the log."""
    unread: int = 0
    faults: list[dict[str, str]] = []
    """The first hundred, `{code, where, detail}`."""


def export_collection(form: str, turns: Iterable[tuple[Item, Rules | None]], to: Path) -> ExportReport:
    """Write turns.

    Args:
        form: A key of `EXPORTS`, but `parquet`.
        turns: Of one or more collections, each with the rules over its contracts (`view_of`).
        to: The file.

    Raises:
        ExportFault: `export-form`, `export-target`.
        OSError: The file cannot be written.
    """
    if form not in EXPORTS or form == "parquet":
        raise ExportFault("export-form", form, "there is no such form of one file")
    if to.exists():
        raise ExportFault("export-target", str(to), "something is there", "name a new file")
    to.parent.mkdir(parents=True, exist_ok=True)
    report = ExportReport(form=form, to=str(to))
    handle, draft = tempfile.mkstemp(prefix=f".{to.name}.", dir=to.parent)
    os.close(handle)
    path = Path(draft)
    try:
        if form == "inspect":
            _write_inspect(turns, path, to.stem, report)
        else:
            _write_lines(form, turns, path, report)
        path.chmod(0o644)
        path.rename(to)
    finally:
        path.unlink(missing_ok=True)
    return report


def export_folder(form: str, turns: Collection, to: Path) -> ExportReport:
    """Write a collection as a folder of its own, with what lies beside it: `parquet` (sealed) or `jsonl`.

    Raises:
        ExportFault: `export-form`, `export-target`.
        RecordFault: What `collections.sealing.seal` raises.
        OSError: The folder cannot be written.
    """
    if form not in FOLDERS:
        raise ExportFault("export-form", form, f"there is no such folder; there are {', '.join(FOLDERS)}")
    if to.exists():
        raise ExportFault("export-target", str(to), "something is there", "name a new folder")
    report = ExportReport(form=form, to=str(to))
    with drafted_folder(to) as draft:
        if form == "parquet":
            _seal(turns, draft, report)
        else:
            keep_contracts(turns, draft, anew=True)
            items = ((item, None) for shard in turns.shards() for item in shard.read())
            _write_lines("jsonl", items, draft / "turns.jsonl", report)
            keep_labels(turns, draft)
    return report


def _seal(turns: Collection, folder: Path, report: ExportReport) -> None:
    from metnos.evaluate.collections.sealing import seal_held

    told = seal_held(turns, folder)
    report.turns = told.sealed
    for fault in told.faults:
        _unread(fault, report)
    for _ in range(told.open):
        _unread(Fault(where=turns.name, code="turn-open", detail="it has not ended, and is not sealed"), report)


def _write_inspect(turns: Pairs, path: Path, task: str, report: ExportReport) -> None:
    log = inspect.InspectLog(path, task)
    for turn, rules in _read(turns, report):
        log.add(_view(turn, rules, report))
    log.close()


def _write_lines(form: str, turns: Pairs, path: Path, report: ExportReport) -> None:
    with path.open("wb") as file:
        for turn, rules in _read(turns, report):
            try:
                line = encode_turn(turn.log, turn.labels) if form == "jsonl" else None
            except RecordFault as fault:
                _unread(Fault(where=turn.where or turn.log.turn, code=fault.code, detail=fault.message), report)
                report.turns -= 1
                continue
            file.write((line or _LINES[form](_view(turn, rules, report))) + b"\n")


def _read(turns: Pairs, report: ExportReport) -> Iterator[tuple[Turn, Rules | None]]:
    for item, rules in turns:
        if isinstance(item, Turn):
            report.turns += 1
            yield item, rules
        else:
            _unread(item, report)


def _unread(fault: Fault, report: ExportReport) -> None:
    report.unread += 1
    if len(report.faults) < MAX_FAULTS:
        report.faults.append({"code": fault.code, "where": fault.where, "detail": fault.detail})


def _view(turn: Turn, rules: Rules | None, report: ExportReport) -> RunView:
    view = view_of(turn.log, rules, turn.labels)
    report.unresolved += sum(not call.resolved for plan in view.plans for call in plan.calls)
    return view
