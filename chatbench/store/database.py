"""What the store needs of a database before there is a connection."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import sqlalchemy as sa


class Database(Protocol):
    """A place that holds one benchmark database: a DuckDB file, or a database on a PostgreSQL server."""

    @property
    def name(self) -> str:
        """The place as people are told it, without a password."""
        ...

    @property
    def path(self) -> Path | None:
        """The file, if it is one."""
        ...

    def require(self) -> None:
        """Raise `DatabaseNotFoundError` if it is plain without opening it that there is nothing to read."""
        ...

    def check_writable(self, timeout: float) -> None:
        """Raise what storing would raise for a place that cannot be written; change nothing."""
        ...

    def open(self, *, writing: bool, timeout: float) -> AbstractContextManager[sa.Connection]:
        """Give a connection of one thread, outside a transaction. Errors of the database become ours."""
        ...
