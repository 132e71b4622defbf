"""Logs that earlier releases wrote are read, verified and replayed as they are, for ever; new ones behave as they say."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import UNSET
from msgspec import inspect as look

from metnos.contracts.catalog import Admitted, Catalog
from metnos.drivers.rules import make_rules
from metnos.evaluate.collections.contracts import contracts_beside, encode_contracts
from metnos.evaluate.collections.turnlog import decode_turn, encode_turn
from metnos.record import codec
from metnos.record.faults import RecordFault
from metnos.record.model import TurnLog
from metnos.record.replay import fold, replay
from metnos.record.verify import verify_log
from metnos.turn import logic
from metnos.turn.commands import AnyCommand
from metnos.turn.facts import AnyFact
from metnos.turn.inputs import AnyInput, TurnOpened
from metnos.turn.turn import Machine, ProtocolError

LOGS = Path(__file__).parent / "logs"
SAME = ("identical", "", 0)
EXPECTED: dict[str, tuple[str, str, int]] = {
    "0.1/approved": SAME,
    "0.1/failed": SAME,
    "0.1/large-result": SAME,
    "0.1/proposed": SAME,
    "0.1/refused": SAME,
    "0.1/rejected": SAME,
    "0.1/resumed": SAME,
    "0.1/suspended": SAME,
    "0.1/template": SAME,
    "0.1/written": SAME,
    "0.1/diverged-commands": ("diverged", "commands", 1),
    "0.1/diverged-fact": ("diverged", "turn_closed", 6),
    "0.1/diverged-input": ("diverged", "step_finished", 6),
    "0.1/diverged-policy": ("diverged", "policy_decided", 3),
    "0.1/broken-altered": ("broken", "record-altered", 4),
    "0.1/broken-cut-off": ("broken", "log-cut-off", 15),
}
"""Log → what its replay says. The machine may never change a line of this: what it does otherwise needs a flag of
`turn.logic`. A *rule* may (a guard that refuses what was accepted): then the line changes, with a word why."""


@functools.cache
def rules(release: str) -> Any:
    """Today's rules over the contracts of that release."""
    contracts = contracts_beside(LOGS / release)
    assert contracts
    return make_rules(Catalog(Admitted(contract=one) for one in contracts))


def log(name: str) -> TurnLog:
    return decode_turn((LOGS / f"{name}.jsonl").read_bytes()).log


def test_every_recorded_log_is_expected():
    assert {str(path.relative_to(LOGS).with_suffix("")) for path in LOGS.rglob("*.jsonl")} == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_log_of_an_earlier_release_replays_as_ever(name):
    found = replay(log(name), rules(name.partition("/")[0]))
    assert (found.status, found.kind, found.seq) == EXPECTED[name], found


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_it_gives_its_own_bytes_again(name):
    line = (LOGS / f"{name}.jsonl").read_bytes()
    assert encode_turn(decode_turn(line).log) + b"\n" == line


@pytest.mark.parametrize("name", [name for name, said in EXPECTED.items() if said == SAME])
def test_an_altered_byte_anywhere_is_found(name):
    whole = log(name)
    for place, record in enumerate(whole.records):
        altered = msgspec.structs.replace(record, body=record.body.replace(b'"', b'" ', 1))
        records = (*whole.records[:place], altered, *whole.records[place + 1 :])
        found = verify_log(msgspec.structs.replace(whole, records=records))
        assert (found.code, found.seq) == ("record-altered", record.seq)


def test_the_contracts_beside_give_their_own_bytes_again():
    for path in LOGS.rglob("contracts.json"):
        assert encode_contracts(contracts_beside(path.parent) or ()) == path.read_bytes()


# --- fields and flags that come later ------------------------------------------------------------------------------


def fields_of(*unions: Any) -> dict[str, list[str]]:
    """Struct → its fields, of every struct that can be inside one of `unions`."""
    found: dict[str, list[str]] = {}

    def walk(kind: Any) -> None:
        if isinstance(kind, look.StructType):
            if kind.cls.__name__ not in found:
                found[kind.cls.__name__] = [field.name for field in kind.fields]
                for field in kind.fields:
                    walk(field.type)
            return
        for name in getattr(kind, "__struct_fields__", ()):
            inner = getattr(kind, name)
            for one in inner if isinstance(inner, tuple) else (inner,):
                if isinstance(one, look.Type):
                    walk(one)

    for union in unions:
        walk(look.type_info(union))
    return dict(sorted(found.items()))


def struct_called(name: str) -> type[msgspec.Struct]:
    kinds: list[type[msgspec.Struct]] = [msgspec.Struct]
    for kind in kinds:
        kinds += [one for one in kind.__subclasses__() if one not in kinds]
    return next(one for one in kinds if one.__name__ == name and one.__module__.startswith("metnos."))


def test_no_field_is_gone_and_each_that_came_is_told_of():
    """`logs/0.1/fields.json` is what release 0.1 wrote; it never changes."""
    now = fields_of(AnyInput, AnyFact, AnyCommand)
    before: dict[str, list[str]] = json.loads((LOGS / "0.1" / "fields.json").read_bytes())
    for name, fields in before.items():
        assert set(fields) <= set(now[name]), name
        for added in sorted(set(now[name]) - set(fields)):
            assert added in logic.ADDED.get(name, {}), f"{name}.{added} is in no line of turn.logic.ADDED"
    for name, fields in logic.ADDED.items():
        kind = struct_called(name)
        defaults = dict(zip(kind.__struct_fields__[::-1], kind.__struct_defaults__[::-1], strict=False))
        assert all(defaults[field] is UNSET for field in fields), name
        assert not set(fields) & set(before.get(name, ())), name


def test_a_turn_that_names_a_flag_says_so_and_one_that_names_none_is_written_as_ever():
    plain = TurnOpened(turn="t1", now="2026-11-30T12:00:00+01:00", request="x")
    named = msgspec.structs.replace(plain, logic={"some": 1})
    bodies = [codec.encode_input(item)[0] for item in (plain, named)]
    assert [b'"logic"' in body for body in bodies] == [False, True]
    assert [codec.decode_input(body, codec.fetch_from({})) for body in bodies] == [plain, named]


@pytest.mark.parametrize("spelt", [b'"logic":null', b'"logic":[]', b'"logic":{"a":true}', b'"later":1'])
def test_a_field_of_another_version_is_refused_and_not_dropped(spelt):
    body = codec.encode_input(TurnOpened(turn="t1", now="2026-11-30T12:00:00+01:00", request="x"))[0]
    body = body.replace(b'"mode"', spelt + b',"mode"')
    with pytest.raises(RecordFault, match="record-malformed"):
        codec.decode_input(body, codec.fetch_from({}))


def test_a_flag_that_this_version_does_not_know_is_refused(monkeypatch):
    monkeypatch.setitem(logic.FLAGS, "some", 2)
    opened = fold(log("0.1/written"))[0]
    assert isinstance(opened, TurnOpened)
    for told in ({"other": 1}, {"some": 3}, {"some": 0}, {"some": 1, "other": 1}):
        with pytest.raises(ProtocolError, match="does not know the logic"):
            Machine(rules("0.1")).receive(msgspec.structs.replace(opened, logic=told))
    known = msgspec.structs.replace(opened, logic={"some": 2})
    assert Machine(rules("0.1")).receive(known) == Machine(rules("0.1")).receive(opened)
    assert [logic.level(one, "some") for one in (UNSET, {}, {"some": 1}, {"some": 2})] == [0, 0, 1, 2]
