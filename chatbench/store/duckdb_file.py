"""A DuckDB file as the place of a benchmark database."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from chatbench.errors import DatabaseNotFoundError, ReadOnlyError
from chatbench.store import duckdb_open
from chatbench.store.gate import gate_for


@dataclass(frozen=True)
class DuckDBFile:
    """A file that is open only during a call."""

    path: Path

    @property
    def name(self) -> str:
        """The path."""
        return str(self.path)

    def require(self) -> None:
        """Raise `DatabaseNotFoundError`, which names the databases nearby, unless there is something to read."""
        path = self.path
        if path.exists() and (not path.is_file() or path.stat().st_size):
            return
        self._require_folder()
        nearby = sorted(p.name for p in path.parent.iterdir() if p.suffix in (".duckdb", ".db") and p != path)
        found = f"In its folder are: {', '.join(nearby[:10])}." if nearby else "Its folder has no other one."
        state = "is empty" if path.exists() else "does not exist"
        raise DatabaseNotFoundError(f"The database {path} {state}. {found} Storing results makes it.")

    def check_writable(self, timeout: float) -> None:
        """Raise what storing would raise for a missing folder, a read-only place, or another kind of file.

        It opens and makes nothing and waits for nobody.
        """
        self._require_writable()
        duckdb_open.refuse_other_files(self.path)

    def open(self, *, writing: bool, timeout: float) -> AbstractContextManager[sa.Connection]:
        """Give a connection of one thread; one writer at a time. Errors of the database become ours."""
        if writing:
            self._require_writable()
        else:
            self.require()
        return gate_for(self.path).open(writing=writing, timeout=timeout)

    def _require_folder(self) -> None:
        if not self.path.parent.is_dir():
            raise DatabaseNotFoundError(
                f"The folder {self.path.parent} of the database {self.path.name} does not exist; make it first."
            )

    def _require_writable(self) -> None:
        self._require_folder()
        for place in (self.path, self.path.parent):
            if place.exists() and not os.access(place, os.W_OK):
                what = "It is" if place == self.path else f"Its folder {place} is"
                raise ReadOnlyError(
                    f"{self.path} cannot be written. {what} read-only for this user; name another place."
                )
