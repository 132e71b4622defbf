"""DuckDB, opened for one piece of work: nothing of it is kept, fetched or written outside the folder in question.

Law: imported when it is first needed (extra `evaluate`). One thread: whoever wants more starts more processes. No
extension is loaded from a network. Values go in as files and parameters, never as text of a statement.
"""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from metnos.record.faults import RecordFault

if TYPE_CHECKING:
    from collections.abc import Generator

MEMORY = "512MB"
_SYSTEM: Final = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.ENOENT, errno.EACCES, errno.EROFS)
"""What the system says through DuckDB, by its words: an exception of DuckDB holds no number."""


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


@contextmanager
def duck_at(place: object) -> Generator[Any]:
    """The same for work on the files at `place`; what DuckDB cannot do there is told of with it.

    Raises:
        RecordFault: `extra-missing`; `seal-unreadable`, a file is damaged or of another kind.
        OSError: `place` cannot be read or written.
    """
    with duck() as connection:
        import duckdb

        try:
            yield connection
        except duckdb.IOException as fault:
            number = next((one for one in _SYSTEM if os.strerror(one) in str(fault)), errno.EIO)
            raise OSError(number, str(fault).splitlines()[0], str(place)) from fault
        except duckdb.Error as fault:
            raise RecordFault("seal-unreadable", f"{place}: {str(fault).splitlines()[0]}") from fault


def quoted(path: object) -> str:
    """A path as it stands in a statement that takes no parameter there."""
    return "'" + str(path).replace("'", "''") + "'"
