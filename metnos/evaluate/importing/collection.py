"""A source in a known form becomes a folder of turns: `turns.jsonl`, `contracts.json`, `labels.ndjson`, `import.json`.

    report = import_collection("tau", Path("trajectories"), Path("airline"))

Law: two passes over the source, so that the contracts are those of the whole of it; memory is bounded by one run (where
the parts of a run may lie anywhere, as spans do, by the source). The
same source gives the same bytes. The folder is whole or it is not there; one that is there is never written into.

What a data set says of a run lies beside the turn and is no input of it: it was said afterwards, and nothing that was
decided in the run may depend on it. What is a text or a number is in the line of the turn (it travels with it), all of it
is in `labels.ndjson`, one `{"form": "metnos.labels/1", "turn": …, …}` a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

import msgspec

from metnos.evaluate.collections.beside import LABELS
from metnos.evaluate.collections.contracts import NAME, decode_contracts, encode_contracts
from metnos.evaluate.collections.turnlog import encode_turn
from metnos.evaluate.drafting import drafted_folder
from metnos.evaluate.importing.contracts import infer, look
from metnos.evaluate.importing.counting import Counts
from metnos.evaluate.importing.folding import fold, turn_id
from metnos.evaluate.importing.model import ImportReport, Notes, ReadFault, Recorded
from metnos.plan.jsondata import JSONFault

FORMS: Final[dict[str, tuple[str, str]]] = {
    "tau": ("metnos.evaluate.importing.tau", "tau-bench trajectories: *.jsonl or *.json"),
    "tau2": ("metnos.evaluate.importing.tau2", "tau2-bench results: *.json with simulations"),
    "nestful": ("metnos.evaluate.importing.nestful", "NESTFUL: NAME-data.json with NAME-spec.json"),
    "bfcl": ("metnos.evaluate.importing.bfcl", "Berkeley function calling: questions with possible answers or results"),
    "agentdojo": ("metnos.evaluate.importing.agentdojo", "AgentDojo runs: a folder of *.json, at any depth"),
    "openai": ("metnos.evaluate.importing.openai", "chat completions with tool calls: *.jsonl or *.json"),
    "otel": ("metnos.evaluate.importing.otel", "OpenTelemetry GenAI spans as OTLP JSON"),
    "trace": ("metnos.evaluate.importing.trace", "ExecutionTrace: metnos.trace/1, one a line"),
}
"""Form → (module, what it reads)."""
TURNS, REPORT = "turns.jsonl", "import.json"
LABELS_FORM = "metnos.labels/1"
Read: TypeAlias = Callable[[Path, Notes], Iterator[Recorded]]


def reader_of(form: str) -> Read:
    """The importer of a form.

    Raises:
        ReadFault: `import-form-unknown`.
    """
    if form not in FORMS:
        raise ReadFault(form, "no form that is known here", f"one of {', '.join(FORMS)}", code="import-form-unknown")
    read: Read = import_module(FORMS[form][0]).read
    return read


def import_collection(form: str, source: Path, to: Path) -> ImportReport:
    """Import `source` into the new folder `to`.

    Args:
        form: A key of `FORMS`.
        source: A file or folder of that form.
        to: Is made; it must not be there, or be an empty folder.

    Raises:
        ReadFault: `import-form-unknown`, `import-source`, `import-target`, `import-empty`: nothing of it could be read.
        OSError: A file cannot be read or written.
    """
    read = reader_of(form)
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise ReadFault(str(to), "something is there", "a new folder, or an empty one", code="import-target")
    with drafted_folder(to) as draft:
        report = _Import(form, source, draft, read).all()
        report = msgspec.structs.replace(report, to=str(to))
        (draft / REPORT).write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")
    return report


class _Import:
    def __init__(self, form: str, source: Path, draft: Path, read: Read) -> None:
        self.form = form
        self.source = source
        self.draft = draft
        self.read = read
        self.notes = Notes()
        self.counts = Counts()
        self.used: Counter[str] = Counter()
        """Turn ids: two runs of one key are two turns."""

    def all(self) -> ImportReport:
        from metnos.contracts.catalog import Catalog
        from metnos.drivers.rules import make_rules

        found = infer(look(self.read(self.source, self.notes)), self.notes)
        written = encode_contracts(found.contracts)
        self.inferred = msgspec.structs.replace(
            found, contracts=decode_contracts(written)
        )  # as whoever replays has them
        catalog = Catalog().with_contracts(self.inferred.contracts)
        self.rules = make_rules(catalog)
        self.versions = _versions(self.rules.digest, self.rules.policy_digest, catalog.digest)
        (self.draft / NAME).write_bytes(written)
        with (self.draft / TURNS).open("wb") as turns, (self.draft / LABELS).open("wb") as labels:
            for run in self.read(self.source, Notes()):
                self._one(run, turns, labels)
        faults = self.notes.faults
        if not self.counts.turns:
            if faults:
                raise ReadFault(
                    faults[0].where, faults[0].found, faults[0].expected, faults[0].hint, "import-empty"
                ) from faults[0]
            raise ReadFault(str(self.source), "no run", f"runs in the form {self.form}", code="import-empty")
        return self.counts.report(self.form, str(self.source), len(self.inferred.contracts), self.notes)

    def _one(self, run: Recorded, turns: BinaryIO, labels: BinaryIO) -> None:
        turn = turn_id(run.key)
        self.used[turn] += 1
        if self.used[turn] > 1:
            turn = turn_id(f"{run.key}-{self.used[turn]}")
        try:
            log = fold(run, turn, self.inferred, self.rules, self.versions, self.notes)
        except JSONFault as fault:
            self.notes.fault(
                ReadFault(run.key, fault.message, "what a log can hold", where_hint(fault), code=fault.code)
            )
            return
        told = {**run.labels, "form": LABELS_FORM, "turn": turn}
        turns.write(encode_turn(log, _flat(run.labels)) + b"\n")
        labels.write(msgspec.json.encode(told) + b"\n")
        self.counts.add(log, run.labels)


def where_hint(fault: JSONFault) -> str:
    """Where in an argument or result the fault is."""
    return f"it is at {fault.where}" if fault.where else ""


def _flat(labels: dict[str, Any]) -> dict[str, str | int | float | bool]:
    """What fits in the line of a turn."""
    return {name: value for name, value in labels.items() if isinstance(value, str | int | float)}


def _versions(rules: str, policy: str, catalog: str) -> dict[str, str]:
    from metnos import __version__

    return {"metnos": __version__, "rules": rules, "policy": policy, "catalog": catalog}
