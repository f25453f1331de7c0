"""`BenchmarkTest`: the notebook face. Each method is one call of a job."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chatbench.core.dataset import Dataset
from chatbench.core.pairing import respond
from chatbench.core.response import Response
from chatbench.core.run import Run
from chatbench.errors import InputError
from chatbench.jobs import history
from chatbench.jobs.score import MetricLike, resolve_metrics, score_responses
from chatbench.loaders import load_dataset
from chatbench.results.scores import Scores
from chatbench.scoring import registry
from chatbench.scoring.context import Embed


class BenchmarkTest:
    """A question set, the answers of one system to it, and their scores.

        test = BenchmarkTest("questions.json")
        test.set_generated_data(answers, documents)
        scores = test.score_test_set("LexicalMetrics", "DocumentMatch")
        test.store_results(scores, name="bm25")

    - `question_set`: path of a JSON list or JSONL file, list of dicts, DataFrame, or `Dataset`.
    - `keys`: names of the record keys, `{"test_questions": ..., "test_answers": ..., "test_documents": ...}`, and
      `"test_name"` for a list without a file.
    - `num_q`: None for all questions, an int for the first so many, a fraction (0 to 1) for that share.
    - `encoding`: of the file, where it is neither UTF-8 nor UTF-16.
    - `name_key`: metadata key that holds a retrieved document's name, before "name" and "source".

    `implemented_tests` has every registered metric by name, those defined later too; functions of your own go in as
    `test.implemented_tests["MyTest"] = my_test`, with `my_test(data) -> DataFrame` or `my_test(sample)`.
    """

    def __init__(
        self,
        question_set: Any,
        keys: Mapping[str, str] | None = None,
        num_q: int | float | None = None,
        *,
        encoding: str | None = None,
        name_key: str | None = None,
    ) -> None:
        self.dataset: Dataset = load_dataset(question_set, keys=keys, num_q=num_q, encoding=encoding)
        self.question_set_path = self.dataset.path or self.dataset.name
        self.num_q = len(self.dataset)
        self.implemented_tests: ChainMap[str, Any] = ChainMap({}, registry.registered())
        self.responses: list[Response] | None = None
        self._name_key = name_key

    @property
    def questions(self) -> list[str]:
        """The questions' texts in order."""
        return self.dataset.questions

    @property
    def test_answers(self) -> list[str]:
        """The first accepted answer of each question; an empty text where there is none."""
        return [case.answers[0] if case.answers else "" for case in self.dataset]

    @property
    def test_documents(self) -> list[list[str]]:
        """The names of each question's true documents."""
        return [list(case.documents) for case in self.dataset]

    @property
    def answers(self) -> list[str | None]:
        """The answers that were set."""
        return [r.answer for r in self._given_responses()]

    @property
    def documents(self) -> list[list[Any]]:
        """The retrieved documents that were set."""
        return [list(r.documents) for r in self._given_responses()]

    def set_generated_data(self, answers: Sequence[Any], documents: Sequence[Any] | None = None) -> None:
        """Give what the system answered: one answer and one ranked list of documents per question, in order.

        An answer is text, None where the system gave none, or a `Response`, whose documents are given in it or beside it. A
        document is a `Document`, a LangChain or LlamaIndex object, a dict, or a name. Raises `LengthError` naming all lengths when they differ.
        """
        self.responses = respond(answers, documents, self.dataset.cases, self._name_key)

    def score_test_set(self, *metrics: MetricLike, embed: Embed | None = None, progress: bool | None = None) -> Scores:
        """Score the answers with metrics given by name or as instances: `"LexicalMetrics"`, `Retrieval(k=3)`, a function.

        Names are checked before anything runs. `embed(texts, model)` replaces the built-in embedder; `progress`
        shows bars (None: on a terminal or in a notebook).
        """
        resolved = resolve_metrics(metrics, self.implemented_tests.maps[0])
        return score_responses(self.dataset, self._given_responses(), resolved, embed=embed, progress=progress)

    def store_results(
        self,
        scores: Scores,
        db_name: str | Path | None = None,
        name: str = history.DEFAULT_NAME,
        connection_string: str | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
    ) -> Run:
        """Keep the scores with questions and responses as one run (see `store_results`), and return its identity."""
        return history.store_results(scores, db_name, name, connection_string, settings=settings)

    def _given_responses(self) -> list[Response]:
        if self.responses is None:
            raise InputError("There are no answers yet: set_generated_data(answers, documents) first.")
        return self.responses

    def __repr__(self) -> str:
        state = "no answers yet" if self.responses is None else f"{len(self.responses)} responses"
        return f"BenchmarkTest({self.question_set_path!r}: {len(self.dataset)} questions, {state})"
