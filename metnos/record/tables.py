"""The one definition of the schema, as SQLModel classes: for reports, for other databases, and for tests.

Law: never imported by what writes (importing it takes most of a second); `ddl.py` holds the statements that these
tables give, and a test holds the two equal. To change the schema: change it here, raise `ddl.SCHEMA_VERSION`, print
the new constants with `python -m metnos.record.tables`, and write the migration.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlalchemy import BigInteger, LargeBinary, UniqueConstraint
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlmodel import Field, SQLModel

_CLUSTERED: dict[str, Any] = {"sqlite_with_rowid": False}
"""Rows lie in the order of the key: a turn's records side by side, and one page fewer to write for each."""


class SchemaVersion(SQLModel, table=True):
    """One row: the version that the file was made with."""

    __tablename__: ClassVar[Any] = "schema_version"
    version: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})


class Turn(SQLModel, table=True):
    """One turn: what lists show, who may write, how it ended, the signed head."""

    __tablename__: ClassVar[Any] = "turn"
    __table_args__: ClassVar[Any] = _CLUSTERED
    turn: str = Field(primary_key=True)
    version: int
    opened: int = Field(sa_type=BigInteger, index=True)
    owner: str
    channel: str
    conversation: str
    mode: str
    request: str
    status: str
    """`open`, `suspended`, `closed`."""
    outcome: str
    fence: int
    """Raised by one at each claim; a writer with a smaller one is refused."""
    seq: int
    """Number of the last record that was committed."""
    head_status: str
    head_seq: int
    head_hash: str
    signature: str
    key: str


class RecordRow(SQLModel, table=True):
    """Inputs and facts in one sequence, chained by hash."""

    __tablename__: ClassVar[Any] = "record"
    __table_args__: ClassVar[Any] = _CLUSTERED
    turn: str = Field(primary_key=True)
    seq: int = Field(primary_key=True)
    kind: str
    at: int = Field(sa_type=BigInteger)
    body: bytes = Field(sa_type=LargeBinary)
    prev: str
    hash: str
    commands: str


class Operation(SQLModel, table=True):
    """The ledger of effects: intent, then outcome."""

    __tablename__: ClassVar[Any] = "operation"
    __table_args__: ClassVar[Any] = _CLUSTERED
    turn: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    step: str
    executor: str
    args_digest: str
    state: str
    """`intent`, `done`, `failed`, `stopped`, `absent`, `unknown`."""
    intent_seq: int
    outcome_seq: int | None = None
    fence: int


class Approval(SQLModel, table=True):
    """Consent: asked, then given, refused or expired; given, then used once."""

    __tablename__: ClassVar[Any] = "approval"
    __table_args__: ClassVar[Any] = (UniqueConstraint("turn", "used_by"), _CLUSTERED)
    turn: str = Field(primary_key=True)
    approval: str = Field(primary_key=True)
    step: str
    executor: str
    action: str
    digest: str
    state: str
    """`asked`, `given`, `refused`, `expired`, `used`."""
    asked_seq: int
    answered_seq: int | None = None
    expires: int = Field(sa_type=BigInteger)
    used_by: str | None = None
    """Operation that used it (the first item of a list)."""


class Dialog(SQLModel, table=True):
    """A question to the user: asked, then answered or expired."""

    __tablename__: ClassVar[Any] = "dialog"
    __table_args__: ClassVar[Any] = _CLUSTERED
    turn: str = Field(primary_key=True)
    dialog: str = Field(primary_key=True)
    state: str
    asked_seq: int
    answered_seq: int | None = None


class Blob(SQLModel, table=True):
    """Which turn keeps which file of the blob folder alive."""

    __tablename__: ClassVar[Any] = "blob"
    __table_args__: ClassVar[Any] = _CLUSTERED
    digest: str = Field(primary_key=True)
    turn: str = Field(primary_key=True)
    size: int = Field(sa_type=BigInteger)


TABLES: tuple[type[SQLModel], ...] = (SchemaVersion, Turn, RecordRow, Operation, Approval, Dialog, Blob)


def ddl() -> tuple[str, ...]:
    """The statements that make these tables in SQLite, one spelling."""
    dialect = sqlite.dialect()
    made: list[str] = []
    for table in SQLModel.metadata.sorted_tables:
        made.append(_one_line(str(CreateTable(table).compile(dialect=dialect))))
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        made.extend(_one_line(str(CreateIndex(index).compile(dialect=dialect))) for index in indexes)
    return tuple(made)


def _one_line(statement: str) -> str:
    return " ".join(statement.split())


if __name__ == "__main__":
    import sys

    sys.stdout.write("".join(f"    {statement!r},\n" for statement in ddl()))
