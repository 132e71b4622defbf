"""`metnos cache` and `metnos feedback`: what was learned, and what a person says of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from metnos.cli import exits
from metnos.cli.options import Desk, command, said
from metnos.cli.output import Fault
from metnos.cli.turnview import show_plan
from metnos.text import message

if TYPE_CHECKING:
    from metnos.drivers.cachedoor import Explained, Verdict


@command()
@click.argument("turn")
@click.argument("verdict", type=click.Choice(["good", "bad"]))
def feedback_command(desk: Desk, turn: str, verdict: str) -> int:
    """Say whether a turn's plan was good or bad. TURN may be a prefix, or `last`.

    `good` lets the plan serve every request of this form, also where it has effects; each run is asked about as before.
    `bad`: this plan does not serve this request any more, and is not learned for it again.
    """
    from metnos.drivers.cachedoor import feedback_lines

    said_of: Verdict = "good" if verdict == "good" else "bad"
    with desk.engine() as engine:
        name = engine.find_turn(turn)
        learned = engine.cache.feedback(name, said_of)
    output = desk.output
    if output.json:
        output.data({"turn": name, "verdict": verdict, "admitted": learned.admitted, "held": learned.held})
        return exits.OK
    for line in feedback_lines(learned, said_of, desk.language):
        output.line(line)
    return exits.OK


@click.group(no_args_is_help=True)
def cache_command() -> None:
    """Explain, list, verify and prune what was learned."""


@command()
@click.argument("words", nargs=-1, required=True)
def explain_command(desk: Desk, words: tuple[str, ...]) -> int:
    """Say why a request would hit or miss, token by token and key by key."""
    sentence = said(" ".join(words))
    with desk.engine() as engine:
        desk.speak(engine.language_of(sentence))
        found = engine.cache.explain(sentence, desk.language)
    if desk.output.json:
        desk.output.data(found)
    else:
        _tell(desk, found)
    return exits.OK if found.served else exits.NOT_OK


def _tell(desk: Desk, found: Explained) -> None:
    output, language = desk.output, desk.language
    output.line(message("cache.form", language, form=found.normal_form))
    if found.loose_form != found.normal_form:
        output.line(message("cache.loose", language, form=found.loose_form))
    for token in found.tokens:
        output.line(f"  {token.text}  {token.reason}")
    for tried in found.tried:
        output.line(f"  {tried['layer']} {tried['grade']}  {tried['result']}  {tried['detail']}".rstrip())
    if found.served:
        output.line(message("cache.hit", language, layer=found.served, entry=found.entry))
        if found.plan is not None:
            show_plan(output.line, found.plan)
    else:
        output.line(message("cache.miss", language, reason=found.reason))
        output.line(message(f"miss.{found.reason}", language, detail=found.detail))


@command()
@click.option("--tool", default="", help="Only entries whose plan calls this tool.")
def list_command(desk: Desk, tool: str) -> int:
    """List what was learned, oldest first, with the tools of each; then the publisher's templates, with their signer."""
    with desk.engine() as engine:
        learned, templates = engine.cache.entries(tool), engine.cache.templates(tool)
    if desk.output.json:
        desk.output.data({"entries": [*learned, *templates]})
        return exits.OK
    if not learned:
        desk.output.line(message("cache.empty", desk.language))
    for one in (*learned, *templates):
        signed = one.layer == "template"
        name = one.entry.partition("@")[0] if signed else one.entry[:15]
        more = one.signer[:15] if signed else f"{one.uses}×  {_day(one.admitted_at)}"
        desk.output.line(
            f"{name}  {one.layer} {one.grade} {one.language}  {one.state}  {more}  {', '.join(one.tools)}  {one.form}"
        )
    return exits.OK


def _day(at: int) -> str:
    return datetime.fromtimestamp(at / 1_000_000, UTC).date().isoformat()


@command()
@click.argument("entry")
def show_command(desk: Desk, entry: str) -> int:
    """Show one entry whole: its plan, what it depends on, where it was learned. ENTRY may be a beginning."""
    with desk.engine() as engine:
        found = engine.cache.show(entry)
    if found is None:
        raise Fault(
            "no-entry",
            f"no single entry begins with {entry!r}",
            where=entry,
            hint="metnos cache list",
            status=exits.USAGE,
        )
    desk.output.data(found)
    return exits.OK


@command()
def verify_command(desk: Desk) -> int:
    """Check every row anew: signature, stamp, form, key. What does not hold is put into quarantine."""
    with desk.engine() as engine:
        found = engine.cache.verify()
    if desk.output.json:
        desk.output.data({"rows": found.rows, "sound": found.sound, "bad": found.bad, "alarms": found.alarms})
    else:
        desk.output.line(message("cache.verified", desk.language, rows=found.rows, sound=found.sound))
        for reason, count in found.bad.items():
            desk.output.line(f"  {reason}: {count}")
        for alarm in found.alarms:
            desk.output.line(f"  {_day(alarm.at)}  {alarm.reason}  {alarm.key[:15]}  {alarm.detail}")
    return exits.OK if found.ok else exits.TRUST


@command()
@click.option("--older", type=click.IntRange(min=0), metavar="DAYS", help="Besides, what was learned so long ago.")
@click.option("--all", "everything", is_flag=True, help="All of it, feedback included.")
def prune_command(desk: Desk, older: int | None, everything: bool) -> int:
    """Take away what will not be served again: expired, or made under other tools or rules."""
    with desk.engine() as engine:
        gone = engine.cache.prune(older=older, everything=everything)
    if desk.output.json:
        desk.output.data({"pruned": gone})
    else:
        desk.output.line(message("cache.pruned", desk.language, count=gone))
    return exits.OK


@command()
def stats_command(desk: Desk) -> int:
    """Count rows, bytes, uses and alarms."""
    with desk.engine() as engine:
        found = engine.cache.stats()
    if desk.output.json:
        desk.output.data(found)
        return exits.OK
    desk.output.line(message("cache.stats", desk.language, rows=found.rows, bytes=found.bytes, uses=found.uses))
    for kind, count in sorted(found.kinds.items()):
        desk.output.line(f"  {kind}: {count}")
    if found.alarms:
        desk.output.line(message("cache.alarms", desk.language, count=found.alarms))
    return exits.OK


for _name, _made in {
    "explain": explain_command,
    "list": list_command,
    "show": show_command,
    "verify": verify_command,
    "prune": prune_command,
    "stats": stats_command,
}.items():
    cache_command.add_command(_made, _name)
