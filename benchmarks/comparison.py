"""Comparing two runs against one bare numpy bootstrap, and its memory on a large set: python benchmarks/comparison.py

The arithmetic alone, and compare_runs on a DuckDB file, which opens the file and reads questions and scores as well.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np
from report import HEADER, show

from chatbench import compare_runs
from chatbench.core.case import Case
from chatbench.core.dataset import Dataset
from chatbench.core.measure import Measure
from chatbench.core.response import Response
from chatbench.core.run import Run, new_id
from chatbench.core.scores import Scoring
from chatbench.stats.paired import compare_pairs
from chatbench.store import Store

RESAMPLES = 10_000
YES_NO = [True] * 3 + [False] * 5
LARGE = 64_252


def make(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two runs of three yes/no measures and five numbers, question by question."""
    rng = np.random.default_rng(1)
    a = rng.uniform(size=(n, len(YES_NO)))
    b = np.clip(a + rng.normal(0.01, 0.2, size=a.shape), 0, 1)
    a[:, :3], b[:, :3] = a[:, :3] > 0.5, b[:, :3] > 0.5
    return a, b


def bare(differences: np.ndarray) -> np.ndarray:
    """The shortest bootstrap of one mean: draw, take, average, percentiles."""
    rng = np.random.default_rng(0)
    n = len(differences)
    means = [np.take(differences, rng.integers(0, n, (1000, n))).mean(axis=1) for _ in range(RESAMPLES // 1000)]
    return np.percentile(np.concatenate(means), [2.5, 97.5])


def store_two_runs(path: Path, n: int, repeats: int) -> None:
    """Store two runs of the same measures with repeats."""
    cases = tuple(Case(f"What is {i}?", f"q{i:06}", (str(i),)) for i in range(n))
    dataset = Dataset(cases, name="numbers")
    keys = {"case_ids": np.repeat([c.id for c in cases], repeats).tolist(), "attempts": list(range(1, repeats + 1)) * n}
    kinds = [bool if is_binary else float for is_binary in YES_NO]
    measures = tuple(Measure(kind, f"measure {j}", name=f"m{j}") for j, kind in enumerate(kinds))
    for name, values in zip("ab", make(n * repeats), strict=True):
        columns = {f"m{j}": values[:, j].astype(kind).tolist() for j, kind in enumerate(kinds)}
        rows = {"errors": [None] * n * repeats, "missing": [None] * n * repeats}
        scoring = Scoring("Own", "own", "", "Own()", "0", measures, values=columns, **keys, **rows)
        run = Run(new_id(), name, dataset.fingerprint, dataset.name, n)
        answers = [Response("an answer", attempt=k) for _ in cases for k in range(1, repeats + 1)]
        Store(path).save_run(run, dataset, answers, [scoring])


def fastest(work: Callable[[], object], rounds: int = 7) -> float:
    """Return the processor time of the fastest round, in seconds; all of it runs in one thread."""
    times = []
    for _ in range(rounds):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def large_stored(path: str) -> None:
    """Compare two large stored runs in this process; print MB before, MB at the peak, seconds of processor time."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    started = time.process_time()
    compare_runs("a", "b", db_name=path)
    print(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, time.process_time() - started)


def large() -> None:
    """Compare a large set in this process; print MB before, MB at the peak, seconds of processor time."""
    a, b = make(LARGE)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    started = time.process_time()
    compare_pairs(a, b, is_binary=YES_NO, resamples=RESAMPLES)
    print(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, time.process_time() - started)


def main() -> None:
    """Print one line per promise."""
    print(HEADER)
    a, b = make(1000)
    one = fastest(lambda: bare(b[:, 4] - a[:, 4]))
    for name, groups in (("", None), (", in clusters of 10", np.arange(1000) // 10)):
        ours = fastest(lambda groups=groups: compare_pairs(a, b, is_binary=YES_NO, groups=groups, resamples=RESAMPLES))
        show(
            f"comparing 8 measures{name} / bare bootstrap of one",
            ours / one,
            f"1,000 questions, 10,000 resamples, processor time: {ours:.3f} s / {one:.3f} s",
            at_most=4,
        )
    with tempfile.TemporaryDirectory() as folder:
        stored(Path(folder), lambda: bare(b[:, 4] - a[:, 4]))
        memory("the arithmetic of 64,252 questions, 8 measures", "--large")
        store_two_runs(Path(folder, "large.duckdb"), LARGE, 1)
        memory("compare_runs of 64,252 questions, 8 measures", "--large-stored", str(Path(folder, "large.duckdb")))


def stored(folder: Path, alone: Callable[[], object]) -> None:
    """Compare two stored runs with five attempts per question."""
    path = folder / "runs.duckdb"
    store_two_runs(path, 1000, 5)
    ours = fastest(lambda: compare_runs("a", "b", db_name=path))
    one = fastest(alone)
    show(
        "compare_runs from the file / bare bootstrap of one",
        ours / one,
        f"1,000 questions x 5 attempts x 8 measures, 10,000 resamples: {ours:.3f} s / {one:.3f} s",
        at_most=10,
    )


def memory(name: str, *arguments: str) -> None:
    """Show the peak memory of a fresh process."""
    command = [sys.executable, __file__, *arguments]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    before, peak, seconds = map(float, found)
    note = f"{peak - before:.0f} MB more than before, {seconds:.0f} s"
    show(f"GB at the peak of {name}", peak / 1e3, note, at_most=1)


if __name__ == "__main__":
    if sys.argv[1:] == ["--large"]:
        large()
    elif sys.argv[1:2] == ["--large-stored"]:
        large_stored(sys.argv[2])
    else:
        main()
