"""DuckDB, opened for one piece of work: nothing of it is kept, fetched or written outside the folder in question.

Law: imported when it is first needed (extra `evaluate`). One thread: whoever wants more starts more processes. No
extension is loaded from a network. Values go in as files and parameters, never as text of a statement.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from metnos.record.faults import RecordFault

if TYPE_CHECKING:
    from collections.abc import Generator

MEMORY = "512MB"


@contextmanager
def duck() -> Generator[Any]:
    """A connection to a database in memory.

    Raises:
        RecordFault: `extra-missing`.
    """
    try:
        import duckdb
    except ImportError as missing:
        detail = f"the package {missing.name or 'duckdb'} is not installed"
        raise RecordFault("extra-missing", detail, hint="pip install 'metnos[evaluate]'") from missing
    settings: dict[str, Any] = {"threads": 1, "memory_limit": MEMORY, "autoinstall_known_extensions": "false"}
    connection = duckdb.connect(":memory:", config=settings)
    try:
        yield connection
    finally:
        connection.close()


def quoted(path: object) -> str:
    """A path as it stands in a statement that takes no parameter there."""
    return "'" + str(path).replace("'", "''") + "'"
