"""What the store asks of a connection, as PostgreSQL does it. psycopg is there once a connection is."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import sqlalchemy as sa

from chatbench.errors import DatabaseLockedError
from chatbench.store import postgres_statements
from chatbench.store.names import quoted
from chatbench.store.postgres_rows import arrow_table

CONFLICTS = ("55P03", "40P01", "40001")
"""A lock not given in time, a deadlock, a serialization failure: the transaction is worth another try."""

_WRITERS = 0x63686174
"""Number of the advisory lock that lets one writer in at a time ("chat")."""

_PATIENCE = 5.0
"""Seconds that a writer waits for a table before it gives way."""

_BATCH = 20_000


def start(connection: sa.Connection, *, writing: bool) -> None:
    """Begin a transaction: a writer waits for its turn, a reader sees one state of the database till its end."""
    raw = _raw(connection)
    if writing:
        raw.isolation_level = _psycopg().IsolationLevel.READ_COMMITTED  # each statement sees what the last writer left
        _take_turn(connection)
        # A user's session may hold a table for long: better to give way and to try again than to queue readers behind us.
        remaining = connection.info["deadline"] - time.monotonic()
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {max(1, round(1000 * min(_PATIENCE, remaining)))}")
    else:
        raw.isolation_level = _psycopg().IsolationLevel.REPEATABLE_READ
        raw.read_only = True
        # While a table is rewritten there is no state to read. LOCK comes first, as the first SELECT chooses the state.
        connection.exec_driver_sql("LOCK TABLE meta IN ACCESS SHARE MODE")


def lock_schema(connection: sa.Connection) -> None:
    """Keep readers out before tables and views change."""
    connection.exec_driver_sql("LOCK TABLE meta IN ACCESS EXCLUSIVE MODE")


def _take_turn(connection: sa.Connection) -> None:
    # Without turns two writers could make one table, or one could drop what the other is filling.
    try:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITERS})")
    except sa.exc.DBAPIError as error:
        if code_of(error) != CONFLICTS[0]:
            raise
    else:
        return
    _raw(connection).rollback()
    holder = connection.exec_driver_sql(
        "SELECT a.application_name, a.pid, a.client_addr::text FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid "
        f"WHERE l.locktype = 'advisory' AND l.granted AND l.objid = {_WRITERS} AND l.database = "
        "(SELECT oid FROM pg_database WHERE datname = current_database())"
    ).first()
    who = "another session" if holder is None else f"{holder[0]} (session {holder[1]}, from {holder[2] or 'there'})"
    raise DatabaseLockedError(
        f"{connection.info['place']} has been held by {who} for {connection.info['timeout']:g} s; "
        "end that process, or try again when it is done."
    )


def insert(connection: sa.Connection, table: sa.Table, rows: pa.Table) -> None:
    """Append an Arrow table, column by column of the same name."""
    names = ", ".join(map(quoted, rows.column_names))
    options = pyarrow.csv.WriteOptions(include_header=False)  # texts are quoted, NULL is empty
    with (
        _database_errors(),
        _raw(connection).cursor() as cursor,
        cursor.copy(f"COPY {quoted(table.name)} ({names}) FROM STDIN (FORMAT csv)") as copy,
    ):
        for batch in rows.to_batches(max_chunksize=_BATCH):
            sink = io.BytesIO()
            pyarrow.csv.write_csv(batch, sink, options)
            # No text may hold U+0000 there, and one would lose the whole call.
            copy.write(sink.getvalue().replace(b"\0", b"\xef\xbf\xbd"))


def select(connection: sa.Connection, statement: sa.Select[Any]) -> pa.Table:
    """Return the rows of a statement as an Arrow table; JSON comes as text."""
    raw = _raw(connection)
    usual, raw.cursor_factory = raw.cursor_factory, _binary_cursor
    try:
        return arrow_table(connection.execute(statement).cursor)
    finally:
        raw.cursor_factory = usual


def _binary_cursor(connection: Any, **options: Any) -> Any:
    cursor = _psycopg().Cursor(connection, **options)
    cursor.format = _psycopg().pq.Format.BINARY  # twice as fast for numbers
    return cursor


def run_sql(connection: sa.Connection, sql: str, parameters: Any, path: Path | None, *, write: bool) -> pa.Table:
    """Run SQL as the user wrote it, in one transaction that cannot write unless asked, and return its last result."""
    raw = _raw(connection)
    prepared = postgres_statements.prepare(sql, parameters, write=write)
    raw.isolation_level, raw.read_only = _psycopg().IsolationLevel.READ_COMMITTED, not write
    try:
        if write:
            _take_turn(connection)
        with _database_errors(), _psycopg().RawCursor(raw) as cursor:
            # The search path is the user's again. Once something was selected, nothing makes the transaction a writing one.
            cursor.execute(f"RESET search_path; SET default_transaction_read_only = {not write}; SELECT 1")
            for text, values in prepared:
                # Prepared, so that the server itself refuses a second statement within one text.
                cursor.execute(text, values, prepare=True)
            rows = arrow_table(cursor)
            raw.commit()
    except BaseException:
        with contextlib.suppress(_psycopg().Error):
            raw.rollback()
        raise
    return rows


def relations(connection: sa.Connection) -> dict[str, str]:
    """Return the names of all tables and views in lower case, and which they are; those of extensions do not count."""
    listed = connection.exec_driver_sql(
        "SELECT lower(c.relname::text), CASE WHEN c.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END FROM pg_class c "
        "JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'f', 'v', 'm') AND NOT EXISTS "
        "(SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')"
    )
    return {str(name): str(kind) for name, kind in listed}


def kept_columns(connection: sa.Connection, view: str) -> list[str]:
    """Return the columns of a view in order, if it is there: CREATE OR REPLACE can only append to them."""
    listed = connection.execute(
        sa.text(
            "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass(:name) AND attnum > 0 "
            "AND NOT attisdropped ORDER BY attnum"
        ),
        {"name": quoted(view)},
    )
    return [str(name) for (name,) in listed]


def views_upon(connection: sa.Connection, name: str) -> list[str]:
    """Return the views that stand on a table or a view."""
    listed = connection.execute(
        sa.text(
            "SELECT DISTINCT v.oid::regclass::text AS name FROM pg_depend d "
            "JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid "
            "JOIN pg_class v ON v.oid = r.ev_class "
            "WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = to_regclass(:name) AND v.oid <> d.refobjid "
            "ORDER BY name"
        ),
        {"name": quoted(name)},
    )
    return [str(view) for (view,) in listed]


def change_type(connection: sa.Connection, view: str, table: str, column: str, kind: str, *, widens: bool) -> None:
    """Change the type of a column below a view, which is dropped: it would hinder the change."""
    connection.exec_driver_sql(f"DROP VIEW IF EXISTS {quoted(view)}")
    value = quoted(column) if widens else "NULL"
    connection.exec_driver_sql(
        f"ALTER TABLE {quoted(table)} ALTER COLUMN {quoted(column)} SET DATA TYPE {kind} USING {value}::{kind}"
    )


def picked_from_means(names: Sequence[str]) -> tuple[str, list[str]]:
    """Return SQL that gathers a run's means in one value, and SQL that picks each name from it."""
    gathered = "jsonb_object_agg(c.table_name || '_' || s.measure, s.mean)"
    return gathered, [f"(means ->> '{name}')::double precision" for name in names]


def lacking_rights(connection: sa.Connection) -> str | None:
    """Return why this role cannot store anything, or None."""
    found = connection.exec_driver_sql(
        "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on', "
        "has_schema_privilege(current_schema(), 'CREATE'), "
        "has_table_privilege(to_regclass('runs'), 'INSERT')"
    ).one()
    if found[0]:
        return "the server or this role only reads."
    if found[2] is None and not found[1]:
        return "this role may not make tables in its schema (GRANT CREATE ON SCHEMA ...)."
    return "this role may not INSERT into its tables." if found[2] is False else None


def code_of(error: BaseException) -> str | None:
    """Return the SQLSTATE of an error; None where the server has not sent one, as when it is gone."""
    code: str | None = getattr(getattr(error, "orig", error), "sqlstate", None)
    return code


def is_fault_of_a_query(error: BaseException) -> bool:
    """Whether it is the query that the server refuses, and not the server that is gone or a lock that is held."""
    return not is_lost(error) and code_of(error) not in CONFLICTS


def is_lost(error: BaseException) -> bool:
    """Whether the connection is gone: ended by the server, which says so or not."""
    code = code_of(error)
    if code is None:
        return isinstance(getattr(error, "orig", error), (_psycopg().OperationalError, _psycopg().InterfaceError))
    return code.startswith(("08", "57P", "25P03"))


def _raw(connection: sa.Connection) -> Any:
    return connection.connection.dbapi_connection


@contextlib.contextmanager
def _database_errors() -> Iterator[None]:
    """Raise errors of psycopg as SQLAlchemy does."""
    try:
        yield
    except _psycopg().Error as error:
        raise sa.exc.DBAPIError(None, None, error) from error


def _psycopg() -> Any:
    import psycopg

    return psycopg
