"""Speed of the store as ratios to bare DuckDB in one run: python benchmarks/store.py

Bare statements open and close the file as the store does. Wall time, the smaller of several tries of each side, taken in turn.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import duckdb
import pandas as pd
from report import HEADER, show

from chatbench.core.case import Case
from chatbench.core.dataset import Dataset
from chatbench.core.measure import Measure
from chatbench.core.response import Response
from chatbench.core.run import Run, new_id
from chatbench.core.scores import Scoring, Summary, summarise
from chatbench.store import Store

MEASURES = tuple(Measure(float, f"measure {i}", name=f"m{i}") for i in range(6))


def main() -> None:
    """Run all comparisons in a temporary folder."""
    print(HEADER)
    with tempfile.TemporaryDirectory() as folder:
        million(Path(folder))
        many_runs(Path(folder))


def scoring(case_ids: list[str], table: str = "numbers", attempts: list[int] | None = None) -> Scoring:
    """Return a scoring of six random numbers per response, without summaries."""
    draw = random.Random(1).random
    n = len(case_ids)
    values = {m.name: [draw() for _ in range(n)] for m in MEASURES}
    return Scoring(
        table.title(),
        table,
        "",
        f"{table}()",
        "0" * 16,
        MEASURES,
        case_ids,
        attempts or [1] * n,
        values,
        [None] * n,
        [None] * n,
    )


def million(folder: Path) -> None:
    """Store and delete a scoring of a million rows: `add_scorings` against a bare insert of the same columns."""
    store = Store(folder / "million.duckdb")
    dataset = Dataset(tuple(Case(f"question {i}", f"q{i:04}") for i in range(1000)), "thousand")
    answers = [Response("a", attempt=k) for k in range(1, 1001)]
    run = Run(new_id(), "big", dataset.fingerprint, dataset.name, len(dataset))
    store.save_run(run, dataset, answers * len(dataset), [])
    keys = [(case.id, response.attempt) for case in dataset for response in answers]
    big = scoring([case_id for case_id, _ in keys], attempts=[attempt for _, attempt in keys])
    summaries = tuple(Summary(m.name, 0.5, 0.4, 0.6, len(keys), 0, 0) for m in MEASURES)
    big = Scoring(**{**vars(big), "summaries": summaries})
    frame = pd.DataFrame({"scoring_no": 1, "case_id": big.case_ids, "attempt": big.attempts, **big.values})
    bare, ours = [], []
    for k in range(3):
        bare.append(seconds(lambda k=k: bare_insert(folder / f"bare{k}.duckdb", frame)))  # type: ignore[misc]
        ours.append(seconds(lambda: store.add_scorings(run.run_id, [big])))
    show(
        "store 1,000,000 rows of 6 measures / bare insert from a DataFrame",
        min(ours) / min(bare),
        f"{min(ours):.2f} s / {min(bare):.2f} s",
        at_most=2.5,
    )
    taken = seconds(lambda: store.delete_run(run.run_id))
    show("seconds to delete the run (3 scorings, 1,000,000 responses)", taken, at_most=1)


def bare_insert(path: Path, frame: pd.DataFrame) -> None:
    """Insert a frame into a new table without a key."""
    with duckdb.connect(str(path)) as connection:
        connection.register("frame", frame)
        columns = ", ".join(f"{m.name} double" for m in MEASURES)
        connection.execute(f"create table numbers (scoring_no integer, case_id varchar, attempt bigint, {columns})")
        connection.execute("insert into numbers by name select * from frame")


def many_runs(folder: Path, runs: int = 500, questions: int = 200) -> None:
    """Store 500 runs of 200 questions and 4 metrics, then fetch: growth of the call, and fetch against the bare query."""
    store = Store(folder / "many.duckdb")
    dataset = Dataset(tuple(Case(f"question {i}", f"q{i}", ("yes",)) for i in range(questions)), "set")
    ids = [c.id for c in dataset]
    answer = "an answer of about two hundred characters " * 5
    responses = [Response(answer)] * questions
    scorings = []
    for table in ("alpha", "beta", "gamma", "delta"):
        plain = scoring(ids, table)
        scorings.append(Scoring(**{**vars(plain), "summaries": summarise(plain)}))
    times = []
    for i in range(runs):
        run = Run(new_id(), f"name {i % 50}", dataset.fingerprint, dataset.name, questions)
        times.append(seconds(lambda run=run: store.save_run(run, dataset, responses, scorings)))  # type: ignore[misc]
    early, late = sorted(times[5:55])[25], sorted(times[-50:])[25]
    show(
        "store call, median of runs 450 to 500 / of runs 5 to 55",
        late / early,
        f"{late * 1e3:.1f} ms / {early * 1e3:.1f} ms",
        at_most=1.25,
    )
    bare, ours = [], []
    for _ in range(10):
        bare.append(seconds(lambda: bare_fetch(store.path)))
        ours.append(seconds(store.fetch))
    show(
        "fetch_metrics_results of 500 runs / bare SQL with open and close",
        min(ours) / min(bare),
        f"{min(ours) * 1e3:.1f} ms / {min(bare) * 1e3:.1f} ms",
        at_most=1.5,
    )


def bare_fetch(path: Path) -> None:
    """Ask for the same numbers by one statement, as a frame with a column per measure."""
    with duckdb.connect(str(path), read_only=True) as connection:
        columns = ", ".join(
            f"max(mean) filter (s.table_name = '{t}' and measure = '{m.name}') as {t}_{m.name}"
            for t in ("alpha", "beta", "gamma", "delta")
            for m in MEASURES
        )
        connection.execute(
            f"select run_id, name, dataset, runs.created_at, n_questions, {columns} from runs join scorings s using (run_id) "
            "join summaries using (scoring_id) group by all order by runs.created_at desc"
        ).to_arrow_table().to_pandas()


def seconds(call: Callable[[], object]) -> float:
    """Return the wall time of a call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
