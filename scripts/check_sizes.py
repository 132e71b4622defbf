"""The gate on sizes: no code file over 400 lines (tests: 500), every room a package, none without its law.

Law: needs nothing but the standard library, so that it runs before anything is installed. The complexity of
functions is ruff's business (`max-complexity` in pyproject.toml).
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

MOST_LINES = 400
MOST_LINES_OF_A_TEST = 500
"""A table of cases grows in one place; what it tests must not."""
FOLDERS = ("metnos", "catalog", "scripts", "benchmarks", "tests")
CODE = {".py", ".lark", ".sh"}


def faults(root: Path) -> list[str]:
    """Every fault of the tree under `root`, as `path: what is wrong`."""
    found: list[str] = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.suffix in CODE and "__pycache__" not in path.parts:
                found += _faults_of(path, path.relative_to(root))
    found += [
        f"{room.relative_to(root)}: a room without __init__.py is invisible to the import rules"
        for room in sorted((root / "metnos").rglob("*"))
        if room.is_dir() and any(room.glob("*.py")) and not (room / "__init__.py").exists()
    ]
    return found


def _faults_of(path: Path, name: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    lines = text.count("\n")
    found: list[str] = []
    is_test = name.parts[0] == "tests"
    most = MOST_LINES_OF_A_TEST if is_test else MOST_LINES
    if lines > most:
        found.append(f"{name}: {lines} lines; at most {most}")
    if path.suffix == ".py" and not is_test and text.strip() and ast.get_docstring(ast.parse(text)) is None:
        found.append(f"{name}: opens without its law (a module docstring)")
    return found


def main() -> int:
    """Print the faults of this checkout; 1 if there are any."""
    found = faults(Path(__file__).resolve().parent.parent)
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
