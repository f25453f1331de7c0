"""SemanticSimilarity against a bare `encode`: python benchmarks/semantic.py [pairs] [rounds]

Each round takes other pairs, so that nothing is cached; both sides embed the same distinct texts on one thread, in turns. CPU
seconds, because two threads on a shared machine say more about the neighbours.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from corpus import describe, load_pairs
from report import HEADER, show

from chatbench.core.case import Case
from chatbench.core.response import Response, Sample
from chatbench.llm.embedder import BATCH_SIZE, embed, find_model
from chatbench.metrics.semantic_similarity import SemanticSimilarity
from chatbench.scoring.context import Context
from chatbench.scoring.score import score


def main(pairs: int, rounds: int) -> None:
    """Run all rounds and print the median ratio."""
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    bare = SentenceTransformer(find_model("all-MiniLM-L6-v2"), local_files_only=True)
    metric, context = SemanticSimilarity(), Context(embedder=embed)
    corpus = load_pairs(pairs * rounds)
    print(describe(corpus))
    print(HEADER)
    samples = [Sample(Case("?", str(i), gold), Response(answer)) for i, (_, gold, answer) in enumerate(corpus)]
    for warm_up in (embed, lambda texts: bare.encode(texts, show_progress_bar=False)):
        warm_up([f"warming up {i}" for i in range(64)])
    ratios, note = [], ""
    for i in range(rounds):
        part = samples[i * pairs : (i + 1) * pairs]
        texts = list(dict.fromkeys(t for s in part for t in (s.answer, *s.answers)))
        ours = theirs = 0.0
        for turn in (0, 1) if i % 2 else (1, 0):
            if turn:
                ours = seconds(lambda part=part: score(part, [metric], context))  # type: ignore[misc]
            else:
                theirs = seconds(lambda texts=texts: bare.encode(texts, batch_size=BATCH_SIZE, show_progress_bar=False))  # type: ignore[misc]
        ratios.append(ours / theirs)
        note = f"last round: {len(texts)} texts, {ours:.2f} s / {theirs:.2f} s; ratios {min(ratios):.2f} to {max(ratios):.2f}"
    show("SemanticSimilarity / bare encode of the distinct texts", float(np.median(ratios)), note, at_most=1.15)
    show("the same scored again / bare encode", seconds(lambda: score(part, [metric], context)) / theirs, at_most=0.1)


def seconds(work: Callable[[], object]) -> float:
    """CPU time of one call."""
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    given = [int(a) for a in sys.argv[1:]]
    main(*(given + [400, 5][len(given) :]))
