"""Which database is meant."""

from __future__ import annotations

import os
import re
from pathlib import Path

from chatbench.errors import InputError
from chatbench.store.database import Database
from chatbench.store.duckdb_file import DuckDBFile
from chatbench.store.postgres_server import SERVER_SCHEMES, PostgresServer

DEFAULT = "benchmark.duckdb"
VARIABLE = "CHATBENCH_DB"
FILE_SCHEME = "duckdb:///"

# A mistyped address, or libpq's own form of one: as the name of a file it would show the password in every message.
_LIKE_A_SERVER = re.compile(
    r"\b(?:password|dbname)\s*=|^\s*postgres(?:ql)?(?:\+\w+)?:|^\s*postgres(?:ql)?//|^[^/]*:[^/]*@", re.IGNORECASE
)

_last: Database | None = None


def locate(db_name: str | Path | None = None, connection_string: str | None = None, *, reading: bool) -> Database:
    """Return the database that is named, else the one used last in this process, else `$CHATBENCH_DB`, else `benchmark.duckdb`.

    A name is a file, `duckdb:///path`, or `postgresql://user:password@host:port/database`. With `reading`, a file that
    is not there raises `DatabaseNotFoundError`, which names the databases nearby; nothing is ever created or opened
    here. Databases of other kinds raise `InputError`.
    """
    if db_name is not None and connection_string is not None:
        raise InputError("Name the database once: by db_name or by connection_string, not by both.")
    if connection_string is not None and "://" not in str(connection_string):
        raise _unsupported()
    name = db_name if db_name is not None else connection_string
    database = _named(name) if name is not None else _last or _named(os.environ.get(VARIABLE) or DEFAULT)
    if reading:
        database.require()
    return database


def remember(database: Database) -> None:
    """Make this the database that is meant when none is named."""
    global _last
    _last = database


def _named(name: str | Path) -> Database:
    text = str(name)
    if text.startswith(SERVER_SCHEMES):
        return PostgresServer(text)
    text = text.removeprefix(FILE_SCHEME)
    if "://" in text or _LIKE_A_SERVER.search(text):
        raise _unsupported()
    if not text.strip() or text == ":memory:":
        raise InputError(
            f"A database is a file that stays, so {text!r} cannot be one: name a file such as {DEFAULT!r}."
        )
    return DuckDBFile(Path(text).expanduser().absolute())


def _unsupported() -> InputError:
    # The string is not repeated: it may hold a password.
    return InputError(
        f"Only DuckDB files and PostgreSQL servers are supported: connection_string='{FILE_SCHEME}benchmark.duckdb' "
        "or 'postgresql://user@host/database'."
    )
