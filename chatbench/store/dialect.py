"""What the store asks of a connection, whatever the database: each call goes to the module of its kind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pyarrow as pa
import sqlalchemy as sa

from chatbench.store import duckdb_sql, postgres_sql

DATABASE_ERRORS = (duckdb.Error, sa.exc.DBAPIError)
"""What the calls of this module raise, and all statements on a connection."""

_KINDS: dict[str, ModuleType] = {"duckdb": duckdb_sql, "postgresql": postgres_sql}


def _of(connection: sa.Connection) -> Any:
    return _KINDS[connection.dialect.name]


def start(connection: sa.Connection, *, writing: bool) -> None:
    """Begin the work of a transaction: a writer is alone then, a reader sees one state of the database till its end."""
    _of(connection).start(connection, writing=writing)


def lock_schema(connection: sa.Connection) -> None:
    """Keep readers out before tables and views change."""
    _of(connection).lock_schema(connection)


def insert(connection: sa.Connection, table: sa.Table, rows: pa.Table) -> None:
    """Append an Arrow table, column by column of the same name."""
    _of(connection).insert(connection, table, rows)


def select(connection: sa.Connection, statement: sa.Select[Any]) -> pa.Table:
    """Return the rows of a statement as an Arrow table; JSON comes as text."""
    return _of(connection).select(connection, statement)


def run_sql(connection: sa.Connection, sql: str, parameters: Any, path: Path | None, *, write: bool) -> pa.Table:
    """Run SQL as the user wrote it, in one transaction that cannot write unless asked, and return its last result.

    `path` is the file of the database if it is one, which no statement may overwrite.
    """
    return _of(connection).run_sql(connection, sql, parameters, path, write=write)


def relations(connection: sa.Connection) -> dict[str, str]:
    """Return the names of all tables and views in lower case, and which they are: "table" or "view"."""
    found: dict[str, str] = _of(connection).relations(connection)
    return found


def kept_columns(connection: sa.Connection, view: str) -> list[str]:
    """Return the columns that a view must keep at their places when it is replaced."""
    columns: list[str] = _of(connection).kept_columns(connection, view)
    return columns


def views_upon(connection: sa.Connection, name: str) -> list[str]:
    """Return the views that stand on a table or a view and hinder its change."""
    views: list[str] = _of(connection).views_upon(connection, name)
    return views


def change_type(connection: sa.Connection, view: str, table: str, column: str, kind: str, *, widens: bool) -> None:
    """Change the type of a column below a view, which may be gone afterwards; without `widens` it holds NULL only."""
    _of(connection).change_type(connection, view, table, column, kind, widens=widens)


def picked_from_means(connection: sa.Connection, names: Sequence[str]) -> tuple[str, list[str]]:
    """Return SQL that gathers a run's means in one value, and SQL that picks each name from it.

    One aggregate per column would cost columns x rows.
    """
    picked: tuple[str, list[str]] = _of(connection).picked_from_means(names)
    return picked


def public_columns(connection: sa.Connection) -> dict[str, list[str]]:
    """Return the columns of every table and view that users are meant to see."""
    listed = connection.exec_driver_sql(
        "SELECT table_name, column_name FROM information_schema.columns "
        "WHERE table_schema = current_schema() AND left(table_name, 1) <> '_' ORDER BY table_name, ordinal_position"
    )
    columns: dict[str, list[str]] = {}
    for table, column in listed:
        columns.setdefault(table, []).append(column)
    return columns


def reason(error: BaseException) -> str:
    """Return what the database says in one line."""
    text = str(getattr(error, "orig", None) or error).strip()
    return (text.splitlines() or [type(error).__name__])[0].strip()


def is_fault_of_a_query(connection: sa.Connection, error: BaseException) -> bool:
    """Whether it is the query that the database refuses, and not the server that is gone or a lock that is held."""
    return connection.dialect.name == "duckdb" or postgres_sql.is_fault_of_a_query(error)


def is_read_only_refusal(said: str) -> bool:
    """Whether a query failed because it wanted to write."""
    return "read-only" in said


def unknown_name(said: str) -> str | None:
    """Return "table" or "column" if that is what a query named without its being there."""
    if re.search(r"Table with name .* does not exist|relation .* does not exist", said):
        return "table"
    unknown_column = r"Referenced column|does not have a column|column .* does not exist"
    return "column" if re.search(unknown_column, said) else None
