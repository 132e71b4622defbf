"""A case tried: its recorded turn driven offline with the rules and tools of today, and held against what is expected.

Law: nothing is run. What the record does not answer is an unmet expectation with its place. The words of an answer are
those of the record; whether they would be the same is told by what they are made from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.evaluate.cases.files import log_of
from metnos.evaluate.cases.judging import unmet
from metnos.evaluate.cases.model import Case, Unmet
from metnos.evaluate.running.driving import Drive
from metnos.evaluate.running.recorded import Recorded, answer_of

if TYPE_CHECKING:
    from pathlib import Path

    from metnos.evaluate.running.parts import RunParts
    from metnos.settings import Settings


def parts_beside(folder: Path, settings: Settings) -> RunParts:
    """Nothing swapped; the contracts that lie beside the cases of a folder, else those of this installation.

    Raises:
        RecordFault: `contracts-malformed`.
    """
    from metnos.evaluate.collections.contracts import contracts_beside
    from metnos.evaluate.running.parts import open_parts
    from metnos.evaluate.running.runfile import Turns, run_of

    return open_parts(run_of(Turns(path="-")), settings, contracts_beside(folder))


def try_case(case: Case, parts: RunParts) -> tuple[Unmet, ...]:
    """Every expectation that is not met; none: the case holds.

    Args:
        case: With its turn.
        parts: What it is tried with; `known` and `proposing` as recorded, unless a change of them is what is tried.

    Raises:
        RecordFault: `case-invalid`, `turnlog-malformed`: it holds no turn.
    """
    log = log_of(case)
    try:
        recorded = Recorded(log, parts.base)
        if recorded.replayed.status == "broken":
            return (Unmet(what="broken", found=f"{recorded.replayed.kind}: {recorded.replayed.detail}"),)
        driven = Drive(parts.rules, recorded, parts.known, parts.proposing).run()
    except Exception as fault:  # noqa: BLE001 - whatever today's rules raise on what a record holds is what came of it
        return (Unmet(what="broken", found=f"{type(fault).__name__}: {fault}"),)
    found = list(unmet(case.expect, driven.log))
    if driven.unobserved:
        found.insert(0, Unmet(what="unobserved", step=driven.unobserved, found=driven.unobserved_call))
    if driven.unanswered:
        found.insert(0, Unmet(what="unanswered", found=driven.unanswered))
    told = answer_of(driven.spy) if driven.spy.close is not None else None
    same = case.expect.answer is None or recorded.answer is None or told in (None, recorded.answer)
    if not same and not any(one.what == "answer" for one in found):
        found.append(Unmet(what="answer", expected="made from the recorded data", found="made from other data"))
    return tuple(found)
