"""SemanticSimilarity against one bare `model.encode` of the same distinct texts, model already loaded.

    python benchmarks/semantic.py [pairs] [rounds] [answers.parquet]

Each round takes other pairs of answer and accepted answers, so that no vector is cached; the two ways take turns in
going first. CPU seconds of one torch thread are compared: with more, neighbours on the machine distort them. The last
lines score other answers to the references of the last round, which is what a second run of a test set costs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from chatbench.core.case import Case
from chatbench.core.response import Response, Sample
from chatbench.llm.embedder import BATCH_SIZE, embed, find_model
from chatbench.metrics.semantic_similarity import SemanticSimilarity
from chatbench.scoring.context import Context
from chatbench.scoring.score import score

ANSWERS = Path(__file__).parents[2] / "shared" / "benchmark" / "generated_answers.parquet"
SYSTEM, OTHER_SYSTEM = "chatgpt", "gpt35"


def read(path: Path, system: str) -> list[Sample]:
    """Answers of one system as samples, in the order of the questions."""
    table = pq.read_table(path, columns=["set", "id", "question", "answers", "system", "generated"])
    wanted = pc.and_(pc.equal(table["system"], system), pc.equal(table["set"], "evouna-nq"))
    return [
        Sample(Case(r["question"], id=r["id"], answers=tuple(r["answers"])), Response(r["generated"]))
        for r in table.filter(wanted).to_pylist()
    ]


def seconds(work: Callable[[], object]) -> float:
    """CPU time of one call."""
    started = time.process_time()
    work()
    return time.process_time() - started


def main(pairs: int, rounds: int, path: Path) -> None:
    """Run all rounds and print their ratios."""
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    bare = SentenceTransformer(find_model("all-MiniLM-L6-v2"), local_files_only=True)
    metric, context = SemanticSimilarity(), Context(embedder=embed)
    samples, others = read(path, SYSTEM), read(path, OTHER_SYSTEM)
    ours: list[float] = []
    theirs: list[float] = []
    embed([f"warming up {i}" for i in range(64)])
    bare.encode([f"warming up {i}" for i in range(64)], show_progress_bar=False)
    for i in range(rounds):
        part = samples[i * pairs : (i + 1) * pairs]
        texts = list(dict.fromkeys(t for s in part for t in (s.answer, *s.answers)))
        ways: list[tuple[list[float], Callable[[], object]]] = [
            (ours, lambda part=part: score(part, [metric], context)),
            (theirs, lambda texts=texts: bare.encode(texts, batch_size=BATCH_SIZE, show_progress_bar=False)),
        ]
        for times, work in ways if i % 2 else reversed(ways):
            times.append(seconds(work))
        ratio = ours[-1] / theirs[-1]
        print(f"{len(part)} pairs, {len(texts)} texts: {ours[-1]:.2f} s, bare {theirs[-1]:.2f} s, ratio {ratio:.3f}")
    print(f"median ratio {np.median(np.divide(ours, theirs)):.3f}, of all time {sum(ours) / sum(theirs):.3f}")
    again = others[(rounds - 1) * pairs : rounds * pairs]
    print(f"other answers, the same references: {seconds(lambda: score(again, [metric], context)):.2f} s")
    print(f"the same once more:                 {seconds(lambda: score(again, [metric], context)):.2f} s")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else 400, int(given[1]) if given[1:] else 5, Path(given[2]) if given[2:] else ANSWERS)
