"""What a database makes of our tables and names: keywords, types of keys, one question set from two folders."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from chatbench.loaders import load_dataset
from chatbench.scoring.names import reserved_words
from chatbench.store import Store
from tests.store import examples
from tests.store.test_files import run_script


def refused(connection: duckdb.DuckDBPyConnection, *statements: str) -> bool:
    """Whether the database refuses any of these statements, none of which stays."""
    connection.execute("BEGIN")
    try:
        for statement in statements:
            connection.execute(statement)
    except duckdb.Error:
        return True
    finally:
        connection.execute("ROLLBACK")
    return False


def test_every_keyword_that_needs_quotes_is_reserved() -> None:
    """Regenerates DuckDB's part of the list of reserved words."""
    with duckdb.connect() as connection:
        words = [w for (w,) in connection.execute("SELECT DISTINCT keyword_name FROM duckdb_keywords()").fetchall()]
        as_table = {
            w
            for w in words
            if refused(connection, f"CREATE TABLE {w} (a int)", f"SELECT {w}.a FROM {w} ORDER BY {w}.a")
        }
        as_column = {
            w
            for w in words
            if refused(connection, f"CREATE TABLE t (a int, {w} int)", f"SELECT t.{w}, avg({w}) FROM t GROUP BY {w}")
        }
    assert {"select", "table"} <= as_table & as_column
    assert as_table | as_column <= reserved_words()


def test_a_fresh_database_has_plain_keys(tmp_path: Path) -> None:
    # Fault 24 of the original: SERIAL, which DuckDB does not know. Every warning is an error in the process below.
    script = """
        import sys
        from chatbench.store import Store
        from tests.store.test_files import fill
        fill(Store(sys.argv[1]))
        print(len(Store(sys.argv[1]).fetch()))
    """
    path = tmp_path / "benchmark.duckdb"
    assert run_script(script, path) == "1\n"
    with duckdb.connect(str(path), read_only=True) as raw:
        assert raw.execute("SELECT count(*) FROM duckdb_sequences()").fetchall() == [(0,)]
        assert raw.execute("SELECT count(*) FROM answer_length JOIN runs USING (run_id)").fetchall() == [(2,)]


def test_one_question_set_from_two_folders(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Fault 23 of the original: the path as typed told sets apart.
    records = [{"question": f"What is {i}?", "answer": str(i), "document": "a.txt"} for i in range(3)]
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "set.json").write_text(json.dumps(records))
    monkeypatch.chdir(tmp_path / "two")
    for source in (tmp_path / "one" / "set.json", "set.json", "../one/set.json"):
        questions = load_dataset(source)
        examples.saved(store, questions=questions)
    assert store.query("SELECT n_questions FROM datasets")["n_questions"].tolist() == [3]
    assert store.query("SELECT count(*) AS n, count(DISTINCT dataset_id) AS sets FROM runs").values.tolist() == [[3, 1]]
    assert store.query("SELECT count(*) AS n FROM cases")["n"].tolist() == [3]
