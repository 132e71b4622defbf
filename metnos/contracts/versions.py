"""Versions: semantic ones of manifests, and the numbers of installed distributions.

Law: pure but for `installed_version`, which reads folder names on `sys.path` and imports nothing.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_SEMVER = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]+))?")
_CLAUSE = re.compile(r"(>=|==|<)([0-9]+(?:\.[0-9]+)*)")
_RELEASE = re.compile(r"[0-9]+(?:\.[0-9]+)*")

Precedence = tuple[int, int, int, bool, tuple[tuple[bool, int, str], ...]]


def precedence(version: str) -> Precedence:
    """The order of semantic versions (semver 2.0, rule 11): a larger tuple is a later version.

    Raises:
        ValueError: Not a semantic version.
    """
    found = _SEMVER.fullmatch(version)
    if found is None:
        raise ValueError(f"{version} is not a semantic version")
    major, minor, patch, before = found.groups()
    labels = tuple(_label(part) for part in before.split(".")) if before else ()
    return int(major), int(minor), int(patch), not before, labels


def _label(part: str) -> tuple[bool, int, str]:
    """Numbers order by value and before words."""
    return (False, int(part), "") if part.isdecimal() else (True, 0, part)


def satisfies(version: str, requirement: str) -> bool:
    """Whether an installed version meets `NAME`, `NAME>=V`, `NAME==V` or `NAME>=V,<W`; by release numbers only."""
    have = _numbers(version)
    for operator, wanted in _CLAUSE.findall(requirement):
        limit = _numbers(wanted)
        if not {">=": have >= limit, "==": have == limit, "<": have < limit}[operator]:
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    found = _RELEASE.match(version)
    numbers = [int(part) for part in found.group().split(".")] if found else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def distribution_of(requirement: str) -> str:
    """The name in a requirement."""
    return re.split(r"[<>=]", requirement, maxsplit=1)[0]


def installed_version(distribution: str) -> str | None:
    """The version of an installed distribution, or None.

    Reads the names of `*.dist-info` folders, as the specification of installed projects lays them out; importing
    `importlib.metadata` for it costs more than everything else at start. It is asked where no folder is found.
    """
    stem = re.sub(r"[-_.]+", "_", distribution).lower()
    for entry in sys.path:
        try:
            names = [child.name for child in Path(entry or ".").iterdir() if child.name.endswith(".dist-info")]
        except OSError:
            continue
        for name in names:
            project, _, version = name.removesuffix(".dist-info").partition("-")
            if re.sub(r"[-_.]+", "_", project).lower() == stem:
                return version
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
