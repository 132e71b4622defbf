"""What a proposer gave, read: an object, JSON, line notation, either of them in a fenced block among other words.

Law: what is of no such type is the proposer's failure and raises; text that is no plan is a rejected plan: its
diagnostics go back to the model, once, like those of any other.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from metnos.plan.diagnostics import Diagnostic
from metnos.plan.reading import read_text
from metnos.propose.model import Proposal
from metnos.request.model import Act

LONGEST: Final = 16_384
"""Characters of an unreadable reply that are kept."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
TAKEN: Final = "an object with `steps`, JSON or line notation as text, or a Proposal"


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A plan object, or why there is none; and what it cost."""

    plan: Any = None
    """As given, not yet known to be JSON; None if `diagnostics` say why."""
    diagnostics: tuple[Diagnostic, ...] = ()
    written: str = ""
    """What could not be read."""
    model: str = ""
    usage: dict[str, int]
    unsure: bool = False
    acts: tuple[Act, ...] = ()


def read_reply(given: Any) -> Reply:
    """Read what a proposer returned.

    Raises:
        TypeError: It is neither a plan nor text.
    """
    proposal = given if isinstance(given, Proposal) else None
    plan = proposal.plan if proposal is not None else given
    usage = proposal.usage if proposal is not None else {"planning_calls": 1}
    model = as_utf8(proposal.model) if proposal is not None else ""
    unsure = proposal is not None and proposal.unsure
    acts: tuple[Act, ...] = proposal.acts if proposal is not None else ()
    if isinstance(plan, dict):
        return Reply(plan=plan, model=model, usage=usage, unsure=unsure, acts=acts)
    if not isinstance(plan, str | bytes):
        raise TypeError(f"the proposer returned {type(plan).__name__}, not {TAKEN}")
    body, faults = _read(plan)
    if body is not None:
        return Reply(plan=body, model=model, usage=usage, unsure=unsure, acts=acts)
    return Reply(diagnostics=faults, written=_shown(plan), model=model, usage=usage, acts=acts)


def _read(written: str | bytes) -> tuple[dict[str, Any] | None, tuple[Diagnostic, ...]]:
    try:
        text = written if isinstance(written, str) else written.decode("utf-8")
        text.encode("utf-8")
    except UnicodeDecodeError as fault:
        return None, (Diagnostic(code="not-utf8", where="", found=f"byte {fault.start}"),)
    except UnicodeEncodeError as fault:
        return None, (Diagnostic(code="lone-surrogate", where="", found=f"character {fault.start}"),)
    blocks = fenced(text)
    if len(blocks) > 1:
        found = f"{len(blocks)} blocks"
        return None, (Diagnostic(code="several-blocks", where="", found=found, expected="one block, or none"),)
    return read_text(blocks[0] if blocks else text)


def fenced(text: str) -> list[str]:
    """What stands in fenced blocks (three or more backquotes or tildes); one that is not closed goes to the end."""
    blocks: list[str] = []
    inside: list[str] = []
    mark = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if not mark:
            if found:
                mark, inside = found[1], []
        elif found and found[1].startswith(mark) and not line.strip(" \t" + mark[0]):
            blocks.append("\n".join(inside))
            mark = ""
        else:
            inside.append(line)
    return [*blocks, "\n".join(inside)] if mark else blocks


def _shown(written: str | bytes) -> str:
    text = written[:LONGEST] if isinstance(written, str) else written[: 4 * LONGEST].decode("utf-8", "replace")
    return as_utf8(text)[:LONGEST]


def as_utf8(text: str) -> str:
    """Half a surrogate pair as a question mark: the log is UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")
