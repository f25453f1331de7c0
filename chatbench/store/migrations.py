"""How a database comes to the present schema: a list that only ever grows at its end."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from chatbench.errors import NotADatabaseError, SchemaError
from chatbench.store import dialect, leaderboard, views
from chatbench.store.tables import Base, meta

KEY = "schema_version"


def create_all(connection: sa.Connection) -> None:
    """Make every fixed table that is not there, and the views over them."""
    Base.metadata.create_all(connection)
    views.replace_fixed(connection)


MIGRATIONS: tuple[Callable[[sa.Connection], None], ...] = (create_all, leaderboard.create_view)
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
