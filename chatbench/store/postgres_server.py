"""A database on a PostgreSQL server as the place of a benchmark database."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from chatbench.errors import (
    DatabaseLockedError,
    DatabaseNotFoundError,
    DatabaseUnreachableError,
    InputError,
    MissingDependencyError,
    ReadOnlyError,
    StoreError,
)
from chatbench.store import dialect, lock_file, postgres_sql

SERVER_SCHEMES = ("postgresql://", "postgresql+psycopg://", "postgres://")

_SECRETS = ("password", "sslpassword")
_BUSY = re.compile(r"too many|connection slots|starting up|shutting down|in recovery mode|not yet accepting")
_DEFAULTS = {"host": ("PGHOST", "localhost"), "port": ("PGPORT", "5432"), "dbname": ("PGDATABASE", "")}

# The same text of numbers and times whatever the server's and the role's settings; only the first schema of the search
# path, so that no table of another one is taken for ours.
_SESSION = (
    "SET TimeZone='UTC'; SET DateStyle=ISO; SET IntervalStyle=postgres; SET extra_float_digits=1; "
    "SET standard_conforming_strings=on; SET lock_timeout={milliseconds}; "
    "SELECT set_config('search_path', quote_ident(current_schema()), false) WHERE current_schema() IS NOT NULL"
)


class PostgresServer:
    """A database on a server; its first schema in the search path (`?options=-csearch_path%3Dmine`) holds the tables.

    Each call opens a connection of its own and closes it. No text here or in any error has the password.
    """

    path = None

    def __init__(self, url: str) -> None:
        self._arguments = _parsed(url)
        self.name = _name(self._arguments)

    def __repr__(self) -> str:
        return f"PostgresServer({self.name!r})"

    def require(self) -> None:
        """Do nothing: only the server knows what it has."""

    def check_writable(self, timeout: float) -> None:
        """Raise what storing would raise: an unreachable server, another's database, a role without rights."""
        from chatbench.store import migrations

        with self.open(writing=True, timeout=timeout) as connection:
            migrations.version(connection, self.name)
            if problem := postgres_sql.lacking_rights(connection):
                raise ReadOnlyError(f"{self.name} cannot be written: {problem}")

    @contextlib.contextmanager
    def open(self, *, writing: bool, timeout: float) -> Iterator[sa.Connection]:
        """Give a new connection. Errors of the database become ours, the server's reason in one line."""
        deadline = time.monotonic() + timeout
        raw = self._connect(timeout)
        try:
            engine = _engine(tuple(sorted(self._arguments.items())))
            _next.raw = raw
            with engine.connect() as connection:
                connection.info.update(place=self.name, timeout=timeout, deadline=deadline)
                yield connection
        except dialect.DATABASE_ERRORS as error:
            raise self._translated(error) from error
        finally:
            raw.close()

    def _connect(self, timeout: float) -> Any:
        psycopg = _psycopg()
        arguments = {"fallback_application_name": lock_file.this_process()[:63], **self._arguments}
        # In seconds and in milliseconds; libpq waits for two seconds at least. Shorter limits of the user's own are kept.
        for name, limit in (
            ("connect_timeout", max(2, round(timeout))),
            ("tcp_user_timeout", max(2000, round(timeout * 1000))),
        ):
            own = arguments.get(name, "")
            arguments[name] = own if own.isdigit() and 0 < int(own) < limit else str(limit)
        deadline = time.monotonic() + timeout
        for pause in lock_file.pauses():
            try:
                raw = psycopg.connect(**arguments, client_encoding="utf8", autocommit=True)
                self._prepare(raw, timeout)
                return raw
            except psycopg.Error as error:
                said = self._without_secrets(" ".join(str(error).split()))
            # Raised outside the handler: what libpq says is told, and nothing else of its error is kept.
            if not _BUSY.search(said) or time.monotonic() > deadline:
                raise self._refused(said)
            time.sleep(5 * pause)
        raise AssertionError("pauses have no end")

    def _prepare(self, raw: Any, timeout: float) -> None:
        cursor = raw.execute(_SESSION.format(milliseconds=max(1, round(timeout * 1000))))
        while cursor.nextset():
            pass
        has_schema = cursor.fetchone() is not None
        if not has_schema:
            raw.close()
            raise StoreError(
                f"{self.name}: no schema of the search path exists and is open to this role; make it first."
            )
        for kind in ("json", "jsonb"):
            raw.adapters.register_loader(kind, _psycopg().types.string.TextLoader)
        raw.adapters.register_loader("json", _psycopg().types.string.TextBinaryLoader)
        raw.autocommit = False

    def _refused(self, said: str) -> StoreError:
        said = re.sub(r"^connection failed: ", "", said)[:600]
        if re.search(r'database "[^"]*" does not exist', said):
            return DatabaseNotFoundError(f"There is no database {self.name}; make it first (createdb): {said}")
        return DatabaseUnreachableError(f"{self.name} cannot be reached: {said}")

    def _translated(self, error: BaseException) -> StoreError:
        code = postgres_sql.code_of(error)
        said = self._without_secrets(dialect.reason(error))
        if postgres_sql.is_lost(error):
            return DatabaseUnreachableError(
                f"The connection to {self.name} was lost; of this call all is stored or nothing, which runs() tells: {said}"
            )
        if code in postgres_sql.CONFLICTS:
            return DatabaseLockedError(f"{self.name}: another session holds what this call needs ({said}); try again.")
        if code in ("42501", "25006"):
            return ReadOnlyError(
                f"{self.name}: this role may not do that: {said}. To store, it needs CREATE on the schema and to own "
                "the tables; to read, USAGE on the schema and SELECT on its tables and views."
            )
        if code == "54000":
            return StoreError(
                f"{self.name}: {said}. Ids of cases have at most some 2,600 bytes on a server; shorten them."
            )
        if code == "53100":
            return StoreError(f"{self.name} cannot grow (is the disk full?); nothing of this call was stored: {said}")
        return StoreError(f"{self.name}: {said}")

    def _without_secrets(self, text: str) -> str:
        for name in _SECRETS:
            if secret := self._arguments.get(name):
                text = text.replace(secret, "***")
        return text


_next = threading.local()
"""The connection that the engine is to take next in this thread."""


@lru_cache(maxsize=16)
def _engine(arguments: tuple[tuple[str, str], ...]) -> sa.Engine:
    """Return the engine of a server. It keeps no connection, only what it has learnt of the server."""
    return sa.create_engine(
        "postgresql+psycopg://",
        creator=lambda: _next.raw,
        poolclass=NullPool,
        use_native_hstore=False,
        hide_parameters=True,
    )


def _psycopg() -> Any:
    try:
        import psycopg
        import psycopg.types.string
    except ImportError as error:
        raise MissingDependencyError(f"PostgreSQL needs psycopg ({error}): pip install 'chatbench[pg]'") from error
    return psycopg


def _parsed(url: str) -> dict[str, str]:
    """Return libpq's keywords for a URL. Errors repeat nothing of it: a password may stand anywhere in a wrong one."""
    psycopg = _psycopg()
    rest = url.partition("://")[2]
    arguments: dict[str, str] = {}
    with contextlib.suppress(psycopg.Error):
        arguments = {k: str(v) for k, v in psycopg.conninfo.conninfo_to_dict(f"postgresql://{rest}").items()}
        places = [arguments.get(k, "") for k in ("host", "port", "dbname")]
        if not any("@" in place for place in places) and re.fullmatch(r"[\d,]*", places[1]):
            return arguments
    raise InputError(
        "The connection string cannot be read: postgresql://user:password@host:port/database, with %40 for @, %2F for /, "
        "%3A for : and %25 for % in the password."
    )


def _name(arguments: dict[str, str]) -> str:
    found = {k: arguments.get(k) or os.environ.get(variable) or default for k, (variable, default) in _DEFAULTS.items()}
    return f"postgresql://{found['host']}:{found['port']}/{found['dbname']}"
