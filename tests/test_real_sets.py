"""Three real question sets, scored, stored and fetched through the public face; values against independent libraries.

The sets lie in ../shared/data beside the repository and are no part of it; where that folder is absent these tests skip.
"""

from __future__ import annotations

import json
import re
import string
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import pytrec_eval
from rouge_score.rouge_scorer import RougeScorer

from chatbench import BenchmarkTest, fetch_metrics_results, load_responses, load_run, sql

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the real question sets in ../shared/data are not there")

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


@pytest.mark.parametrize("kind", ["em", "f1"])
def test_means_that_others_published_for_generated_answers(kind: str) -> None:
    """../shared/benchmark/expected_means.csv: SQuAD means of 22 systems on 64,252 answers, by an independent implementation."""
    import csv

    import pyarrow.parquet as pq

    folder = DATA.parent / "benchmark"
    lines = (folder / "expected_means.csv").read_text(encoding="utf-8").splitlines()
    expected = list(csv.DictReader(lines))
    wanted = next(row for row in expected if (row["set"], row["system"]) == ("openqa-nq", "FiD"))
    rows = [
        r
        for r in pq.read_table(folder / "generated_answers.parquet").to_pylist()
        if (r["set"], r["system"]) == ("openqa-nq", "FiD")
    ]
    test = BenchmarkTest(
        [{"id": r["id"], "question": r["question"], "answers": r["answers"], "document": ""} for r in rows]
    )
    test.set_generated_data([r["generated"] for r in rows])
    scores = test.score_test_set("LexicalMetrics", progress=False)
    mean = scores.summary.loc["lexical_metrics_f1" if kind == "f1" else "lexical_metrics_exact_match", "mean"]
    assert len(rows) == int(wanted["n"])
    if kind == "f1":
        assert mean == pytest.approx(float(wanted["f1"]), abs=1e-6)
    else:  # our exact match compares Porter stems on top of SQuAD's normalisation (design), so it can only be more
        assert float(wanted["em"]) <= mean <= float(wanted["em"]) + 0.02
