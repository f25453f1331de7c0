"""Reaching a server: forms of the address, what is said when it cannot be used, and the password nowhere."""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from chatbench.benchmark import BenchmarkTest
from chatbench.errors import (
    DatabaseNotFoundError,
    DatabaseUnreachableError,
    InputError,
    NotADatabaseError,
    ReadOnlyError,
    StoreError,
)
from chatbench.jobs import history
from chatbench.store import Store, locate
from tests.store import examples
from tests.store.examples import saved
from tests.store.server import PASSWORD, QUOTED_PASSWORD, Server
from tests.store.test_files import run_script

ROOT = Path(__file__).parents[2]
QUESTIONS = examples.dataset(3)
SECRET_PARTS = (PASSWORD, QUOTED_PASSWORD, "s3cret", "w%rd", "w%25rd")


def chatbench(*arguments: object, database: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "chatbench", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "CHATBENCH_DB": database, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_jobs_and_commands_on_a_server(server_address: str) -> None:
    records = [{"question": f"What is {i}?", "answer": str(i), "documents": [f"{i}.txt"]} for i in range(4)]
    test = BenchmarkTest(records)
    test.set_generated_data(["0", "1", None, "x"], [["0.txt"]] * 4)
    scores = test.score_test_set("LexicalMetrics", "DocumentMatch", progress=False)
    run = test.store_results(scores, name="bm25", connection_string=server_address)
    assert history.fetch_metrics_results()["run_id"].tolist() == [run.run_id]  # the database used last
    assert locate(reading=True).name == Store(server_address).name
    loaded = history.load_run("bm25", connection_string=server_address)
    assert loaded.run == run
    assert loaded.responses == test.responses
    assert loaded.scores["LexicalMetrics"].equals(scores["LexicalMetrics"])
    history.rescore("bm25", "Retrieval(k=5)", server_address, progress=False)
    ranked = history.sql("select name, f1 from lexical_metrics join runs using (run_id) where f1 >= ?", [0.5])
    assert ranked["f1"].tolist() == [1.0, 1.0]
    assert json.loads(chatbench("runs", "--json", database=server_address))[0]["retrieval_hit"] is not None
    assert "bm25" in chatbench("sql", "select name from runs", "--db", server_address, database="nowhere.duckdb")
    assert "deleted" in chatbench("delete", "bm25", "--yes", database=server_address)
    assert history.list_runs(connection_string=server_address) == []
    assert history.delete_model_from_database("bm25", connection_string=server_address) == {}


@pytest.mark.parametrize("scheme", ["postgres", "postgresql+psycopg", "postgresql"])
def test_forms_of_the_address(server: Server, scheme: str) -> None:
    url = server.url().replace("postgresql", scheme)
    for store in (Store(url), Store(connection_string=url)):
        assert store.name == f"postgresql://127.0.0.1:{server.port}/postgres"
        assert repr(store) == f"Store({store.name!r})"
        with pytest.raises(InputError, match="on a server; it has no path"):
            store.path  # noqa: B018
    by_query = f"{scheme}:///postgres?host=127.0.0.1&port={server.port}&user=owner"
    assert Store(by_query).name == store.name


def test_schemas_are_databases_of_their_own(server: Server, server_address: str) -> None:
    server.execute("CREATE SCHEMA mine", 'CREATE SCHEMA "Your\'s"', url=server_address)
    mine = Store(f"{server_address}?options=-csearch_path%3Dmine,public")
    yours = Store(f"{server_address}?options=-csearch_path%3D%22Your%27s%22")
    made = examples.scoring(QUESTIONS, {"words": [1.0] * 3})
    ids = [saved(store, made) for store in (Store(server_address), mine, yours, mine)]
    assert [run.run_id for run in mine.runs()] == [ids[3], ids[1]]
    assert [run.run_id for run in yours.runs()] == [ids[2]]
    assert [run.run_id for run in Store(server_address).runs()] == [ids[0]]
    assert yours.query("SELECT words FROM answer_length")["words"].tolist() == [1.0] * 3
    with pytest.raises(StoreError, match="no schema of the search path exists"):
        Store(f"{server_address}?options=-csearch_path%3Dnowhere").runs()


def test_reading_makes_nothing(server: Server, server_store: Store, server_address: str) -> None:
    calls = [
        server_store.runs,
        server_store.fetch,
        lambda: server_store.query("SELECT 1"),
        lambda: server_store.query("CREATE TABLE t (i int)", write=True),
        lambda: server_store.delete_run("x"),
        lambda: server_store.delete_runs_named("x"),
        lambda: server_store.add_scorings("x", []),
    ]
    server_store.check_writable()
    for call in calls:
        with pytest.raises(DatabaseNotFoundError, match=r"test\d+ is empty: nothing was stored"):
            call()
    assert (
        server.execute("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace", url=server_address)
        == []
    )


def test_the_database_of_somebody_else(server: Server, server_store: Store, server_address: str) -> None:
    server.execute("CREATE TABLE meta (name text)", "CREATE TABLE runs (run_id text)", url=server_address)
    for call in (server_store.runs, server_store.check_writable, lambda: saved(server_store)):
        with pytest.raises(NotADatabaseError, match="not one of chatbench"):
            call()
    assert server.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", url=server_address) == [(2,)]


def test_a_server_that_is_not_there() -> None:
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        store = Store(f"postgresql://me:{QUOTED_PASSWORD}@127.0.0.1:{taken.getsockname()[1]}/results", timeout=2)
        for call in (store.runs, store.check_writable, lambda: saved(store)):
            with pytest.raises(DatabaseUnreachableError, match=r"127.0.0.1:\d+/results cannot be reached: .*refused"):
                call()


def test_a_server_that_never_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        store = Store(f"postgresql://me@127.0.0.1:{silent.getsockname()[1]}/results", timeout=2)
        with pytest.raises(DatabaseUnreachableError, match="timeout"):
            store.runs()


def test_what_a_server_refuses(server: Server, server_address: str) -> None:
    place = f"127.0.0.1:{server.port}"
    with pytest.raises(DatabaseNotFoundError, match=rf"no database postgresql://{place}/nowhere; make it first"):
        Store(server.url("nowhere")).runs()
    wrong = Store(server_address.replace("owner", "guarded:wrong-one"))
    with pytest.raises(
        DatabaseUnreachableError, match=f'{place}.*password authentication failed for user "guarded"'
    ) as caught:
        wrong.runs()
    assert "wrong-one" not in "".join(traceback.format_exception(caught.value))
    server.execute("ALTER ROLE reader CONNECTION LIMIT 0")
    with pytest.raises(DatabaseUnreachableError, match="too many connections"):
        Store(server_address.replace("owner", "reader"), timeout=0.5).runs()
    server.execute("ALTER ROLE reader CONNECTION LIMIT -1")


def test_a_role_that_only_reads_and_an_older_version(server: Server, server_store: Store, server_address: str) -> None:
    saved(server_store, examples.scoring(QUESTIONS, {"words": [1.0] * 3}))
    server.execute(
        "DROP VIEW leaderboard",
        "UPDATE meta SET value = '1' WHERE key = 'schema_version'",
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
        url=server_address,
    )
    reader = Store(server_address.replace("owner", "reader"))
    for call in (reader.runs, reader.fetch, lambda: reader.query("SELECT * FROM answer_length")):
        with pytest.raises(
            ReadOnlyError, match="of an older version .*: somebody who may store in it must open it once"
        ):
            call()
    assert len(server_store.runs()) == 1
    server.execute("GRANT SELECT ON leaderboard TO reader", url=server_address)
    assert len(reader.runs()) == len(reader.query("SELECT * FROM leaderboard")) == 1


def test_rights_of_a_role(server: Server, server_store: Store, server_address: str) -> None:
    reader = Store(server_address.replace("owner", "reader"))
    for call in (reader.check_writable, lambda: saved(reader)):
        with pytest.raises(ReadOnlyError, match="CREATE"):
            call()
    saved(server_store, examples.scoring(QUESTIONS, {"words": [1.0] * 3}))
    with pytest.raises(ReadOnlyError, match="permission denied for table meta.*SELECT"):
        reader.runs()
    server.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader", url=server_address)
    assert len(reader.fetch()) == len(reader.runs()) == 1
    assert reader.query("SELECT words FROM answer_length")["words"].tolist() == [1.0] * 3
    for call in (reader.check_writable, lambda: saved(reader)):
        with pytest.raises(ReadOnlyError, match="INSERT|permission denied"):
            call()
    server.execute("ALTER ROLE owner SET default_transaction_read_only = on")
    try:
        with pytest.raises(ReadOnlyError, match="only reads"):
            server_store.check_writable()
        with pytest.raises(ReadOnlyError, match="read-only"):
            saved(server_store)
    finally:
        import psycopg

        with psycopg.connect(server_address, autocommit=True, options="-cdefault_transaction_read_only=off") as owner:
            owner.execute("ALTER ROLE owner RESET default_transaction_read_only")
    assert len(server_store.runs()) == 1


BROKEN = [
    "postgresql://u:s3cret@home@host/db",
    "postgresql://u:s3cret/home@host/db",
    "postgresql://u:x@s3cret?y@host/db",
    "postgresql://u@host:s3cret/db",
    "postgresql://host/db?s3cret=1",
    "postgresql://host/db?s3cret",
    "postgresql://u:%s3cret@host/db",
    "postgresql://[s3cret",
]


@pytest.mark.parametrize("url", BROKEN)
def test_addresses_that_cannot_be_read(url: str) -> None:
    with pytest.raises(InputError, match="%40 for @") as caught:
        Store(url)
    assert "s3cret" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("form", ["{user}:{password}@{place}", "{place}?user={user}&password={password}"])
def test_the_password_is_nowhere(
    server: Server, server_address: str, form: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    database = server_address.rpartition("/")[2]
    place = f"127.0.0.1:{server.port}/{database}"
    server.execute("GRANT CREATE ON SCHEMA public TO guarded", url=server_address)
    url = "postgresql://" + form.format(user="guarded", password=QUOTED_PASSWORD, place=place)
    said: list[str] = []

    def fails(store: Store, query: str) -> None:
        with pytest.raises(StoreError) as caught:
            store.query(query)
        error: BaseException | None = caught.value
        said.extend(traceback.format_exception(error))
        while error is not None:
            said.extend((repr(error), str(error), str(vars(error))))
            error = error.__cause__ or error.__context__

    with caplog.at_level(logging.DEBUG):
        store = Store(url)
        made = examples.scoring(QUESTIONS, {"words": [1.0] * 3})
        saved(store, made)
        said += [repr(store), store.name, repr(locate(url, reading=False)), repr(store.runs()), repr(store.fetch())]
        fails(store, "SELECT nothing")
        fails(store, "SELECT pg_terminate_backend(pg_backend_pid())")
        fails(Store(url.replace("guarded", "nobody_there")), "SELECT 1")
        fails(Store(url.replace(f"/{database}", "/nowhere")), "SELECT 1")
        fails(Store(url.replace(str(server.port), "1")), "SELECT 1")
    for table in ("runs", "meta", "cases", "responses", "scorings", "measures", "summaries", "datasets"):
        said.append(store.query(f"SELECT t::text FROM {table} t").to_string())
    said += [caplog.text, *capfd.readouterr()]
    text = "\n".join(said)
    assert place in text
    assert [part for part in SECRET_PARTS if part in text] == []


def test_without_psycopg() -> None:
    script = """
        import sys
        sys.modules["psycopg"] = None
        from chatbench.errors import MissingDependencyError
        from chatbench.store import Store
        try:
            Store("postgresql://u:s3cret@host/db")
        except MissingDependencyError as error:
            print(error)
        Store("benchmark.duckdb")
    """
    printed = run_script(script)
    assert "pip install 'chatbench[pg]'" in printed
    assert "s3cret" not in printed


@pytest.mark.parametrize(
    "name",
    [
        "host=127.0.0.1 port=5432 user=bench password=Tr0ub4dor dbname=results",
        "postgresql:/bench:Tr0ub4dor@h/results",
        "postgresql//bench:Tr0ub4dor@h/results",
        "postgresql:bench:Tr0ub4dor@h",
        "bench:Tr0ub4dor@h/results",
    ],
)
def test_a_mistyped_address_is_no_file_name(name: str) -> None:
    """It would show its password in every message, and storing would make a file of that name."""
    with pytest.raises(InputError, match="Only DuckDB files and PostgreSQL servers") as caught:
        Store(name)
    assert "Tr0ub4dor" not in str(caught.value)
    for good in ("results.duckdb", "folder/a=b.duckdb", "my:file.duckdb", "runs@home.duckdb"):
        assert Store(good).path.name == Path(good).name
