"""Scores and comparisons in groups of questions. Means and counts are by hand and by pandas."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from chatbench import compare_runs, load_run, slices
from chatbench.core.case import Case
from chatbench.core.dataset import Dataset
from chatbench.errors import InputError, QueryError, UnknownMetricError
from chatbench.store import Store
from tests.store import examples

N = 60
LEVELS = ["easy" if i < 30 else "hard" if i < 52 else "odd" for i in range(N)]
SET = Dataset(
    tuple(
        Case(
            f"What is {i}?",
            f"q{i:02}",
            tags=(LEVELS[i], "even") if i % 2 == 0 else (LEVELS[i],),
            metadata={"language": "en" if i % 3 else "de"},
        )
        for i in range(N)
    ),
    name="numbers",
)
HIT = [i % 5 != 0 if LEVELS[i] == "easy" else i % 3 == 0 for i in range(N)]
F1: list[Any] = [None if i in (0, 31) else i / N for i in range(N)]


@pytest.fixture
def numbers(store: Store) -> Store:
    """The database that is used last, with a run."""
    put(store, "old", HIT, F1)
    return store


def put(store: Store, name: str, hit: list[Any], f1: list[Any], lower: bool = False) -> None:
    made = examples.scoring(
        SET,
        {"hit": hit, "f1": f1},
        kinds={"hit": bool},
        metric="Own",
        table="own",
        errors=["ValueError: no" if i == 31 and f1[31] is None else None for i in range(N)]
        if None not in hit
        else None,
    )
    measures = tuple(replace(m, better="lower" if lower else "higher") for m in made.measures)
    examples.saved(store, examples.with_summaries(replace(made, measures=measures)), name=name, questions=SET)


def test_means_intervals_and_counts_by_tag_the_worst_first(numbers: Store) -> None:
    frame = slices("old", "tag", "own_hit").frame
    assert frame["name"].unique().tolist() == ["own_hit"]
    expected = {}
    for group in ("easy", "hard", "odd", "even"):
        chosen = [h for h, case in zip(HIT, SET, strict=True) if group in case.tags]
        low, high = proportion_confint(sum(chosen), len(chosen), method="wilson")
        expected[group] = (np.mean(chosen), low, high, len(chosen))
    assert frame["group"].tolist() == sorted(expected, key=lambda g: expected[g][0])
    for record in frame.to_dict("records"):
        found = (record["mean"], record["low"], record["high"], record["n_scored"])
        assert found == pytest.approx(expected[record["group"]])
    assert frame.set_index("group")["small"].to_dict() == {"easy": False, "hard": False, "odd": True, "even": False}


def test_errors_and_missing_are_counted_in_their_group(numbers: Store) -> None:
    frame = slices("old", "tag", "own_f1").frame.set_index("group")
    counts = frame[["n_questions", "n_scored", "n_errors", "n_missing"]]
    assert counts.loc["easy"].tolist() == [30, 29, 0, 1]
    assert counts.loc["hard"].tolist() == [22, 21, 1, 0]
    assert frame.loc["easy", "mean"] == pytest.approx(np.mean([v for v in F1[:30] if v is not None]))


def test_the_stored_run_in_hand_gives_the_same(numbers: Store) -> None:
    whole = load_run("old").scores.by("tag")
    assert whole.frame.equals(slices("old", "tags").frame)
    with pytest.raises(InputError, match="is for a stored run"):
        load_run("old").scores.by({"some": "true"})


def test_lower_is_better_turns_the_order(numbers: Store) -> None:
    put(numbers, "seconds", HIT, [i / N for i in range(N)], lower=True)
    assert slices("seconds", "tag", "own_f1").frame["group"].tolist()[0] == "odd"
    assert slices("old", "tag", "own_f1").frame["group"].tolist()[0] == "easy"


def test_by_language_document_and_conditions_in_sql(numbers: Store) -> None:
    frame = slices("old", "language", "own_hit").frame.set_index("group")
    assert frame["n_questions"].to_dict() == {"de": 20, "en": 40}
    by = {"short": "length(question) <= 10", "long": "length(question) > 10", "none": "false"}
    frame = slices("old", by, "own_hit").frame.set_index("group")
    assert frame["n_questions"].to_dict() == {"short": 10, "long": 50}
    assert "No question in: none." in repr(slices("old", by, "own_hit"))
    for wrong in ({}, {1: "true"}):
        with pytest.raises(InputError, match="Groups by conditions are names with SQL"):
            slices("old", wrong)  # type: ignore[arg-type]
    assert ", where case_id < 'q10', by tag" in repr(slices("old", "tag", where="case_id < 'q10'"))
    frame = slices("old", "tag", "own_hit", where="case_id < 'q10'").frame
    assert dict(zip(frame["group"], frame["n_questions"], strict=True)) == {"easy": 10, "even": 5}
    with pytest.raises(InputError, match="No question of 'old' is left where false"):
        slices("old", "tag", where="false")
    with pytest.raises(QueryError, match="on cases does not work"):
        slices("old", {"x": "no_such_column = 1"})
    with pytest.raises(
        InputError, match=r"No question has 'document' to group by. There are: tag, is_answerable, language"
    ):
        slices("old", "document")
    with pytest.raises(UnknownMetricError, match=r"No measure 'own_f' here. Did you mean 'own_f1'\?"):
        slices("old", "tag", "own_f")


def test_a_comparison_by_tag(numbers: Store) -> None:
    new = [True if level == "hard" else h for h, level in zip(HIT, LEVELS, strict=True)]
    put(numbers, "new", new, F1)
    found = compare_runs("old", "new")
    frame = found.by("tag", "own_hit").frame
    assert frame["group"].tolist() == ["easy", "odd", "even", "hard"]  # no gain first
    by_group = frame.set_index("group")
    won = sum(not h for h, level in zip(HIT, LEVELS, strict=True) if level == "hard")
    assert by_group.loc["hard", "difference"] == pytest.approx(won / 22)
    assert by_group.loc["hard", "p"] == pytest.approx(binomtest(won, won).pvalue)
    assert by_group.loc["hard", "verdict"] == "better"
    np.testing.assert_allclose(frame["p_adjusted"].tolist(), multipletests(frame["p"].tolist(), method="holm")[1])
    assert by_group["small"].to_dict() == {"easy": False, "odd": True, "even": False, "hard": False}
    assert found.by({"first": "case_id < 'q03'"}, small=2).frame["small"].tolist() == [False, False]
    assert len(found.by("tag").frame) == 8
    assert "new against old (questions as units), by tag" in repr(found.by("tag"))
    assert "2 of 60 questions left out of 1 measure" in repr(found.by("tag"))
    assert by_group.loc["easy", "n_left_out"] == 0


@pytest.mark.filterwarnings("ignore:.*Only 2 clusters of questions")
def test_clusters_stay_together_within_groups(numbers: Store) -> None:
    put(numbers, "new", [not h for h in HIT], F1)
    frame = compare_runs("old", "new", cluster="language").by("tag", "own_hit").frame
    assert (frame["p"] >= 0.5).all()  # two clusters have four ways to flip: p is a half at least


def test_shown_as_text_html_and_plots(numbers: Store) -> None:
    put(numbers, "new", HIT, F1)
    for found in (slices("old", "tag"), compare_runs("old", "new").by("tag")):
        assert "odd *" in repr(found)
        assert "fewer than 10 questions" in repr(found)
        assert "<td" in found._repr_html_()
        assert found.plot("own_f1")._repr_png_()[:4] == b"\x89PNG"
        with pytest.raises(UnknownMetricError, match="No measure 'x' among these groups. There are: own_hit, own_f1"):
            found.plot("x")


def test_runs_named_like_columns_take_no_column_away(numbers: Store) -> None:
    for name in ("p", "measure"):
        put(numbers, name, HIT, F1)
    columns, rows, *_ = compare_runs("p", "measure").by("tag", "own_hit").table()
    assert columns.count("p") == columns.count("measure") == 2
    assert {len(row) for row in rows} == {len(columns)} == {10}
