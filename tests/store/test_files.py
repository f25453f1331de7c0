"""Which file is meant, and what becomes of files that are something else."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import duckdb
import pytest

from chatbench.errors import DatabaseNotFoundError, InputError, NotADatabaseError, SchemaError
from chatbench.store import Store, locate
from chatbench.store.gate import gate_for
from tests.store import examples

QUESTIONS = examples.dataset(2)
ROOT = Path(__file__).parents[2]


def fill(store: Store, name: str = "bm25") -> str:
    run = examples.run_of(QUESTIONS, name)
    store.save_run(run, QUESTIONS, examples.answers(QUESTIONS), [examples.scoring(QUESTIONS, {"words": [1.0, 2.0]})])
    return run.run_id


def run_script(script: str, *arguments: object, cwd: Path | None = None) -> str:
    """Run a script in a process of its own and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_file_that_is_meant(tmp_path: Path) -> None:
    script = """
        import os, sys
        from chatbench.store import Store, locate
        from tests.store.test_files import fill
        print(locate(reading=False).path.name)
        os.environ["CHATBENCH_DB"] = "from_variable.duckdb"
        print(locate(reading=False).path.name)
        fill(Store("last.duckdb"))
        Store("only_named.duckdb")
        print(locate(reading=True).path.name, locate("named.duckdb", reading=False).path.name)
        print(locate(connection_string="duckdb:///in/folder.duckdb", reading=False).path.relative_to(os.getcwd()))
        os.chdir("/")
        print(len(Store().runs()))
    """
    printed = run_script(script, cwd=tmp_path).split()
    assert printed == [
        "benchmark.duckdb",
        "from_variable.duckdb",
        "last.duckdb",
        "named.duckdb",
        "in/folder.duckdb",
        "1",
    ]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["last.duckdb", "last.duckdb.lock"]


def test_other_databases_are_refused() -> None:
    for given in ("sqlite:///benchmark.db", "mysql://user:secret@host/db", "benchmark.duckdb"):
        with pytest.raises(InputError, match="Only DuckDB") as caught:
            Store(connection_string=given)
        assert "secret" not in str(caught.value)
    with pytest.raises(InputError, match="Only DuckDB"):
        Store("mysql://host/db")
    with pytest.raises(InputError, match=":memory:"):
        Store(":memory:")
    with pytest.raises(InputError, match="once"):
        Store("a.duckdb", connection_string="duckdb:///b.duckdb")


def test_reading_creates_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path / "benchmrk.duckdb")
    fill(Store(tmp_path / "benchmark.duckdb"))
    (tmp_path / "old.db").touch()
    before = sorted(tmp_path.iterdir())
    calls = [
        store.runs,
        store.fetch,
        lambda: store.load("x"),
        lambda: store.find_run("x"),
        lambda: store.query("SELECT 1"),
        lambda: store.query("CREATE TABLE t (i int)", write=True),
        lambda: store.delete_run("x"),
        lambda: store.delete_runs_named("x"),
        lambda: store.add_scorings("x", []),
        lambda: locate(store.path, reading=True),
    ]
    for call in calls:
        with pytest.raises(DatabaseNotFoundError, match=r"does not exist. In its folder are: benchmark.duckdb, old.db"):
            call()
    assert sorted(tmp_path.iterdir()) == before


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path / "results" / "benchmark.duckdb")
    for call in (store.fetch, store.check_writable, lambda: fill(store)):
        with pytest.raises(DatabaseNotFoundError, match=f"folder {tmp_path}/results"):
            call()
    assert not list(tmp_path.iterdir())


def test_files_that_are_something_else(tmp_path: Path) -> None:
    sqlite = tmp_path / "benchmark.db"
    with sqlite3.connect(sqlite) as connection:
        connection.execute("CREATE TABLE runs (id)")
    connection.close()
    text = tmp_path / "notes.duckdb"
    text.write_text("not a database " * 500)
    foreign = tmp_path / "foreign.duckdb"
    with duckdb.connect(str(foreign)) as raw:
        raw.execute("CREATE TABLE runs (run_id text)")
        raw.execute("CREATE TABLE meta (name text)")
    folder = tmp_path / "folder.duckdb"
    folder.mkdir()
    pipe = tmp_path / "pipe.duckdb"
    os.mkfifo(pipe)
    expected = {
        sqlite: "is an SQLite file",
        text: "not a DuckDB",
        foreign: "not one of chatbench",
        folder: "is a folder",
        pipe: "no regular file",
    }
    for path, message in expected.items():
        content = path.read_bytes() if path.is_file() else None
        calls = [Store(path).fetch, lambda path=path: fill(Store(path))]
        if path != foreign:  # which has to be opened to tell
            calls.append(Store(path).check_writable)
        for call in calls:
            with pytest.raises(NotADatabaseError, match=message):
                call()
        assert content is None or path.read_bytes() == content


def test_empty_files_can_be_written(tmp_path: Path) -> None:
    nothing, no_tables = tmp_path / "nothing.duckdb", tmp_path / "no_tables.duckdb"
    nothing.touch()
    duckdb.connect(str(no_tables)).close()
    for path in (nothing, no_tables):
        with pytest.raises(DatabaseNotFoundError, match="is empty"):
            Store(path).fetch()
        fill(Store(path))
        assert len(Store(path).fetch()) == 1


def test_checking_a_place_changes_nothing(file_store: Store) -> None:
    file_store.check_writable()
    assert not list(file_store.path.parent.iterdir())
    file_store.path.touch()
    file_store.check_writable()
    fill(file_store)
    before = file_store.path.read_bytes()
    with gate_for(file_store.path).open(writing=True, timeout=5), duckdb.connect(str(file_store.path)) as raw:
        file_store.check_writable()  # waits for nobody, and leaves DuckDB's own lock on the file alone
        script = """
            import sys, duckdb
            try:
                duckdb.connect(sys.argv[1])
            except duckdb.IOException as error:
                print("lock" in str(error))
        """
        assert run_script(script, file_store.path) == "True\n"
        assert raw.execute("SELECT count(*) FROM runs").fetchall() == [(1,)]
    assert file_store.path.read_bytes() == before


def test_schema_versions(store: Store) -> None:
    fill(store)
    store.query("UPDATE meta SET value = '0' WHERE key = 'schema_version'", write=True)
    assert len(store.runs()) == 1  # an older database is brought up to date
    assert store.query("SELECT value FROM meta WHERE key = 'schema_version'")["value"].tolist() == ["2"]
    store.query("UPDATE meta SET value = '999' WHERE key = 'schema_version'", write=True)
    for call in (store.runs, lambda: fill(store)):
        with pytest.raises(SchemaError, match=r"version 999.* newer chatbench"):
            call()


def test_nothing_is_open_between_calls(file_store: Store) -> None:
    fill(file_store)
    file_store.fetch()
    assert not [d for d in os.listdir("/dev/fd") if os.path.realpath(f"/dev/fd/{d}").startswith(str(file_store.path))]


def test_connections_of_the_user_in_this_process(file_store: Store) -> None:
    fill(file_store)
    with duckdb.connect(str(file_store.path)) as raw:
        raw.execute("SELECT count(*) FROM runs")
        fill(file_store)
        assert len(file_store.runs()) == 2
        assert raw.execute("SELECT count(*) FROM runs").fetchall() == [(2,)]
    with duckdb.connect(str(file_store.path), read_only=True):
        assert len(file_store.runs()) == 2
        with pytest.raises(Exception, match="This process itself holds"):
            fill(file_store)


def test_reading_what_cannot_be_written() -> None:
    script = """
        import os, sys
        from pathlib import Path
        from chatbench.errors import ReadOnlyError
        from chatbench.store import Store
        from tests.store.test_files import fill
        folder = Path(sys.argv[1])
        folder.chmod(0o755)
        path = folder / "benchmark.duckdb"
        fill(Store(path))
        for lock in (True, False):
            if not lock:
                path.with_name("benchmark.duckdb.lock").unlink()
            path.chmod(0o444)
            folder.chmod(0o555)
            child = os.fork()
            if not child:
                status = 1
                try:
                    if os.getuid() == 0:  # root may write anywhere
                        os.setgroups([]); os.setgid(65534); os.setuid(65534)
                    store = Store(path)
                    assert len(store.fetch()) == 1
                    assert store.query("select words from answer_length")["words"].tolist() == [1.0, 2.0]
                    for call in (store.check_writable, lambda: fill(store), lambda: store.query("delete from runs", write=True)):
                        try:
                            call()
                        except ReadOnlyError as error:
                            assert "cannot be written" in str(error), error
                        else:
                            raise AssertionError("written")
                    status = 0
                except BaseException:
                    import traceback; traceback.print_exc()
                finally:
                    os._exit(status)
            assert os.waitpid(child, 0)[1] == 0
            folder.chmod(0o755)
        print("read")
    """
    # Not tmp_path: the folders above it are closed to other users.
    with tempfile.TemporaryDirectory() as folder:
        assert run_script(script, folder) == "read\n"
