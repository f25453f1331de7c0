"""Three real question sets, scored, stored and fetched through the public face; values against independent libraries.

The sets lie in ../shared/data beside the repository and are no part of it; where that folder is absent these tests skip.
"""

from __future__ import annotations

import csv
import json
import re
import string
from collections import Counter
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
import pytrec_eval
from rouge_score.rouge_scorer import RougeScorer

from chatbench import BenchmarkTest, fetch_metrics_results, load_responses, load_run, sql
from tests.places import DATA, SHARED

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the real question sets in ../shared/data are not there")
BENCHMARK = SHARED / "benchmark"

RUNS = [
    ("clapnq", "bm25-extract"),
    ("clapnq", "minilm-extract"),
    ("mtrag", "gpt-4o"),
    ("mtrag", "llama-3.1-405b-instruct"),
    ("nq301", "FiD"),
    ("nq301", "text-davinci-003_zeroshot"),
]


def squad_tokens(text: str) -> list[str]:
    """The normaliser of SQuAD's evaluate-v1.1.py, written from its description."""
    text = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def squad_f1(answer: str, gold: str) -> float:
    a, g = squad_tokens(answer), squad_tokens(gold)
    common = sum((Counter(a) & Counter(g)).values())
    return 0.0 if not common else 2 * common / (len(a) + len(g))


def trec_means(questions: list[dict[str, Any]], records: dict[str, dict[str, Any]]) -> dict[str, float]:
    """Means by pytrec_eval over the questions with gold; one without a retrieved document counts 0."""
    qrels = {q["id"]: {fold(d): 1 for d in q["documents"]} for q in questions if q["documents"]}
    run = {}
    for id_ in qrels:
        names = list(dict.fromkeys(fold(d) for d in records[id_]["documents"]))
        run[id_] = {name: float(len(names) - i) for i, name in enumerate(names)}
    names = {
        "success_10": "hit",
        "P_10": "precision",
        "recall_10": "recall",
        "recip_rank": "mrr",
        "map": "map",
        "ndcg_cut_10": "ndcg",
        "Rprec": "r_precision",
    }
    families = {"success.10", "P.10", "recall.10", "recip_rank", "map", "ndcg_cut.10", "Rprec"}
    rows = pytrec_eval.RelevanceEvaluator(qrels, families).evaluate(run)
    return {
        ours: sum(rows.get(id_, {}).get(theirs, 0.0) for id_ in qrels) / len(qrels) for theirs, ours in names.items()
    }


def fold(name: str) -> str:
    return re.split(r"[/\\]", name)[-1].removesuffix(".txt")


@needs_data
@pytest.mark.parametrize(("dataset", "system"), RUNS)
def test_a_real_set(dataset: str, system: str) -> None:
    folder = DATA / dataset
    test = BenchmarkTest(folder / "questions.json")
    test.set_generated_data(load_responses(folder / "runs" / f"{system}.json", test.dataset))
    scores = test.score_test_set(
        "LexicalMetrics(tokenizer='rouge_score')", "DocumentMatch", "Retrieval", progress=False
    )
    run = test.store_results(scores, "real.duckdb", system)

    questions = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    records = {r["id"]: r for r in json.loads((folder / "runs" / f"{system}.json").read_text(encoding="utf-8"))}
    fetched = fetch_metrics_results().iloc[0]
    assert (fetched.run_id, fetched.n_questions) == (run.run_id, len(questions))

    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"])
    wanted: dict[str, list[float]] = {"f1": [], "rouge_1": [], "rouge_2": [], "rouge_l": []}
    for q in questions:
        gold = [a for a in q.get("answers") or [q["answer"]] if a and a.strip()]
        answer = records[q["id"]]["answer"]
        if gold and answer is not None:
            wanted["f1"].append(max(squad_f1(answer, g) for g in gold))
            for name, theirs in (("rouge_1", "rouge1"), ("rouge_2", "rouge2"), ("rouge_l", "rougeL")):
                wanted[name].append(max(scorer.score(g, answer)[theirs].fmeasure for g in gold))
    rows = sql("select * from lexical_metrics where run_id = ?", [run.run_id])
    assert len(rows) == len(questions)
    for name, values in wanted.items():
        assert rows[name].notna().sum() == len(values) > 100
        assert fetched[f"lexical_metrics_{name}"] == pytest.approx(sum(values) / len(values), abs=1e-9)

    if any(q["documents"] for q in questions):
        for name, mean in trec_means(questions, records).items():
            assert fetched[f"retrieval_{name}"] == pytest.approx(mean, abs=1e-6), name
    else:
        assert pd.isna(fetched.retrieval_hit)
        assert set(scores.scoring("Retrieval").missing[0] or {}) == {
            m.name for m in scores.scoring("Retrieval").measures
        }
    assert load_run(run.run_id).scores.scorings == scores.scorings


@pytest.mark.skipif(not BENCHMARK.is_dir(), reason="the generated answers in ../shared/benchmark are not there")
def test_means_of_22_systems_by_an_independent_implementation() -> None:
    """expected_means.csv has the SQuAD means of every system of 64,252 generated answers.

    F1 must be equal. Our exact match compares Porter stems on top of SQuAD's normalisation (a decision of the design), so the
    SQuAD value is recomputed here for the answers on which the two differ.
    """
    lines = (BENCHMARK / "expected_means.csv").read_text(encoding="utf-8").splitlines()
    expected = {(row["set"], row["system"]): row for row in csv.DictReader(lines)}
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in pq.read_table(BENCHMARK / "generated_answers.parquet").to_pylist():
        groups.setdefault((row["set"], row["system"]), []).append(row)
    checked = 0
    for key, rows in groups.items():
        records = [{"id": str(i), "question": r["question"], "answers": r["answers"]} for i, r in enumerate(rows)]
        test = BenchmarkTest(records)
        test.set_generated_data([r["generated"] for r in rows])
        scores = test.score_test_set("LexicalMetrics", progress=False)
        assert len(rows) == int(expected[key]["n"])
        summary = scores.summary.loc["lexical_metrics_f1"]
        # One question has a blank reference: missing here, 0 in those means, which count it.
        blank = sum(not any(a.strip() for a in r["answers"]) for r in rows)
        assert (summary.n_scored, summary.n_missing) == (len(rows) - blank, blank)
        mean = summary["mean"] * summary.n_scored / len(rows)
        assert mean == pytest.approx(float(expected[key]["f1"]), abs=1e-6), key
        stemmed = scores["LexicalMetrics"].exact_match.tolist()
        plain = [any(squad_tokens(r["generated"]) == squad_tokens(g) for g in r["answers"]) for r in rows]
        assert all(ours is pd.NA or ours or not theirs for ours, theirs in zip(stemmed, plain, strict=True))
        assert sum(plain) / len(plain) == pytest.approx(float(expected[key]["em"]), abs=1e-6), key
        checked += 1
    assert checked == len(expected) == 22
