"""Retrieval against ranx and ir-measures on 300 questions of 100 documents; imports are part of the time.

    python benchmarks/retrieval.py [rounds]

Each round starts one fresh process per package; it is handed lists of names and returns the mean of seven measures,
computed from every question's value. The clock starts before the package's import. The best round counts, so that
compiled code that a package caches on disk is there. chatbench runs twice: by `score`, which also checks
every value and makes the intervals of all means, and for the bare rows, which is what the others return.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from report import HEADER, show

QUESTIONS, DOCUMENTS, K = 300, 100, 10
MEASURES = ("hit", "precision", "recall", "mrr", "map", "ndcg", "r_precision")


def make(path: Path) -> None:
    """Write the same questions for everyone: ranked names, and 1 to 8 true ones of which some were not found."""
    chance = random.Random(7)
    data = []
    for question in range(QUESTIONS):
        names = [f"q{question}_document_{i}.txt" for i in range(DOCUMENTS + 20)]
        chance.shuffle(names)
        data.append(
            {"id": f"q{question}", "gold": chance.sample(names, chance.randint(1, 8)), "run": names[:DOCUMENTS]}
        )
    path.write_text(json.dumps(data))


def chatbench(data: list[dict]) -> list[float | None]:
    """As a user scores: rows, means, intervals."""
    from chatbench.metrics.retrieval import Retrieval
    from chatbench.scoring.score import score

    return [s.mean for s in score(make_samples(data), [Retrieval(k=K)])[0].summaries]


def chatbench_rows(data: list[dict]) -> list[float | None]:
    """The rows of all questions and their means, without intervals."""
    from chatbench.metrics.retrieval import Retrieval

    metric = Retrieval(k=K)
    rows = [metric.score_sample(sample) for sample in make_samples(data)]
    return [sum(row[name] for row in rows) / len(rows) for name in MEASURES]


def make_samples(data: list[dict]) -> list:
    """Read the lists as a notebook hands them over."""
    from chatbench.core.case import Case
    from chatbench.core.document import to_documents
    from chatbench.core.response import Response, Sample

    return [
        Sample(Case("?", documents=tuple(q["gold"]), id=q["id"]), Response("", to_documents(q["run"], q["id"])))
        for q in data
    ]


def ranx(data: list[dict]) -> list[float | None]:
    """Means by ranx."""
    from ranx import Qrels, Run, evaluate

    qrels = Qrels({q["id"]: dict.fromkeys(q["gold"], 1) for q in data})
    run = Run({q["id"]: {name: float(DOCUMENTS - i) for i, name in enumerate(q["run"])} for q in data})
    names = [f"hit_rate@{K}", f"precision@{K}", f"recall@{K}", "mrr", "map", f"ndcg@{K}", "r-precision"]
    means = evaluate(qrels, run, names, make_comparable=True)
    return [float(means[name]) for name in names]


def ir_measures(data: list[dict]) -> list[float | None]:
    """Values of all questions by ir-measures, and their means."""
    import ir_measures as ir

    qrels = {q["id"]: dict.fromkeys(q["gold"], 1) for q in data}
    run = {q["id"]: {name: float(DOCUMENTS - i) for i, name in enumerate(q["run"])} for q in data}
    measures = [ir.Success @ K, ir.P @ K, ir.R @ K, ir.RR, ir.AP, ir.nDCG @ K, ir.Rprec]
    values: dict[object, list[float]] = {m: [] for m in measures}
    for metric in ir.iter_calc(measures, qrels, run):
        values[metric.measure].append(metric.value)
    return [sum(v) / len(v) for v in values.values()]


WAYS = {f.__name__: f for f in (chatbench, chatbench_rows, ranx, ir_measures)}


def child(way: str, path: str) -> None:
    """Time one way in this fresh process."""
    data = json.loads(Path(path).read_text())
    started = time.perf_counter()
    means = WAYS[way](data)
    print(json.dumps({"seconds": time.perf_counter() - started, "means": means}))


def main(rounds: int) -> None:
    """Run all ways and print their ratios."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "questions.json"
        make(path)
        best: dict[str, dict] = {}
        for _ in range(rounds):
            for way in WAYS:
                command = [sys.executable, __file__, "--child", way, str(path)]
                done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                if way not in best or done["seconds"] < best[way]["seconds"]:
                    best[way] = done
    ours = best["chatbench"]
    print(HEADER)
    for way, found in best.items():
        apart = max(abs(a - b) for a, b in zip(found["means"], ours["means"], strict=True))
        note = f"{ours['seconds']:.2f} s / {found['seconds']:.2f} s; means differ by at most {apart:.0e}"
        if way in ("ranx", "ir_measures"):
            show(
                f"Retrieval with intervals / {way}, imports included",
                ours["seconds"] / found["seconds"],
                note,
                at_most=1,
            )
            rows = best["chatbench_rows"]["seconds"]
            show(f"Retrieval, rows and means / {way}, imports included", rows / found["seconds"], at_most=1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:4])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
