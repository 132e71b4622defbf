"""`metnos log label`, `metnos log case` and `metnos log fork`: recorded turns as what others are held against."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from metnos.cli import exits
from metnos.cli.options import Desk, command, read_pairs, said
from metnos.cli.output import Fault, echo
from metnos.cli.turns import label_text, read_label
from metnos.text import message

if TYPE_CHECKING:
    from metnos.engine import Engine
    from metnos.evaluate.cases.forking import Forked
    from metnos.evaluate.running.parts import RunParts
    from metnos.evaluate.running.runfile import Run
    from metnos.record.model import TurnLog

FILE = click.Path(dir_okay=False, path_type=Path)


@command()
@click.argument("turn")
@click.argument("pairs", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--remove", multiple=True, metavar="NAME", help="Take a label away; repeatable.")
def label_command(desk: Desk, turn: str, pairs: tuple[str, ...], remove: tuple[str, ...]) -> int:
    """Say something of a recorded turn. TURN may be a prefix, or `last`; without NAME=VALUE its labels are shown.

    Labels are kept beside the logs, never in them: nothing that was recorded changes. `metnos log` lists them, and an
    evaluation can choose turns by them. A value is a number, true or false where it reads as one, else a text.
    """
    put = {name: read_label(text) for name, text in read_pairs(pairs).items()}
    with desk.engine() as engine:
        name = engine.find_turn(turn)
        labels = engine.label(name, put, remove) if put or remove else engine.labels(name)
    if desk.output.json:
        desk.output.data({"turn": name, "labels": labels})
    elif labels:
        shown = "  ".join(label_text(*one) for one in labels.items())
        desk.output.line(message("label.now", desk.language, turn=name, labels=shown))
    else:
        desk.output.line(message("label.none", desk.language, turn=name))
    return exits.OK


@command()
@click.argument("turn", nargs=-1, required=True, metavar="TURN | --check FILE...")
@click.option(
    "--to", type=FILE, help="File to write: `.toml` (the turn beside it) or `.json`. Left out: JSON on stdout."
)
@click.option("--name", default="", help="Of the case; left out, that of the file, or the turn.")
@click.option("--check", is_flag=True, help="Try cases, offline, with the rules and tools of now; exit 1 if one fails.")
def case_command(desk: Desk, turn: tuple[str, ...], to: Path | None, name: str, check: bool) -> int:
    """Make a test case from a recorded turn: what came of it is what is expected. TURN may be a prefix, or `last`.

    It holds the whole record, so nothing has to be run to try it (`--check`): under the contracts that lie beside it
    (`contracts.json`, of an imported data set), else the tools of now. Take out of `expect` what may differ.
    """
    if check:
        return _check(desk, turn)
    if len(turn) != 1:
        raise Fault("usage", "a case is made of one turn", hint="--check tries several", status=exits.USAGE)
    return _make(desk, turn[0], to, name)


def _make(desk: Desk, turn: str, to: Path | None, name: str) -> int:
    from metnos.evaluate.cases.files import case_text, save_case
    from metnos.evaluate.cases.making import make_case

    with desk.engine() as engine:
        log = _log_of(engine, turn)
        if log.status != "closed":
            raise Fault("turn-open", f"turn {log.turn} is {log.status}", where=log.turn, status=exits.USAGE)
        case = make_case(log, name or ("" if to is None else to.stem), engine.labels(log.turn))
    if to is None:
        echo(case_text(case), nl=False)
        return exits.OK
    files = [str(path) for path in save_case(case, to)]
    if desk.output.json:
        desk.output.data({"case": case.name, "files": files})
    else:
        desk.output.line(message("case.made", desk.language, files=", ".join(files)))
    return exits.OK


def _log_of(engine: Engine, turn: str) -> TurnLog:
    """A log that holds.

    Raises:
        Fault: It does not.
    """
    name = engine.find_turn(turn)
    held = engine.verify(name)
    if not held.ok:
        raise Fault(held.code, held.detail, where=f"{name} record {held.seq}", status=exits.TRUST)
    return engine.parts.journal.load(name)


def _check(desk: Desk, files: tuple[str, ...]) -> int:
    from metnos.evaluate.cases.files import load_case
    from metnos.evaluate.cases.trying import parts_beside, try_case

    opened: dict[Path, RunParts] = {}
    told: list[dict[str, Any]] = []
    for name in files:
        case, folder = load_case(Path(name)), Path(name).parent
        if folder not in opened:
            opened[folder] = parts_beside(folder, desk.settings())
        missed = try_case(case, opened[folder])
        told.append({"case": case.name, "file": name, "ok": not missed, "unmet": missed})
        if desk.output.json:
            continue
        desk.output.line(message("case.fails" if missed else "case.holds", desk.language, case=case.name))
        for one in missed:
            place = f" {one.step}" if one.step else ""
            desk.output.line(f"  {one.what}{place}: {one.expected or '-'} → {one.found or '-'}")
    if desk.output.json:
        desk.output.data({"cases": told})
    return exits.OK if all(one["ok"] for one in told) else exits.NOT_OK


@command()
@click.argument("turn")
@click.argument("step")
@click.option("--args", "args", metavar="JSON", help="Arguments of this step in place of its own; null leaves one out.")
@click.option("--plan", type=FILE, help="The whole plan in place of the recorded one (JSON or line notation).")
@click.option("--script", type=FILE, help="Proposals in place of the recorded ones, a line each (docs/cases.md).")
@click.option("--model", metavar="NAME", help="A model of this home that proposes the plan anew.")
def fork_command(
    desk: Desk, turn: str, step: str, args: str | None, plan: Path | None, script: Path | None, model: str | None
) -> int:
    """Go on otherwise with a recorded turn from STEP (`1.2` or `2`) on, offline. TURN may be a prefix, or `last`.

    Steps before it, and every call that was recorded with the same arguments, are answered from the record; what was not
    recorded is told, never run. The exit code is 1 if the fork does not come to a good end.
    """
    from metnos.evaluate.cases.forking import fork
    from metnos.evaluate.running.parts import open_parts

    if sum(one is not None for one in (args, plan, script, model)) != 1:
        hint = "say one of --args, --plan, --script, --model"
        raise Fault("usage", "a fork goes on with one thing that is other", hint=hint, status=exits.USAGE)
    number = step.rpartition(".")[2]
    if not number.isdecimal():
        raise Fault("fork-impossible", f"{step!r} is no step", where=step, status=exits.USAGE)
    with desk.engine() as engine:
        log = _log_of(engine, turn)
        parts = open_parts(_forked_run(script, model), engine.settings, None)
        body = None if plan is None else _plan(plan)
        forked = fork(log, int(number), parts, args=None if args is None else _object(args), plan=body)
    if desk.output.json:
        desk.output.data(forked)
    else:
        _tell(desk, forked)
    return exits.OK if forked.outcome == "success" else exits.NOT_OK


def _forked_run(script: Path | None, model: str | None) -> Run:
    import msgspec

    from metnos.evaluate.running.runfile import Parts, Proposer, Turns, run_of

    run = run_of(Turns(path=""))
    proposer = Proposer()
    if script is not None:
        proposer = Proposer(kind="scripted", file=str(script.resolve()))
    elif model is not None:
        proposer = Proposer(kind="model", model=model)
    return msgspec.structs.replace(run, file=msgspec.structs.replace(run.file, parts=Parts(proposer=proposer)))


def _object(text: str) -> dict[str, Any]:
    from metnos.drivers.asked import typed_value

    value = typed_value(said(text))
    if not isinstance(value, dict):
        raise Fault("usage", "--args takes a JSON object", where="--args", status=exits.USAGE)
    return cast("dict[str, Any]", value)


def _plan(path: Path) -> dict[str, Any]:
    from metnos.drivers.given import plan_body

    body, faults = plan_body(path.read_bytes())
    if body is None:
        first = faults[0]
        raise Fault(first.code, first.found, where=f"{path} {first.where}".rstrip(), hint=first.hint)
    return body


def _tell(desk: Desk, forked: Forked) -> None:
    output, language = desk.output, desk.language
    for one in forked.steps:
        mark = "│" if one.before else "├"
        output.line(f"{mark} {one.step} {one.tool} {one.state} {one.code}".rstrip())
    for fault in forked.diagnostics:
        output.line(f"{forked.rejected_by}: {fault.code} {fault.where} {fault.found}".rstrip())
    if forked.unanswered:
        output.line(message("fork.unanswered", language, what=forked.unanswered))
    if forked.unobserved:
        output.line(message("fork.unobserved", language, step=forked.unobserved))
    if forked.outcome:
        output.line(message("fork.outcome", language, outcome=forked.outcome))
