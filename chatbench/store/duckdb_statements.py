"""What a query may do on DuckDB: when it only reads, and what it must not even when it writes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb

from chatbench.errors import QueryError
from chatbench.store.statements import more_than_reading, no_transactions

_EXPLAIN = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/)*explain\s*(?:analyze\s+|\([^)]*\))?(?P<explained>.*)", re.IGNORECASE | re.DOTALL
)
# Functions that a SELECT can call, and that change settings or write files.
_CHANGING = re.compile(r"\b(?:(?:en|dis)able_(?:logging|profiling)|truncate_duckdb_logs)\b", re.IGNORECASE)
_QUOTED = re.compile(r"'(?:[^']|'')*'")
_RUNS_TEXT = re.compile(r"\bquery(?:_table)?\s*\(", re.IGNORECASE)
_COMPUTED = re.compile(r"\bto\s*\(", re.IGNORECASE)
_WRITES_FILES = re.compile(r"\b(?:copy|export)\b", re.IGNORECASE)
_OVERWRITES = re.compile(r"\boverwrite", re.IGNORECASE)
_WORDS = re.compile(r"'((?:[^']|'')*)'|\"((?:[^\"]|\"\")*)\"|([^\s'\"(),;]+)")


def check(raw: Any, sql: str, parameters: Any, path: Path, *, write: bool) -> None:
    """Raise `QueryError` for statements that a query may not have.

    Without `write` it may only read: the database's own read-only transactions leave other files, settings and
    temporary tables open to change, and the file of the database is one of the other files.
    """
    statements = raw.extract_statements(sql)
    if any(s.type == duckdb.StatementType.TRANSACTION for s in statements):
        raise no_transactions()
    if write:
        _spare_own_files(sql, parameters, path)
        return
    for statement in statements:
        if not _only_reads(raw, statement):
            raise more_than_reading(statement.type.name.replace("_", " "))
    # What stands between quotes is data, unless the function query() runs it.
    if changing := _CHANGING.search(sql if _RUNS_TEXT.search(sql) else _QUOTED.sub("''", sql)):
        raise more_than_reading(changing[0])


def _only_reads(raw: Any, statement: Any) -> bool:
    # SHOW, DESCRIBE, SUMMARIZE and the PRAGMAs that only tell something are parsed into a SELECT.
    if statement.type == duckdb.StatementType.SELECT:
        return True
    if statement.type == duckdb.StatementType.CREATE:  # PIVOT makes a type of its own first, which nobody has written
        return not statement.query
    explained = _EXPLAIN.fullmatch(statement.query)
    if statement.type != duckdb.StatementType.EXPLAIN or explained is None:
        return False
    # EXPLAIN ANALYZE runs what it explains.
    return all(_only_reads(raw, inner) for inner in raw.extract_statements(explained["explained"]))


def _spare_own_files(sql: str, parameters: Any, path: Path) -> None:
    """Refuse COPY and EXPORT onto the database itself: DuckDB would overwrite the file that it has open."""
    if not _WRITES_FILES.search(sql):
        return
    if _COMPUTED.search(_QUOTED.sub("''", sql)):
        raise QueryError("COPY to a name that is computed is not possible here; write the file's name as text.")
    bound = parameters.values() if isinstance(parameters, dict) else parameters or ()
    named = ["".join(groups) for groups in _WORDS.findall(sql)] + [v for v in bound if isinstance(v, str)]
    path = path.resolve()
    own = {path, *(path.with_name(f"{path.name}.{end}") for end in ("wal", "lock"))}
    if _OVERWRITES.search(sql):
        own.update(path.parents)
    for name in named:
        if "\0" not in name and len(name) < 4096 and Path(name.removeprefix("file:")).expanduser().resolve() in own:
            raise QueryError(f"{name!r} is the database itself or holds it; COPY and EXPORT need another file.")
