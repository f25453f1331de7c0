"""Whatever warns points at the line that the user wrote."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chatbench
from chatbench.store import Store
from tests import chatlas_files
from tests.store import examples


def twice(store: Store) -> str:
    """Store two runs of one name, and one of another; return the database."""
    questions = examples.dataset(40)
    for name, values in (("twice", [0, 1] * 20), ("twice", [1, 0] * 20), ("other", [0, 0, 1, 1] * 10)):
        examples.saved(store, examples.scoring(questions, {"words": values}), name=name, questions=questions)
    return store.name


NAMED: dict[str, Callable[[str, Path], Any]] = {
    "compare_runs": lambda db, folder: chatbench.compare_runs("twice", "other", db_name=db),
    "power": lambda db, folder: chatbench.power("twice", "answer_length_words", db_name=db),
    "slices": lambda db, folder: chatbench.slices("twice", {"all": "true"}, db_name=db),
    "load_run": lambda db, folder: chatbench.load_run("twice", db),
    "rescore": lambda db, folder: chatbench.rescore("twice", "LexicalMetrics", db),
    "delete_run": lambda db, folder: chatbench.delete_run("twice", db),
    "export_run": lambda db, folder: chatbench.export_run("twice", folder / "out", db_name=db),
    "find_run": lambda db, folder: Store(db).find_run("twice"),
}


@pytest.mark.parametrize("name", NAMED)
def test_of_two_runs_of_one_name(name: str, file_store: Store, tmp_path: Path) -> None:
    db = twice(file_store)
    with pytest.warns(UserWarning, match="2 runs are named 'twice'") as caught:
        NAMED[name](db, tmp_path)
    assert {w.filename for w in caught} == {__file__}


def test_of_older_code_and_of_scores_that_do_not_fit(file_store: Store) -> None:
    questions = examples.dataset()
    made = examples.scoring(questions, {"words": [1, 2, 3]})
    examples.saved(file_store, made)
    examples.saved(file_store, replace(made, code_hash="1" * 16))
    with pytest.warns(UserWarning, match="rest on older code") as caught:
        chatbench.fetch_metrics_results(file_store.name)
    other = examples.scoring(questions, {"words": ["a", "b", "c"]}, kinds={"words": str})
    run = examples.run_of(questions)
    with pytest.warns(UserWarning, match="were not stored") as refused:
        file_store.save_run(run, questions, examples.answers(questions), [other])
    assert {w.filename for w in [*caught, *refused]} == {__file__}


def test_of_an_import(tmp_path: Path) -> None:
    old = chatlas_files.write(tmp_path / "old.db")
    with pytest.warns(UserWarning, match="holds no scores") as empty:
        chatbench.import_results(old, "new.duckdb")
    chatlas_files.write(old, [chatlas_files.row(chatlas_files.LEXICAL)])
    chatbench.import_results(old, "new.duckdb")
    with pytest.warns(UserWarning, match="imported before") as again:
        chatbench.import_results(old, "new.duckdb")
    assert {w.filename for w in [*empty, *again]} == {__file__}


def test_it_is_told_once_per_line_of_the_user(file_store: Store) -> None:
    twice(file_store)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            file_store.find_run("twice")
        file_store.find_run("twice")
    assert len(caught) == 2
