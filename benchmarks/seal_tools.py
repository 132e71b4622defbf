"""A catalog of thousands of foreign tools, and the gold calls of requests judged against it (Seal-Tools and its like).

    .venv/bin/python benchmarks/seal_tools.py --data DIR

DIR holds `tool.jsonl`, a tool a line, and any number of other `*.jsonl`, a request with its gold calls a line. All
tools become lenient foreign contracts of one catalog, each of which is checked; the calls of each request become one
plan (`gold/seal.py`), which the real validator judges. No model takes part and nothing is run.

One JSON line for each call that was rejected (code and place of its first fault, in the plan and in the gold record;
the others under `more`) and for each tool that was refused; the figures are the last line. `load_s` is the time from
the file to a catalog with its digest, `us_per_step` that of validation, contracts met for the first time included.
Exit code: 0; 2 if DIR is no such folder.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.gold.faults import all_faults, told
from benchmarks.gold.seal import convert, seal_pointer
from metnos.checks.validator import Validator
from metnos.contracts.catalog import Catalog
from metnos.contracts.foreign import ForeignFault, foreign_contracts
from metnos.plan.jsondata import is_list, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.plan.diagnostics import Diagnostic

TOOLS = "tool.jsonl"


class Unusable(Exception):
    """The folder, or a file in it, cannot be used."""


class Figures(msgspec.Struct):
    """The last line."""

    tools: int = 0
    load_s: float = 0.0
    calls: int = 0
    rejected: Counter[str] = msgspec.field(default_factory=Counter)
    """Code of the first fault → calls."""
    steps: int = 0
    seconds: float = 0.0

    def line(self) -> str:
        """As JSON."""
        each = self.seconds / self.steps * 1e6 if self.steps else 0.0
        rejected = dict(sorted(self.rejected.items()))
        figures = {"tools": self.tools, "load_s": round(self.load_s, 3), "calls": self.calls, "rejected": rejected}
        return json.dumps({**figures, "us_per_step": round(each, 1)})


# --- the tools --------------------------------------------------------------------------------------------------


class Tools:
    """The tools of `tool.jsonl` as one catalog."""

    def __init__(self, rows: list[Any]) -> None:
        self.refused: list[str] = []
        """Why a description was left out; calls that name it have an unknown tool."""
        described = [described_as(row) for row in rows]
        try:
            self.foreign = foreign_contracts(described, effect="read", numerals=True)
        except ForeignFault:
            described = [each for each in described if self._is_sound(each)]
            self.foreign = foreign_contracts(described, effect="read", numerals=True)
        self.catalog = Catalog().with_contracts(self.foreign.contracts)
        self.digest = self.catalog.digest
        self.fields: dict[str, list[str]] = {}
        """Tool, as it calls itself → its response fields, in order."""
        for each in described:
            self.fields.setdefault(each["name"], names_of(each["outputs"]))

    def _is_sound(self, described: dict[str, Any]) -> bool:
        try:
            foreign_contracts([described])
        except ForeignFault as fault:
            self.refused.append(str(fault))
            return False
        return True


def described_as(row: Any) -> dict[str, Any]:
    """A tool as foreign contracts are described; what is missing stays missing."""
    given: dict[str, Any] = row if is_object(row) else {}
    names = {"name": "api_name", "description": "api_description", "parameters": "parameters"}
    described = {ours: given[theirs] for ours, theirs in names.items() if theirs in given}
    return {**described, "required": given.get("required") or [], "outputs": given.get("responses") or {}}


def names_of(table: Any) -> list[str]:
    """The names of response fields; a table by name, or a list of fields that each hold one."""
    return [field["name"] for field in table] if is_list(table) else list(table)


# --- the calls --------------------------------------------------------------------------------------------------


def judge(record: Any, tools: Tools, validate: Validator, figures: Figures) -> Iterator[dict[str, Any]]:
    """Count the calls of one request; a line for each that was rejected."""
    converted = convert(record, tools.fields)
    steps = len(converted.plan["steps"]) - 1
    start = time.perf_counter()
    checked = validate(converted.plan)
    figures.seconds += time.perf_counter() - start
    figures.steps += max(steps, 0)
    figures.calls += max(steps, 1)  # a record without calls that can be read is one call, rejected
    by_call: dict[str, list[Diagnostic]] = {}
    for fault in all_faults(converted.faults, checked.diagnostics):
        by_call.setdefault("/".join(fault.where.split("/")[:3]), []).append(fault)
    for faults in by_call.values():
        figures.rejected[faults[0].code] += 1
        yield told(faults, seal_pointer(faults[0].where))


# --- files ------------------------------------------------------------------------------------------------------


def read(path: Path) -> list[Any]:
    """The rows of a file of JSON lines; blank lines are none.

    Raises:
        Unusable: It is not there, or one of its lines is no JSON.
    """
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as fault:
        raise Unusable(f"{path}: {fault.strerror}") from None
    rows: list[Any] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except ValueError as fault:
                raise Unusable(f"{path}:{number}: {fault}") from None
    return rows


def measure(folder: Path) -> tuple[Figures, list[dict[str, Any]]]:
    """Load the tools and judge every call of every file; figures, and the lines to print before them.

    Raises:
        Unusable: See there.
    """
    figures = Figures()
    start = time.perf_counter()
    tools = Tools(read(folder / TOOLS))
    figures.load_s = time.perf_counter() - start
    figures.tools = len(tools.catalog.names())
    lines: list[dict[str, Any]] = [{"file": TOOLS, "refused_tool": reason} for reason in tools.refused]
    validate = Validator(tools.catalog)
    for path in sorted(folder.glob("*.jsonl")):
        if path.name == TOOLS:
            continue
        for index, record in enumerate(read(path)):
            name = record.get("id", index) if is_object(record) else index
            lines += [{"file": path.name, "id": name, **line} for line in judge(record, tools, validate, figures)]
    return figures, lines


def main(argv: list[str] | None = None) -> int:
    """The command line; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help=f"holds {TOOLS} and other *.jsonl")
    try:
        figures, lines = measure(parser.parse_args(argv).data)
    except Unusable as fault:
        print(fault, file=sys.stderr)
        return 2
    for line in lines:
        print(json.dumps(line, ensure_ascii=False))
    print(figures.line())
    return 0


if __name__ == "__main__":
    sys.exit(main())
