"""The main job on the repository's own data: three systems scored, stored, set side by side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from chatbench.core.run import Run
from chatbench.errors import InputError
from chatbench.jobs.history import store_results
from chatbench.jobs.score import MetricLike, resolve_metrics, score_responses
from chatbench.loaders import load_dataset, load_responses
from chatbench.results.scores import Scores

SYSTEMS = ("bm25", "minilm", "hybrid")
METRICS: tuple[MetricLike, ...] = ("DocumentMatch", "Retrieval(k=5)", "LexicalMetrics", "SemanticSimilarity")

MAIN_MEASURES = ("document_match_hit", "retrieval_ndcg", "lexical_metrics_f1", "semantic_similarity_cosine")
"""What the demonstration compares: one question for each metric, decided before looking."""


def demo_data() -> Path:
    """Return the folder of the demonstration's questions and responses: in the package, or in the repository beside it."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "demo_data", package.parent / "data" / "physics"):
        if (folder / "questions.json").is_file():
            return folder
    raise InputError("The demonstration's data are not installed; run it in a clone of the repository: make demo.")


def run_demo(db_name: str | Path, progress: bool | None = None) -> Iterator[tuple[Run, Scores]]:
    """Score and store the responses of each system; give each run with its scores as soon as it is stored."""
    folder = demo_data()
    dataset = load_dataset(folder / "questions.json", name="physics")
    metrics = resolve_metrics(METRICS)
    for system in SYSTEMS:
        responses = load_responses(folder / "responses" / f"{system}.json", dataset)
        scores = score_responses(dataset, responses, metrics, progress=progress)
        yield store_results(scores, db_name, system, settings={"system": system}), scores
