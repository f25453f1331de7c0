"""SQL as a person writes it, on a server: parameters, what only reads, and the same frames as from a file."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import pandas as pd
import pytest

from chatbench.errors import DatabaseUnreachableError, QueryError
from chatbench.store import Store
from tests.store import examples
from tests.store.examples import saved
from tests.store.server import Server

QUESTIONS = examples.dataset(3)


def fill(store: Store) -> Store:
    """Store two runs."""
    for name in ("bm25", "hybrid"):
        saved(store, examples.scoring(QUESTIONS, {"words": [1, None, 3]}, kinds={"words": int}), name=name)
    return store


@pytest.fixture(scope="module")
def filled(server: Server) -> Iterator[Store]:
    """A database for the tests that change nothing, or must not be able to."""
    url = server.new_database()
    yield fill(Store(url, timeout=10))
    server.drop_database(url)


def one(store: Store, sql: str, parameters: Any = None) -> list[Any]:
    return store.query(sql, parameters).iloc[0].tolist()


PARAMETERS = [
    ("SELECT ? AS a, ? AS b", ["it's", 'q"?$1'], ["it's", 'q"?$1']),
    ("SELECT $2 || $1 || $2 AS a", ["x", "y"], ["yxy"]),
    ("SELECT $a || $b || $a AS a", {"a": "x", "b": "y"}, ["xyx"]),
    ('SELECT \'?\' || ? AS a -- ? what\n, /* ? /* $1 */ ? */ "?" FROM (SELECT 1 AS "?") t', ["x"], ["?x", 1]),
    ("SELECT $$?$$ || $tag$ $x $tag$ || $x AS a, E'\\'$x' AS b", {"x": "y"}, ["? $x y", "'$x"]),
    ("SELECT a$b FROM (SELECT 1 AS a$b) t WHERE a$b = $b", {"b": 1}, [1]),
    ("SELECT '100 %s %% :x %(a)s' AS a, 7 % 4 AS b, '1'::int AS c", None, ["100 %s %% :x %(a)s", 3, 1]),
    ("SELECT '100 %s :x' || ? AS a, 7 % 4 AS b, ?::int AS c", ["!", "1"], ["100 %s :x!", 3, 1]),
    ("SELECT count(*) AS n FROM runs WHERE name = ANY(?)", [["bm25", "hybrid"]], [2]),
    ("SELECT ? AS a, ? AS b, ? AS c", [1, 0.5, True], [1, 0.5, True]),
    ("SELECT ?::jsonb ->> 'a' AS a", ['{"a": "b"}'], ["b"]),
    ("SELECT '{\"a\": 1}'::jsonb ? 'a' AS a", None, [True]),
    ("SELECT '{\"a\": 1}'::jsonb ? $key AS a", {"key": "a"}, [True]),
    ("SELECT 1 AS a; SELECT name FROM runs WHERE name = ?;", ["hybrid"], ["hybrid"]),
    ("SELECT 1 AS a; SELECT 2 AS b; -- done", None, [2]),
]


@pytest.mark.parametrize(("sql", "parameters", "expected"), PARAMETERS)
def test_parameters(filled: Store, sql: str, parameters: Any, expected: list[Any]) -> None:
    assert one(filled, sql, parameters) == expected


WRONG = [
    ("SELECT ?, ?", [1], "1 parameters were given, and the query has places for 2"),
    ("SELECT ?, $1", [1], "not both"),
    ("SELECT $a", {"b": 1}, r"names \$a, and parameters were given for \$b"),
    ("SELECT 1", {"b": 1}, r"names no parameter, and parameters were given for \$b"),
    ("SELECT ?; SELECT ?", [1, 2], "last statement only"),
    ("SELECT ?", "text", "not a str"),
    ("SELECT ?", [{"a": 1}], "dict"),
    ("SELECT 'open", None, "unterminated"),
    ("SELECT /* open", None, "unterminated"),
    (";", None, ""),
]


@pytest.mark.parametrize(("sql", "parameters", "message"), WRONG)
def test_what_cannot_be_bound(filled: Store, sql: str, parameters: Any, message: str) -> None:
    if not message:
        assert filled.query(sql, parameters).empty
        return
    with pytest.raises(QueryError, match=message) as caught:
        filled.query(sql, parameters)
    assert "\n" not in str(caught.value)


READING = [
    "SHOW server_version",
    "TABLE runs",
    "VALUES (1), (2)",
    "(SELECT 1) UNION (SELECT 2)",
    "WITH a AS (SELECT 1 AS b) SELECT * FROM a",
    "EXPLAIN ANALYZE SELECT name FROM runs",
    "EXPLAIN (ANALYZE, FORMAT json) (SELECT name FROM runs)",
    "EXPLAIN (SELECT 1) UNION (SELECT 2)",
    "/* what */ -- and\nSELECT count(*) AS nextval, 'set_config(1)' AS text FROM runs",
    "SELECT name AS commit FROM runs",
]


@pytest.mark.parametrize("sql", READING)
def test_what_reads(filled: Store, sql: str) -> None:
    assert len(filled.query(sql)) >= 1


CHANGING = [
    "DELETE FROM runs",
    "WITH gone AS (DELETE FROM runs RETURNING *) SELECT * FROM gone",
    "SELECT * INTO copied FROM runs",
    "CREATE TABLE t (i int)",
    "CREATE TEMP TABLE t (i int)",
    "EXPLAIN ANALYZE DELETE FROM runs",
    "EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1",
    "EXPLAIN (ANALYZE, FORMAT json) CREATE TABLE t AS SELECT 1",
    "EXPLAIN (ANALYZE",
    "SELECT 1; DROP TABLE runs CASCADE",
    "COPY runs TO '/nowhere/runs.csv'",
    "COPY runs TO PROGRAM 'true'",
    "SET TimeZone = 'CET'",
    "RESET ALL",
    "DISCARD ALL",
    "DO $$ BEGIN PERFORM set_config('transaction_read_only', 'off', true); DELETE FROM runs; END $$",
    "PREPARE p AS DELETE FROM runs",
    "LOCK TABLE runs",
    "LISTEN x",
    "NOTIFY x",
    "VACUUM",
    "CHECKPOINT",
    "CALL p()",
    "LOAD 'auto_explain'",
    "SELECT set_config('transaction_read_only', 'off', true)",
    "SELECT pg_catalog.set_config('TimeZone', 'CET', false)",
    "SELECT \"set_config\" ('TimeZone', 'CET', false)",
    "SELECT set_config /* */ ('TimeZone', 'CET', false)",
    "SELECT nextval('s')",
    "SELECT pg_advisory_lock(1)",
    "SELECT pg_try_advisory_lock(1)",
    "SELECT pg_terminate_backend(0)",
    "SELECT pg_reload_conf()",
    "SELECT pg_read_file('/etc/hostname')",
    "SELECT * FROM pg_ls_dir('/')",
    "SELECT lo_export(1, '/nowhere/object')",
    "SELECT lo_create(7)",
    "SELECT dblink_exec('dbname=postgres', 'DROP TABLE runs')",
    "SELECT query_to_xml('SELECT set_' || 'config(1)', true, true, '')",
    "SELECT pg_notify('a', 'b')",
]


@pytest.mark.parametrize("sql", CHANGING)
def test_what_only_reads_changes_nothing(filled: Store, sql: str) -> None:
    with pytest.raises(QueryError, match=r"only reads.*write=True.*--write"):
        filled.query(sql)
    assert len(filled.runs()) == 2


def test_ways_around_the_refusals(server_store: Store) -> None:
    filled = fill(server_store)
    filled.query(
        "CREATE FUNCTION clear_all() RETURNS int LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM set_config('transaction_read_only', 'off', true); DELETE FROM scorings; RETURN 1; END $$",
        write=True,
    )
    with pytest.raises(QueryError, match="read-write mode must be set before any query"):
        filled.query("SELECT clear_all()")
    with pytest.raises(QueryError, match="Unicode escapes"):
        filled.query("SELECT U&\"set\\005fconfig\"('TimeZone', 'CET', false)")
    assert len(filled.query("SELECT * FROM scorings")) == 2


@pytest.mark.parametrize(
    "sql", ["BEGIN", "commit", "START TRANSACTION", "SELECT 1; -- x\nROLLBACK", "SAVEPOINT a", "END"]
)
@pytest.mark.parametrize("write", [False, True])
def test_each_call_is_one_transaction(filled: Store, sql: str, write: bool) -> None:
    with pytest.raises(QueryError, match="each call is one transaction"):
        filled.query(sql, write=write)


def test_writing_on_request(server_store: Store) -> None:
    filled = fill(server_store)
    assert filled.query("UPDATE runs SET name = name || '!'", write=True).to_dict("list") == {"Count": [2]}
    returned = filled.query("INSERT INTO meta VALUES (?, ?) RETURNING key", ["note", "100 %"], write=True)
    assert returned["key"].tolist() == ["note"]
    with pytest.raises(QueryError, match="nonsense"):
        filled.query("DELETE FROM meta; SELECT nonsense", write=True)
    for sql in ("COPY runs FROM STDIN", "COPY runs TO STDOUT"):
        for write in (True, False):
            with pytest.raises(QueryError, match="STDIN and to STDOUT is not possible"):
                filled.query(sql, write=write)
    assert one(filled, "SELECT value FROM meta WHERE key = 'note'") == ["100 %"]


def test_a_query_whose_connection_is_ended(server: Server, filled: Store) -> None:
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(30)%' AND pid <> pg_backend_pid()"
    timer = threading.Timer(0.5, lambda: server.execute(end))
    timer.start()
    with pytest.raises(DatabaseUnreachableError, match="was lost"):
        filled.query("SELECT pg_sleep(30)")
    timer.join()


def test_types(filled: Store) -> None:
    frame = filled.query(
        "SELECT 1::smallint AS i2, 2::int AS i4, 3::bigint AS i8, 0.1::float8 AS f8, 0.5::float4 AS f4, 12.50 AS fixed, "
        "sum(1::bigint) AS total, 10::numeric ^ 30 AS huge, true AS yes, 'a'::varchar AS v, 'b'::char(3) AS c, "
        "DATE '2026-01-02' AS d, TIMESTAMP '2026-01-02 03:04:05' AS t, TIMESTAMPTZ '2026-01-02 03:04:05+01' AS tz, "
        "'{\"b\": 1, \"a\": 2}'::json AS j, ARRAY['x', NULL] AS texts, NULL AS nothing, "
        "'5b3f1d7e-0000-4000-8000-000000000001'::uuid AS u, '10.0.0.1'::inet AS net, '\\x00ff'::bytea AS raw, "
        "int4range(1, 5) AS span, 'NaN'::float8 AS nan, 'NaN'::numeric AS nan2"
    )
    expected = {
        "i2": 1,
        "i4": 2,
        "i8": 3,
        "f8": 0.1,
        "f4": 0.5,
        "fixed": 12.5,
        "total": 1,
        "huge": 1e30,
        "yes": True,
        "v": "a",
        "c": "b  ",
        "d": date(2026, 1, 2),
        "t": datetime(2026, 1, 2, 3, 4, 5),
        "tz": datetime(2026, 1, 2, 2, 4, 5, tzinfo=UTC),
        "j": '{"b": 1, "a": 2}',
        "texts": ["x", None],
        "nothing": None,
        "u": "5b3f1d7e-0000-4000-8000-000000000001",
        "net": "10.0.0.1",
        "raw": b"\x00\xff",
        "span": "[1, 5)",
    }
    row = frame.iloc[0].to_dict()
    assert {name: row[name] for name in expected} == expected
    assert frame["total"].dtype == "int64"
    assert frame[["nan", "nan2"]].isna().all(axis=None)


def test_both_databases_give_equal_frames(file_store: Store, server_store: Store) -> None:
    questions = examples.dataset(5)
    kinds = {"share": float, "words": int, "good": bool, "text": str, "more": dict}
    values = {
        "share": [0.1, None, 1 / 3, 1e-300, -0.0],
        "words": [1, None, 2**63 - 1, -(2**63), 0],
        "good": [True, None, False, True, False],
        "text": ["", None, "a\n\\.\nb\\N", "\"q\",'s'\t\r\n", "naïve 👩‍🔬"],
        "more": [{"b": 1, "a": [None, 0.1]}, None, {}, [], {"ü": "\\"}],
    }
    run = examples.run_of(questions, settings={"z": 1, "a": {"y": 2, "b": 3}}, versions={"z": "1", "a": "2"})
    made = examples.scoring(questions, values, kinds=kinds, metric="All", table="all_kinds")
    for store in (file_store, server_store):
        store.save_run(run, questions, examples.answers(questions), [made])
    assert file_store.load(run.run_id) == server_store.load(run.run_id)
    assert list(server_store.load(run.run_id).run.settings["a"]) == ["y", "b"]
    pd.testing.assert_frame_equal(file_store.fetch(), server_store.fetch())
    # The id of a scoring is made anew by each call.
    queries = [
        "SELECT case_id, attempt, label, error, missing, share, words, good, text, more FROM all_kinds ORDER BY case_id",
        "SELECT measure, mean, low, high, n_scored, n_errors, n_missing FROM summaries ORDER BY measure",
        "SELECT * FROM results",
        "SELECT * FROM runs",
        "SELECT * FROM cases ORDER BY position",
        "SELECT * FROM responses ORDER BY case_id",
        "SELECT * FROM measures ORDER BY position",
        "SELECT * FROM attempts ORDER BY case_id",
        "SELECT name, avg(share) AS mean, count(*) AS n, sum(attempt) AS total, avg(attempt) AS a, max(created_at) AS last, "
        "bool_or(good) AS any_good FROM all_kinds JOIN runs USING (run_id) GROUP BY name",
        "SELECT words FROM all_kinds WHERE false",
    ]
    for sql in queries:
        pd.testing.assert_frame_equal(file_store.query(sql), server_store.query(sql))


@pytest.mark.parametrize(
    "sql",
    [
        "select 1 --\r; commit; set default_transaction_read_only=off; commit; create table evil (a int); select 1",
        "select $€$ ' $€$; commit; set default_transaction_read_only=off; commit; create table evil (a int); select ' '",
        "select 1 as a€$$; commit; set default_transaction_read_only=off; commit; create table evil (a int); select 1 as b€$$",
        "select 1 as a\xa0$$; commit; create table evil (a int); select 1 as b\xa0$$",
        "select 1 as a٣$$; commit; create table evil (a int); select 1 as b٣$$",
    ],
)
def test_no_second_statement_hides_in_a_text(server_store: Store, sql: str) -> None:
    """What the server reads otherwise than we do (line ends, letters beyond ASCII) is refused by the server itself."""
    examples.saved(server_store)
    with pytest.raises(QueryError):
        server_store.query(sql)
    assert server_store.query("select to_regclass('evil') is null as gone")["gone"].tolist() == [True]


def test_every_statement_of_a_query_runs_and_the_last_one_answers(server_store: Store) -> None:
    examples.saved(server_store)
    assert server_store.query("select 1 as a; select 2 as b")["b"].tolist() == [2]
    assert server_store.query("select name -- what?\rfrom runs where name = ?", ["bm25"])["name"].tolist() == ["bm25"]
    assert server_store.query(
        "create table t (i int); insert into t values (1), (2); select sum(i) as n from t", write=True
    )["n"].tolist() == [3]
