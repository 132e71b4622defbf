"""What a success admits: the table of architecture section 8, and the names of what holds an entry back.

Law: pure. One success may make an `l0` entry and an `l1` entry; each has its row of the table, and what stays out has
a reason of `HELD`. A literal that nobody said never enters `l1` on one success alone, an effect never without a person.

| entry | admitted when |
|---|---|
| `l0`, any plan | one success, unless `standing` holds something against it |
| `l1`, read-only, every literal a slot or a contract default | one success |
| `l1`, read-only, otherwise | two successes with different slot values that agree |
| `l1`, with effects | a person said `good`, besides the read-only row that applies |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from metnos.cache import key as keying
from metnos.cache.entry import Depends, Entry
from metnos.cache.model import Asking
from metnos.cache.standing import AGAINST, judge
from metnos.cache.validity import families_of, place_digest, tools_of
from metnos.request.model import Request

if TYPE_CHECKING:
    from metnos.cache.entry import Grade
    from metnos.cache.validity import World

Other = Literal[
    "unknown-words",  # `l1`: not every word of the request is explained
    "second-needed",  # `l1`: a literal that nobody said; waits for a second success that agrees
    "good-needed",  # `l1`: an effect; waits for `metnos feedback TURN good`
    "not-general",  # `l1`: a value that could come from two slots, or from half a word
    "disagreed",  # `l1`: a second success gave another plan
    "negative-feedback",  # a person said that this plan was bad here
    "store-unusable",
    "attachments",
    "open-dialog",
    "unresolved-device",
    "no-cache",
    "not-the-first",  # the plan went on from earlier steps or answers of its turn
]
HELD: tuple[str, ...] = (*AGAINST, *get_args(Other))


class Lesson(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that succeeded with a plan that was proposed for it."""

    request: Request
    plan: dict[str, Any]
    """As it was accepted."""
    asking: Asking
    turn: str
    cost: dict[str, int] = {}
    evidence: Literal["success", "feedback"] = "success"


def entries_for(lesson: Lesson, world: World) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """The entries that this success makes by itself, and what holds others back."""
    standing = judge(lesson.request, lesson.plan, world.catalog, lesson.asking.place)
    if standing.against:
        return (), (standing.against,)
    place = place_digest(lesson.asking.place) if standing.placed else ""
    return (l0_entry(lesson, world, place),), ()


def l0_entry(lesson: Lesson, world: World, place: str) -> Entry:
    """The entry for this very request: in the loose grade if all that the plan does is read."""
    request, only_reads = lesson.request, is_read_only(lesson.plan, world)
    grade: Grade = "loose" if only_reads else "strict"
    return Entry(
        layer="l0",
        scope=lesson.asking.owner,
        language=request.language,
        grade=grade,
        form=keying.form_of(request, grade),
        kinds=keying.kinds_of(request),
        values=tuple(keying.said(request, grade)),
        plan=lesson.plan,
        read_only=only_reads,
        depends=depends_of(request, lesson, world, place),
        evidence=lesson.evidence,
        turns=(lesson.turn,),
        cost=lesson.cost,
        admitted_at=lesson.asking.now,
    )


def depends_of(request: Request, lesson: Lesson, world: World, place: str) -> Depends:
    """What is compared at each use."""
    families = families_of(request)
    return Depends(
        executors={name: world.executor(name) for name in tools_of(lesson.plan)},
        families=families,
        family=world.family(families, world.unavailable()),
        rules=world.rules,
        policy=world.policy,
        lexicon=world.lexicon,
        channel=lesson.asking.channel,
        place=place,
    )


def is_read_only(plan: dict[str, Any], world: World) -> bool:
    """Whether no tool of the plan can do anything but read, whatever it is called with."""
    for name in tools_of(plan):
        contract = world.catalog.get(name)
        if contract is None or any(rule.effect != "read" for rule in contract.effects):
            return False
    return True


__all__ = ["HELD", "Lesson", "depends_of", "entries_for", "is_read_only", "l0_entry"]
