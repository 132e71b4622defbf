"""What of a collection could not be read, in lines for a person: the same wherever it is told. Pure.

Law: the first few by their place, in the order of their places, and how many more there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.text import message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metnos.evaluate.collections.model import Fault

SHOWN: Final = 5


def unread_lines(
    count: int, named: Sequence[Fault], language: str | None, heading: str = "replays.unread"
) -> Iterator[str]:
    """The lines; none, if all could be read.

    Args:
        count: Of all.
        named: The first of them.
        language: Of the heading.
        heading: Key of its text; empty: what was counted is told already.
    """
    if count and heading:
        yield message(heading, language, count=count)
    for fault in named[:SHOWN]:
        yield f"  {fault.where}: {fault.code}: {fault.detail}".rstrip()
    more = count - len(named[:SHOWN])
    if more > 0:
        yield f"  {message('unread.more', language, count=more)}"
