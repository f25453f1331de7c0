"""Speed of questions about the history as ratios to bare SQL in one run: python benchmarks/history.py

Ten million metric rows: means per run through the public view, against the same statement on one plain table. Then the
leaderboard of 500 runs, against a bare SELECT of the summaries. Both sides open and close the file. Wall time, the smaller of
several tries of each side, taken in turn.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import duckdb
import numpy as np
import pyarrow as pa
from report import HEADER, show

from chatbench import leaderboard, power
from chatbench.core.case import Case
from chatbench.core.dataset import Dataset
from chatbench.core.measure import Measure
from chatbench.core.response import Response
from chatbench.core.run import Run, new_id
from chatbench.core.scores import Scoring, summarise
from chatbench.store import Store

QUESTIONS, RUNS = 50_000, 200
MEANS = "select run_id, avg(score) as mean from {table} group by run_id"


def main() -> None:
    """Run both comparisons in a temporary folder."""
    print(HEADER)
    with tempfile.TemporaryDirectory() as folder:
        ten_million(Path(folder))
        ranking(Path(folder))


def scoring(table: str, measures: int, case_ids: list[str], draw: np.random.Generator, first: str = "m0") -> Scoring:
    """Return a scoring of random numbers, one per question and measure."""
    names = [first, *(f"m{i}" for i in range(1, measures))]
    declared = tuple(Measure(float, f"the {name}", 0, 1, "higher", name) for name in names)
    n = len(case_ids)
    values = {name: draw.random(n).tolist() for name in names}
    empty: list[None] = [None] * n
    made = Scoring(table, table, "", f"{table}()", "0" * 16, declared, case_ids, [1] * n, values, empty, empty)
    return replace(made, summaries=summarise(made))


def ten_million(folder: Path) -> None:
    """Ask for the mean of each of 200 runs on 50,000 questions."""
    store = Store(folder / "history.duckdb")
    dataset = Dataset(tuple(Case(f"question {i}", f"q{i:05}") for i in range(QUESTIONS)), "many")
    ids, draw = [case.id for case in dataset], np.random.default_rng(1)
    first = Run(new_id(), "run 0", dataset.fingerprint, dataset.name, len(dataset))
    store.save_run(first, dataset, [Response("a")] * QUESTIONS, [scoring("quality", 1, ids, draw, "score")])
    rows = pa.table({"case_id": ids, "attempt": pa.repeat(1, QUESTIONS)})
    started = time.perf_counter()
    with duckdb.connect(str(store.path)) as connection:
        for i in range(1, RUNS):
            add_run(connection, first.run_id, i, rows.append_column("score", pa.array(draw.random(QUESTIONS))))
        connection.execute(
            "create table plain as select run_id, case_id, attempt, score from quality order by run_id, case_id"
        )
        n_rows = connection.execute("select count(*) from quality").fetchall()[0][0]
    note = f"{time.perf_counter() - started:.0f} s to write {n_rows:,} rows and their plain copy"
    for what, clock in (("", time.perf_counter), (", processor time", time.process_time)):
        bare, ours = [], []
        for _ in range(7):
            bare.append(seconds(lambda: bare_frame(store.path, MEANS.format(table="plain")), clock))
            ours.append(seconds(lambda: store.query(MEANS.format(table="quality")), clock))
        name = f"means of {RUNS} runs x {QUESTIONS:,} questions, view / table{what}"
        show(name, min(ours) / min(bare), f"{min(ours) * 1e3:.0f} ms / {min(bare) * 1e3:.0f} ms; {note}", at_most=2)
        note = ""
    store.path.unlink()


def add_run(connection: duckdb.DuckDBPyConnection, first: str, i: int, rows: pa.Table) -> None:
    """Write one more run as the store does, its rows through Arrow, but without its responses, which no mean needs."""
    run_id, scoring_id = new_id(), new_id()
    connection.execute(
        f"insert into runs select * replace (? as run_id, 'run {i}' as name) from runs where run_id = ?",
        [run_id, first],
    )
    connection.execute(
        "insert into scorings select * replace (? as run_id, ? as scoring_id) from scorings where run_id = ?",
        [run_id, scoring_id, first],
    )
    connection.execute(
        "insert into summaries by name select s.* replace (? as scoring_id) from summaries s "
        "where s.scoring_id = (select scoring_id from scorings where run_id = ?)",
        [scoring_id, first],
    )
    rows = rows.append_column("scoring_id", pa.repeat(scoring_id, len(rows)))
    connection.register("incoming", rows)
    connection.execute("insert into _quality by name select * from incoming")
    connection.unregister("incoming")


def ranking(folder: Path, runs: int = 500, questions: int = 200) -> None:
    """Rank 500 runs of 200 questions and 11 measures."""
    store = Store(folder / "runs.duckdb")
    dataset = Dataset(tuple(Case(f"question {i}", f"q{i}") for i in range(questions)), "set")
    ids, draw = [case.id for case in dataset], np.random.default_rng(2)
    for i in range(runs):
        run = Run(new_id(), f"name {i % 50}", dataset.fingerprint, dataset.name, questions)
        scorings = [scoring("alpha", 7, ids, draw), scoring("beta", 4, ids, draw)]
        store.save_run(run, dataset, [Response("a")] * questions, scorings)
    select = "select r.*, s.* exclude (scoring_id) from runs r join scorings c using (run_id) join summaries s using (scoring_id)"
    bare, ours, view = [], [], []
    for _ in range(10):
        bare.append(seconds(lambda: bare_frame(store.path, select)))
        ours.append(seconds(lambda: leaderboard(db_name=store.path)))
        view.append(seconds(lambda: store.query("select * from leaderboard where measure = 'alpha_m0'")))
    note = f"{min(ours) * 1e3:.0f} ms / {min(bare) * 1e3:.0f} ms"
    show("seconds of leaderboard(), 500 runs x 200 questions x 11 measures", min(ours), note, at_most=0.3)
    show("leaderboard() / bare SELECT of the runs' summaries", min(ours) / min(bare), note)
    show(
        "the view for one measure / bare SELECT of the runs' summaries",
        min(view) / min(bare),
        f"{min(view) * 1e3:.0f} ms",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ten runs have the name
        planning = min(seconds(lambda: power("name 0", "alpha_m0", 0.02, db_name=store.path)) for _ in range(3))
    show("seconds of power() with the pairs of 499 other runs", planning)


def bare_frame(path: Path, query: str) -> None:
    """Ask for a frame by one statement."""
    with duckdb.connect(str(path), read_only=True) as connection:
        connection.execute(query).to_arrow_table().to_pandas()


def seconds(call: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the time of a call, wall time unless another clock is given."""
    started = clock()
    call()
    return clock() - started


if __name__ == "__main__":
    main()
