"""A whole catalog folder verified anew: every envelope and every code file, and the name of all that fails.

Law: the rules are those of admission, and nothing is remembered by looking. What lies in the folder and was signed by
nobody is named too: it is never loaded, but it does not belong there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from metnos.contracts.catalog import Refused
from metnos.contracts.load import SUFFIX, load_catalog, read_plans
from metnos.plan.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from metnos.contracts.catalog import Catalog


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """What holds, counted, and what does not."""

    manifests: int
    files: int
    """Code files of the manifests that hold."""
    plans: int
    failed: tuple[Refused, ...]

    @property
    def ok(self) -> bool:
        return not self.failed


def verify_catalog(directory: Path, *, home: Path | None, now: datetime | None = None) -> Verified:
    """Verify a catalog folder.

    Args:
        directory: See `load.py`.
        home: METNOS_HOME, for the highest versions seen; they are not raised.
        now: Reference time with zone; the clock's if left out.
    """
    catalog = load_catalog(directory, home=home, now=now, remember=False)
    plans = read_plans(directory, home=home, now=now, remember=False)
    code = {name: catalog.code(name) for name in catalog.names()}
    failed = dict.fromkeys([*catalog.refused, *plans.refused])  # a trust root that is none is refused in both
    found = dict.fromkeys((one.name, one.diagnostic.code) for one in failed)
    unsigned = [one for one in _unsigned(directory, catalog) if (one.name, one.diagnostic.code) not in found]
    return Verified(
        manifests=len(code),
        files=sum(map(len, code.values())),
        plans=len(plans.verified),
        failed=(*failed, *unsigned),
    )


def _unsigned(directory: Path, catalog: Catalog) -> Iterator[Refused]:
    """Files of the folder that no envelope speaks for; those of a refused manifest are not told again."""
    silent = {one.name for one in catalog.refused}
    if "trust.json" in silent:
        return
    for path in sorted(directory.rglob("*")):
        parts = path.relative_to(directory).parts
        if path.is_dir() or parts == ("trust.json",):
            continue
        name = "/".join(parts)
        if len(parts) == 2 and parts[0] in ("manifests", "plans") and name.endswith(SUFFIX):
            continue
        if len(parts) == 3 and parts[0] == "executors":
            if parts[1] in silent:
                continue
            if catalog.get(parts[1]) is not None and parts[2] in catalog.code(parts[1]):
                continue
        fault = Diagnostic(code="file-unsigned", where=f"/{name}", found=name, expected="a signed file")
        yield Refused(name=name, diagnostic=fault)
