"""Runs made by hand for the tests of the store; nothing here scores anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import chatbench.core.scores as core
from chatbench.core.case import Case
from chatbench.core.dataset import Dataset
from chatbench.core.document import Document
from chatbench.core.measure import Measure
from chatbench.core.response import Response
from chatbench.core.run import Run, new_id
from chatbench.core.scores import Scoring
from chatbench.store import Store


class Place(Store):
    """An empty database that knows how it was named, for the calls that take a name."""

    def __init__(self, address: str) -> None:
        super().__init__(address, timeout=10)
        self.address = address


def dataset(n: int = 3, name: str = "physics") -> Dataset:
    cases = (Case(f"What is {i}?", id=f"q{i}", answers=(str(i),), documents=(f"{i}.txt",)) for i in range(n))
    return Dataset(tuple(cases), name=name, path=f"{name}.json")


def run_of(questions: Dataset, name: str = "bm25", **fields: Any) -> Run:
    return Run(new_id(), name, questions.fingerprint, questions.name, len(questions), **fields)


def answers(questions: Dataset, repeat: int = 1, text: str = "an answer") -> list[Response]:
    found = (Document("passage", {"name": "0.txt"}),)
    return [Response(text, found, attempt=attempt) for _ in questions for attempt in range(1, repeat + 1)]


def scoring(
    questions: Dataset,
    values: Mapping[str, Sequence[Any]],
    *,
    metric: str = "AnswerLength",
    table: str = "answer_length",
    parameters: str = "",
    kinds: Mapping[str, type] | None = None,
    repeat: int = 1,
    **fields: Any,
) -> Scoring:
    """A scoring of these columns; NULL without an error gets a reason."""
    n = len(questions) * repeat
    errors = fields.pop("errors", [None] * n)
    missing: list[Any] = [
        {name: "no reference" for name, column in values.items() if column[i] is None and not errors[i]} or None
        for i in range(n)
    ]
    made = Scoring(
        metric=metric,
        table=table,
        label=f"{metric}({parameters})" if parameters else "",
        signature=f"{metric}({parameters})",
        code_hash="0" * 16,
        measures=tuple(Measure((kinds or {}).get(name, float), f"the {name}", name=name) for name in values),
        case_ids=[case.id for case in questions for _ in range(repeat)],
        attempts=[attempt for _ in questions for attempt in range(1, repeat + 1)],
        values={name: list(column) for name, column in values.items()},
        errors=list(errors),
        missing=missing,
        **fields,
    )
    return with_summaries(made)


def with_summaries(made: Scoring) -> Scoring:
    from dataclasses import replace

    return replace(made, summaries=core.summarise(made))


def saved(
    store: Store, *scorings: Scoring, name: str = "bm25", questions: Dataset | None = None, repeat: int = 1
) -> str:
    """Store a run of three questions or of those given, and return its id."""
    questions = questions or dataset()
    run = run_of(questions, name)
    store.save_run(run, questions, answers(questions, repeat), scorings)
    return run.run_id


def relations(store: Store) -> set[str]:
    """The names of all tables and views."""
    listed = store.query("SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()")
    return set(listed["table_name"])
