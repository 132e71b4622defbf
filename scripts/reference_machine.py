"""The page of the turn machine: its tables as tables, and two drawings. `reference.py` calls it.

Law: nodes and arrows come from `metnos.turn.table`; this script places them. A drawing is an arc diagram: the nodes in
one column in the order of the table, arrows that go on to their right, arrows that go back to their left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from metnos.turn.table import CLOSES, LAPSES, PHASES, STEP, TURN

ALWAYS = ("cancelled", "turn_resumed", "command_failed")
"""Inputs that may come in every phase of an open turn: in the tables, not in the drawing."""
ROW, WIDTH, BOX, CENTRE = 56, 520, 120, 170


def phases() -> Iterator[str]:
    """Phase → each input that may come, the handler that takes it, where it may lead."""
    for phase in PHASES:
        yield f"### Phase `{phase}`"
        yield ""
        if not TURN[phase]:
            yield "Nothing may come any more."
            yield ""
            continue
        yield "| input | may lead to |"
        yield "|---|---|"
        for kind, row in TURN[phase].items():
            yield f"| `{_tag(kind)}` | {_said(row.to)} |"
        yield ""


def steps() -> Iterator[str]:
    """State of a step → the states that may follow."""
    yield "| state | may become |"
    yield "|---|---|"
    for state, to in STEP.items():
        yield f"| `{state}` | {_said(to) or 'nothing: it is final'} |"


def commands() -> Iterator[str]:
    """Command → what closes it, and whether it may still be open at the close."""
    yield "| command | closed by | may be open at the close |"
    yield "|---|---|---|"
    for kind, by in CLOSES.items():
        closed = _said(_tag(each) for each in by) or "nothing: it ends the log"
        yield f"| `{_tag(kind)}` | {closed} | {'yes' if kind in LAPSES else 'no'} |"


def drawings() -> dict[str, str]:
    """File name → SVG."""
    turn: dict[str, tuple[str, ...]] = {
        phase: tuple(
            dict.fromkeys(
                to for kind, row in TURN[phase].items() if _tag(kind) not in ALWAYS for to in row.to if to != phase
            )
        )
        for phase in PHASES
    }
    step: dict[str, tuple[str, ...]] = {**STEP}
    return {"turn-phases.svg": drawing("Phases of a turn", turn), "step-states.svg": drawing("States of a step", step)}


def drawing(title: str, arrows: dict[str, tuple[str, ...]]) -> str:
    """An arc diagram; colours follow the reader's light or dark."""
    names = list(arrows)
    at = {name: 36 + index * ROW for index, name in enumerate(names)}
    height = 36 + len(names) * ROW
    lines = [
        f'<svg class="drawn" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">',
        "<style>.drawn{color:#24292f}@media(prefers-color-scheme:dark){.drawn{color:#d0d7de}}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">',
        '<path d="M0 0L8 4L0 8z" fill="currentColor"/></marker></defs>',
    ]
    pairs = [(start, end) for start in names for end in arrows[start]]
    lines += [_arc(at[start], at[end]) for start, end in sorted(pairs, key=lambda pair: _length(at, pair))]
    for name in names:
        final = "" if arrows[name] else ' stroke-width="3"'
        lines.append(
            f'<rect x="{CENTRE - BOX // 2}" y="{at[name] - 16}" width="{BOX}" height="32" rx="6" fill="none" '
            f'stroke="currentColor"{final}/><text x="{CENTRE}" y="{at[name] + 5}" text-anchor="middle" '
            f'font-family="monospace" font-size="15" fill="currentColor">{name}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


def _length(at: Mapping[str, int], pair: tuple[str, str]) -> int:
    return abs(at[pair[1]] - at[pair[0]])


def _arc(start: int, end: int) -> str:
    """One arrow from the lower or upper third of a box; the longer it is, the further out it swings."""
    on = end > start
    side = CENTRE + BOX // 2 if on else CENTRE - BOX // 2
    spread = 24 + abs(end - start) * 0.58
    bend = side + (spread if on else -spread)
    begin, stop = (start + 7, end - 7) if on else (start - 7, end + 7)
    return (
        f'<path d="M{side} {begin}C{bend:.0f} {begin} {bend:.0f} {stop} {side} {stop}" fill="none" '
        'stroke="currentColor" stroke-opacity="0.55" marker-end="url(#tip)"/>'
    )


def _tag(kind: type) -> str:
    return str(kind.__struct_config__.tag)  # type: ignore[attr-defined]


def _said(names: Iterator[str] | Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
