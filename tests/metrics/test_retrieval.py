"""Oracles: pytrec_eval (trec_eval's own code) and ir_measures; recorded cases from a comparison of four libraries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from chatbench.core.case import Case
from chatbench.core.document import to_documents
from chatbench.core.response import Response, Sample
from chatbench.core.scores import Scoring
from chatbench.errors import MetricDefinitionError
from chatbench.metrics.retrieval import Retrieval
from chatbench.scoring.registry import parse_metric
from chatbench.scoring.score import score
from tests.places import DATA, ROOT

GOLDENS = json.loads((ROOT / "tests" / "goldens" / "ir_metrics.json").read_text(encoding="utf-8"))
SINGLE = [c for c in GOLDENS if "run" in c["input"]]
SEVERAL = [c for c in GOLDENS if "runs" in c["input"]]
KS = (1, 3, 5, 10)

AT_K = {"hit": "hit_rate@{k}", "precision": "precision@{k}", "recall": "recall@{k}", "ndcg": "ndcg@{k}"}
WHOLE = {"mrr": "mrr", "map": "map", "r_precision": "r-precision"}
TREC = {
    "hit": "success_{k}",
    "precision": "P_{k}",
    "recall": "recall_{k}",
    "ndcg": "ndcg_cut_{k}",
    "mrr": "recip_rank",
    "map": "map",
    "r_precision": "Rprec",
}
NAMES = tuple(TREC)


def sample(retrieved: Sequence[str], relevance: Mapping[str, float], id_: str = "q") -> Sample:
    """By context ids, which are compared as they are."""
    case = Case("?", id=id_, context_ids=tuple(relevance), relevance=relevance)
    return Sample(case, Response("an answer", context_ids=tuple(retrieved)))


def row(scoring: Scoring, i: int = 0) -> dict[str, float | None]:
    return {name: scoring.values[name][i] for name in NAMES}


def one(s: Sample, **parameters) -> dict[str, float | None]:
    return row(score([s], [Retrieval(**parameters)])[0])


def mean(scoring: Scoring, measure: str) -> float | None:
    return next(s.mean for s in scoring.summaries if s.measure == measure)


def by_pytrec_eval(qrels: dict, runs: dict, k: int) -> dict[str, dict[str, float]]:
    """Rows by query. The scores fall with the place, so that trec_eval sees no ties."""
    scored = {q: {d: float(len(r) - i) for i, d in enumerate(r)} for q, r in runs.items()}
    wanted = {name.format(k=k) for name in TREC.values()}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {n.replace(f"_{k}", f".{k}") for n in wanted})
    return {
        q: {ours: found[theirs.format(k=k)] for ours, theirs in TREC.items()}
        for q, found in evaluator.evaluate(scored).items()
    }


@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("case", SINGLE, ids=lambda case: case["id"])
def test_recorded_cases(case, k):
    retrieved = [key for key, _ in case["input"]["run"]]
    got = one(sample(retrieved, case["input"]["qrels"]), k=k)
    wanted = {ours: case["expected"][name.format(k=k)] for ours, name in (AT_K | WHOLE).items()}
    if None in wanted.values():
        assert set(got.values()) == set(wanted.values()) == {None}
    else:
        assert got == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("case", [c for c in SEVERAL if c["id"] != "irm-query-without-qrels"], ids=lambda c: c["id"])
def test_recorded_means(case):
    runs, qrels = case["input"]["runs"], case["input"]["qrels"]
    scoring = score([sample(runs.get(q, []), gold, q) for q, gold in qrels.items()], [Retrieval(k=3)])[0]
    for measure, name in {**AT_K, "mrr": "mrr", "map": "map"}.items():
        assert mean(scoring, measure) == pytest.approx(case["expected"][name.format(k=3)], abs=1e-9)


def test_a_question_without_gold_is_left_out_of_the_mean_and_counted():
    """Recorded case irm-query-without-qrels, and fault F04."""
    scoring = score([sample(["a"], {"a": 1}, "q1"), sample(["x"], {}, "q2")], [Retrieval(k=3)])[0]
    assert mean(scoring, "precision") == pytest.approx(1 / 3)
    assert [s.n_missing for s in scoring.summaries] == [1] * 7
    assert set(scoring.missing[1].values()) == {"no true document"}
    assert scoring.errors == [None, None]


def test_nothing_retrieved_is_zero():
    """Fault F04: ragas #153, #217; tonic_validate PR #23 divided by zero."""
    by_name = Sample(Case("?", documents=("doc_a",)), Response("an answer"))
    for s in (sample([], {"doc_a": 1}), by_name):
        assert one(s) == dict.fromkeys(NAMES, 0.0)


@pytest.mark.parametrize(("place", "right"), [(1, 1.0), (2, 0.630930), (4, 0.430677)])
def test_ndcg_falls_with_the_rank(place, right):
    """Fault F15: openagent-eval #223 was off by one rank. Values seen in ir_measures 0.4.3."""
    retrieved = ["w", "x", "y"]
    retrieved.insert(place - 1, "d")
    assert one(sample(retrieved, {"d": 1}), k=4)["ndcg"] == pytest.approx(right, abs=1e-6)


def test_ideal_gain_is_over_all_relevant_entries():
    """Fault F16: llama_index #17070, search-relevance #191. Values seen in ranx 0.3.21 and ir_measures 0.4.3."""
    samples = [
        sample(["d1", "x", "d2"], {"d1": 1, "d2": 1, "d3": 1}, "q1"),
        sample(["x", "d9"], {"d9": 1}, "q2"),
    ]
    scoring = score(samples, [Retrieval(k=3)])[0]
    wanted = {"ndcg": 0.667424, "mrr": 0.75, "recall": 0.833333, "precision": 0.5}
    assert {name: mean(scoring, name) for name in wanted} == pytest.approx(wanted, abs=1e-6)


ids = st.text("abcdefghij", min_size=1, max_size=2)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(ids, max_size=30, unique=True),
    st.dictionaries(ids, st.integers(-1, 4), min_size=1),
    st.sampled_from([1, 2, 5, 10, 30]),
)
def test_agrees_with_pytrec_eval(retrieved, relevance, k):
    got = one(sample(retrieved, relevance), k=k)
    if any(gain > 0 for gain in relevance.values()):
        wanted = by_pytrec_eval({"q": relevance}, {"q": retrieved}, k)
        assert got == pytest.approx(wanted["q"], abs=1e-9)
    else:
        assert set(got.values()) == {None}


def test_agrees_with_ir_measures():
    relevance = {"q1": {"a": 3, "b": 1, "c": 2, "z": 0}, "q2": {"d": 1}, "q3": {"e": 2, "f": 1}}
    runs = {"q1": ["x", "c", "z", "a", "y"], "q2": ["d"], "q3": ["x", "y", "z", "w", "v", "f", "e"]}
    scored = {q: {d: float(-i) for i, d in enumerate(r)} for q, r in runs.items()}
    of = {"hit": "Success@5", "precision": "P@5", "recall": "R@5", "mrr": "RR", "map": "AP", "ndcg": "nDCG@5"}
    of["r_precision"] = "Rprec"
    measures = {ir_measures.parse_measure(name): ours for ours, name in of.items()}
    wanted: dict[str, dict[str, float]] = {}
    for metric in ir_measures.iter_calc(list(measures), relevance, scored):
        wanted.setdefault(metric.query_id, {})[measures[metric.measure]] = metric.value
    scoring = score([sample(runs[q], relevance[q], q) for q in runs], [Retrieval(k=5)])[0]
    for i, q in enumerate(runs):
        assert row(scoring, i) == pytest.approx(wanted[q], abs=1e-9)


@pytest.mark.skipif(not DATA.is_dir(), reason=f"the question sets are not at {DATA}")
@pytest.mark.parametrize(
    ("folder", "run"),
    [
        ("mtrag", "gpt-4o"),
        ("mtrag", "llama-3.1-405b-instruct"),
        ("clapnq", "bm25-extract"),
        ("clapnq", "minilm-extract"),
    ],
)
def test_every_real_question_agrees_with_pytrec_eval(folder, run):
    questions = json.loads((DATA / folder / "questions.json").read_text(encoding="utf-8"))
    responses = {r["id"]: r for r in json.loads((DATA / folder / "runs" / f"{run}.json").read_text(encoding="utf-8"))}
    samples = [
        Sample(
            Case(q["question"], id=q["id"], documents=tuple(q["documents"]), is_answerable=q.get("answerable", True)),
            Response(responses[q["id"]]["answer"], to_documents(responses[q["id"]]["documents"], q["id"])),
        )
        for q in questions
    ]
    scoring = score(samples, [Retrieval(k=3)])[0]
    qrels = {q["id"]: dict.fromkeys(q["documents"], 1) for q in questions if q["documents"]}
    wanted = by_pytrec_eval(qrels, {q: responses[q]["documents"] for q in qrels}, 3)
    scored = {s.case.id: row(scoring, i) for i, s in enumerate(samples) if scoring.missing[i] is None}
    assert scored.keys() == wanted.keys()
    assert len(scored) > 100
    for q, values in wanted.items():
        assert scored[q] == pytest.approx(values, abs=1e-9)


def test_document_names_are_folded_and_later_copies_dropped():
    case = Case("?", documents=("docs/a.txt", "b"))
    retrieved = to_documents(
        ["x.md", "x.md", "C:\\docs\\a.pdf", "a", {"page_content": "nameless"}, "b.html"], "documents"
    )
    got = one(Sample(case, Response("an answer", retrieved)), k=3)
    assert got["mrr"] == 0.5  # x, a, b
    assert got["precision"] == pytest.approx(2 / 3)
    assert got["recall"] == 1.0


def test_ids_are_compared_as_text():
    s = Sample(Case("?", context_ids=(1, 2)), Response("an answer", context_ids=("2", "9")))
    assert one(s)["mrr"] == 1.0
    assert one(s)["recall"] == 0.5


def test_graded_document_names():
    case = Case("?", documents=("a.txt", "b.txt"), relevance={"a.txt": 3, "b": 1})
    retrieved = to_documents(["b", "a"], "documents")
    wanted = by_pytrec_eval({"q": {"a": 3, "b": 1}}, {"q": ["b", "a"]}, 10)["q"]
    assert one(Sample(case, Response("an answer", retrieved))) == pytest.approx(wanted, abs=1e-9)
    assert wanted["ndcg"] < 1


def test_grades_of_the_other_kind_are_no_gold():
    case = Case("?", documents=("paper",), context_ids=("c1", "c2"), relevance={"paper": 1, "c1": 2})
    response = Response("an answer", to_documents(["paper"], "documents"), context_ids=("c1", "c2"))
    assert one(Sample(case, response), by="contexts")["recall"] == 1.0
    assert one(Sample(case, response), by="documents")["recall"] == 1.0


@pytest.mark.parametrize(("by", "mrr"), [("auto", 1.0), ("contexts", 1.0), ("documents", 0.5)])
def test_what_is_compared(by, mrr):
    case = Case("?", documents=("paper",), context_ids=("c1",))
    response = Response("an answer", to_documents(["other", "paper"], "documents"), context_ids=("c1",))
    assert one(Sample(case, response), by=by)["mrr"] == mrr


def test_auto_takes_documents_where_the_response_has_no_context_ids():
    case = Case("?", documents=("paper",), context_ids=("c1",))
    assert one(Sample(case, Response("an answer", to_documents(["paper"], "documents"))))["mrr"] == 1.0


@pytest.mark.parametrize(
    ("case", "response", "by", "reason"),
    [
        (Case("?", documents=("a",), is_answerable=False), Response("x"), "auto", "the question is unanswerable"),
        (Case("?"), Response("x"), "auto", "no true document"),
        (Case("?", documents=("a",)), Response("x"), "contexts", "no true context id"),
        (Case("?", relevance={"a": 0}), Response("x"), "auto", "none of the judged entries is relevant"),
        (Case("?", documents=("a",)), Response(error="OSError: gone"), "auto", "OSError: gone"),
        (Case("?", context_ids=("a",)), Response(error="OSError: gone"), "auto", "OSError: gone"),
        (
            Case("?", context_ids=("a",)),
            Response("x", contexts=("text",)),
            "auto",
            "the response has no context ids to compare",
        ),
        (
            Case("?", documents=("a",)),
            Response("x", context_ids=("c",)),
            "auto",
            "the response has context ids, but no documents to compare",
        ),
    ],
)
def test_missing_says_why(case, response, by, reason):
    scoring = score([Sample(case, response)], [Retrieval(by=by)])[0]
    assert scoring.missing == [dict.fromkeys(NAMES, reason)]


@pytest.mark.parametrize("parameters", [{"k": 0}, {"k": -3}, {"k": 2.5}, {"k": True}, {"by": "names"}])
def test_impossible_parameters_are_refused(parameters):
    (value,) = parameters.values()
    with pytest.raises(MetricDefinitionError, match=repr(value)):
        Retrieval(**parameters)


def test_is_found_by_name_with_parameters():
    assert parse_metric("Retrieval(k=3)") == Retrieval(k=3)
    assert Retrieval().label == ""
