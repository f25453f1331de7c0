"""Grades of documents and contexts, from the record to the metric."""

from __future__ import annotations

from typing import Any

import pytest

from chatbench.core.case import Case
from chatbench.core.document import Document
from chatbench.core.response import Response, Sample
from chatbench.errors import Missing
from chatbench.loaders import load_dataset
from chatbench.metrics.retrieval import Retrieval


def loaded(record: dict[str, Any]) -> Case:
    return load_dataset([record]).cases[0]


@pytest.mark.parametrize(
    "record",
    [
        {"documents": ["a", "b"], "relevance": {"a": 2, "b": 0}},
        {"documents": ["a.txt", "docs/b.txt"], "relevance": {"a": 2, "b": 0}},
        {"documents": {"a": 2, "b": 0}},
        {"documents": {"a": 2, "b": -1}},
        {"documents": {"a": 2, "b": 1}, "relevance": {"b": False}},
        {"context_ids": ["a", "b"], "relevance": {"a": 2, "b": 0}},
    ],
)
def test_what_is_graded_zero_is_not_relevant(record: dict[str, Any]) -> None:
    """Worked out by hand: one entry is relevant, `a`; it is not among what was retrieved."""
    case = loaded({"question": "Q?", **record})
    miss, hit = (Sample(case, Response("x", (Document(id=n),), context_ids=(n,))) for n in ("b", "a"))
    [missed, found] = (Retrieval().score_sample(sample) for sample in (miss, hit))
    assert (missed["hit"], missed["recall"], missed["mrr"], missed["ndcg"]) == (False, 0, 0, 0)
    assert (found["hit"], found["recall"], found["mrr"], found["ndcg"]) == (True, 1, 1, 1)
    if case.documents:
        assert [len(miss.gold_documents), len(hit.gold_documents)] == [1, 1]


def test_where_all_is_graded_zero_nothing_is_relevant() -> None:
    for record in ({"documents": ["a"], "relevance": {"a": 0}}, {"documents": {"a": 0}}):
        sample = Sample(loaded({"question": "Q?", **record}), Response("x", (Document(id="a"),)))
        with pytest.raises(Missing, match="none of the judged entries is relevant"):
            Retrieval().score_sample(sample)
        with pytest.raises(Missing):
            _ = sample.gold_documents
