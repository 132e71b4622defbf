"""`metnos resume`, `metnos log` and `metnos replay`: turns that were recorded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import click
import msgspec

from metnos.cli import exits
from metnos.cli.options import Desk, command, format_option, read_answers, show_drawing
from metnos.cli.output import Fault
from metnos.cli.turnview import finish, progress_lines
from metnos.text import message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.cli.output import Output
    from metnos.engine import Engine
    from metnos.record.labels import Label
    from metnos.record.reading import TurnView
    from metnos.record.store import TurnSummary

MOST_LISTED: Final = 10_000
"""Latest turns that are looked through for a label."""


@command()
@click.argument("turn")
@click.option("--approve", "approved", multiple=True, metavar="ID", help="Allow what was asked, or `all`; repeatable.")
@click.option("--deny", "denied", multiple=True, metavar="ID", help="Refuse it, or `all`; repeatable.")
@click.option("--answer", "pairs", multiple=True, metavar="NAME=VALUE", help="Answer a question or a field of a form.")
def resume_command(
    desk: Desk, turn: str, approved: tuple[str, ...], denied: tuple[str, ...], pairs: tuple[str, ...]
) -> int:
    """Go on with a turn that waits for you, or that was cut off. TURN may be a prefix, or `last`.

    ID may be the step alone (`1.2`), or as much of it as no other has.
    """
    from metnos.cli.consent import TerminalConsent

    output = desk.output
    answers = read_answers(pairs)
    consent = TerminalConsent(output) if output.interactive and not (approved or denied or pairs) else None
    with (
        desk.engine(
            approve=consent and consent.approve, answer=consent and consent.answer, progress=progress_lines(output)
        ) as engine,
        engine.interruptible(),
    ):
        name = engine.find_turn(turn)
        if consent is not None and (request := engine.read_turn(name).request):
            desk.speak(engine.language_of(request))
        if approved or denied:
            asked = engine.read_turn(name).waiting
            denied = _meant(name, denied, asked)
            approved = _meant(name, approved, [one for one in asked if one not in denied or "all" not in approved])
        result = engine.resume_sync(name, approve=approved, deny=denied, answers=answers)
        return finish(output, result)


def _meant(turn: str, typed: tuple[str, ...], waiting: Iterable[str]) -> tuple[str, ...]:
    """Ids of approvals for what was typed; what means none is handed on as it is, and refused by its name.

    Raises:
        Fault: `nothing-asked`, it means several.
    """
    asked = {one: one.removeprefix(f"{turn}.") for one in waiting if not _is_dialog(turn, one)}
    found: list[str] = []
    for text in typed:
        whole = [one for one, short in asked.items() if text in ("all", one, short)]
        begun = whole or [one for one, short in asked.items() if one.startswith(text) or short.startswith(text)]
        if text != "all" and len(begun) > 1:
            hint = f"say one of {', '.join(asked[one] for one in begun)}, or `all`"
            raise Fault(
                "nothing-asked",
                f"{len(begun)} approvals begin with {text!r}",
                where=text,
                hint=hint,
                status=exits.USAGE,
            )
        found += begun or [text]
    return tuple(dict.fromkeys(found))


def _is_dialog(turn: str, name: str) -> bool:
    return name.startswith(f"{turn}.dialog")


@command()
@click.argument("turn", required=False)
@click.option("--verify", is_flag=True, help="Only check the chain, the signed head and the anchor.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 10_000), help="How many turns to list.")
@click.option(
    "--label", "wanted", multiple=True, metavar="NAME[=VALUE]", help="List turns with this label; repeatable."
)
@format_option
def show_command(desk: Desk, turn: str | None, verify: bool, limit: int, wanted: tuple[str, ...], form: str) -> int:
    """List recorded turns, newest first; or show one. TURN may be a prefix, or `last`."""
    output = desk.output
    with desk.engine() as engine:
        if turn is None:
            listed = _labelled(engine, limit, wanted)
            if verify:
                for one, _ in listed:
                    _require_whole(engine, one.turn)
            return _list(desk, listed)
        name = engine.find_turn(turn)
        _require_whole(engine, name)
        if verify:
            return _whole(desk, engine.read_turn(name))
        view, labels = engine.read_turn(name), engine.labels(name)
        drawing = engine.draw(view.plan) if form == "mermaid" and view.plan is not None else ""
    if drawing:
        show_drawing(output, drawing)
    elif output.json:
        output.data({**msgspec.to_builtins(view, enc_hook=str), **({"labels": labels} if labels else {})})
    else:
        _show(output, view, labels)
    return exits.OK


def _require_whole(engine: Engine, turn: str) -> None:
    held = engine.verify(turn)
    if not held.ok:
        raise Fault(held.code, held.detail, where=f"{turn} record {held.seq}", status=exits.TRUST)


def _whole(desk: Desk, view: TurnView) -> int:
    if desk.output.json:
        desk.output.data({"ok": True, "turn": view.turn, "records": view.records, "head": view.head})
    else:
        head = view.head.hash if view.head is not None else "-"
        desk.output.line(message("log.whole", desk.language, records=view.records, head=head))
    return exits.OK


def _labelled(engine: Engine, limit: int, wanted: tuple[str, ...]) -> list[tuple[TurnSummary, dict[str, Label]]]:
    """The latest turns, newest first, with their labels; only those that have all the wanted ones."""
    asked = [(name, found, read_label(text)) for name, found, text in (one.partition("=") for one in wanted)]
    listed: list[tuple[TurnSummary, dict[str, Label]]] = []
    for one in engine.turns(MOST_LISTED if asked else limit):
        labels = engine.labels(one.turn)
        if all(name in labels and (not found or labels[name] == value) for name, found, value in asked):
            listed.append((one, labels))
    return listed[:limit]


def read_label(text: str) -> Label:
    """What was typed as the value of a label: a number, true or false where it reads as one, else the text itself."""
    from metnos.drivers.asked import typed_value

    value = typed_value(text)
    return value if isinstance(value, bool | int | float | str) else text


def label_text(name: str, value: Label) -> str:
    """`name=value` as it can be typed."""
    return f"{name}={json.dumps(value) if isinstance(value, bool) else value}"


def _list(desk: Desk, turns: list[tuple[TurnSummary, dict[str, Label]]]) -> int:
    output = desk.output
    if output.json:
        listed = [{**msgspec.to_builtins(one), **({"labels": labels} if labels else {})} for one, labels in turns]
        output.data({"turns": listed})
    elif not turns:
        output.line(message("log.none", desk.language))
    for one, labels in () if output.json else turns:
        said = "  ".join(label_text(name, value) for name, value in labels.items())
        output.line(f"{one.turn}  {one.outcome or one.status:14}  {one.request or one.mode}  {said}".rstrip())
    return exits.OK


SHOWN = (
    "turn",
    "status",
    "outcome",
    "code",
    "error_class",
    "detail",
    "owner",
    "channel",
    "request",
    "plan_source",
    "entry",
    "wording",
)


def _show(output: Output, view: TurnView, labels: dict[str, Label]) -> None:
    for name in SHOWN:
        value = getattr(view, name)
        if value:
            output.line(f"{name:12} {value}")
    for name, said in labels.items():
        output.line(f"{'label':12} {label_text(name, said)}")
    for asked in view.proposals:
        counted = " ".join(f"{name}={number}" for name, number in asked.usage.items())
        acts = message("plan.read_as", output.language, acts=", ".join(asked.acts)) if asked.acts else ""
        unsure = message("plan.unsure", output.language) if asked.unsure else ""
        said = " ".join(filter(None, (asked.code, acts, unsure)))
        output.line(f"{'proposal':12} {asked.model or '-'} {asked.took_us / 1e6:.1f} s {counted} {said}".rstrip())
    for step in view.steps:
        took = f"{step.took_us / 1000:.1f} ms" if step.took_us else ""
        took += f" ({step.tries} tries)" if step.tries > 1 else ""
        why = step.reason or f"{(step.error or {}).get('code', '')} {step.error_class}".strip()
        output.line(f"{'step':12} {step.step} {step.tool} {step.state} {took} {why}".rstrip())
    for approval in view.approvals:
        output.line(f"{'approval':12} {approval.approval} {approval.state} {approval.by}".rstrip())
    for waiting in view.waiting:
        output.line(f"{'waits for':12} {waiting}")
    for effect in view.effects:
        note = message("log.undoable" if effect.get("undo") else "log.not_undoable", output.language)
        output.line(f"{'effect':12} {effect.get('class')} {effect.get('target')} ({note})")
    if view.head is not None:
        output.line(f"{'head':12} {view.head.hash} (record {view.head.seq})")
    if view.answer:
        output.line("")
        output.text(view.answer)


@command()
@click.argument("turn")
def undo_command(desk: Desk, turn: str) -> int:
    """Undo what a turn did, newest effect first; asks, and refuses what has changed since. TURN may be a prefix, or `last`.

    The undo is a turn of its own: it is recorded, and can be undone. Files under a folder that is not the current one
    need `--root`, as ever.
    """
    from metnos.cli.consent import TerminalConsent
    from metnos.drivers.undoing import NothingToUndo

    output = desk.output
    consent = TerminalConsent(output) if output.interactive else None
    with (
        desk.engine(approve=consent and consent.approve, progress=progress_lines(output)) as engine,
        engine.interruptible(),
    ):
        try:
            return finish(output, engine.undo_sync(engine.find_turn(turn)))
        except NothingToUndo as fault:
            raise Fault(fault.code, fault.message, where=fault.where, hint=fault.hint) from fault
