"""`metnos log label`, `metnos log case` and `metnos log fork`: recorded turns as what others are held against."""

from __future__ import annotations

from pathlib import Path

import click

from metnos.cli import exits
from metnos.cli.options import Desk, command, read_pairs
from metnos.cli.output import Fault
from metnos.cli.turns import label_text, read_label
from metnos.text import message

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
        said = "  ".join(label_text(*one) for one in labels.items())
        desk.output.line(message("label.now", desk.language, turn=name, labels=said))
    else:
        desk.output.line(message("label.none", desk.language, turn=name))
    return exits.OK


@command()
@click.argument("turn")
@click.option(
    "--to", type=FILE, help="File to write: `.toml` (the turn beside it) or `.json`. Left out: JSON on stdout."
)
@click.option("--name", default="", help="Of the case; left out, that of the file, or the turn.")
def case_command(desk: Desk, turn: str, to: Path | None, name: str) -> int:
    """Make a test case from a recorded turn: what came of it is what is expected. TURN may be a prefix, or `last`.

    It holds the whole record, so nothing has to be run to try it. Take out of `expect` what may differ.
    """
    from metnos.evaluate.cases.files import case_text, save_case
    from metnos.evaluate.cases.making import make_case

    with desk.engine() as engine:
        found = engine.find_turn(turn)
        held = engine.verify(found)
        if not held.ok:
            raise Fault(held.code, held.detail, where=f"{found} record {held.seq}", status=exits.TRUST)
        log = engine.parts.journal.load(found)
        if log.status != "closed":
            raise Fault("turn-open", f"turn {found} is {log.status}", where=found, status=exits.USAGE)
        case = make_case(log, name or ("" if to is None else to.stem), engine.labels(found))
    if to is None:
        click.echo(case_text(case), nl=False)
        return exits.OK
    files = [str(path) for path in save_case(case, to)]
    if desk.output.json:
        desk.output.data({"case": case.name, "files": files})
    else:
        desk.output.line(message("case.made", desk.language, files=", ".join(files)))
    return exits.OK
