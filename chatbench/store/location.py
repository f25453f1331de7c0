"""Which database file is meant."""

from __future__ import annotations

import os
from pathlib import Path

from chatbench.errors import DatabaseNotFoundError, InputError

DEFAULT = "benchmark.duckdb"
VARIABLE = "CHATBENCH_DB"
SCHEME = "duckdb:///"

_last: Path | None = None


def locate(db_name: str | Path | None = None, connection_string: str | None = None, *, reading: bool) -> Path:
    """Return the file that is named, else the one used last in this process, else `$CHATBENCH_DB`, else `benchmark.duckdb`.

    With `reading`, a file that is not there raises `DatabaseNotFoundError`, which names the databases nearby; nothing is
    ever created here. Other databases than DuckDB files raise `InputError`.
    """
    if db_name is not None and connection_string is not None:
        raise InputError(f"Name the database once: by db_name ({db_name}) or by connection_string, not by both.")
    if connection_string is not None and not str(connection_string).startswith(SCHEME):
        raise _only_duckdb()
    name = db_name if db_name is not None else connection_string
    if name is None:
        name = _last or os.environ.get(VARIABLE) or DEFAULT
    path = _path(name)
    if reading:
        require(path)
    return path


def require(path: Path) -> None:
    """Raise `DatabaseNotFoundError` unless there is something to read at the path."""
    if path.exists() and (not path.is_file() or path.stat().st_size):
        return
    if not path.parent.is_dir():
        raise missing_folder(path)
    nearby = sorted(p.name for p in path.parent.iterdir() if p.suffix in (".duckdb", ".db") and p != path)
    found = f"In its folder are: {', '.join(nearby[:10])}." if nearby else "Its folder has no other one."
    state = "is empty" if path.exists() else "does not exist"
    raise DatabaseNotFoundError(f"The database {path} {state}. {found} Storing results makes it.")


def missing_folder(path: Path) -> DatabaseNotFoundError:
    """Return the error for a file whose folder is not there."""
    return DatabaseNotFoundError(f"The folder {path.parent} of the database {path.name} does not exist; make it first.")


def remember(path: Path) -> None:
    """Make this the database that is meant when none is named."""
    global _last
    _last = path


def _path(name: str | Path) -> Path:
    text = str(name)
    if text.startswith(SCHEME):
        text = text.removeprefix(SCHEME)
    if "://" in text:
        raise _only_duckdb()
    if not text.strip() or text == ":memory:":
        raise InputError(
            f"A database is a file that stays, so {text!r} cannot be one: name a file such as {DEFAULT!r}."
        )
    return Path(text).expanduser().absolute()


def _only_duckdb() -> InputError:
    # The string is not repeated: it may hold a password.
    return InputError(f"Only DuckDB files are supported so far: connection_string='{SCHEME}benchmark.duckdb'.")
