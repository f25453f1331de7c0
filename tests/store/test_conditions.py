"""Questions picked by a condition in SQL: it is one expression, whatever it is written like."""

from __future__ import annotations

import pytest

from chatbench.errors import QueryError
from chatbench.store import Store
from tests.store import examples

QUESTIONS = examples.dataset(3)


@pytest.fixture
def filled(store: Store) -> Store:
    """Two question sets, of which one is asked."""
    examples.saved(store, questions=QUESTIONS)
    examples.saved(store, questions=examples.dataset(5, "others"))
    return store


def test_several_conditions_at_once(filled: Store) -> None:
    conditions = {
        "first": "case_id = 'q0'",
        "later": "position > 0 -- not (the first)",
        "either": "(position = 0) OR (position = 2)",
        "text": "question LIKE '%)%' OR question NOT LIKE '%(%'",
        "comment": "/* ) */ true",
        "inner": "case_id IN (SELECT case_id FROM responses)",
        "none": "false",
    }
    found = filled.select_cases(QUESTIONS.fingerprint, conditions)
    everything = {"q0", "q1", "q2"}
    assert found == {
        "first": {"q0"},
        "later": {"q1", "q2"},
        "either": {"q0", "q2"},
        "text": everything,
        "comment": everything,
        "inner": everything,
        "none": set(),
    }
    assert filled.select_cases(QUESTIONS.fingerprint, {}) == {}


@pytest.mark.parametrize(
    "condition",
    [
        "true) or (true",
        "true) OR (dataset_id <> ''",
        "'a' = 'b' /* */ ) or ( true",
        "true ORDER BY 1",
        "true UNION SELECT 'q9'",
        "true; SELECT 'q9'",
        "true) --",
        "(true",
        "true /*",
        "'open",
        "position = ?",
        "no_such_column = 1",
        " ",
    ],
)
def test_what_is_no_condition(filled: Store, condition: str) -> None:
    with pytest.raises(QueryError, match="ondition"):
        filled.select_cases(QUESTIONS.fingerprint, {"good": "true", "bad": condition})
