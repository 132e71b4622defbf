"""The signed catalog admits every manifest of the source tree, and nothing else.

Law: asks the product's own loader; it holds no rule of its own. `python scripts/check_catalog.py build/catalog`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from metnos.contracts.load import load_catalog


def main(folder: str) -> int:
    """Print what is refused or missing; 1 if anything is."""
    wanted = {path.stem for path in Path("manifests").glob("*.toml")}
    with tempfile.TemporaryDirectory() as home:
        catalog = load_catalog(Path(folder), home=Path(home))
    admitted = set(catalog.names())
    for refused in catalog.refused:
        print(f"refused: {refused}", file=sys.stderr)
    for name in sorted(wanted ^ admitted):
        print(f"{name}: {'not admitted' if name in wanted else 'has no manifest'}", file=sys.stderr)
    if not wanted:
        print("manifests/ is empty", file=sys.stderr)
    return 1 if catalog.refused or wanted != admitted or not wanted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
