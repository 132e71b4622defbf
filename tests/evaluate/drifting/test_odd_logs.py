"""Logs of strangers: chain and head hold, and what the records say makes no sense. Nothing is raised, whatever looks at them."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest

from metnos.contracts.catalog import Catalog
from metnos.evaluate.cases.forking import fork
from metnos.evaluate.cases.judging import unmet
from metnos.evaluate.cases.making import make_case
from metnos.evaluate.cases.trying import try_case
from metnos.evaluate.collections.model import Turn
from metnos.evaluate.collections.opening import open_collection
from metnos.evaluate.drifting.finding import drift_of
from metnos.evaluate.drifting.today import today
from metnos.evaluate.measures.prices import Prices
from metnos.evaluate.reporting.gathering import Gathering, Seen
from metnos.evaluate.reporting.page import html_of
from metnos.evaluate.running.driving import AsRecorded
from metnos.evaluate.running.judging import evaluate_turn
from metnos.evaluate.running.parts import RunParts
from metnos.record.chain import first, record_hash
from metnos.record.faults import RecordFault
from metnos.record.model import Head, Record, TurnLog
from metnos.record.verify import verify_log

ODD: tuple[Any, ...] = (
    None, True, 0, -1, 2**60, 1.5, "", "x", "1.1", "99.9", "${step1.x}", [], [[]], {}, {"a": {}}, "9" * 30, "-1.2", "١.٢",
)  # fmt: skip


def odd(rnd: Random, value: Any, depth: int = 0) -> Any:
    """The value with one thing in it changed, left out or put in."""
    if rnd.random() < 0.15 or depth > 6 or not value or not isinstance(value, dict | list):
        return rnd.choice(ODD)
    made: Any = dict(value) if isinstance(value, dict) else list(value)
    place = rnd.choice(list(made)) if isinstance(made, dict) else rnd.randrange(len(made))
    if rnd.random() < 0.2:
        del made[place]
    else:
        made[place] = odd(rnd, made[place], depth + 1)
    return made


def mutated(rnd: Random, log: TurnLog) -> TurnLog:
    """The log with a few records changed, left out, doubled or renamed; chained anew, its head unsigned."""
    records = list(log.records)
    for _ in range(rnd.randint(1, 3)):
        place, what = rnd.randrange(len(records)), rnd.random()
        if what < 0.75:
            body: Any = msgspec.json.decode(records[place].body)
            names = ("plan", "body", "step", "executors")
            held = [name for name in names if isinstance(body, dict) and body.get(name)]
            if held and rnd.random() < 0.7:  # where most depends on it
                body[held[0]] = odd(rnd, body[held[0]])
            else:
                body = odd(rnd, body)
            records[place] = msgspec.structs.replace(records[place], body=msgspec.json.encode(body, order="sorted"))
        elif what < 0.85:
            records.insert(rnd.randrange(len(records)), records[place])
        elif what < 0.95:
            records[place] = msgspec.structs.replace(records[place], kind=rnd.choice(records).kind)
        elif len(records) > 1:
            del records[place]
    prev, chained = first(log.turn), list[Record]()
    for seq, one in enumerate(records, 1):
        name = record_hash(log.turn, seq, one.kind, one.at, one.body, prev, one.commands)
        chained.append(msgspec.structs.replace(one, seq=seq, prev=prev, hash=name))
        prev = name
    head = Head(turn=log.turn, seq=len(chained), hash=prev)
    return msgspec.structs.replace(
        log, records=tuple(chained), seq=len(chained), head=head, anchor=None, signed=False, key="", status="closed", defects=(),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_whatever_records_say_nothing_is_raised(seed: int, logs) -> None:
    rnd = Random(seed)
    collection = open_collection(logs)
    sound = [
        item.log
        for shard in collection.shards()
        for item in shard.read()
        if isinstance(item, Turn) and verify_log(item.log).ok
    ]
    now = today(Catalog().with_contracts(collection.contracts() or ()))
    parts = RunParts(
        base=now.rules, rules=now.rules, catalog=now.catalog, known=AsRecorded(), proposing=AsRecorded(), today=None, told={}, one_process=True,
    )  # fmt: skip
    made = Gathering()
    for number in range(60):
        log = mutated(rnd, rnd.choice(sound))
        drift_of(log, now)
        made.add(Seen.of(log))
        case = make_case(log)
        unmet(case.expect, log)
        if number % 3 == 0:
            try_case(case, parts)
            evaluate_turn(parts, Turn(log=log), Prices.shipped())
            try:
                fork(log, 1, parts, args={"path": "q"})
            except RecordFault as fault:
                assert fault.code
    assert made.report().turns == 60
    assert html_of(made.report())
