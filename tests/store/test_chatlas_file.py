"""Files that are not those of chATLAS_Benchmark, or cannot be read now; and that reading changes nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from chatbench.errors import DatabaseLockedError, DatabaseNotFoundError, NotADatabaseError, StoreError
from chatbench.store import Store
from chatbench.store.chatlas_file import read_rows
from tests import chatlas_files as chatlas
from tests.chatlas_files import LEXICAL, row
from tests.store import examples


def folder_content(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def test_reading_changes_nothing(tmp_path: Path) -> None:
    path = chatlas.write(tmp_path / "a file #1?%20.db", [row(LEXICAL)])
    before, modified = folder_content(tmp_path), path.stat().st_mtime_ns
    path.chmod(0o444)
    assert [r.name for r in read_rows(path)] == ["alpha"]
    assert folder_content(tmp_path) == before
    assert path.stat().st_mtime_ns == modified


def test_a_write_ahead_log_is_read_and_left_alone(tmp_path: Path) -> None:
    source, copy = tmp_path / "source", tmp_path / "copy"
    source.mkdir()
    copy.mkdir()
    path = chatlas.write(source / "old.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"SELECT * FROM {LEXICAL}").fetchall()  # now it holds the log open
        chatlas.write(path, [row(LEXICAL)])
        for name in ("old.db", "old.db-wal"):  # as a killed program leaves them
            (copy / name).write_bytes((source / name).read_bytes())
        assert [r.name for r in read_rows(path)] == ["alpha"]
    before = folder_content(copy)
    assert [r.name for r in read_rows(copy / "old.db")] == ["alpha"]
    assert folder_content(copy) == before


def test_what_is_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(DatabaseNotFoundError, match=r"There is no file .*gone\.db\."):
        read_rows(tmp_path / "gone.db")
    with pytest.raises(DatabaseNotFoundError, match="does not exist either"):
        read_rows(tmp_path / "nowhere" / "gone.db")
    with pytest.raises(NotADatabaseError, match="is a folder"):
        read_rows(tmp_path)
    (tmp_path / "empty.db").touch()
    with pytest.raises(NotADatabaseError, match="is empty"):
        read_rows(tmp_path / "empty.db")
    (tmp_path / "text.db").write_text("name,score\n" * 99, encoding="utf-8")
    with pytest.raises(NotADatabaseError, match="no SQLite file"):
        read_rows(tmp_path / "text.db")
    examples.saved(Store(tmp_path / "new.duckdb"))
    with pytest.raises(NotADatabaseError, match="is a DuckDB file.*import_run"):
        read_rows(tmp_path / "new.duckdb")
    assert not list(tmp_path.glob("gone*"))


def test_other_databases_are_told_by_their_tables(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA user_version = 1")
    with pytest.raises(NotADatabaseError, match="it has no tables.*Due is at least one of lexical_metrics_scores"):
        read_rows(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE songs (title)")
        connection.execute("CREATE TABLE artists (name)")
    with pytest.raises(NotADatabaseError, match="its tables are artists, songs"):
        read_rows(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE {LEXICAL} (title)")
        connection.execute(f"INSERT INTO {LEXICAL} VALUES ('x')")
    with pytest.raises(NotADatabaseError, match=r"has no column model_name \(there are title\)"):
        read_rows(path)


def test_a_damaged_file(tmp_path: Path) -> None:
    path = chatlas.write(tmp_path / "old.db", [row(LEXICAL, f"run {i}", [0.5] * 500) for i in range(20)])
    data = path.read_bytes()
    path.write_bytes(data[:100] + b"\x55" * (len(data) - 100))
    with pytest.raises(NotADatabaseError, match="is damaged"):
        read_rows(path)
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(NotADatabaseError, match="is damaged"):
        read_rows(path)


def test_a_file_that_is_being_written(tmp_path: Path) -> None:
    path = chatlas.write(tmp_path / "old.db", [row(LEXICAL)])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DatabaseLockedError, match="being written by another program"):
            read_rows(path)
    assert len(read_rows(path)) == 1


def test_a_write_that_was_broken_off_is_not_finished_for_the_user(tmp_path: Path) -> None:
    source, copy = tmp_path / "source", tmp_path / "copy"
    source.mkdir()
    copy.mkdir()
    path = chatlas.write(source / "old.db", [row(LEXICAL, f"run {i}", [0.5] * 500) for i in range(20)])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA cache_size = 1")  # changed pages reach the file before the commit
        connection.execute(f"UPDATE {LEXICAL} SET f1_score = 0")
        for name in ("old.db", "old.db-journal"):
            (copy / name).write_bytes((source / name).read_bytes())
        connection.rollback()
    before = folder_content(copy)
    with pytest.raises(StoreError, match="in the middle of a write"):
        read_rows(copy / "old.db")
    assert folder_content(copy) == before


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    path = chatlas.write(tmp_path / "old.db", [row(LEXICAL)])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE {LEXICAL} SET model_name = CAST(x'ff41' AS TEXT)")
    assert read_rows(path)[0].name == "\ufffdA"
