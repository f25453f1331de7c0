"""Question-answer pairs that the speed comparisons run on."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GENERATED = ROOT.parent / "shared" / "benchmark" / "generated_answers.parquet"
PHYSICS = ROOT / "data" / "physics"

Pair = tuple[str, tuple[str, ...], str]
"""Question id, accepted answers, the system's answer."""


def load_pairs(limit: int | None = None) -> list[Pair]:
    """Return real pairs, spread evenly over the systems when `limit` takes only some of them.

    They come from `../shared/benchmark/generated_answers.parquet`; where that is absent, the repository's own physics
    runs are repeated up to `limit` (10,000 without one).
    """
    if not GENERATED.exists():
        pairs = _physics_pairs()
        n = 10_000 if limit is None else limit
        return [pairs[i % len(pairs)] for i in range(n)]
    import pyarrow.parquet as pq

    rows = pq.read_table(GENERATED, columns=["id", "answers", "generated"]).to_pydict()
    pairs = [
        (id_, tuple(answers), generated)
        for id_, answers, generated in zip(rows["id"], rows["answers"], rows["generated"], strict=True)
        if answers and generated is not None
    ]
    return pairs if limit is None else pairs[:: max(1, len(pairs) // limit)][:limit]


def describe(pairs: list[Pair]) -> str:
    """Return where the pairs come from and how long they are."""
    source = GENERATED.name if GENERATED.exists() else "data/physics, repeated"
    words = sorted(len(answer.split()) for _, _, answer in pairs)
    references = sum(len(answers) for _, answers, _ in pairs) / len(pairs)
    return f"{len(pairs)} pairs ({source}); words per answer: median {words[len(words) // 2]}, longest {words[-1]}; {references:.1f} accepted answers each"


def _physics_pairs() -> list[Pair]:
    questions = {q["id"]: q for q in json.loads((PHYSICS / "questions.json").read_text(encoding="utf-8"))}
    pairs = []
    for run in sorted((PHYSICS / "responses").glob("*.json")):
        for response in json.loads(run.read_text(encoding="utf-8")):
            answers = questions[response["id"]]["answer"] or []
            answers = (answers,) if isinstance(answers, str) else tuple(answers)
            if answers and response["answer"]:
                pairs.append((response["id"], answers, response["answer"]))
    return pairs
