"""Queries as people write them: their parameters, and errors that help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from chatbench.errors import QueryError
from chatbench.store import dialect, statements


def run(connection: sa.Connection, sql: str, parameters: Any, path: Path | None, *, write: bool) -> pa.Table:
    """Return the last result of a query; `QueryError` has the database's reason, and what exists where a name does not."""
    try:
        return dialect.run_sql(connection, sql, _plain(parameters), path, write=write)
    except dialect.DATABASE_ERRORS as error:
        if not dialect.is_fault_of_a_query(connection, error):
            raise
        raise QueryError(_explained(connection, sql, dialect.reason(error))) from error


def _plain(parameters: Any) -> Any:
    """Return parameters with the scalars of numpy as Python values."""
    if isinstance(parameters, dict):
        return {name: value.item() if hasattr(value, "item") else value for name, value in parameters.items()}
    if isinstance(parameters, list | tuple):
        return [value.item() if hasattr(value, "item") else value for value in parameters]
    return parameters


def _explained(connection: sa.Connection, sql: str, said: str) -> str:
    """Return the database's reason, and what there is when a query names a table or column that is not there."""
    if dialect.is_read_only_refusal(said):
        return f"{said.rstrip('.!')}. {statements.ONLY_READS}"
    unknown = dialect.unknown_name(said)
    if unknown is None:
        return said
    connection.rollback()
    columns = dialect.public_columns(connection)
    mentioned = [table for table in columns if table in sql.lower()]
    if unknown == "table" or not mentioned:
        return f"{said} There are: {', '.join(columns)}."
    shown = "; ".join(f"{table} ({', '.join(columns[table])})" for table in mentioned)
    return f"{said} There are: {shown}."
