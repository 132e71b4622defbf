"""`metnos replay`: one recorded turn, or many, offline.

Law: nothing is run. What is named is a turn first; what is no turn is a place. One turn is told of in full, many by the
first cause of their differences.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from metnos.cli import exits
from metnos.cli.options import Desk, command
from metnos.text import message

if TYPE_CHECKING:
    from metnos.cli.output import Output
    from metnos.engine import Engine
    from metnos.evaluate.collections.model import Collection
    from metnos.evaluate.mapping.model import Mapped
    from metnos.evaluate.replaying.many import Replayed
    from metnos.record.replay import ReplayResult

REPLAY_EXITS: dict[str, int] = {"identical": exits.OK, "diverged": exits.NOT_OK, "broken": exits.TRUST}
ALL: Final = "all"
"""Every turn of this home."""
STREAM: Final = "-"
GROUPS_SHOWN: Final = 20


@command()
@click.argument("turn", metavar="[TURN|PATH|-]", default="last")
@click.option("--workers", type=click.IntRange(1, 1024), help="Processes for many turns; default one a core.")
@click.option("--on", "backend", type=click.Choice(["processes", "ray"]), default="processes", show_default=True)
def replay_command(desk: Desk, turn: str, workers: int | None, backend: Any) -> int:
    """Replay recorded turns offline: same facts, same commands, or the first difference. Nothing is run.

    TURN may be a prefix, `last`, or `all`: every turn of this home. PATH is a file or folder of turns, sealed or one a
    line (`metnos.turnlog/1`), or another home; `-` reads lines from stdin. Many turns are told of by the first cause of
    their differences.
    """
    with desk.engine() as engine:
        place = _place(engine, turn)
        if place is None:
            return _one(desk, engine.replay(engine.find_turn(turn)))
        return _many(desk, engine, place, workers or 0, backend)


def _place(engine: Engine, text: str) -> str | Path | None:
    """Where many turns are; None: `text` is a turn."""
    if text == ALL:
        return engine.settings.home
    if text == STREAM or os.sep in text:
        return text
    if not Path(text).exists() or text == "last":
        return None
    from metnos.record.faults import RecordFault

    try:
        engine.find_turn(text)
    except RecordFault:
        return text
    return None


def _one(desk: Desk, result: ReplayResult) -> int:
    output = desk.output
    if output.json:
        output.data(result)
        return REPLAY_EXITS[result.status]
    key = f"replay.{result.status}"
    output.line(
        message(key, desk.language, records=result.records, seq=result.seq, kind=result.kind, detail=result.detail)
    )
    if result.status == "diverged":
        output.line(f"    recorded: {result.recorded}")
        output.line(f"    computed: {result.computed}")
    return REPLAY_EXITS[result.status]


def _many(desk: Desk, engine: Engine, place: str | Path, workers: int, backend: Any) -> int:
    from metnos.cli.advancing import Advancing
    from metnos.evaluate.collections.opening import open_collection
    from metnos.evaluate.mapping.shards import map_shards
    from metnos.evaluate.replaying.many import Replay

    turns = open_collection(place, sys.stdin.buffer)
    job = Replay(_ground(engine, turns))
    with Advancing(desk.output) as progress:
        mapped = map_shards(job, turns, workers=workers, backend=backend, progress=progress)
    if desk.output.json:
        desk.output.data(_summary(turns.name, mapped))
    else:
        _tell(desk.output, mapped)
    return _status(mapped)


def _ground(engine: Engine, turns: Collection) -> Any:
    from metnos.evaluate.replaying.ground import Ground

    contracts = turns.contracts()
    if contracts is None:
        contracts = tuple(engine.parts.catalog.contracts().values())
    return Ground(contracts, engine.settings.lexicon)


def _status(mapped: Mapped[Replayed]) -> int:
    """The worst of all: a log that cannot be believed, a part that nobody could read, a difference; or nothing to say it of."""
    if mapped.partial.broken:
        return exits.TRUST
    if "worker-lost" in mapped.faults.counts:
        return exits.ENVIRONMENT
    whole = mapped.partial.turns and not (mapped.partial.diverged or mapped.faults.total)
    return exits.OK if whole else exits.NOT_OK


def _summary(name: str, mapped: Mapped[Replayed]) -> dict[str, Any]:
    sums = mapped.partial
    causes = [
        msgspec.to_builtins(cause) | {"count": group.count, "examples": msgspec.to_builtins(group.examples)}
        for cause, group in sums.groups
    ]
    return {
        "collection": name,
        "turns": sums.turns,
        "identical": sums.identical,
        "diverged": sums.diverged,
        "broken": sums.broken,
        "records": sums.records,
        "causes": causes,
        "unread": {"count": mapped.faults.total, "codes": mapped.faults.counts, "first": mapped.faults.named},
        "workers_lost": mapped.lost,
    }


def _tell(output: Output, mapped: Mapped[Replayed]) -> None:
    from metnos.evaluate.unread import unread_lines

    sums, language = mapped.partial, output.language
    counts = {"turns": sums.turns, "identical": sums.identical, "diverged": sums.diverged, "broken": sums.broken}
    output.line(message("replays.many", language, **counts) if sums.turns else message("eval.none", language))
    for cause, group in sums.groups[:GROUPS_SHOWN]:
        before_now = (
            cause.recorded if cause.recorded == cause.computed else f"{cause.recorded or '-'} → {cause.computed or '-'}"
        )
        rules = f"(rules {cause.rules})" if cause.rules else ""
        told = " ".join(part for part in (cause.status, cause.kind, cause.tool, before_now, rules) if part)
        output.line(f"{group.count:7}  {told}")
        first = group.examples[0]
        output.line(f"         {first.turn} {message('replays.at', language, seq=first.seq)}: {first.detail}")
    left = len(sums.groups) - GROUPS_SHOWN
    if left > 0:
        output.line(message("replays.more_causes", language, count=left))
    for line in unread_lines(mapped.faults.total, mapped.faults.named, language):
        output.line(line)
