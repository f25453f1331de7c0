"""Current and primary scorings: what a later scoring supersedes, and what is shown of several."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pandas as pd
import pytest

from chatbench.store import Store
from tests.store import examples
from tests.store.examples import saved

QUESTIONS = examples.dataset(3)


def test_default_parameters_are_primary(store: Store) -> None:
    k3 = examples.scoring(QUESTIONS, {"recall": [0.3] * 3}, metric="Retrieval", table="retrieval", parameters="k=3")
    k5 = examples.scoring(QUESTIONS, {"recall": [0.5] * 3}, metric="Retrieval", table="retrieval", parameters="k=5")
    default = examples.scoring(QUESTIONS, {"recall": [1.0] * 3}, metric="Retrieval", table="retrieval")
    run_id = saved(store, k3, k5)
    shown = "SELECT DISTINCT label, recall FROM retrieval"
    assert store.query(shown).to_dict("records") == [{"label": "Retrieval(k=3)", "recall": 0.3}]
    store.add_scorings(run_id, [default])
    assert store.query(shown).to_dict("records") == [{"label": "", "recall": 1.0}]
    assert store.fetch()["retrieval_recall"].tolist() == [1.0]
    assert [s.label for s in store.load(run_id).scorings] == ["Retrieval(k=3)", "Retrieval(k=5)", ""]
    assert store.query("SELECT count(*) AS n FROM scorings WHERE is_primary")["n"][0] == 1


def test_rescoring_supersedes(store: Store) -> None:
    old = examples.scoring(QUESTIONS, {"words": [1, 1, 1]}, kinds={"words": int})
    new = examples.scoring(QUESTIONS, {"words": [2, None, 2]}, kinds={"words": int})
    run_id = saved(store, old)
    store.add_scorings(run_id, [new])
    assert store.load(run_id).scorings == [new]
    assert store.query("SELECT words FROM answer_length ORDER BY case_id")["words"].tolist() == [2, pd.NA, 2]
    kept = store.query("SELECT is_current, is_primary FROM scorings ORDER BY created_at")
    assert kept.to_dict("records") == [
        {"is_current": False, "is_primary": False},
        {"is_current": True, "is_primary": True},
    ]
    assert store.query('SELECT count(*) AS n FROM "_answer_length"')["n"][0] == 6


def test_later_of_two_in_one_call(store: Store) -> None:
    one, two = (examples.scoring(QUESTIONS, {"words": [value] * 3}) for value in (1.0, 2.0))
    run_id = saved(store, one, two)
    assert store.load(run_id).scorings == [two]


def test_a_new_default_supersedes(store: Store) -> None:
    """The label leaves out defaults, so that one label gets another signature with a changed or an added parameter."""
    given = examples.scoring(QUESTIONS, {"recall": [0.0] * 3}, metric="Retrieval", table="retrieval")
    signatures = ["Retrieval(k=10)", "Retrieval(k=5)", 'Retrieval(k=5,cut="no")']
    versions = [
        examples.with_summaries(replace(given, signature=signature, values={"recall": [value] * 3}))
        for value, signature in enumerate(signatures, 1)
    ]
    fixed = replace(versions[1], label="Retrieval(k=5)")
    run_id = saved(store, versions[0], fixed)
    store.add_scorings(run_id, [versions[1]])  # k=5 is the default by now
    assert store.load(run_id).scorings == [versions[1]]
    store.add_scorings(run_id, [versions[2]])
    assert store.load(run_id).scorings == [versions[2]]
    assert store.fetch()["retrieval_recall"].tolist() == [3.0]
    assert store.query("SELECT DISTINCT recall FROM retrieval")["recall"].tolist() == [3.0]
    kept = store.query("SELECT signature, is_current FROM scorings ORDER BY created_at, scoring_id")
    assert kept["is_current"].tolist() == [False, False, False, True]
    assert set(kept["signature"]) == set(signatures)


def test_later_of_two_labels_in_one_call(store: Store) -> None:
    one = examples.scoring(QUESTIONS, {"words": [1.0] * 3})
    two = examples.with_summaries(replace(one, signature="AnswerLength(limit=5)", values={"words": [2.0] * 3}))
    run_id = saved(store, one, two)
    assert store.load(run_id).scorings == [two]
    store.add_scorings(run_id, [two, one])
    assert store.load(run_id).scorings == [one]


def test_a_metric_that_moved_to_another_table_supersedes(store: Store) -> None:
    old = examples.scoring(QUESTIONS, {"words": [1.0] * 3}, metric="Length", table="length_of")
    new = examples.with_summaries(replace(old, table="answer_length", signature="Length(unit=1)"))
    run_id = saved(store, old)
    store.add_scorings(run_id, [new])
    assert store.load(run_id).scorings == [new]


def test_a_column_of_several_versions_is_told(store: Store) -> None:
    old = examples.scoring(QUESTIONS, {"words": [1.0] * 3})
    same = examples.scoring(QUESTIONS, {"share": [1.0] * 3}, metric="Share", table="share")
    other_k = examples.scoring(QUESTIONS, {"share": [1.0] * 3}, metric="Share", table="share", parameters="k=3")
    first = saved(store, old, same)
    saved(store, old, replace(other_k, code_hash="1" * 16))
    with pytest.warns(UserWarning, match=r": share \(1 of 2 runs\)"):
        store.fetch()  # other code in one table, other parameters in the other
    edited = replace(old, code_hash="1" * 16, created_at=datetime.now(UTC))
    saved(store, edited, same)
    with pytest.warns(
        UserWarning, match=r"older code, other defaults or other parameters.*: answer_length \(\d of 3 runs\).* rescore"
    ) as told:
        store.fetch()
    assert len(told) == 1
    other_default = replace(edited, signature="AnswerLength(limit=5)", created_at=datetime.now(UTC))
    store.add_scorings(first, [other_default])
    with pytest.warns(UserWarning, match=r"answer_length \(2 of 3 runs\)"):
        store.fetch()
    for run in store.runs():
        store.add_scorings(run.run_id, [other_default, same])
    store.fetch()
