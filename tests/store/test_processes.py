"""Several processes and threads on one file; kills; a full disk."""

from __future__ import annotations

import fcntl
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pytest

from chatbench.errors import DatabaseLockedError
from chatbench.store import Store
from tests.store.test_files import ROOT, fill, run_script


def test_many_processes_lose_nothing(tmp_path: Path) -> None:
    # The short form of a benchmark; see case F32 of the recorded faults: several processes, one file.
    script = ROOT / "benchmarks" / "many_processes.py"
    code = "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", code, str(script), "--trials", "1", "--calls", "10"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "30 acknowledged, 0 lost" in done.stdout


def test_a_living_kernel_blocks_nobody(store: Store, address: str) -> None:
    # Case F32 of the recorded faults: this process has stored and lives on, another one reads and stores.
    fill(store)
    script = """
        import sys
        from chatbench.store import Store
        from tests.store.test_files import fill
        store = Store(sys.argv[1])
        fill(store)
        print(len(store.fetch()))
    """
    assert run_script(script, address) == "2\n"
    assert len(store.fetch()) == 2


def test_the_lock_file_stays_and_is_free(file_store: Store) -> None:
    fill(file_store)
    with file_store.path.with_name(f"{file_store.path.name}.lock").open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with pytest.raises(DatabaseLockedError):
            Store(file_store.path, timeout=0).runs()


def test_threads_read_and_write(store: Store) -> None:
    fill(store)
    failures: list[BaseException] = []
    stored: list[str] = []

    def work(call: object) -> None:
        try:
            for _ in range(4):
                call()  # type: ignore[operator]
        except BaseException as error:
            failures.append(error)

    calls = [lambda: stored.append(fill(store))] * 2 + [store.fetch, store.runs]
    threads = [threading.Thread(target=work, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert set(stored) <= {run.run_id for run in store.runs()}
    assert len(stored) == 8


def test_readers_without_end_let_others_in(store: Store, address: str) -> None:
    fill(store)
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            store.runs()

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        script = "import sys\nfrom chatbench.store import Store\nfrom tests.store.test_files import fill\nfill(Store(sys.argv[1]))"
        run_script(script, address)
        fill(store)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert len(store.runs()) == 3


def test_a_killed_process_leaves_whole_runs(tmp_path: Path) -> None:
    """kill -9 twenty times while storing: acknowledged runs are there, every run is whole or absent, the file opens."""
    script = """
        import os, random, signal, sys, time
        from pathlib import Path
        from chatbench.store import Store
        from tests.store import examples
        path, log = Path(sys.argv[1]), Path(sys.argv[2])
        questions = examples.dataset(100)
        def store_for_ever(number):
            with log.open("a") as file:
                for i in range(1000):
                    values = {"words": [1.0] * 100, f"m{number}_{i}": [0.5] * 100}  # a new column each time
                    run = examples.run_of(questions)
                    made = examples.scoring(questions, values)
                    Store(path).save_run(run, questions, examples.answers(questions), [made])
                    file.write(run.run_id + "\\n"); file.flush()
        random.seed(5)
        for number in range(20):
            child = os.fork()
            if not child:
                try:
                    store_for_ever(number)
                finally:
                    os._exit(1)
            time.sleep(random.uniform(0.02, 0.6))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            assert number == 0 or path.exists()
        print("done")
    """
    path, log = tmp_path / "benchmark.duckdb", tmp_path / "log"
    log.touch()
    started = time.monotonic()
    assert run_script(script, path, log) == "done\n"
    store = Store(path)
    acknowledged = log.read_text().split()
    assert acknowledged, f"nothing was stored in {time.monotonic() - started:.0f} s"
    whole = store.query(
        "SELECT run_id, (SELECT count(*) FROM answer_length m WHERE m.run_id = r.run_id) AS rows, "
        "(SELECT count(*) FROM responses a WHERE a.run_id = r.run_id) AS answers, "
        "(SELECT count(*) FROM scorings s JOIN summaries USING (scoring_id) WHERE s.run_id = r.run_id) AS means FROM runs r"
    )
    assert set(acknowledged) <= set(whole["run_id"])
    assert whole[["rows", "answers", "means"]].drop_duplicates().values.tolist() == [[100, 100, 2]]
    orphans = 'SELECT count(*) AS n FROM "_answer_length" WHERE scoring_no NOT IN (SELECT scoring_no FROM scorings)'
    assert store.query(orphans)["n"][0] == 0


def test_a_full_disk_loses_only_the_call(tmp_path: Path) -> None:
    # Case F23 of the recorded faults, by a limit on the size of files.
    script = """
        import resource, sys
        from pathlib import Path
        from chatbench.errors import StoreError
        from chatbench.store import Store
        from tests.store import examples
        from tests.store.test_files import fill
        path = Path(sys.argv[1])
        fill(Store(path), "early")
        questions = examples.dataset(50)
        responses = examples.answers(questions, text="long " * 20_000)
        run = examples.run_of(questions, "large")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 20_000, hard))
        try:
            Store(path).save_run(run, questions, responses, [])
        except StoreError as error:
            print("one line" if "\\n" not in str(error) else "lines", "disk" in str(error))
        print([r.name for r in Store(path).runs()])
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        print([r.name for r in Store(path).runs()])
        Store(path).save_run(run, questions, responses, [])
        print([r.name for r in Store(path).runs()])
    """
    printed = run_script(script, tmp_path / "benchmark.duckdb").splitlines()
    assert printed == ["one line True", "['early']", "['early']", "['large', 'early']"]


def test_a_write_ahead_log_left_behind(file_store: Store) -> None:
    """A run that was committed but not yet folded into the file when its process died is read all the same."""
    fill(file_store)
    script = """
        import os, sys, duckdb
        connection = duckdb.connect(sys.argv[1])
        connection.execute("UPDATE runs SET name = 'from the log'")
        os._exit(0)
    """
    run_script(script, file_store.path)
    assert file_store.path.with_name(f"{file_store.path.name}.wal").exists()
    assert file_store.runs()[0].name == "from the log"
    with duckdb.connect(str(file_store.path)) as raw:
        assert raw.execute("SELECT count(*) FROM runs").fetchall() == [(1,)]
