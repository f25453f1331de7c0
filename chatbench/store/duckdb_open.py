"""Opening DuckDB files: what is refused, what is worth another try, and what the errors mean."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import duckdb
import sqlalchemy as sa
from duckdb_sqlalchemy import ConnectionWrapper
from sqlalchemy.pool import NullPool

from chatbench.errors import DatabaseNotFoundError, NotADatabaseError, ReadOnlyError, StoreError
from chatbench.store.dialect import reason

Raw = duckdb.DuckDBPyConnection


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
