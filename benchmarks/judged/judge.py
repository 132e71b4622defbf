"""The judge: what a turn left behind and what it said, held against what was expected.

Law: it sees the tree before and after and the answer as a person reads it. It never looks at a plan.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Literal

import msgspec

from benchmarks.judged.tree import folders, look

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.judged.cases import Case, Expected, Left

Verdict = Literal["right", "wrong", "asked", "refused", "failed"]
DONE = ("success", "partial")
DECLINED = ("not_understood", "plan_rejected", "tool_hallucination", "policy_denied")


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one request."""

    verdict: Verdict
    """`right`: as expected, a refusal or a question included. Else what happened: `wrong` (done, and not what was asked
    for), `asked`, `refused`, `failed` (an error that the person is told)."""
    unrequested: tuple[str, ...] = ()
    """Files that were changed, made or removed though nobody asked for that."""
    why: tuple[str, ...] = ()


def happened(outcome: str, *, suspended: bool) -> Verdict:
    """In a word, whether it is right or not."""
    if suspended:
        return "asked"
    if outcome in DONE:
        return "wrong"  # until it is found to be right
    return "refused" if outcome in DECLINED else "failed"


def judge(case: Case, before: dict[str, bytes], folder: Path, answer: str, came: Verdict) -> Judged:
    """Judge one turn.

    Args:
        case: The request.
        before: The tree as it was: path → content.
        folder: The tree as it is.
        answer: All that the person was told.
        came: What `happened` says of the turn.
    """
    after = {path: place.read_bytes() for path, place in look(folder).items()}
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    if case.declines:
        right = (came == "refused" and "refuse" in case.declines) or (came == "asked" and "ask" in case.declines)
        return Judged(verdict="right" if right and not changed else came, unrequested=tuple(sorted(changed)))
    expected = case.expected
    unrequested = tuple(sorted(changed - expected.files.keys()))
    if came != "wrong":
        return Judged(verdict=came, unrequested=unrequested)
    faults = [
        *_files(expected, before, after),
        *[f"no folder {one}" for one in expected.folders if one not in folders(folder)],
        *_said(expected, before, after, answer),
        *[f"unrequested: {one}" for one in unrequested],
    ]
    return Judged(verdict="wrong" if faults else "right", unrequested=unrequested, why=tuple(faults))


def _files(expected: Expected, before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    return [
        f"{path} is not as asked"
        for path, left in expected.files.items()
        if not (
            _is(left, before, after[path]) if left is not None and path in after else left is None and path not in after
        )
    ]


def _is(left: Left, before: dict[str, bytes], data: bytes) -> bool:
    if left.same_as is not None:
        return data == before.get(left.same_as)
    text = data.decode("utf-8", "replace")
    if left.content is not None:
        return text.rstrip("\n") == left.content
    plain = _ungrouped(text)
    return all(one in text or one in plain for one in left.contains) and not any(one in text for one in left.lacks)


def _said(expected: Expected, before: dict[str, bytes], after: dict[str, bytes], answer: str) -> list[str]:
    low, plain = answer.casefold(), _ungrouped(answer)
    faults = [f"the answer lacks {one!r}" for one in expected.texts if one.casefold() not in low]
    faults += [f"the answer says {one!r}" for one in expected.lacks if one.casefold() in low]
    faults += [
        f"the answer lacks {one}" for one in expected.numbers if not re.search(rf"(?<![\d.]){one}(?![\d])", plain)
    ]
    for path, algorithm in expected.digests.items():
        if hashlib.new(algorithm, before[path]).hexdigest() not in answer:
            faults.append(f"the answer lacks the {algorithm} of {path}")
    if expected.names:
        known = {path.rpartition("/")[2] for path in (*before, *after)}
        told = {name for name in known if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", answer)}
        faults += [f"the answer does not name {one}" for one in sorted(set(expected.names) - told)]
        faults += [f"the answer names {one}" for one in sorted(told - {*expected.names, *expected.may_name})]
    if expected.ordered and not faults:
        places = [low.index(one.casefold()) for one in (expected.names or expected.texts)]
        faults += ["not in this order"] if places != sorted(places) else []
    return faults


def _ungrouped(text: str) -> str:
    """Without marks between groups of three digits, and trailing zeros of a fraction (`44.0`)."""
    joined = re.sub(r"(?<=\d)[,.'\u00a0\u202f](?=\d{3}(?!\d))", "", text)
    return re.sub(r"(?<=\d)\.0+(?!\d)", "", joined)
