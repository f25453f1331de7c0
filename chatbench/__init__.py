"""Score RAG systems, keep every score in DuckDB, and ask in SQL which version is better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chatbench._version import __version__

if TYPE_CHECKING:
    from chatbench.benchmark import BenchmarkTest
    from chatbench.core.case import Case
    from chatbench.core.dataset import Dataset
    from chatbench.core.document import Document
    from chatbench.core.measure import Measure
    from chatbench.core.response import Response, Sample
    from chatbench.core.run import Run
    from chatbench.errors import ChatbenchError, Missing
    from chatbench.jobs.compare import compare_runs, slices
    from chatbench.jobs.history import (
        delete_model_from_database,
        delete_run,
        fetch_metrics_results,
        list_runs,
        load_run,
        rescore,
        sql,
        store_results,
    )
    from chatbench.jobs.leaderboard import leaderboard
    from chatbench.jobs.power import power
    from chatbench.jobs.transfer import export_run, import_results, import_run
    from chatbench.loaders import load_dataset, load_responses
    from chatbench.metrics.document_match import DocumentMatch
    from chatbench.metrics.lexical_metrics import LexicalMetrics
    from chatbench.metrics.retrieval import Retrieval
    from chatbench.metrics.semantic_similarity import SemanticSimilarity
    from chatbench.results.run_result import RunResult
    from chatbench.results.scores import Scores
    from chatbench.scoring.metric import Evaluation, Evaluator, Metric
    from chatbench.scoring.registry import all_metrics
    from chatbench.store import Store

# Each public name and the module that has it; a module is loaded when one of its names is first used, so that
# `import chatbench` loads neither pandas nor the database.
_HOMES = {
    "chatbench.benchmark": ["BenchmarkTest"],
    "chatbench.core.case": ["Case"],
    "chatbench.core.dataset": ["Dataset"],
    "chatbench.core.document": ["Document"],
    "chatbench.core.measure": ["Measure"],
    "chatbench.core.response": ["Response", "Sample"],
    "chatbench.core.run": ["Run"],
    "chatbench.errors": ["ChatbenchError", "Missing"],
    "chatbench.jobs.compare": ["compare_runs", "slices"],
    "chatbench.jobs.history": [
        "delete_model_from_database",
        "delete_run",
        "fetch_metrics_results",
        "list_runs",
        "load_run",
        "rescore",
        "sql",
        "store_results",
    ],
    "chatbench.jobs.leaderboard": ["leaderboard"],
    "chatbench.jobs.power": ["power"],
    "chatbench.jobs.transfer": ["export_run", "import_results", "import_run"],
    "chatbench.loaders": ["load_dataset", "load_responses"],
    "chatbench.metrics.document_match": ["DocumentMatch"],
    "chatbench.metrics.lexical_metrics": ["LexicalMetrics"],
    "chatbench.metrics.retrieval": ["Retrieval"],
    "chatbench.metrics.semantic_similarity": ["SemanticSimilarity"],
    "chatbench.results.run_result": ["RunResult"],
    "chatbench.results.scores": ["Scores"],
    "chatbench.scoring.metric": ["Evaluation", "Evaluator", "Metric"],
    "chatbench.scoring.registry": ["all_metrics"],
    "chatbench.store": ["Store"],
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "BenchmarkTest",
    "Case",
    "ChatbenchError",
    "Dataset",
    "Document",
    "DocumentMatch",
    "Evaluation",
    "Evaluator",
    "LexicalMetrics",
    "Measure",
    "Metric",
    "Missing",
    "Response",
    "Retrieval",
    "Run",
    "RunResult",
    "Sample",
    "Scores",
    "SemanticSimilarity",
    "Store",
    "__version__",
    "all_metrics",
    "compare_runs",
    "delete_model_from_database",
    "delete_run",
    "export_run",
    "fetch_metrics_results",
    "import_results",
    "import_run",
    "leaderboard",
    "list_runs",
    "load_dataset",
    "load_responses",
    "load_run",
    "power",
    "rescore",
    "slices",
    "sql",
    "store_results",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'chatbench' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
