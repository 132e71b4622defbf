"""The schema as SQL, so that writing does not import the tables; a test holds it equal to `tables.ddl()`.

Law: generated (`python -m metnos.record.tables`), never edited by hand.
"""

from __future__ import annotations

SCHEMA_VERSION = 1

CREATE: tuple[str, ...] = (
    "CREATE TABLE approval ( turn VARCHAR NOT NULL, approval VARCHAR NOT NULL, step VARCHAR NOT NULL, executor VARCHAR NOT NULL, action VARCHAR NOT NULL, digest VARCHAR NOT NULL, state VARCHAR NOT NULL, asked_seq INTEGER NOT NULL, answered_seq INTEGER, expires BIGINT NOT NULL, used_by VARCHAR, PRIMARY KEY (turn, approval), UNIQUE (turn, used_by) ) WITHOUT ROWID",
    "CREATE TABLE blob ( digest VARCHAR NOT NULL, turn VARCHAR NOT NULL, size BIGINT NOT NULL, PRIMARY KEY (digest, turn) ) WITHOUT ROWID",
    "CREATE TABLE dialog ( turn VARCHAR NOT NULL, dialog VARCHAR NOT NULL, state VARCHAR NOT NULL, asked_seq INTEGER NOT NULL, answered_seq INTEGER, PRIMARY KEY (turn, dialog) ) WITHOUT ROWID",
    "CREATE TABLE operation ( turn VARCHAR NOT NULL, id VARCHAR NOT NULL, step VARCHAR NOT NULL, executor VARCHAR NOT NULL, args_digest VARCHAR NOT NULL, state VARCHAR NOT NULL, intent_seq INTEGER NOT NULL, outcome_seq INTEGER, fence INTEGER NOT NULL, PRIMARY KEY (turn, id) ) WITHOUT ROWID",
    "CREATE TABLE record ( turn VARCHAR NOT NULL, seq INTEGER NOT NULL, kind VARCHAR NOT NULL, at BIGINT NOT NULL, body BLOB NOT NULL, prev VARCHAR NOT NULL, hash VARCHAR NOT NULL, commands VARCHAR NOT NULL, PRIMARY KEY (turn, seq) ) WITHOUT ROWID",
    "CREATE TABLE schema_version ( version INTEGER NOT NULL, PRIMARY KEY (version) )",
    'CREATE TABLE turn ( turn VARCHAR NOT NULL, version INTEGER NOT NULL, opened BIGINT NOT NULL, owner VARCHAR NOT NULL, channel VARCHAR NOT NULL, conversation VARCHAR NOT NULL, mode VARCHAR NOT NULL, request VARCHAR NOT NULL, status VARCHAR NOT NULL, outcome VARCHAR NOT NULL, fence INTEGER NOT NULL, seq INTEGER NOT NULL, head_status VARCHAR NOT NULL, head_seq INTEGER NOT NULL, head_hash VARCHAR NOT NULL, signature VARCHAR NOT NULL, "key" VARCHAR NOT NULL, PRIMARY KEY (turn) ) WITHOUT ROWID',
    "CREATE INDEX ix_turn_opened ON turn (opened)",
)
