"""The guards: two tables, and the one way through them."""

from __future__ import annotations

from metnos.checks.guards.rewriters import REWRITERS
from metnos.checks.guards.run import CHECKERS, guard, guard_with

__all__ = ["CHECKERS", "REWRITERS", "guard", "guard_with"]
