"""Comparing two runs against one bare numpy bootstrap, and its memory on a large set: python benchmarks/comparison.py"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np
from report import HEADER, show

from chatbench.stats.paired import compare_pairs

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


def fastest(work: Callable[[], object], rounds: int = 7) -> float:
    """Return the seconds of the fastest round."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def large() -> None:
    """Compare a large set in this process; print MB before, MB at the peak, seconds."""
    a, b = make(LARGE)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    started = time.perf_counter()
    compare_pairs(a, b, is_binary=YES_NO, resamples=RESAMPLES)
    print(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, time.perf_counter() - started)


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
            f"1,000 questions, 10,000 resamples: {ours:.3f} s / {one:.3f} s",
            at_most=4,
        )
    command = [sys.executable, __file__, "--large"]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    before, peak, seconds = map(float, found)
    show(
        "GB at the peak of comparing 64,252 questions, 8 measures",
        peak / 1e3,
        f"{peak - before:.0f} MB more than before, {seconds:.0f} s",
        at_most=1,
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["--large"]:
        large()
    else:
        main()
