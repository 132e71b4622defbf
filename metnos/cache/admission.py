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

from metnos.cache.entries import key as keying
from metnos.cache.entries.entry import Depends, Entry
from metnos.cache.entries.validity import families_of, place_digest, tools_of
from metnos.cache.generalise.general import generalise, is_read_only
from metnos.cache.generalise.uses import General, NotGeneral
from metnos.cache.model import Asking
from metnos.cache.standing import AGAINST, judge
from metnos.request.model import Request

if TYPE_CHECKING:
    from metnos.cache.entries.entry import Evidence, Grade
    from metnos.cache.entries.validity import World

Other = Literal[
    "unknown-words",  # `l1`: an effect, and not every word of the request is explained
    "second-needed",  # `l1`: a literal that nobody said; waits for a second success that agrees
    "good-needed",  # `l1`: an effect; waits for `metnos feedback TURN good`
    "unfit",  # a plan that no cache may hold: it ends in a question, holds a secret's handle, and the like
    "disagreed",  # `l1`: a second success gave another plan
    "negative-feedback",  # a person said that this plan was bad here
    "store-unusable",
    "attachments",
    "open-dialog",
    "unresolved-device",
    "no-cache",
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


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What one success says by itself."""

    l0: Entry | None = None
    general: General | None = None
    """The plan with its slots open, where `l1` is a question at all."""
    admits: bool = False
    """Whether `general` is admitted by this success alone."""
    placed: str = ""
    held: tuple[str, ...] = ()


def decide(lesson: Lesson, world: World) -> Decision:
    """Which entries this success makes, and what holds others back."""
    request, plan = lesson.request, lesson.plan
    standing = judge(request, plan, world.catalog, lesson.asking.place)
    if standing.against:
        return Decision(held=(standing.against,))
    general = generalise(request, plan, world.catalog)
    if isinstance(general, NotGeneral):
        return Decision(held=("time-bound" if general.reason == "moment" else "unfit",))
    place = place_digest(lesson.asking.place) if standing.placed else ""
    entry = l0_entry(lesson, world, place)
    if not general.uses:
        return Decision(l0=entry, placed=place)
    if not general.read_only and request.explanation.has_unknown():
        return Decision(l0=entry, placed=place, held=("unknown-words",))
    if not general.read_only and lesson.evidence != "feedback":
        return Decision(l0=entry, placed=place, held=("good-needed",))
    return Decision(l0=entry, general=general, admits=not general.free_literals, placed=place)


def l0_entry(lesson: Lesson, world: World, place: str) -> Entry:
    """The entry for this very request: in the loose grade if all that the plan does is read."""
    request, only_reads = lesson.request, is_read_only(lesson.plan, world.catalog)
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


def l1_entry(
    lesson: Lesson, general: General, world: World, place: str, evidence: Evidence, turns: tuple[str, ...]
) -> Entry:
    """The entry for every request of this form."""
    request = lesson.request
    grade: Grade = "loose" if general.read_only else "strict"
    return Entry(
        layer="l1",
        scope=lesson.asking.owner,
        language=request.language,
        grade=grade,
        form=keying.form_of(request, grade),
        kinds=keying.kinds_of(request),
        values=tuple(keying.fixed_of(request.slots, sorted(general.fixed))),
        plan=general.plan,
        general={name: value for name, value in msgspec.to_builtins(general, str_keys=True).items() if name != "plan"},
        read_only=general.read_only,
        depends=depends_of(request, lesson, world, place),
        evidence=evidence,
        turns=turns,
        cost=lesson.cost,
        admitted_at=lesson.asking.now,
    )


def general_of(entry: Entry) -> General:
    """The general plan that an `l1` entry holds.

    Raises:
        ValidationError: of msgspec, it holds none.
    """
    return msgspec.convert({**(entry.general or {}), "plan": entry.plan}, General, str_keys=True)


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


__all__ = ["HELD", "Decision", "Lesson", "decide", "depends_of", "general_of", "l0_entry", "l1_entry"]
