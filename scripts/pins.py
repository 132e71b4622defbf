"""pip's installation reports → `name==version` lines, sorted.

Law: writes a name and a version, never an address. `python scripts/pins.py REPORT...`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HEAD = "# Made by `make constraints` (Python 3.11, tried on 3.13). Not edited by hand."


def pins(reports: list[str]) -> list[str]:
    """One line a package.

    Raises:
        SystemExit: Two reports choose different versions of one package.
    """
    chosen: dict[str, str] = {}
    for report in reports:
        for item in json.loads(Path(report).read_bytes())["install"]:
            name, version = item["metadata"]["name"].lower().replace("_", "-"), item["metadata"]["version"]
            if name != "metnos" and chosen.setdefault(name, version) != version:
                raise SystemExit(f"{name}: {chosen[name]} and {version}")
    return [f"{name}=={version}" for name, version in sorted(chosen.items())]


if __name__ == "__main__":
    print("\n".join([HEAD, *pins(sys.argv[1:])]))
