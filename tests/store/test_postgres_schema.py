"""Tables that grow on a server: views of the user's own stand on ours, others look and write at the same time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from chatbench.errors import DatabaseLockedError
from chatbench.store import Store
from tests.store import examples
from tests.store.examples import saved
from tests.store.server import Server

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'chatbench[pg]'")

QUESTIONS = examples.dataset(3)
INTS = examples.scoring(QUESTIONS, {"words": [1, 2, 3]}, kinds={"words": int})
FLOATS = examples.scoring(QUESTIONS, {"words": [0.5] * 3})
SHARE = examples.scoring(QUESTIONS, {"share": [0.5] * 3}, metric="Share", table="share")
GROWN = examples.scoring(QUESTIONS, {"chars": [9.0] * 3, "words": [4, 5, 6], "lines": [1.0] * 3}, kinds={"words": int})


def view(server: Server, url: str, name: str, query: str) -> None:
    server.execute(f"CREATE VIEW {name} AS {query}", url=url)


def test_columns_are_appended_under_views_of_the_user(server: Server, server_store: Store, server_address: str) -> None:
    saved(server_store, INTS, name="first")
    view(server, server_address, "mine", "SELECT * FROM answer_length JOIN runs USING (run_id)")
    view(server, server_address, "best", "SELECT name, answer_length_words AS w FROM results")
    saved(server_store, GROWN, SHARE, name="second")
    saved(server_store, INTS, name="third")
    assert list(server_store.query("SELECT * FROM answer_length"))[-3:] == ["words", "chars", "lines"]
    assert list(server_store.query("SELECT * FROM results"))[5:] == [
        "answer_length_words",
        "answer_length_chars",
        "answer_length_lines",
        "share_share",
    ]
    assert server_store.query("SELECT w FROM best ORDER BY name")["w"].tolist() == [2.0, 5.0, 2.0]
    assert server_store.query("SELECT sum(words) AS s FROM mine")["s"].tolist() == [27]


@pytest.mark.parametrize("query", ["SELECT words FROM answer_length", 'SELECT words FROM "_answer_length"'])
def test_widening_that_a_view_of_the_user_hinders(
    server: Server, server_store: Store, server_address: str, query: str
) -> None:
    first = saved(server_store, INTS)
    view(server, server_address, '"My view"', query)
    hint = 'int there and must become float, but views of your own stand on it: "My view". Drop these views'
    with pytest.warns(UserWarning, match=hint):
        second = saved(server_store, FLOATS, SHARE)
    assert server_store.load(second).scorings == [SHARE]
    server.execute('DROP VIEW "My view"', url=server_address)
    server_store.add_scorings(second, [FLOATS])
    assert server_store.load(first).scorings == [INTS]
    assert set(server_store.load(second).scorings[1].values["words"]) == {0.5}
    assert server_store.query("SELECT words FROM answer_length")["words"].dtype == "float64"


def test_deleting_under_views_of_the_user(server: Server, server_store: Store, server_address: str) -> None:
    run_id = saved(server_store, INTS, SHARE)
    view(server, server_address, "mine", "SELECT words FROM answer_length")
    view(server, server_address, "best", "SELECT name, share_share FROM results")
    server_store.delete_run(run_id)
    assert server_store.query("SELECT * FROM mine").empty
    assert server_store.query("SELECT * FROM best").empty
    assert {"answer_length", "_answer_length"} <= examples.relations(server_store)
    assert examples.relations(server_store).isdisjoint({"share", "_share"})
    again = saved(server_store, GROWN, SHARE)  # the tables that stayed are used on
    assert server_store.query("SELECT sum(words) AS s FROM mine")["s"].tolist() == [15]
    assert server_store.query("SELECT share_share FROM best")["share_share"].tolist() == [0.5]
    server.execute("DROP VIEW mine, best", url=server_address)
    server_store.delete_run(again)
    assert examples.relations(server_store).isdisjoint({"share", "_share", "answer_length", "_answer_length"})
    assert len(server_store.query("SELECT * FROM results").columns) == 5


def test_the_order_of_columns_after_a_metric_went(server_store: Store) -> None:
    gone, _ = saved(server_store, SHARE), saved(server_store, INTS)
    server_store.delete_run(gone)
    more = examples.scoring(QUESTIONS, {"a": [1.0] * 3, "b": [2.0] * 3}, metric="More", table="more")
    saved(server_store, more)
    saved(server_store, GROWN)
    positions = server_store.query("SELECT position FROM measures")["position"]
    assert positions.is_unique
    saved(server_store, GROWN, SHARE)
    assert len(server_store.fetch()) == 4


def in_threads(*calls: Callable[[], object]) -> list[BaseException]:
    failures: list[BaseException] = []

    def run(call: Callable[[], object]) -> None:
        try:
            call()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def test_several_make_the_tables_at_once(server_store: Store) -> None:
    assert in_threads(*[lambda: saved(server_store, INTS, SHARE)] * 6) == []
    assert len(server_store.fetch()) == 6
    assert server_store.query("SELECT count(*) AS n FROM datasets")["n"].tolist() == [1]


def test_rescoring_at_once_leaves_one_current_scoring(server_store: Store) -> None:
    run_id = saved(server_store, INTS)
    assert in_threads(*[lambda: server_store.add_scorings(run_id, [INTS])] * 8) == []
    counts = server_store.query(
        "SELECT count(*) AS n, sum(is_current::int) AS now, sum(is_primary::int) AS shown FROM scorings"
    )
    assert counts.to_dict("list") == {"n": [9], "now": [1], "shown": [1]}
    assert len(server_store.query("SELECT * FROM answer_length")) == 3


def test_deleting_and_storing_at_once(server_store: Store) -> None:
    """The last run of a metric and of a question set goes while another one comes."""
    for _ in range(4):
        old = saved(server_store, INTS)
        assert in_threads(lambda old=old: server_store.delete_run(old), lambda: saved(server_store, INTS)) == []
        left = server_store.runs()
        assert [len(server_store.load(run.run_id).dataset) for run in left] == [3] * len(left)
        assert server_store.load(left[0].run_id).scorings == [INTS]


def test_a_lasting_lock_names_its_holder(server_store: Store, server_address: str) -> None:
    saved(server_store, INTS)
    hasty = Store(server_address, timeout=0.3)
    with server_store._transaction(writing=True, timeout=10):
        started = time.monotonic()
        with pytest.raises(
            DatabaseLockedError, match=r"has been held by process \d+ \(.*\(session \d+, from 127.0.0.1.*0.3 s"
        ):
            saved(hasty, INTS)
        assert time.monotonic() - started < 3
        assert len(hasty.runs()) == 1  # readers do not wait for a writer
    saved(hasty, INTS)


def test_a_table_that_the_user_holds(server_store: Store, server_address: str) -> None:
    saved(server_store, INTS)
    with psycopg.connect(server_address) as user:
        user.execute("SELECT * FROM results")
        saved(server_store, INTS)  # nothing of the tables changes
        with pytest.raises(DatabaseLockedError, match="another session holds what this call needs"):
            saved(Store(server_address, timeout=0.5), SHARE)
        assert len(server_store.runs()) == 2
        threading.Timer(1, user.rollback).start()
        saved(server_store, SHARE)
    assert len(server_store.fetch()) == 3


def test_a_short_timeout_is_kept_at_a_table_that_the_user_holds(server_store: Store, server_address: str) -> None:
    saved(server_store, INTS)
    with psycopg.connect(server_address) as user:
        user.execute("LOCK TABLE runs IN ACCESS EXCLUSIVE MODE")
        started = time.monotonic()
        with pytest.raises(DatabaseLockedError, match="another session holds"):
            saved(Store(server_address, timeout=0.5), INTS)
        assert time.monotonic() - started < 3  # five seconds is how long a patient one waits at a time


def test_a_deadlock_with_the_user_is_tried_again(server_store: Store, server_address: str) -> None:
    saved(server_store, INTS)
    with psycopg.connect(server_address) as user:
        user.execute("SET deadlock_timeout = '10s'")  # so that it is the store that notices, and gives way
        user.execute("SELECT * FROM results")
        user.execute("CREATE TABLE share (i int)")
        storing = threading.Thread(target=lambda: saved(server_store, SHARE))
        storing.start()
        time.sleep(0.5)  # it waits for the view, or for the name
        user.execute("LOCK TABLE measures, scorings IN ACCESS EXCLUSIVE MODE")
        user.rollback()
        storing.join()
    assert len(server_store.fetch()) == 2
    deadline = time.monotonic() + 10
    counted = "SELECT deadlocks AS n FROM pg_stat_database WHERE datname = current_database()"
    while not server_store.query(counted)["n"][0]:
        assert time.monotonic() < deadline, "there was no deadlock"
        time.sleep(0.2)
