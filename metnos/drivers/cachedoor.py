"""The plan cache as an engine shows it: explained, listed, verified, pruned, and told that a plan was good or bad.

Law: asks the cache and the log; decides nothing. Feedback is about a recorded turn: request and plan come from its log,
which must hold, and the word of a person goes to the cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from metnos.cache.model import Asking, Match, Miss, Place
from metnos.drivers.opening import require_short
from metnos.drivers.slash import SOURCE, command_of
from metnos.drivers.tilde import as_said
from metnos.text import message

if TYPE_CHECKING:
    from metnos.cache.entries.entry import Entry
    from metnos.cache.model import Explanation, Learned
    from metnos.cache.templates.template import Source
    from metnos.cache.tending import EntryView, Stats, Verified
    from metnos.contracts.catalog import Catalog
    from metnos.drivers.parts import Parts
    from metnos.request.model import Request

Verdict = Literal["good", "bad"]


class NoFeedback(Exception):
    """A turn that nothing can be said about: no sentence, no plan, or not finished."""

    def __init__(self, turn: str, message: str) -> None:
        super().__init__(message)
        self.code = "no-feedback"
        self.where = turn
        self.message = message
        self.hint = "feedback is about a sentence that a plan was found for"


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of what was said, and the one reason why it is there."""

    text: str
    reason: str


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """Why a request would hit or miss now."""

    request: str
    language: str
    normal_form: str
    loose_form: str
    tokens: tuple[Token, ...]
    slots: tuple[dict[str, Any], ...]
    tried: tuple[dict[str, Any], ...]
    """Each key that was looked under: layer, grade, key, entry, `served` or the reason."""
    served: str = ""
    """Layer that serves it; empty: none does."""
    entry: str = ""
    reason: str = ""
    """Why none does."""
    detail: str = ""
    plan: dict[str, Any] | None = None


class CacheDoor:
    """The cache of one engine, for its owner."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def explain(self, text: str, language: str | None = None) -> Explained:
        """Every token of a request, every key that it has, what stands there, and what a turn would be served now.

        Raises:
            CommandFault: It begins as a slash command, and is none.
            RequestFault: It is too long.
        """
        require_short(text)
        command = command_of(text)
        request = self._parts.rules.normalise(text, language or self._parts.context.language)
        found = explained(self._parts.plan_cache.explain(request, self._asking(request)))
        if command is None:
            return found
        entry = f"/{command.word.name}"
        return msgspec.structs.replace(
            found, served=SOURCE, entry=entry, reason="", detail="", plan=None, tried=()
        )  # fmt: skip

    def entries(self, tool: str = "", catalog: Catalog | None = None) -> list[EntryView]:
        """What was learned, oldest first.

        Args:
            tool: Only entries that name it; empty: all.
            catalog: Tell the state that they would have under these tools; None: under the engine's.
        """
        return list(self._parts.plan_cache.tending.entries(self._asking(), tool, catalog))

    def templates(self, tool: str = "", catalog: Catalog | None = None) -> list[EntryView]:
        """The publisher's templates, each with who signed it. Arguments as for `entries`."""
        from metnos.cache.tending import template_views

        parts = self._parts
        return list(template_views(parts.library, parts.plans.signers, catalog or parts.catalog, tool))

    def show(self, reference: str) -> Entry | Source | None:
        """The whole entry or template of a reference or of its beginning; None: there is none, or more than one."""
        learned = self._parts.plan_cache.tending.show(reference, self._asking())
        if learned is not None or not reference:
            return learned
        known = self._parts.library.listed
        found = [one for one in known if reference in (one.template.id, one.reference)]
        found = found or [one for one in known if one.reference.startswith(reference)]
        return found[0].template.source if len(found) == 1 else None

    def verify(self) -> Verified:
        """Look at every row anew; what does not hold goes into quarantine."""
        return self._parts.plan_cache.tending.verify(self._parts.ports.clock())

    def prune(self, *, older: int | None = None, everything: bool = False) -> int:
        """Take away what will not be served again, besides what is so many days old, or all; how many rows went."""
        return self._parts.plan_cache.tending.prune(self._asking(), older=older, everything=everything)

    def stats(self) -> Stats:
        """How full it is, and how often it served."""
        return self._parts.plan_cache.tending.stats()

    def feedback(self, turn: str, verdict: Verdict) -> Learned:
        """What a person says of a turn's plan.

        Raises:
            RecordFault: No such turn of this engine's owner, or its log does not hold.
            NoFeedback: It has no sentence, no plan, or did not end well enough to be called good.
            ValueError: `verdict` is neither `good` nor `bad`.
        """
        from metnos.cache.admission import Lesson
        from metnos.drivers.undoing import trusted_view

        if verdict not in get_args(Verdict):
            raise ValueError(f"{verdict!r} is no verdict: say good or bad")
        view = trusted_view(self._parts, turn)
        if not view.request or view.plan is None or view.mode != "ask" or view.plan_source == SOURCE:
            raise NoFeedback(turn, "this turn has no sentence that a plan was found for")
        if verdict == "good" and view.outcome != "success":
            raise NoFeedback(turn, f"this turn ended `{view.outcome or view.status}`: only what succeeded is good")
        opened = self._opened(turn)
        request = self._parts.rules.normalise(view.request, opened.language)
        asking = msgspec.structs.replace(
            self._asking(request),
            owner=opened.owner,
            channel=opened.channel,
            place=Place(folder=opened.folder, home=opened.home, roots=opened.roots),
        )
        plan = as_said(view.plan, request, self._parts.catalog, opened.home)
        lesson = Lesson(request=request, plan=plan, asking=asking, turn=turn, evidence="feedback")
        return self._parts.plan_cache.feedback(lesson, good=verdict == "good")

    def _opened(self, turn: str) -> Any:
        from metnos.record.replay import fold

        return fold(self._parts.journal.load(turn))[0]

    def _asking(self, request: Request | None = None) -> Asking:
        from pathlib import Path

        context = self._parts.context
        return Asking(
            owner=context.owner,
            channel=context.channel,
            language="en" if request is None else request.language,
            now=self._parts.ports.clock(),
            place=Place(folder=context.folder, home=str(Path.home()), roots=context.roots),
        )


def feedback_lines(learned: Learned, verdict: Verdict, language: str | None) -> list[str]:
    """What is said to who gave feedback."""
    if verdict == "bad":
        return [message("feedback.bad", language)]
    said = [message("feedback.good", language, count=len(learned.admitted))]
    return said + [message("feedback.held", language, reason=reason) for reason in learned.held]


def explained(found: Explanation) -> Explained:
    """An explanation as plain data."""
    request, result = found.request, found.result
    tried = tuple(
        {
            "layer": one.layer,
            "grade": one.grade,
            "key": one.key,
            "entry": one.entry,
            "result": "not-seen" if one.result is None else told(one.result),
            "detail": one.result.detail if isinstance(one.result, Miss) else "",
        }
        for one in found.tried
    )
    served = isinstance(result, Match)
    return Explained(
        request=request.text,
        language=request.language,
        normal_form=request.normal_form,
        loose_form=request.loose_form or request.normal_form,
        tokens=tuple(
            Token(text=request.text[s.start : s.end], reason=s.reason) for s in request.spans if s.reason != "space"
        ),
        slots=tuple({"kind": slot.kind, "text": slot.text, "value": slot.value} for slot in request.slots),
        tried=tried,
        served=result.layer if served else "",
        entry=result.entry if served else "",
        reason="" if served else result.reason,
        detail="" if served else result.detail,
        plan=result.plan if served else None,
    )


def told(found: Match | Miss) -> str:
    """`served`, or the reason."""
    return "served" if isinstance(found, Match) else found.reason
