"""The floor of branch coverage, for the rooms on which every turn depends.

Law: reads coverage's JSON report and nothing else. `python scripts/check_coverage.py REPORT`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FLOOR = {"plan": 95.0, "contracts": 95.0, "checks": 95.0, "cache": 95.0, "turn": 95.0}
COUNTED = (("num_statements", "covered_lines"), ("num_branches", "covered_branches"))


def by_room(report: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Room → (what there is, what was reached), statements and branches together."""
    rooms: dict[str, tuple[int, int]] = {}
    for name, file in report["files"].items():
        parts = Path(name).parts
        if len(parts) < 3 or parts[0] != "metnos":
            continue
        there, reached = rooms.get(parts[1], (0, 0))
        summary = file["summary"]
        for all_of, some_of in COUNTED:
            there += summary.get(all_of, 0)
            reached += summary.get(some_of, 0)
        rooms[parts[1]] = (there, reached)
    return rooms


def main(path: str) -> int:
    """Print one line for each room that has a floor; 1 if one lies below it or was not measured. The others are not
    judged: their tests are run without counting.
    """
    rooms = by_room(json.loads(Path(path).read_bytes()))
    low = False
    for room, floor in sorted(FLOOR.items()):
        there, reached = rooms.get(room, (0, 0))
        share = 100.0 * reached / there if there else 0.0
        below = share < floor
        low = low or below
        print(f"{room:12} {share:6.1f} %  floor {floor:.0f} %{'  BELOW' if below else ''}")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
