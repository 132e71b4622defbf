"""Where the slots of a request stand in a passage of text, and every way to read it.

Law: a place is a whole word, never a part of one ("5" in "15", "2024" in a date), and it belongs to one slot. Where two
slots meet, or where what stands there might be a word of the sentence ("files" in 'all files with "files"'), the slots
are in conflict, and the caller gives them up. All readings of a place are kept: which one is meant shows later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from metnos.cache.generalise.conversions import exact_spans, forms
from metnos.cache.generalise.shape import words_of
from metnos.cache.generalise.uses import Reading
from metnos.request.lexicon import lexicon_for
from metnos.request.model import Slot

MOST_READINGS = 16
_NUMERIC = re.compile(r"[\d.,:/-]*\d[\d.,:/-]*")
_JOINS = frozenset(".,-/:_+%'’#")
_PHRASES = frozenset(("period", "date", "time", "duration", "size"))
"""Kinds whose texts are phrases: "last week" is that, wherever it stands."""
_OPENS = frozenset("{<$")


class Region(NamedTuple):
    """`text[start:end]` is one slot's."""

    start: int
    end: int
    slot: int
    readings: tuple[Reading, ...]


class _Span(NamedTuple):
    start: int
    end: int
    slot: int
    conversion: str
    order: int


class Tiling(NamedTuple):
    regions: tuple[Region, ...]
    """In order of the text, apart from each other."""
    conflicts: frozenset[int]
    """Slots that stand where they cannot be told from something else."""


def tile(text: str, slots: Mapping[int, Slot], language: str) -> Tiling:
    """Every place of `slots` (by index) in `text`."""
    spans: list[_Span] = []
    conflicts: set[int] = set()
    for index, slot in slots.items():
        spans += _best(list(_spans(text, index, slot, language)))
    for span in spans:
        phrase = text[span.start : span.end]
        told = slots[span.slot].kind in _PHRASES and " " in phrase
        if not told and _is_wordlike(phrase, language) and not _is_inside(span, spans):
            conflicts.add(span.slot)
        if text[span.start - 1 : span.start] == "$" or text[span.end : span.end + 1] in _OPENS:
            conflicts.add(span.slot)
    for left in spans:
        conflicts.update(
            right.slot
            for right in spans
            if left.slot != right.slot and left.start < right.end and right.start < left.end
        )
    regions: list[Region] = []
    for cluster in _clusters([span for span in spans if span.slot not in conflicts]):
        readings = _readings(text, cluster)
        if len(readings) > MOST_READINGS:
            conflicts.add(cluster[0].slot)
        if regions and regions[-1].end == cluster[0].start:
            conflicts |= {regions[-1].slot, cluster[0].slot}  # "5$" and "{x}" side by side would be read as one thing.
        regions.append(Region(cluster[0].start, max(span.end for span in cluster), cluster[0].slot, readings))
    return Tiling(tuple(region for region in regions if region.slot not in conflicts), frozenset(conflicts))


def _spans(text: str, index: int, slot: Slot, language: str) -> Iterator[_Span]:
    for form in forms(slot, language, prose=True):
        if isinstance(form.literal, str):
            for found in re.finditer(re.escape(form.literal), text):
                if _is_whole(text, found.start(), found.end()):
                    yield _Span(found.start(), found.end(), index, form.name, form.order)
    if slot.kind == "size":
        for start, end, name in exact_spans(slot, text):
            yield _Span(start, end, index, name, 1)


def _best(spans: list[_Span]) -> list[_Span]:
    """Without those of a later order that overlap an earlier one's, and without parts of the value itself."""
    values = [span for span in spans if span.conversion == "value"]
    first = [
        span
        for span in spans
        if span.order == 1
        and not any(
            value.start <= span.start and span.end <= value.end and span.end - span.start < value.end - value.start
            for value in values
        )
    ]
    later = [
        span
        for span in spans
        if span.order > 1 and not any(span.start < other.end and other.start < span.end for other in first)
    ]
    return sorted(first + later)


def _is_whole(text: str, start: int, end: int) -> bool:
    """Letters and digits do not go on beside it; a number is not joined to another either."""
    strict = _NUMERIC.fullmatch(text, start, end) is not None
    return _ends(text, start, -1, strict) and _ends(text, end - 1, 1, strict)


def _ends(text: str, at: int, step: int, strict: bool) -> bool:
    beside = at + step
    if not 0 <= beside < len(text):
        return True
    if text[at].isalnum() and text[beside].isalnum():
        return False
    if not strict or text[beside] not in _JOINS:
        return True
    if step < 0 and text[beside] in "+-":
        return False
    beyond = beside + step
    return not (0 <= beyond < len(text) and text[beyond].isalnum())


def _is_wordlike(text: str, language: str) -> bool:
    """Whether this could be words of the sentence itself."""
    if not all(character.isalnum() or character in " -" for character in text):
        return False
    if len(text) == 1 and not text.isdigit():
        return True
    known = lexicon_for(language).words
    words = words_of(text)
    return not text.isdigit() and all(word in known for word in words)


def _is_inside(span: _Span, spans: Sequence[_Span]) -> bool:
    """Within a longer place of the same slot: in its quotes, say."""
    return any(
        other.slot == span.slot
        and other.start <= span.start
        and span.end <= other.end
        and other.end - other.start > span.end - span.start
        for other in spans
    )


def _clusters(spans: list[_Span]) -> Iterator[list[_Span]]:
    """Spans that hang together by overlap."""
    cluster: list[_Span] = []
    end = -1
    for span in sorted(spans):
        if cluster and span.start >= end:
            yield cluster
            cluster, end = [], -1
        cluster.append(span)
        end = max(end, span.end)
    if cluster:
        yield cluster


def _readings(text: str, cluster: list[_Span]) -> tuple[Reading, ...]:
    """Every way to read the cluster to which no further place could be added."""
    start, end = cluster[0].start, max(span.end for span in cluster)
    found: list[Reading] = []
    todo: list[tuple[int, Reading]] = [(start, ())]
    while todo and len(found) <= MOST_READINGS:
        at, reading = todo.pop()
        ahead = [span for span in cluster if span.start >= at]
        if not ahead:
            found.append((*reading, text[at:end]))
            continue
        first_end = min(span.end for span in ahead)
        todo += [
            (span.end, (*reading, text[at : span.start], span.conversion)) for span in ahead if span.start < first_end
        ]
    return tuple(sorted(set(found)))
