"""One number per question, as the store gives it."""

from __future__ import annotations

import numpy as np
import pytest

from chatbench.errors import RunNotFoundError
from chatbench.store import Store
from tests.store import examples

QUESTIONS = examples.dataset(3)


def test_attempts_are_averaged_and_sorted_by_question(store: Store) -> None:
    given = {"share": [0.0, 1.0, None, 0.25, None, None], "correct": [True, False, True, True, None, False]}
    kinds = {"correct": bool}
    scoring = examples.scoring(QUESTIONS, given, kinds=kinds, repeat=2)
    run_id = examples.saved(store, scoring, questions=QUESTIONS, repeat=2)
    share, correct = store.question_means(run_id)
    assert (share.name, share.attempts, share.n_scored, share.is_binary) == ("answer_length_share", 2, 3, False)
    assert share.case_ids == ["q0", "q1", "q2"]
    np.testing.assert_array_equal(share.means, [0.5, 0.25, np.nan])
    assert (correct.measure.type, correct.is_binary, correct.n_scored) == (bool, False, 5)
    np.testing.assert_array_equal(correct.means, [0.5, 1.0, 0.0])


def test_texts_and_numbers_of_the_run_have_no_question_means(store: Store) -> None:
    texts = examples.scoring(QUESTIONS, {"language": ["en", None, "de"]}, kinds={"language": str})
    run_id = examples.saved(store, texts)
    assert store.question_means(run_id) == []
    assert store.question_means("no such run") == []


def test_scorings_with_other_parameters_are_kept_apart(store: Store) -> None:
    three = examples.scoring(QUESTIONS, {"hit": [True, False, None]}, kinds={"hit": bool}, parameters="k=3")
    five = examples.scoring(QUESTIONS, {"hit": [True, True, True]}, kinds={"hit": bool}, parameters="k=5")
    first, second = store.question_means(examples.saved(store, three, five))
    assert [m.key for m in (first, second)] == ["AnswerLength(k=3)", "AnswerLength(k=5)"]
    assert first.is_binary
    assert (first.n_scored, second.n_scored) == (2, 3)


def test_question_sets_come_once_with_the_means_of_all_runs(store: Store) -> None:
    columns = {"share": [0.0, 1.0, None]}
    ids = [examples.saved(store, examples.scoring(QUESTIONS, columns), name=name) for name in ("a", "b")]
    datasets, means = store.load_means(store.find_runs(["b", ids[0]]))
    assert [(d.name, d.cases) for d in datasets.values()] == [("physics", QUESTIONS.cases)]
    assert list(means) == [ids[1], ids[0]]
    assert [m.name for m in means[ids[0]]] == ["answer_length_share"]


@pytest.mark.parametrize("left", [0, 1], ids=["and its questions", "and not its questions"])
def test_a_run_that_is_deleted_after_it_was_found(store: Store, left: int) -> None:
    names = ["gone", "stays"][: 1 + left]
    for name in names:
        examples.saved(store, examples.scoring(QUESTIONS, {"share": [0.0, 1.0, 0.5]}), name=name)
    found = store.find_runs(names)
    store.delete_run(found[0].run_id)
    with pytest.raises(RunNotFoundError, match=rf"no run 'gone' \({found[0].run_id}\)"):
        store.load_means(found)
