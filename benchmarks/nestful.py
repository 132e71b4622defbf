"""Gold plans of nested API calls (NESTFUL and its like): converted, validated, run with stand-in tools, compared.

    .venv/bin/python benchmarks/nestful.py --data DIR

DIR holds any number of `NAME-data.json`, each with its `NAME-spec.json`. Each gold plan becomes a plan of the
Framework (`metnos.evaluate.importing.gold`), the real validator judges it over lenient foreign contracts, and what it accepts is run
by a real engine in memory, tools replaced by stand-ins (`gold/standins.py`). A plan counts as `resolved_equal` if
every step was started with the very arguments that a second, independent reading of the gold plan gives
(`gold/reference.py`), and the answer's data are the same too.

One JSON line for each plan that was rejected (code and place of its first fault, in the plan and in the gold record;
the others under `more`) or that did not resolve equal; the figures are the last line. A rejected plan is counted once,
under the code of its first fault. Exit code: 0; 1 if an accepted plan did not resolve equal; 2 if DIR is no such folder.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.gold.faults import all_faults, told
from benchmarks.gold.reference import run_gold
from benchmarks.gold.standins import Wanted, field_names, stand_in, wants_of
from metnos import Engine
from metnos.checks.validator import Validator
from metnos.contracts.foreign import Foreign, ForeignFault, foreign_contracts
from metnos.contracts.host import HostExecutor
from metnos.contracts.model import Contract
from metnos.evaluate.importing.gold import calls_of, convert, gold_pointer
from metnos.plan.jsondata import is_list, is_object

DATA, SPEC = "-data.json", "-spec.json"


class Unusable(Exception):
    """The folder, or a file in it, cannot be used."""


class Figures(msgspec.Struct):
    """The last line."""

    plans: int = 0
    accepted: int = 0
    rejected: Counter[str] = msgspec.field(default_factory=Counter)
    resolved_equal: int = 0

    def line(self) -> str:
        """As JSON."""
        rejected = dict(sorted(self.rejected.items()))
        figures = {"plans": self.plans, "accepted": self.accepted, "rejected": rejected}
        return json.dumps({**figures, "resolved_equal": self.resolved_equal})


# --- the tools --------------------------------------------------------------------------------------------------


class Tools:
    """The tools of one specification: contracts, and a stand-in for each."""

    def __init__(self, descriptions: list[dict[str, Any]]) -> None:
        self.refused: list[str] = []
        """Why a description was left out; plans that name it have an unknown tool."""
        sound = [described for described in descriptions if self._is_sound(described)]
        self.foreign: Foreign = foreign_contracts(sound, effect="read")
        self.descriptions: dict[str, list[dict[str, Any]]] = {}
        for described in sound:
            self.descriptions.setdefault(described["name"], []).append(described)
        self.contracts: dict[str, Contract] = {one.original or one.name: one for one in self.foreign.contracts}
        self.wants: dict[str, Wanted] = {}
        """What the plan under way refers to, by contract."""
        self.started: dict[str, Any] = {}
        """Operation id → the arguments that its step was started with."""

    def _is_sound(self, described: dict[str, Any]) -> bool:
        try:
            foreign_contracts([described])
        except ForeignFault as fault:
            self.refused.append(str(fault))
            return False
        return True

    def call(self, name: str, args: Any) -> Any:
        """What the tool gives for these arguments, in the plan under way."""
        contract = self.contracts[name]
        return stand_in(contract, self.descriptions[name], args, self.wants[contract.name])

    def executors(self) -> list[HostExecutor]:
        """The stand-ins as an engine takes them: coroutines, so that steps overlap."""
        return [self._executor(name, contract) for name, contract in self.contracts.items()]

    def _executor(self, name: str, contract: Contract) -> HostExecutor:
        async def call(args: dict[str, Any], ctx: Any) -> Any:
            self.started[ctx.operation] = args
            return self.call(name, args)

        return HostExecutor(contract=contract, function=call, is_async=True, call=call)


# --- one plan ---------------------------------------------------------------------------------------------------


class Bench:
    """Judges the plans of one file."""

    def __init__(self, tools: Tools, home: Path) -> None:
        self.tools = tools
        self.engine = Engine.open(
            home, folder=home, executors=tools.executors(), shipped=False, memory=True, zone="UTC"
        )
        self.validate = Validator(self.engine.catalog)
        self.fields = set[str]().union(*(field_names(contract.result) for contract in tools.foreign.contracts))

    def judge(self, record: Any, figures: Figures) -> dict[str, Any] | None:
        """Count one plan; what is to be told of it, if anything."""
        figures.plans += 1
        converted = convert(record, self.fields)
        checked = self.validate(converted.plan)
        faults = all_faults(converted.faults, checked.diagnostics)
        if faults:
            figures.rejected[faults[0].code] += 1
            return told(faults, gold_pointer(faults[0].where, converted.plan))
        figures.accepted += 1
        self.tools.wants = wants_of(checked)
        wrong = self.compare(converted.plan, calls_of(record) or [])
        if wrong is None:
            figures.resolved_equal += 1
        return wrong

    def compare(self, plan: dict[str, Any], calls: list[Any]) -> dict[str, Any] | None:
        """Run an accepted plan; None if all its arguments are those of the reference, else the first difference."""
        self.tools.started.clear()
        result = self.engine.run_sync(plan=plan)
        if result.outcome != "success":
            failed = [(step.step, step.error) for step in result.steps if step.error is not None]
            step, error = failed[0] if failed else ("", None)
            code, where, found = (error.code, error.where, error.message) if error else (result.code, "", result.detail)
            return {"unequal": result.outcome, "step": step, "code": code, "where": where, "found": found}
        steps = {line.step: self.tools.started.get(line.operation) for line in self.engine.read_turn(result.turn).steps}
        try:
            wanted, answer = run_gold(calls, self.tools.call)
        except (LookupError, TypeError) as fault:
            return {"unequal": "the reference cannot follow it", "found": str(fault)}
        for number, arguments in enumerate(wanted, start=1):
            if not same(steps.get(f"1.{number}"), arguments):
                return {
                    "unequal": "arguments",
                    "step": f"1.{number}",
                    "found": steps.get(f"1.{number}"),
                    "expected": arguments,
                }
        if len(steps) != len(wanted) or not same(result.data, answer):
            return {"unequal": "answer", "found": result.data, "expected": answer}
        return None


def same(one: Any, other: Any) -> bool:
    """Whether two values have the same JSON: `1`, `1.0` and `true` are three."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


# --- files ------------------------------------------------------------------------------------------------------


def read(path: Path) -> Any:
    """A JSON file.

    Raises:
        Unusable: It is not there, or no JSON.
    """
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as fault:
        raise Unusable(f"{path}: {fault}") from None


def rows(data: Any) -> list[Any]:
    """The rows of a file: a list, the one list that an object holds, the values of an object, or the one row."""
    if is_object(data) and "output" not in data:
        lists = [value for value in data.values() if is_list(value)]
        return lists[0] if len(lists) == 1 else list(data.values())
    return data if is_list(data) else [data]


def descriptions_of(data: Any) -> list[dict[str, Any]]:
    """The tools of a specification; a tool may be wrapped as `{"function": …}`, or its name be its key."""
    if is_object(data) and not any(map(is_list, data.values())):
        found: list[Any] = [{"name": name, **value} for name, value in data.items() if is_object(value)]
    else:
        found = rows(data)
    tools = [row["function"] if is_object(row.get("function")) else row for row in found if is_object(row)]
    return [tool for tool in tools if is_object(tool)]


def files_in(folder: Path) -> list[Path]:
    """The data files of a folder, by name.

    Raises:
        Unusable: There is none.
    """
    found = sorted(folder.glob(f"*{DATA}"))
    if not found:
        raise Unusable(f"{folder}: there is no NAME{DATA}")
    return found


def measure(folder: Path) -> tuple[Figures, list[dict[str, Any]]]:
    """Judge every plan of every file; figures, and the lines to print before them.

    Raises:
        Unusable: See there.
    """
    figures = Figures()
    lines: list[dict[str, Any]] = []
    for path in files_in(folder):
        tools = Tools(descriptions_of(read(path.with_name(path.name.removesuffix(DATA) + SPEC))))
        lines += [{"file": path.name, "refused_tool": reason} for reason in tools.refused]
        with tempfile.TemporaryDirectory() as home:
            bench = Bench(tools, Path(home))
            with bench.engine:
                for index, record in enumerate(rows(read(path))):
                    line = bench.judge(record, figures)
                    if line is not None:
                        lines.append({"file": path.name, "index": index, **line})
    return figures, lines


def main(argv: list[str] | None = None) -> int:
    """The command line; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--data", type=Path, required=True, metavar="DIR", help="holds NAME-data.json and NAME-spec.json"
    )
    try:
        figures, lines = measure(parser.parse_args(argv).data)
    except Unusable as fault:
        print(fault, file=sys.stderr)
        return 2
    for line in lines:
        print(json.dumps(line, ensure_ascii=False))
    print(figures.line())
    return 0 if figures.resolved_equal == figures.accepted else 1


if __name__ == "__main__":
    sys.exit(main())
