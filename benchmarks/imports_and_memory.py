"""Import time, peak memory, and what the loop costs: python benchmarks/imports_and_memory.py"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from report import HEADER, show


def main() -> None:
    """Print one line per promise; each measurement has a process of its own."""
    print(HEADER)
    bare = min(child("pass") for _ in range(5))
    ours = min(child("import chatbench") for _ in range(5))
    show("seconds of import chatbench", ours - bare, f"python with it {ours:.3f} s, without {bare:.3f} s", at_most=0.3)
    command = [sys.executable, __file__, "--score-and-store"]
    peak, pairs = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    show(
        "GB at the peak of scoring and storing all answers", float(peak), f"{pairs} answers, LexicalMetrics", at_most=1
    )
    loop()


def child(code: str) -> float:
    """Return the wall time of a fresh Python that runs some code."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    return time.perf_counter() - started


def score_and_store() -> None:
    """Score and store the whole corpus in this process; print the peak of resident memory in GB and the number of answers."""
    from corpus import load_pairs

    from chatbench import BenchmarkTest

    pairs = load_pairs()
    test = BenchmarkTest(
        [
            {"id": str(i), "question": f"{key}?", "answer": list(gold), "document": "d"}
            for i, (key, gold, _) in enumerate(pairs)
        ]
    )
    test.set_generated_data([answer for *_, answer in pairs])
    scores = test.score_test_set("LexicalMetrics", progress=False)
    with tempfile.TemporaryDirectory() as folder:
        test.store_results(scores, Path(folder) / "memory.duckdb", "all")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, len(pairs))


def loop() -> None:
    """Cost of the scoring loop beside the metric's own time: a metric that returns 1.0."""
    from chatbench import Metric
    from chatbench.core.case import Case
    from chatbench.core.response import Response, Sample
    from chatbench.scoring.score import score

    class One(Metric, register=False):
        """One."""

        def score_sample(self, sample: Sample) -> float:  # noqa: ARG002
            return 1.0

    samples = [Sample(Case("q", str(i)), Response("a")) for i in range(50_000)]
    started = time.process_time()
    score(samples, [One()])
    show(
        "microseconds per question that the loop adds",
        (time.process_time() - started) / len(samples) * 1e6,
        "peers: 700 to 1,600,000 per question",
        at_most=50,
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["--score-and-store"]:
        score_and_store()
    else:
        main()
