"""`metnos resume`, `metnos log` and `metnos replay`: turns that were recorded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from metnos.cli import exits
from metnos.cli.options import Desk, command
from metnos.cli.output import Fault
from metnos.cli.turnview import finish, progress_lines
from metnos.text import message

if TYPE_CHECKING:
    from metnos.cli.output import Output

REPLAY_EXITS: dict[str, int] = {"identical": exits.OK, "diverged": exits.NOT_OK, "broken": exits.TRUST}


def _answers(pairs: tuple[str, ...]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for pair in pairs:
        name, found, text = pair.partition("=")
        if not found:
            raise Fault("usage", f"{pair!r} is not NAME=VALUE", status=exits.USAGE)
        try:
            values[name] = json.loads(text)
        except ValueError:
            values[name] = text
    return values


@command()
@click.argument("turn")
@click.option("--approve", "approved", multiple=True, metavar="ID", help="Allow what was asked; repeatable.")
@click.option("--deny", "denied", multiple=True, metavar="ID", help="Refuse it; repeatable.")
@click.option("--answer", "pairs", multiple=True, metavar="NAME=VALUE", help="Answer a question or a field of a form.")
def resume_command(
    desk: Desk, turn: str, approved: tuple[str, ...], denied: tuple[str, ...], pairs: tuple[str, ...]
) -> int:
    """Go on with a turn that waits for you, or that was cut off. TURN may be a prefix, or `last`."""
    from metnos.cli.consent import TerminalConsent

    output = desk.output
    consent = TerminalConsent(desk.language) if output.interactive and not (approved or denied or pairs) else None
    with desk.engine(
        approve=consent and consent.approve, answer=consent and consent.answer, progress=progress_lines(output)
    ) as engine, engine.interruptible():
        result = engine.resume_sync(
            engine.find_turn(turn), approve=approved, deny=denied, answers=_answers(pairs)
        )
        return finish(output, result)


@command()
@click.argument("turn", required=False)
@click.option("--verify", is_flag=True, help="Only check the chain, the signed head and the anchor.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 10_000), help="How many turns to list.")
def log_command(desk: Desk, turn: str | None, verify: bool, limit: int) -> int:
    """List recorded turns, newest first; or show one. TURN may be a prefix, or `last`."""
    output = desk.output
    with desk.engine() as engine:
        if turn is None:
            return _list(desk, engine.turns(limit))
        name = engine.find_turn(turn)
        held = engine.verify(name)
        if not held.ok:
            raise Fault(held.code, held.detail, where=f"{name} record {held.seq}", status=exits.TRUST)
        if verify:
            return _whole(output, desk.language, held)
        view = engine.read_turn(name)
    if output.json:
        output.data(view)
    else:
        _show(output, view)
    return exits.OK


def _whole(output: Output, language: str | None, held: Any) -> int:
    if output.json:
        output.data(held)
    else:
        output.line(message("log.whole", language, records=held.seq, head=held.head))
    return exits.OK


def _list(desk: Desk, turns: Any) -> int:
    output = desk.output
    if output.json:
        output.data({"turns": turns})
    elif not turns:
        output.line(message("log.none", desk.language))
    else:
        for one in turns:
            output.line(f"{one.turn}  {one.at}  {one.outcome or one.status:14}  {one.request or one.mode}")
    return exits.OK


def _show(output: Output, view: Any) -> None:
    for name in ("turn", "at", "channel", "language", "request", "source", "entry", "outcome", "detail"):
        value = getattr(view, name, None)
        if value:
            output.line(f"{name:10} {value}")
    for step in view.steps:
        output.line(f"step       {step.step} {step.tool} {step.state} {step.detail}".rstrip())
    for effect in view.effects:
        output.line(f"effect     {effect.cls} {effect.target}")
    if view.answer:
        output.line("")
        output.text(view.answer)


@command()
@click.argument("turn", default="last")
def replay_command(desk: Desk, turn: str) -> int:
    """Replay a recorded turn offline: same facts, same commands, or the first difference. Nothing is run."""
    with desk.engine() as engine:
        result = engine.replay(engine.find_turn(turn))
    output = desk.output
    if output.json:
        output.data(result)
        return REPLAY_EXITS[result.status]
    key = f"replay.{result.status}"
    output.line(message(key, desk.language, records=result.seq, seq=result.seq, kind=result.kind, detail=result.detail))
    if result.status == "diverged":
        output.line(f"    recorded: {result.recorded}")
        output.line(f"    computed: {result.computed}")
    return REPLAY_EXITS[result.status]
