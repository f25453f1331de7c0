"""What the store asks of a connection, as DuckDB does it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles

from chatbench.store import duckdb_statements
from chatbench.store.names import quoted


def start(connection: sa.Connection, *, writing: bool) -> None:
    """Do nothing: the gate lets one writer in at a time, and a transaction reads one state of the database."""


def lock_schema(connection: sa.Connection) -> None:
    """Do nothing: nobody else has the file open for writing."""


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


def run_sql(connection: sa.Connection, sql: str, parameters: Any, path: Path | None, *, write: bool) -> pa.Table:
    """Run SQL as the user wrote it, in one transaction that cannot write unless asked, and return its last result.

    `path` is the file of the database, which no statement may overwrite.
    """
    raw: Any = connection.connection.dbapi_connection
    if path is not None:
        duckdb_statements.check(raw, sql, parameters, path, write=write)
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


def relations(connection: sa.Connection) -> dict[str, str]:
    """Return the names of all tables and views in lower case, and which they are: "table" or "view"."""
    listed = connection.exec_driver_sql(
        "SELECT lower(table_name), CASE table_type WHEN 'VIEW' THEN 'view' ELSE 'table' END "
        "FROM information_schema.tables WHERE table_schema = 'main'"
    )
    return {str(name): str(kind) for name, kind in listed}


def kept_columns(connection: sa.Connection, view: str) -> list[str]:
    """Return no columns: a view can be replaced by any other."""
    return []


def views_upon(connection: sa.Connection, name: str) -> list[str]:
    """Return no views: those that stand on a table or a view do not hinder its change."""
    return []


def change_type(connection: sa.Connection, view: str, table: str, column: str, kind: str, *, widens: bool) -> None:
    """Change the type of a column below a view."""
    connection.exec_driver_sql(f"ALTER TABLE {quoted(table)} ALTER COLUMN {quoted(column)} SET DATA TYPE {kind}")


def picked_from_means(names: Sequence[str]) -> tuple[str, list[str]]:
    """Return SQL that gathers a run's means in one value, and SQL that picks each name from it."""
    gathered = "map(list(c.table_name || '_' || s.measure), list(s.mean))"
    return gathered, [f"means['{name}']" for name in names]


@compiles(sa.PrimaryKeyConstraint, "duckdb")
def _no_key_on_bulk_tables(constraint: sa.PrimaryKeyConstraint, compiler: Any, **options: Any) -> str | None:
    # Deleting a million keyed rows takes DuckDB half a minute; incoming keys are checked instead.
    if constraint.table.info.get("bulk"):
        return None
    text: str = compiler.visit_primary_key_constraint(constraint, **options)
    return text
