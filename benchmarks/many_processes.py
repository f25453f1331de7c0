"""Several processes store into one file at once: every run that was acknowledged must be there afterwards.

    python benchmarks/many_processes.py --trials 60

Each trial: a new file, 3 processes, 30 store calls each, nothing between them. Prints what was lost and the longest wait
for a call; the exit code is 1 if anything was lost.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from chatbench.core.case import Case
from chatbench.core.dataset import Dataset
from chatbench.core.measure import Measure
from chatbench.core.response import Response
from chatbench.core.run import Run, new_id
from chatbench.core.scores import Scoring
from chatbench.store import Store

QUESTIONS = Dataset(tuple(Case(f"question {i}", id=str(i)) for i in range(5)), name="five")


def scoring() -> Scoring:
    """One metric with one column for the five questions."""
    n = len(QUESTIONS)
    return Scoring(
        metric="Example",
        table="example",
        label="",
        signature="Example({})",
        code_hash="",
        measures=(Measure(float, "a number", name="number"),),
        case_ids=[case.id for case in QUESTIONS],
        attempts=[1] * n,
        values={"number": [0.5] * n},
        errors=[None] * n,
        missing=[None] * n,
    )


def store_runs(path: Path, calls: int, log: Path) -> None:
    """Store runs one after the other; each line of the log is an acknowledged run id and the seconds it took."""
    store = Store(path, timeout=120)
    with log.open("w") as file:
        for _ in range(calls):
            run = Run(new_id(), "many", QUESTIONS.fingerprint, QUESTIONS.name, len(QUESTIONS))
            started = time.perf_counter()
            store.save_run(run, QUESTIONS, [Response("answer")] * len(QUESTIONS), [scoring()])
            file.write(json.dumps([run.run_id, time.perf_counter() - started]) + "\n")
            file.flush()


def trial(folder: Path, processes: int, calls: int) -> tuple[int, int, float]:
    """Return the acknowledged runs, how many of them are lost or torn, and the longest call in seconds."""
    path, logs = folder / "benchmark.duckdb", [folder / f"{i}.log" for i in range(processes)]
    children = []
    for log in logs:
        child = os.fork()  # imports are done: all start at the same moment
        if not child:
            try:
                store_runs(path, calls, log)
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    failed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
    lines = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
    whole = Store(path).query("SELECT run_id FROM example WHERE number = 0.5 GROUP BY run_id HAVING count(*) = 5")
    lost = len({run_id for run_id, _ in lines} - set(whole["run_id"]))
    return len(lines), lost + failed, max(seconds for _, seconds in lines)


def main() -> int:
    """Run the trials and print one line for each."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--trials", type=int, default=60)
    options.add_argument("--processes", type=int, default=3)
    options.add_argument("--calls", type=int, default=30)
    given = options.parse_args()
    total_lost = 0
    for number in range(1, given.trials + 1):
        with tempfile.TemporaryDirectory() as folder:
            started = time.perf_counter()
            stored, lost, longest = trial(Path(folder), given.processes, given.calls)
        total_lost += lost
        taken = time.perf_counter() - started
        print(f"trial {number}: {stored} acknowledged, {lost} lost, longest call {longest:.2f} s, {taken:.1f} s in all")
    print(f"{total_lost} lost in {given.trials} trials")
    return 1 if total_lost else 0


if __name__ == "__main__":
    sys.exit(main())
