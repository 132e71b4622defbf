"""How many threads a model computes with: one for each physical core that this process may use.

Law: a second thread on the same core, or one beyond the quota of a container, only waits for the others at every
barrier. What the system does not tell is taken from `os.cpu_count`.
"""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_CPUS: Final = Path("/sys/devices/system/cpu")
_QUOTA: Final = Path("/sys/fs/cgroup/cpu.max")


def physical_cores(*, cpus: Path = _CPUS, quota: Path = _QUOTA, usable: set[int] | None = None) -> int:
    """At least 1.

    Args:
        cpus: Where the kernel tells which of them share a core.
        quota: `cpu.max` of the control group.
        usable: Numbers of the processors that may be used; None: as the scheduler says.
    """
    if usable is None:
        usable = _usable()
    cores = {_core(cpus, number) for number in usable}
    return max(1, min(len(cores), _granted(quota, len(cores))))


def _usable() -> set[int]:
    with suppress(AttributeError, OSError):  # no such call on macOS
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def _core(cpus: Path, number: int) -> str:
    """A text that all threads of one core share."""
    try:
        return (cpus / f"cpu{number}" / "topology" / "thread_siblings_list").read_text().strip()
    except OSError:
        return str(number)


def _granted(quota: Path, most: int) -> int:
    try:
        share, _, period = quota.read_text().partition(" ")
        return most if share == "max" else math.ceil(int(share) / int(period))
    except (OSError, ValueError, ZeroDivisionError):
        return most
