"""Everything that is peculiar to DuckDB: opening a file, bulk inserts, reading Arrow, its errors and its SQL."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import sqlalchemy as sa
from duckdb_sqlalchemy import ConnectionWrapper
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.pool import NullPool

from chatbench.errors import DatabaseNotFoundError, NotADatabaseError, ReadOnlyError, StoreError
from chatbench.store import statements

Raw = duckdb.DuckDBPyConnection
DATABASE_ERRORS = (duckdb.Error, sa.exc.DBAPIError)


class HeldElsewhereError(Exception):
    """The file cannot be opened now: `holder` says which process has it, None is another thread of this one."""

    def __init__(self, holder: str | None) -> None:
        super().__init__(holder)
        self.holder = holder


def open_file(path: Path, *, read_only: bool) -> Raw:
    """Open the file, made if it is to be written and absent; raise `HeldElsewhereError` when it is worth a retry."""
    refuse_other_files(path)
    if not read_only and not (path.exists() and path.stat().st_size):
        _create(path)
    try:
        base = duckdb.connect(str(path), read_only=read_only)
    except duckdb.ConnectionException as error:
        if read_only:  # this process holds it read-write on its own account: that connection can be shared
            return open_file(path, read_only=False)
        raise StoreError(
            f"This process itself holds {path} open in another way (read-only, or through another engine); close that first."
        ) from error
    except duckdb.Error as error:
        held = re.search(r"Conflicting lock is held in (.*?) \(PID (\d+)\)", str(error))
        if held or "lock on file" in str(error):
            raise HeldElsewhereError(f"process {held[2]} ({held[1]})" if held else "another process") from error
        raise translated(error, path) from error
    # SET, not the config of connect(): a connection that the user has open with other settings would refuse it.
    for statement in (
        "SET GLOBAL TimeZone='UTC'",
        "SET autoinstall_known_extensions=false",
        "SET autoload_known_extensions=false",
    ):
        base.execute(statement)
    return base


def _create(path: Path) -> None:
    # Under another name first: a process killed in between would leave a file that is no database for ever.
    new = path.with_name(f".{path.name}.chatbench-new")
    for stale in (new, Path(f"{new}.wal")):
        stale.unlink(missing_ok=True)
    try:
        duckdb.connect(str(new)).close()
        os.replace(new, path)
    except (duckdb.Error, OSError) as error:
        raise translated(error, path) from error


def refuse_other_files(path: Path) -> None:
    """Raise `NotADatabaseError` for what is there and is no DuckDB file. An empty file, or none, is fine."""
    if path.is_dir():
        raise NotADatabaseError(f"{path} is a folder, not a database; name a file in it.")
    if path.exists() and not path.is_file():
        raise NotADatabaseError(f"{path} is no regular file; name another one.")
    # Closing any descriptor of a file that DuckDB has open in this process would drop DuckDB's lock on it.
    if not path.exists() or _open_in_this_process(path):
        return
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from error
    # DuckDB would try to download an extension for it.
    if start.startswith(b"SQLite format 3"):
        raise NotADatabaseError(f"{path} is an SQLite file, not DuckDB; name another file.")
    if start and start[8:12] != b"DUCK":
        raise _no_database(path)


def _no_database(path: Path) -> NotADatabaseError:
    return NotADatabaseError(f"{path} is not a DuckDB database; name another file.")


def _open_in_this_process(path: Path) -> bool:
    wanted = path.stat()
    for descriptor in os.listdir("/dev/fd"):
        with suppress(OSError):
            if os.path.samestat(os.fstat(int(descriptor)), wanted):
                return True
    return False


def make_engine(cursor: Callable[[], Raw]) -> sa.Engine:
    """Return an engine whose connections are what `cursor` gives; it opens and keeps nothing itself."""
    return sa.create_engine("duckdb://", creator=lambda: ConnectionWrapper(cursor()), poolclass=NullPool)


def reason(error: BaseException) -> str:
    """Return what the database says in one line."""
    text = str(getattr(error, "orig", None) or error).strip()
    return (text.splitlines() or [type(error).__name__])[0].strip()


def translated(error: BaseException, path: Path) -> StoreError:
    """Return our exception for one of the database's."""
    said = reason(error)
    if "valid DuckDB database file" in said:
        return _no_database(path)
    if "database does not exist" in said:
        return DatabaseNotFoundError(f"There is no database {path}.")
    if "version number" in said:
        return NotADatabaseError(f"{path} was made by another version of DuckDB than this one reads: {said}")
    if any(word in said for word in ("Permission denied", "Read-only file system", "read-only mode")):
        return ReadOnlyError(f"{path} cannot be written: {said}")
    if any(word in said for word in ("No space left", "File too large", "Could not write", "Could not truncate")):
        return StoreError(f"{path} cannot grow (is the disk full?); nothing of this call was stored: {said}")
    return StoreError(f"{path}: {said}")


def insert(connection: sa.Connection, table: sa.Table, rows: pa.Table) -> None:
    """Append an Arrow table, column by column of the same name."""
    raw: Any = connection.connection.dbapi_connection
    raw.register("_incoming_rows", rows)
    try:
        raw.execute(f"INSERT INTO {quoted(table.name)} BY NAME SELECT * FROM _incoming_rows")
    finally:
        raw.unregister("_incoming_rows")


def select(connection: sa.Connection, statement: sa.Select[Any]) -> pa.Table:
    """Return the rows of a statement as an Arrow table."""
    return connection.execute(statement).cursor.to_arrow_table()


def run_sql(connection: sa.Connection, sql: str, parameters: Any, path: Path, *, write: bool) -> pa.Table:
    """Run SQL as the user wrote it, in one transaction that cannot write unless asked, and return its last result.

    `path` is the file of the database, which no statement may overwrite.
    """
    raw: Any = connection.connection.dbapi_connection
    statements.check(raw, sql, parameters, path, write=write)
    raw.execute("BEGIN TRANSACTION" if write else "BEGIN TRANSACTION READ ONLY")
    try:
        raw.execute(sql, parameters)
        rows = raw.to_arrow_table() if raw.description else pa.table({})
        raw.execute("COMMIT")
    except BaseException:
        with suppress(duckdb.Error):
            raw.execute("ROLLBACK")
        raise
    return rows


def is_read_only_refusal(said: str) -> bool:
    """Whether a query failed because it wanted to write."""
    return "read-only" in said


def unknown_name(said: str) -> str | None:
    """Return "table" or "column" if that is what a query named without its being there."""
    if re.search(r"Table with name .* does not exist", said):
        return "table"
    return "column" if "Referenced column" in said or "does not have a column" in said else None


def public_columns(connection: sa.Connection) -> dict[str, list[str]]:
    """Return the columns of every table and view that users are meant to see."""
    listed = connection.exec_driver_sql(
        "SELECT table_name, column_name FROM information_schema.columns "
        "WHERE table_schema = 'main' AND table_name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY table_name, ordinal_position"
    )
    columns: dict[str, list[str]] = {}
    for table, column in listed:
        columns.setdefault(table, []).append(column)
    return columns


def relations(connection: sa.Connection) -> dict[str, str]:
    """Return the names of all tables and views in lower case, and which they are: "table" or "view"."""
    listed = connection.exec_driver_sql(
        "SELECT lower(table_name), CASE table_type WHEN 'VIEW' THEN 'view' ELSE 'table' END "
        "FROM information_schema.tables WHERE table_schema = 'main'"
    )
    return {str(name): str(kind) for name, kind in listed}


def quoted(name: str) -> str:
    """Return an identifier in quotes."""
    return '"' + name.replace('"', '""') + '"'


def picked_from_means(names: Sequence[str]) -> tuple[str, list[str]]:
    """Return SQL that gathers a run's means in one value, and SQL that picks each name from it.

    One aggregate per column would cost columns x rows.
    """
    gathered = "map(list(c.table_name || '_' || s.measure), list(s.mean))"
    return gathered, [f"means['{name}']" for name in names]


@compiles(sa.PrimaryKeyConstraint, "duckdb")
def _no_key_on_bulk_tables(constraint: sa.PrimaryKeyConstraint, compiler: Any, **options: Any) -> str | None:
    # Deleting a million keyed rows takes DuckDB half a minute; incoming keys are checked instead.
    if constraint.table.info.get("bulk"):
        return None
    text: str = compiler.visit_primary_key_constraint(constraint, **options)
    return text
