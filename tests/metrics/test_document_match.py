"""Goldens: recorded output of chATLAS_Benchmark 0.0.10 (and the documented value where that package departs from it)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chatbench.core.case import Case
from chatbench.core.document import Document, fold_name, to_documents
from chatbench.core.response import Response, Sample
from chatbench.core.scores import Scoring
from chatbench.metrics.document_match import DocumentMatch
from chatbench.scoring.score import score

GOLDENS = json.loads((Path(__file__).parents[1] / "goldens" / "document_match.json").read_text(encoding="utf-8"))


def document(name: str | None) -> Document | str:
    if name is None:
        return Document("text without a name")
    return name.removeprefix("STR:") if name.startswith("STR:") else Document("text", {"name": name})


def match(gold: list[list[str]], retrieved: list[list[str | None]], answerable: bool = True) -> Scoring:
    samples = [
        Sample(
            Case("?", id=str(i), documents=tuple(g), is_answerable=answerable),
            Response("an answer", to_documents([document(n) for n in names], "documents")),
        )
        for i, (g, names) in enumerate(zip(gold, retrieved, strict=True))
    ]
    return score(samples, [DocumentMatch()])[0]


@pytest.mark.parametrize("case", GOLDENS, ids=lambda case: case["id"])
def test_recorded_cases(case):
    scoring = match(case["input"]["test_documents"], case["input"]["retrieved_names"])
    assert scoring.values["hit"] == [bool(v) for v in case["expected"]["match_by_question"]]
    assert scoring.values["weighted"] == pytest.approx(case["expected"]["weight_by_question"], abs=1e-9)
    means = {s.measure: s.mean for s in scoring.summaries}
    assert means["hit"] == pytest.approx(case["expected"]["MeanDocumentMatch"], abs=1e-9)
    assert means["weighted"] == pytest.approx(case["expected"]["WeightedDocumentMatch"], abs=1e-9)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("paper.v0", "paper.v0.txt"),
        ("C:\\data\\pump.txt", "pump"),
        ("a/b\\c.md", "c.html"),
        ("report.PDF", "report"),
        ("https://site.example/wiki/Pump/", "Pump"),
        (" pump.txt ", "pump"),
        ("caf\u00e9.txt", "cafe\u0301"),
    ],
)
def test_names_that_are_the_same(one, other):
    assert fold_name(one) == fold_name(other) != ""
    assert match([[one]], [[other]]).values["hit"] == [True]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("report v1.2", "report v1.3"),
        ("report-1.2.txt", "report-1"),
        ("Pump.txt", "pump.txt"),
        ("pump.manual.txt", "pump"),
        ("archive.tar", "archive"),
        (".txt", "x.txt"),
        ("dir/", "x/"),
    ],
)
def test_names_that_differ(one, other):
    assert match([[one]], [[other]]).values["hit"] == [False]


@pytest.mark.parametrize("empty", ["/", "  ", "\\"])
def test_an_empty_name_never_matches(empty):
    scoring = match([[empty, "a"]], [[empty]])
    assert scoring.values["hit"] == [False]
    assert scoring.values["n_nameless"] == [1]
    assert match([[empty]], [[empty]]).missing[0]["hit"] == "no true document"


def test_nameless_documents_are_left_out_before_weighting_and_counted():
    scoring = match([["a"]], [[None, "x", None, "a"]])
    assert {name: column[0] for name, column in scoring.values.items()} == {
        "hit": True,
        "weighted": 0.5,
        "n_documents": 4,
        "n_nameless": 2,
    }


def test_nothing_retrieved_is_zero():
    """Fault F04: ragas #153, #217; tonic_validate PR #23 divided by zero."""
    scoring = match([["doc_a"], ["doc_a"]], [[], ["doc_a"]])
    assert scoring.values["hit"] == [False, True]
    assert scoring.values["weighted"] == [0.0, 1.0]
    assert scoring.values["n_documents"] == [0, 1]
    assert scoring.errors == [None, None]


@pytest.mark.parametrize(
    ("gold", "answerable", "reason"),
    [([], True, "no true document"), (["a"], False, "the question is unanswerable")],
)
def test_without_a_true_document_the_match_is_missing_and_the_counts_are_kept(gold, answerable, reason):
    scoring = match([gold], [["a", "b"]], answerable)
    assert scoring.missing == [{"hit": reason, "weighted": reason}]
    assert scoring.values["n_documents"] == [2]
    assert {s.measure: s.n_missing for s in scoring.summaries}["hit"] == 1


def test_a_failed_system_is_missing_with_its_error():
    sample = Sample(Case("?", documents=("a",)), Response(error="TimeoutError: no reply"))
    scoring = score([sample], [DocumentMatch()])[0]
    assert set(scoring.missing[0].values()) == {"TimeoutError: no reply"}
    assert len(scoring.missing[0]) == 4
