"""How a database comes to the present schema: a list that only ever grows at its end."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from chatbench.errors import NotADatabaseError, SchemaError
from chatbench.store import dialect, leaderboard, views
from chatbench.store.catalog import Catalog
from chatbench.store.names import quoted
from chatbench.store.tables import Base, measures, meta, scorings, storage_name

KEY = "schema_version"

_OLDER = "__older"
"""A table while it is made anew; no metric's table has such a name."""


def create_all(connection: sa.Connection) -> None:
    """Make every fixed table that is not there, and the views over them."""
    Base.metadata.create_all(connection)
    views.replace_fixed(connection)


def number_scorings(connection: sa.Connection) -> None:
    """Number the scorings as they came, and give the rows of the metrics the number in the place of the scoring's id."""
    if "scoring_no" in dialect.public_columns(connection)["scorings"]:  # as `create_all` makes it now
        return
    _rebuild(
        connection,
        scorings,
        f"SELECT *, row_number() OVER (ORDER BY created_at, scoring_id) AS scoring_no FROM {_OLDER}",
    )
    catalog, there = Catalog(connection), dialect.relations(connection)
    for name in dialect.select(connection, sa.select(measures.c.table_name).distinct())["table_name"].to_pylist():
        if there.get(storage_name(name)) == "table":
            numbered = f"SELECT m.*, s.scoring_no FROM {_OLDER} m JOIN scorings s ON s.scoring_id = m.scoring_id"
            _rebuild(connection, catalog.table(name), numbered)
        if there.get(name) == "view":  # otherwise the user has put a table of that name in its place
            views.replace_metric(connection, name, [column for column, _ in catalog.column_types(name)])


def _rebuild(connection: sa.Connection, table: sa.Table, rows: str) -> None:
    """Make a table anew with rows that a query gives, in which the table as it was is `_OLDER`."""
    name, columns = quoted(table.name), ", ".join(quoted(column.name) for column in table.columns)
    connection.exec_driver_sql(f"ALTER TABLE {name} RENAME TO {_OLDER}")
    table.create(connection)
    connection.exec_driver_sql(f"INSERT INTO {name} ({columns}) SELECT {columns} FROM ({rows}) r")
    connection.exec_driver_sql(f"DROP TABLE {_OLDER}")


MIGRATIONS: tuple[Callable[[sa.Connection], None], ...] = (create_all, leaderboard.create_view, number_scorings)
"""Step i leads from version i to i + 1. Steps that were released are never edited."""


def version(connection: sa.Connection, name: str) -> int | None:
    """Return the schema version, None for a database without any table; refuse other people's and newer ones.

    `name` is the database as people are told it.
    """
    relations = dialect.relations(connection)
    found = None
    if "meta" in relations:
        try:
            found = connection.execute(sa.select(meta.c.value).where(meta.c.key == KEY)).scalar()
        except dialect.DATABASE_ERRORS as error:
            if not dialect.unknown_name(dialect.reason(error)):
                raise
            connection.rollback()
    if found is None:
        if "table" in relations.values():
            raise NotADatabaseError(
                f"{name} is a database, but not one of chatbench; nothing was changed. Name another one."
            )
        return None
    if int(found) > len(MIGRATIONS):
        raise SchemaError(
            f"{name} has schema version {found}, this chatbench knows {len(MIGRATIONS)}: install a newer chatbench."
        )
    return int(found)


def migrate(connection: sa.Connection, present: int | None) -> None:
    """Bring the database from its `present` version to the newest, inside the transaction of the caller."""
    if present is not None:
        dialect.lock_schema(connection)
    for step in MIGRATIONS[present or 0 :]:
        step(connection)
    row = {"key": KEY, "value": str(len(MIGRATIONS))}
    if present is None:
        connection.execute(meta.insert().values(row))
    else:
        connection.execute(meta.update().where(meta.c.key == KEY).values(value=row["value"]))
