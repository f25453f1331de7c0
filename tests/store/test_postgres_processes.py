"""Many processes on one server; clients and servers that are killed."""

from __future__ import annotations

import signal
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbench.store import Store
from tests.store import examples
from tests.store.examples import saved
from tests.store.server import Server
from tests.store.test_files import run_script

QUESTIONS = examples.dataset(3)
WHOLE = (
    "SELECT run_id, (SELECT count(*) FROM answer_length m WHERE m.run_id = r.run_id) AS rows, "
    "(SELECT count(*) FROM responses a WHERE a.run_id = r.run_id) AS answers, "
    "(SELECT count(*) FROM scorings s WHERE s.run_id = r.run_id) AS scorings FROM runs r"
)


@pytest.fixture
def own_server() -> Iterator[Server]:
    """A server that a test may kill."""
    running = Server()
    yield running
    running.remove()


def test_many_processes_lose_nothing(server_store: Store, server_address: str, server: Server, tmp_path: Path) -> None:
    """Eight processes store 25 runs each, with metrics that are new and metrics that grow, while two read."""
    script = """
        import os, sys, time
        from pathlib import Path
        from chatbench.store import Store
        from tests.store import examples
        url, folder = sys.argv[1], Path(sys.argv[2])
        questions = examples.dataset(5)
        answers = examples.answers(questions)
        def store_runs(number):
            with (folder / f"{number}.log").open("w") as log:
                for i in range(25):
                    values = {"words": [1] * 5}
                    if number == 0:
                        values[f"m{i // 3}"] = [0.5] * 5  # a new column now and then
                    made = [examples.scoring(questions, values, kinds={"words": int})]
                    if i % 4 == 0:
                        made.append(examples.scoring(questions, {"x": [0.5] * 5}, metric=f"Own{number}", table=f"own_{number}"))
                    if i == 8:
                        made.append(examples.scoring(questions, {"x": [0.5 if number % 2 else 1] * 5}, metric="All",
                                                     table="all_of", kinds={"x": float if number % 2 else int}))
                    run = examples.run_of(questions, f"process {number}")
                    Store(url, timeout=60).save_run(run, questions, answers, made)
                    log.write(run.run_id + "\\n"); log.flush()
        def read(number):
            store = Store(url, timeout=60)
            while not (folder / "done").exists():
                store.fetch()
                store.query("SELECT name, avg(words) FROM answer_length JOIN results USING (run_id) GROUP BY name")
                store.query("SELECT count(*) FROM mine")
                store.load(store.runs()[0].run_id)
                time.sleep(0.05)
        def fork(work, number):
            child = os.fork()
            if child:
                return child
            try:
                work(number)
                os._exit(0)
            except BaseException:
                import traceback; traceback.print_exc()
            finally:
                os._exit(1)
        writers = [fork(store_runs, number) for number in range(8)]
        readers = [fork(read, number) for number in range(2)]
        failed = [os.waitpid(child, 0)[1] for child in writers]
        (folder / "done").touch()
        failed += [os.waitpid(child, 0)[1] for child in readers]
        print(failed)
    """
    saved(server_store, examples.scoring(QUESTIONS, {"words": [1] * 3}, kinds={"words": int}))
    server.execute(
        "CREATE VIEW mine AS SELECT run_id, words, name FROM answer_length JOIN results USING (run_id)",
        url=server_address,
    )
    assert run_script(script, server_address, tmp_path).strip() == str([0] * 10)
    acknowledged = [line for log in tmp_path.glob("*.log") for line in log.read_text().split()]
    assert len(acknowledged) == len(set(acknowledged)) == 200
    whole = server_store.query(WHOLE + " WHERE name LIKE 'process%'")
    assert set(whole["run_id"]) == set(acknowledged)
    assert whole[["rows", "answers"]].drop_duplicates().values.tolist() == [[5, 5]]
    assert len(server_store.fetch()) == 201
    assert server_store.query("SELECT x FROM all_of")["x"].dtype == "float64"
    assert len(server_store.query("SELECT * FROM all_of")) == 40


STORE_FOR_EVER = """
    import os, sys
    from pathlib import Path
    from chatbench.errors import DatabaseUnreachableError
    from chatbench.store import Store
    from tests.store import examples
    url, log = sys.argv[1], Path(sys.argv[2])
    questions = examples.dataset(2000)
    answers = examples.answers(questions, text="long " * 40)
    def store_for_ever(number):
        with log.open("a") as file:
            for i in range(1000):
                values = {"words": [1.0] * 2000, f"m{number}_{i}": [0.5] * 2000}
                run = examples.run_of(questions)
                Store(url).save_run(run, questions, answers, [examples.scoring(questions, values)])
                file.write(run.run_id + "\\n"); file.flush()
"""


def check_whole(store: Store, log: Path) -> None:
    acknowledged = log.read_text().split()
    whole = store.query(WHOLE)
    assert acknowledged
    assert set(acknowledged) <= set(whole["run_id"])
    assert whole[["rows", "answers", "scorings"]].drop_duplicates().values.tolist() == [[2000, 2000, 1]]
    orphans = 'SELECT count(*) AS n FROM "_answer_length" WHERE scoring_no NOT IN (SELECT scoring_no FROM scorings)'
    assert store.query(orphans)["n"][0] == 0


def test_a_killed_client_leaves_whole_runs(server_store: Store, server_address: str, tmp_path: Path) -> None:
    script = """
        import random, signal, time
        random.seed(5)
        for number in range(5):
            child = os.fork()
            if not child:
                try:
                    store_for_ever(number)
                finally:
                    os._exit(1)
            started = time.monotonic()
            while not log.exists() or (not log.read_text() and time.monotonic() < started + 60):
                time.sleep(0.02)
            time.sleep(random.uniform(0.02, 0.5))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        print("done")
    """
    assert (
        run_script(textwrap.dedent(STORE_FOR_EVER) + textwrap.dedent(script), server_address, tmp_path / "log")
        == "done\n"
    )
    check_whole(server_store, tmp_path / "log")
    saved(server_store, name="after")  # nothing is held by the dead


@pytest.mark.parametrize("how", [signal.SIGQUIT, signal.SIGKILL])
def test_a_killed_server_leaves_whole_runs(own_server: Server, tmp_path: Path, how: signal.Signals) -> None:
    url, log = own_server.new_database(), tmp_path / "log"
    script = """
        try:
            store_for_ever(0)
        except DatabaseUnreachableError as error:
            print(error)
    """
    printed: list[str] = []
    code = textwrap.dedent(STORE_FOR_EVER) + textwrap.dedent(script)
    storing = threading.Thread(target=lambda: printed.append(run_script(code, url, log)))
    storing.start()
    while not log.exists() or len(log.read_text().split()) < 3:
        assert storing.is_alive()
        time.sleep(0.02)
    time.sleep(0.13)
    own_server.stop(how)
    storing.join()
    assert "lost" in printed[0] or "cannot be reached" in printed[0]
    assert printed[0].count("\n") == 1
    own_server.start()
    check_whole(Store(url), log)
