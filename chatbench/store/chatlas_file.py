"""The SQLite file that chATLAS_Benchmark keeps its scores in: read, never changed.

One row is one metric of one run; a list with an entry per question is JSON text inside JSON text under the key "0".
"""

from __future__ import annotations

import contextlib
import json
import math
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from chatbench.core.fields import shown
from chatbench.core.jsonable import clean_text, digest
from chatbench.core.measure import Measure
from chatbench.errors import DatabaseLockedError, DatabaseNotFoundError, NotADatabaseError, StoreError
from chatbench.store.chatlas_tables import TABLES, SourceTable

LOCK_SECONDS = 2.0
"""How long to wait for a program that is writing the file."""


@dataclass(frozen=True)
class ScoreRow:
    """One metric of one run. `means` and `lists` go by the measure's name; `reasons` say why one of them is not there.

    `digest` is a hash of table, row id and content; `faults` are what is wrong with the row, as sentences.
    """

    source: SourceTable
    row_id: int
    digest: str
    name: str
    question_path: str | None
    time: datetime | None
    means: Mapping[str, float]
    lists: Mapping[str, list[float | None]]
    reasons: Mapping[str, str]
    faults: tuple[str, ...]

    @property
    def n_questions(self) -> int | None:
        """Number of questions, None where no list tells it."""
        return next((len(listed) for listed in self.lists.values()), None)

    @property
    def place(self) -> str:
        """Table and row for messages."""
        return f"{self.source.name} row {self.row_id}"


def read_rows(path: Path) -> list[ScoreRow]:
    """Return the rows of all four tables, table by table, in the order in which they were written.

    Raises `DatabaseNotFoundError`, `NotADatabaseError` for anything but such a file (also another SQLite database, whose
    tables it names), `DatabaseLockedError` when another program keeps writing.
    """
    header = _header(path)
    try:
        with _opened(path, header) as connection:
            return _rows(connection, path)
    except sqlite3.Error as error:
        raise _translated(error, path) from error


def _header(path: Path) -> bytes:
    if path.is_dir():
        raise NotADatabaseError(f"{path} is a folder; name the SQLite file in it.")
    if not path.exists():
        where = "" if path.absolute().parent.is_dir() else f"; its folder {path.parent} does not exist either"
        raise DatabaseNotFoundError(f"There is no file {path}{where}. Name the file that chATLAS_Benchmark wrote.")
    if not path.is_file():
        raise NotADatabaseError(f"{path} is no regular file; name another one.")
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from error
    if not header:
        raise NotADatabaseError(f"{path} is empty; nothing was ever stored in it.")
    if header[8:12] == b"DUCK":
        raise NotADatabaseError(
            f"{path} is a DuckDB file, not the SQLite file of chATLAS_Benchmark; a run of chatbench moves by export_run and import_run."
        )
    if not header.startswith(b"SQLite format 3\0"):
        raise NotADatabaseError(f"{path} is no SQLite file; name the one that chATLAS_Benchmark wrote.")
    return header


@contextlib.contextmanager
def _opened(path: Path, header: bytes) -> Iterator[sqlite3.Connection]:
    """Open the file so that nothing in its folder changes."""
    with contextlib.ExitStack() as stack:
        if header[18:20] == b"\2\2":  # write-ahead log: even a reader would make files beside it
            copy = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "copy.db"
            for end in ("", "-wal"):
                with contextlib.suppress(FileNotFoundError):
                    shutil.copyfile(f"{path}{end}", f"{copy}{end}")
            path = copy
        uri = f"{path.absolute().as_uri()}?mode=ro"
        connection = stack.enter_context(contextlib.closing(sqlite3.connect(uri, uri=True, timeout=LOCK_SECONDS)))
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        connection.row_factory = sqlite3.Row
        connection.execute("BEGIN")  # one state for all tables
        yield connection


def _translated(error: sqlite3.Error, path: Path) -> StoreError:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return DatabaseLockedError(
            f"{path} is being written by another program, for longer than {LOCK_SECONDS:g} s. Close that first."
        )
    if name.startswith("SQLITE_READONLY"):
        return StoreError(
            f"{path} was left in the middle of a write, and finishing it would change the file. Open it once with the program that wrote it."
        )
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return NotADatabaseError(f"{path} is damaged: {error}. Nothing was imported.")
    return StoreError(f"{path} cannot be read: {error}.")


def _rows(connection: sqlite3.Connection, path: Path) -> list[ScoreRow]:
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    present = {name.lower() for name in names if not name.startswith("sqlite_")}
    sources = [table for table in TABLES if table.name.lower() in present]
    if not sources:
        found = f"its tables are {', '.join(sorted(present))}" if present else "it has no tables"
        raise NotADatabaseError(
            f"{path} is an SQLite database, but not one of chATLAS_Benchmark: {found}. "
            f"Due is at least one of {', '.join(table.name for table in TABLES)}."
        )
    rows = []
    for source in sources:
        for row in connection.execute(f'SELECT rowid AS row_id, * FROM "{source.name}" ORDER BY rowid'):
            values = dict(zip(row.keys(), row, strict=True))
            if "model_name" not in values:
                raise NotADatabaseError(
                    f"The table {source.name} of {path} has no column model_name (there are {', '.join(row.keys()[1:])}); "
                    "it is not the one of chATLAS_Benchmark."
                )
            rows.append(_row(source, values))
    return rows


def _row(source: SourceTable, values: Mapping[str, Any]) -> ScoreRow:
    means, lists, reasons, faults = _scores(source, values)
    time = _time(values.get("date_time"))
    if time is None:
        faults.append(f"its date_time is {shown(values.get('date_time'))}, which is no time")
    given, path, row_id = values["model_name"], values.get("question_path"), int(values["row_id"])
    # Only what is read counts: a column that somebody adds later makes no other row of it.
    known = ["model_name", "question_path", "date_time", *(c.mean for c in source.columns)]
    known += [c.by_question for c in source.columns if c.by_question]
    return ScoreRow(
        source=source,
        row_id=row_id,
        digest=digest([source.name, row_id, [repr(values.get(key)) for key in known]]),
        name="" if given is None else clean_text(str(given)).strip(),
        question_path=None if path is None else clean_text(str(path)),
        time=time,
        means=means,
        lists=lists,
        reasons=reasons,
        faults=tuple(faults),
    )


def _scores(
    source: SourceTable, values: Mapping[str, Any]
) -> tuple[dict[str, float], dict[str, list[float | None]], dict[str, str], list[str]]:
    """Return means and lists by measure, why there is neither, and what is wrong."""
    means: dict[str, Any] = {}
    lists: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    faults: list[str] = []
    for column in source.columns:
        name = column.measure.name
        for key, read, found in ((column.mean, _mean, means), (column.by_question, _by_question, lists)):
            try:
                value = None if key is None else read(values.get(key), column.measure)
            except (ValueError, RecursionError) as error:
                faults.append(f"{key} cannot be read: {error}")
                reasons[name] = faults[-1]
                continue
            if value is not None:
                found[name] = value
        if name not in lists and name not in means:
            reasons.setdefault(name, f"{column.mean} is NULL in the file of chATLAS_Benchmark")
    if len({len(listed) for listed in lists.values()}) > 1:
        lengths = ", ".join(f"{name} {len(listed)}" for name, listed in lists.items())
        faults.append(f"its lists have different lengths ({lengths}), so nobody knows which entry is whose")
        reasons.update(dict.fromkeys(lists, faults[-1]))
        lists.clear()
    return means, lists, reasons, faults


def _mean(raw: Any, measure: Measure) -> float | None:
    value = _decoded(raw)
    return None if value is None else _number(value, measure)


def _by_question(raw: Any, measure: Measure) -> list[float | None] | None:
    """Return the entries; None for NULL and for an empty list."""
    value = _decoded(raw)
    if isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    if value is None:
        return None
    if not isinstance(value, list):
        raise ValueError(f"a list is due, but it holds a {shown(value)}")
    return [None if entry is None else _number(entry, measure) for entry in value] or None


def _number(value: Any, measure: Measure) -> float | None:
    if isinstance(value, float) and math.isnan(value):  # as JSON writes what the file otherwise has as NULL
        return None
    number: float = measure.check(value)
    return number


def _decoded(raw: Any) -> Any:
    """Return the value of JSON text, which may be inside JSON text; of anything else the value itself."""
    value = raw
    while isinstance(value, str | bytes):
        value = json.loads(value)
    return value


def _time(raw: Any) -> datetime | None:
    """Return a time as UTC: ISO text, with or without zone (UTC is meant), or seconds or milliseconds since 1970."""
    try:
        if isinstance(raw, str):
            with contextlib.suppress(ValueError):
                time = datetime.fromisoformat(raw.strip())
                return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
        number = float(raw)
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=number / 1000 if abs(number) > 1e11 else number)
    except (ValueError, TypeError, OverflowError):
        return None
