"""Counts and values recorded from chATLAS_Benchmark 0.0.10; tables and columns have chatbench's names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from chatbench.core.measure import Measure
from chatbench.core.response import Sample
from chatbench.jobs.history import store_results
from chatbench.jobs.score import score_responses
from chatbench.scoring.metric import Metric
from chatbench.store import Store
from tests.store import examples

GOLDENS = Path(__file__).parents[1] / "goldens" / "chatlas"
QUESTIONS = examples.dataset(2, name="set.json")

# The recorded metric: our table, and the recorded names of its means with ours.
METRICS = {
    "LexicalMetrics": (
        "lexical_metrics",
        {
            "exact_match_score": "exact_match",
            "f1_score": "f1",
            "rouge_1_score": "rouge_1",
            "rouge_2_score": "rouge_2",
            "rouge_l_score": "rouge_l",
        },
    ),
    "SemanticSimilarity": ("semantic_similarity", {"semanticSimilarity_score": "cosine"}),
    "AnswerCorrect": ("answer_correct", {"answerCorrect_score": "correct"}),
    "DocumentMatch": ("document_match", {"MeanDocumentMatch_score": "hit", "WeightedDocumentMatch_score": "weighted"}),
}
RECORDED = {old: f"{table}_{new}" for table, names in METRICS.values() for old, new in names.items()}


def recorded(feature: str) -> list[Any]:
    cases = json.loads((GOLDENS / f"{feature}.json").read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["id"]) for case in cases]


def store_all(store: Store, address: str, runs: list[dict[str, Any]]) -> None:
    for given in runs:
        scorings = []
        for metric in given["metrics"]:
            table, names = METRICS[metric]
            value = given["value"]
            columns = {new: [value / 2 if new == "weighted" else value] * 2 for new in names.values()}
            scorings.append(examples.scoring(QUESTIONS, columns, metric=metric, table=table))
        run = examples.run_of(QUESTIONS, given["name"])
        store.save_run(run, QUESTIONS, examples.answers(QUESTIONS), scorings)


def constant_metric(name: str, value: float) -> Metric:
    """A metric of this name, with our table and measures, that gives one value for every question."""
    _, names = METRICS[name]
    row = {new: value / 2 if new == "weighted" else value for new in names.values()}

    def score_sample(self: Metric, sample: Sample) -> dict[str, float]:
        return row

    measures = {measure: Measure(float, f"the {measure}") for measure in row}
    made: type[Metric] = type(Metric)(name, (Metric,), {**measures, "score_sample": score_sample}, register=False)
    return made()


def store_by_scoring(store: Store, address: str, runs: list[dict[str, Any]]) -> None:
    """The way of a person: metrics score responses, and the scores are stored."""
    for given in runs:
        metrics = [constant_metric(name, given["value"]) for name in given["metrics"]]
        scores = score_responses(QUESTIONS, examples.answers(QUESTIONS), metrics, progress=False)
        store_results(scores, address, given["name"])


@pytest.mark.parametrize("store_runs", [store_all, store_by_scoring])
@pytest.mark.parametrize("case", recorded("store_results"))
def test_stored_rows(store: Store, address: str, case: dict[str, Any], store_runs: Callable[..., None]) -> None:
    store_runs(store, address, case["input"]["runs"])
    results = store.query("SELECT * FROM results ORDER BY created_at")
    for metric, expected in case["expected"].items():
        table, names = METRICS[metric]
        first = f"{table}_{next(iter(names.values()))}"
        stored = results.dropna(subset=[first]).to_dict("records") if first in results else []
        assert len(stored) == len(expected["rows"])
        for row, wanted in zip(stored, expected["rows"], strict=True):
            assert row["name"] == wanted["model_name"]
            for old, new in names.items():
                assert row[f"{table}_{new}"] == pytest.approx(wanted[old], abs=1e-12)
                by_question = wanted.get(old.replace("_score", "_by_question"))
                if by_question is not None:
                    rows = store.query(
                        f"SELECT {new} AS v FROM {table} WHERE run_id = ? ORDER BY case_id", [row["run_id"]]
                    )
                    assert rows["v"].tolist() == by_question


@pytest.mark.parametrize("case", recorded("fetch_metrics_results"))
def test_fetched_rows(store: Store, address: str, case: dict[str, Any]) -> None:
    # The recorded case without runs reads an empty database, which exists here once a run was stored and deleted.
    store_all(store, address, case["input"]["runs"] or [{"name": "gone", "metrics": [], "value": 0}])
    if not case["input"]["runs"]:
        store.delete_runs_named("gone")
    frame, expected = store.fetch(), case["expected"]
    assert len(frame) == expected["rows"]
    assert sorted(frame["name"]) == expected["model_names_sorted"]
    assert frame.columns.is_unique
    oldest_first = frame.iloc[::-1].to_dict("records")
    rows = expected.get("rows_by_run") or [{"model_name": n, **v} for n, v in expected["values_by_model"].items()]
    for row, wanted in zip(oldest_first, rows, strict=True):
        assert row["name"] == wanted["model_name"]
        shown = {name: row[name] for name in RECORDED.values() if name in row and pd.notna(row[name])}
        assert shown == {
            RECORDED[k]: pytest.approx(v, abs=1e-12) for k, v in wanted.items() if k in RECORDED and v is not None
        }


@pytest.mark.parametrize("case", recorded("delete_model"))
def test_deleted_rows(store: Store, address: str, case: dict[str, Any]) -> None:
    store_all(store, address, case["input"]["runs"])
    deleted = store.delete_runs_named(case["input"]["delete"])
    expected = case["expected"]
    for metric, (table, _) in METRICS.items():
        # A metric that was never stored has no table here; the original makes all of them at once.
        assert deleted.get(table, 0) == expected["deleted"][metric]
        if not expected["remaining_model_names"][metric]:  # its table goes with its last run
            assert table not in examples.relations(store)
        elif table in deleted:
            left = store.query(
                f"SELECT r.name FROM {table} m JOIN runs r USING (run_id) GROUP BY r.run_id, r.name, r.created_at "
                "ORDER BY r.created_at"
            )
            assert sorted(left["name"]) == sorted(expected["remaining_model_names"][metric])
    assert sum(deleted.values()) == expected["total_deleted"]
