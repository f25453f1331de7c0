"""SQL as a person writes it: frames, errors that help, nothing changed unasked."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from chatbench.errors import QueryError, StoreError
from chatbench.store import Store
from tests.store import examples

QUESTIONS = examples.dataset(3)


@pytest.fixture
def filled(store: Store) -> Store:
    return fill(store)


@pytest.fixture
def filled_file(file_store: Store) -> Store:
    return fill(file_store)


def fill(store: Store) -> Store:
    """Store two runs of a metric of integers."""
    for name in ("bm25", "hybrid"):
        made = examples.scoring(
            QUESTIONS, {"words": [1, None, 3]}, kinds={"words": int}, metric="Length", table="length_of"
        )
        store.save_run(examples.run_of(QUESTIONS, name), QUESTIONS, examples.answers(QUESTIONS), [made])
    return store


def test_types_of_a_frame(filled: Store) -> None:
    frame = filled.query(
        "SELECT words, run_id, CASE WHEN words = 1 THEN 'one' END AS text, words > 1 AS more, words / 2.0 AS half, "
        "sum(words) OVER () AS total, count(*) OVER () AS n, ARRAY[1, 2] AS list, 12.5 AS fixed, "
        "TIMESTAMPTZ '2026-01-02 03:04:05+01' AS moment FROM length_of ORDER BY words NULLS LAST LIMIT 5"
    )
    assert frame.dtypes.astype(str).to_dict() == {
        "words": "Int64",
        "run_id": "object",
        "text": "object",
        "more": "boolean",
        "half": "Float64",
        "total": "int64",
        "n": "int64",
        "list": "object",
        "fixed": "float64",
        "moment": "datetime64[us, UTC]",
    }
    assert frame["words"].tolist() == [1, 1, 3, 3, pd.NA]
    assert frame["text"].tolist() == ["one", "one", None, None, None]
    assert frame["half"].isna().tolist() == [False] * 4 + [True]
    assert frame["list"][0] == [1, 2]
    assert frame["moment"][0] == pd.Timestamp("2026-01-02 02:04:05", tz="UTC")
    assert filled.query("SELECT 1 AS a, 2 AS a").columns.tolist() == ["a", "a"]
    assert filled.query("SELECT words FROM length_of WHERE false").dtypes.astype(str).to_dict() == {"words": "int64"}


def test_a_simple_join_is_right(filled: Store) -> None:
    frame = filled.query(
        "SELECT name, avg(words) AS mean FROM length_of JOIN runs USING (run_id) GROUP BY name ORDER BY name"
    )
    assert frame.to_dict("records") == [{"name": "bm25", "mean": 2.0}, {"name": "hybrid", "mean": 2.0}]
    attempts = filled.query("SELECT question, answer FROM attempts WHERE case_id = 'q1'")
    assert attempts["question"].tolist() == ["What is 1?"] * 2
    results = filled.query("SELECT * FROM results ORDER BY created_at DESC")
    assert results.columns.tolist() == ["run_id", "name", "dataset", "created_at", "n_questions", "length_of_words"]
    pd.testing.assert_frame_equal(results, filled.fetch(), check_column_type=False)


def test_parameters(filled: Store) -> None:
    assert filled.query("SELECT name FROM runs WHERE name = ?", ["hybrid"])["name"].tolist() == ["hybrid"]
    assert filled.query("SELECT $a AS x", {"a": "it's"})["x"].tolist() == ["it's"]


ERRORS = {
    "SELECT * FROM length": "[lL]ength.? does not exist.* There are: .*cases.*length_of.*runs",
    "SELECT word FROM length_of": r'column "word" .*There are: length_of \(run_id, case_id, .*, words\)',
    "SELECT l.word FROM length_of l": r"word.* There are: length_of \(run_id",
    "SELECT 1 +": "syntax error",
    "DELETE FROM runs": "write=True",
    "COMMIT; DELETE FROM runs": "each call is one transaction",
}


@pytest.mark.parametrize(("sql", "message"), ERRORS.items())
def test_errors_help(filled: Store, sql: str, message: str) -> None:
    with pytest.raises(QueryError, match=message) as caught:
        filled.query(sql)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, StoreError)
    assert len(filled.runs()) == 2


def test_nothing_is_downloaded(filled_file: Store) -> None:
    with pytest.raises(QueryError, match="extension"):
        filled_file.query("SELECT * FROM 'https://127.0.0.1:1/x.parquet'")


def test_writing_on_request(filled: Store) -> None:
    filled.query("CREATE TABLE notes AS SELECT run_id, 'good' AS note FROM runs", write=True)
    assert filled.query("SELECT note FROM notes")["note"].tolist() == ["good", "good"]
    with pytest.raises(QueryError):
        filled.query("DELETE FROM notes; SELECT nonsense", write=True)
    assert len(filled.query("SELECT * FROM notes")) == 2
    # A view of the user's own on ours does not stand in the way of a metric that gains a measure.
    filled.query("CREATE VIEW mine AS SELECT words FROM length_of", write=True)
    filled.query("CREATE VIEW ours AS SELECT name, length_of_words FROM results", write=True)
    values = {"words": [5] * 3, "chars": [1.0] * 3}
    made = examples.scoring(QUESTIONS, values, metric="Length", table="length_of", kinds={"words": int})
    filled.save_run(examples.run_of(QUESTIONS, "third"), QUESTIONS, examples.answers(QUESTIONS), [made])
    assert len(filled.fetch()) == 3
    assert filled.query("SELECT count(*) AS n FROM mine")["n"].tolist() == [9]
    assert filled.query("SELECT length_of_words AS w FROM ours ORDER BY w")["w"].tolist() == [2.0, 2.0, 5.0]


READING = {
    "SHOW TABLES": 5,
    "DESCRIBE runs": 5,
    "SUMMARIZE runs": 5,
    "PRAGMA table_info('runs')": 5,
    "/* what */ EXPLAIN SELECT 1": 1,
    "EXPLAIN (FORMAT json) SELECT 1": 1,
    "EXPLAIN ANALYZE SELECT name FROM runs": 1,
    "PIVOT runs ON name USING count(*) GROUP BY dataset": 1,
    "FROM runs": 2,
    "VALUES (1), (2)": 2,
    "WITH a AS (SELECT 1) TABLE a": 1,
    "SELECT * FROM read_csv('table.csv')": 2,
}


@pytest.mark.parametrize(("sql", "at_least"), READING.items())
def test_what_reads(filled_file: Store, sql: str, at_least: int) -> None:
    Path("table.csv").write_text("a,b\n1,2\n3,4\n")
    assert len(filled_file.query(sql)) >= at_least


CHANGING = [
    "COPY (SELECT 1 AS a) TO '{path}' (FORMAT csv)",
    "COPY (SELECT 1 AS a) TO 'out.csv'",
    "SELECT 1; COPY (SELECT 1 AS a) TO 'out.csv'",
    "EXPLAIN ANALYZE COPY (SELECT 1 AS a) TO 'out.csv'",
    "EXPLAIN (ANALYZE, FORMAT json) COPY (SELECT 1 AS a) TO 'out.csv'",
    "PREPARE p AS COPY (SELECT 1 AS a) TO 'out.csv'",
    "EXPORT DATABASE 'folder'",
    "ATTACH 'other.duckdb'",
    "INSTALL httpfs",
    "LOAD json",
    "SET threads = 1",
    "RESET threads",
    "SET VARIABLE x = 1",
    "PRAGMA threads = 1",
    "PRAGMA enable_profiling",
    "CHECKPOINT",
    "VACUUM",
    "USE memory",
    "CREATE TEMP TABLE t (i int)",
    "CREATE TEMP TYPE e AS ENUM ('a')",
    "CALL enable_logging(storage = 'file', storage_config = {{'path': 'logs'}})",
    "FROM enable_logging(storage = 'file', storage_config = {{'path': 'logs'}})",
    "DELETE FROM runs",
    "DROP TABLE runs",
]


@pytest.mark.parametrize("sql", CHANGING)
def test_what_only_reads_changes_nothing(filled_file: Store, sql: str) -> None:
    before = filled_file.path.read_bytes()
    with pytest.raises(QueryError, match=r"only reads.*write=True.*--write"):
        filled_file.query(sql.format(path=filled_file.path))
    assert filled_file.path.read_bytes() == before
    assert not list(Path().iterdir())


@pytest.mark.parametrize("name", ["benchmark.duckdb", "./benchmark.duckdb.wal", "../{folder}/benchmark.duckdb.lock"])
@pytest.mark.parametrize("target", ["'{name}'", "?"])
def test_the_database_is_never_overwritten(
    filled_file: Store, name: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(filled_file.path.parent)
    name = name.format(folder=filled_file.path.parent.name)
    sql = f"COPY (SELECT 1 AS a) TO {target.format(name=name)} (FORMAT csv)"
    with pytest.raises(QueryError, match=r"is the database itself"):
        filled_file.query(sql, [name] if target == "?" else None, write=True)
    assert len(filled_file.runs()) == 2


def test_the_folder_of_the_database_is_never_emptied(filled_file: Store) -> None:
    folder = filled_file.path.parent
    with pytest.raises(QueryError, match="holds it"):
        filled_file.query(f"COPY runs TO '{folder}' (FORMAT csv, PARTITION_BY name, OVERWRITE)", write=True)
    filled_file.query(f"COPY runs TO '{folder / 'runs.csv'}'", write=True)
    assert (folder / "runs.csv").exists()
    assert len(filled_file.runs()) == 2
