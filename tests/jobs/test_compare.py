"""Two runs or more, question by question. Means and counts are by hand, p values by scipy and statsmodels."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, bootstrap, permutation_test
from statsmodels.stats.multitest import multipletests

from chatbench import compare_runs
from chatbench.core.case import Case
from chatbench.core.dataset import Dataset
from chatbench.core.measure import Measure
from chatbench.errors import InputError, QueryError, RunNotFoundError, UnknownMetricError
from chatbench.results.comparison import Comparison
from chatbench.store import Store
from tests.store import examples

Columns = Mapping[str, Sequence[Any]]


def questions(n: int, **fields: Any) -> Dataset:
    return Dataset(tuple(Case(f"What is {i}?", f"q{i:03}", (str(i),), **fields) for i in range(n)), name="numbers")


def put(
    store: Store,
    name: str,
    columns: Columns,
    on: Dataset | None = None,
    better: Mapping[str, str | None] | None = None,
    **fields: Any,
) -> str:
    """Store a run with these columns; a column of booleans is a yes/no measure."""
    repeat = fields.get("repeat", 1)
    on = on or questions(len(next(iter(columns.values()))) // repeat)
    kinds = {key: bool for key, column in columns.items() if any(isinstance(v, bool) for v in column)}
    made = examples.scoring(on, columns, kinds=kinds, **{"metric": "Own", "table": "own", **fields})
    directed = tuple(replace(m, better=(better or {}).get(m.name, "higher")) for m in made.measures)
    return examples.saved(store, replace(made, measures=directed), name=name, questions=on, repeat=repeat)


def compared(store: Store, *runs: Any, **options: Any) -> Comparison:
    """Compare runs of the database that was used last, which is the store's."""
    return compare_runs(list(runs), **options)


def row(comparison: Comparison, name: str, run: str | None = None) -> dict[str, Any]:
    frame = comparison.frame
    found = frame[(frame["name"] == name) & (frame["run"] == (run or frame["run"].iloc[0]))]
    assert len(found) == 1
    record: dict[str, Any] = found.iloc[0].to_dict()
    return record


def test_two_runs(store: Store) -> None:
    rng = np.random.default_rng(5)
    n = 60
    old, new = rng.normal(0.4, 0.1, n), rng.normal(0.5, 0.1, n)
    hit_old, hit_new = rng.random(n) < 0.5, rng.random(n) < 0.8
    put(store, "old", {"f1": old.tolist(), "hit": hit_old.tolist()})
    put(store, "new", {"f1": new.tolist(), "hit": hit_new.tolist()})
    found = compared(store, "old", "new")
    f1, hit = row(found, "own_f1"), row(found, "own_hit")
    assert (f1["mean_a"], f1["mean_b"]) == pytest.approx((old.mean(), new.mean()), abs=1e-12)
    assert f1["difference"] == pytest.approx((new - old).mean(), abs=1e-12)
    assert f1["low"] < f1["difference"] < f1["high"]
    assert f1["effect"] == pytest.approx((new - old).mean() / (new - old).std(ddof=1))
    assert (f1["wins"], f1["losses"], f1["ties"]) == ((new > old).sum(), (new < old).sum(), 0)
    assert (f1["n"], f1["n_left_out"], f1["verdict"]) == (n, 0, "better")
    won, lost = int((hit_new & ~hit_old).sum()), int((hit_old & ~hit_new).sum())
    assert (hit["wins"], hit["losses"], hit["ties"]) == (won, lost, n - won - lost)
    assert hit["p"] == pytest.approx(binomtest(won, won + lost).pvalue)
    assert hit["test"] == "McNemar exact"
    adjusted = multipletests([f1["p"], hit["p"]], method="holm")[1]
    assert [f1["p_adjusted"], hit["p_adjusted"]] == pytest.approx(adjusted)


def test_few_pairs_take_the_exact_test_and_a_warning(store: Store) -> None:
    old, new = [0.1, 0.4, 0.2, 0.5, 0.3, 0.9, 0.0], [0.3, 0.5, 0.6, 0.5, 0.2, 1.0, 0.4]
    put(store, "old", {"f1": old})
    put(store, "new", {"f1": new})
    with pytest.warns(UserWarning, match="new against old: Only 7 questions scored in both runs: nothing but"):
        found = compared(store, "old", "new")
    differences = np.subtract(new, old)
    oracle = permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
    )
    assert row(found, "own_f1")["p"] == pytest.approx(oracle.pvalue)


def test_flipped_questions_are_named(store: Store) -> None:
    n = 24
    old = [i % 2 == 0 for i in range(n)]
    new = [not v if i in (3, 4) else v for i, v in enumerate(old)]
    put(store, "old", {"hit": old, "miss": old, "f1": [0.5] * n}, better={"miss": "lower"})
    put(store, "new", {"hit": new, "miss": new, "f1": [0.4] * n}, better={"miss": "lower"})
    flipped = compared(store, "old", "new").flipped
    assert flipped[["name", "case_id", "change"]].values.tolist() == [
        ["own_hit", "q004", "lost"],
        ["own_hit", "q003", "won"],
        ["own_miss", "q003", "lost"],
        ["own_miss", "q004", "won"],
    ]
    assert flipped["question"].tolist()[0] == "What is 4?"
    by_question = compared(store, "old", "new").questions("own_hit")
    assert by_question["case_id"].tolist()[0] == "q004"
    assert by_question["case_id"].tolist()[-1] == "q003"
    assert compared(store, "old", "new").questions("own_miss")["case_id"].tolist()[0] == "q003"


def test_lower_may_be_better_and_no_direction_is_only_different(store: Store) -> None:
    n = 30
    columns = ("seconds", "words", "score")
    better = {"seconds": "lower", "words": None}
    put(store, "old", {key: [1.0 + i / 100 for i in range(n)] for key in columns}, better=better)
    put(store, "new", {key: [2.0 + i / 70 for i in range(n)] for key in columns}, better=better)
    found = compared(store, "old", "new")
    verdicts = dict(zip(found.frame["name"], found.frame["verdict"], strict=True))
    assert verdicts == {"own_seconds": "worse", "own_words": "different", "own_score": "better"}
    assert row(found, "own_seconds")["losses"] == n
    (sentence,) = found.worse(["own_seconds", "own_words", "own_score"])
    assert sentence.startswith("own_seconds is worse in new: +1.")


def test_attempts_are_averaged_within_a_question_first(store: Store) -> None:
    rng = np.random.default_rng(1)
    n = 25
    old, new = rng.random((n, 3)), rng.random((n, 3)) + 0.2
    hit = rng.random((n, 3)) < 0.5
    put(store, "old", {"f1": old.ravel().tolist(), "hit": hit.ravel().tolist()}, repeat=3)
    put(store, "new", {"f1": new.ravel().tolist(), "hit": (~hit).ravel().tolist()}, repeat=3)
    found = compared(store, "old", "new")
    f1 = row(found, "own_f1")
    assert f1["n"] == n
    assert f1["difference"] == pytest.approx((new.mean(axis=1) - old.mean(axis=1)).mean())
    assert row(found, "own_hit")["test"].startswith("sign-flip")  # shares, no longer one yes or no per question
    assert len(found.flipped) == n  # two of three turned into one of three, or the reverse


@pytest.mark.filterwarnings("ignore:.*Only 0 questions scored in both runs for 1 of 2 measures")
def test_only_pairs_scored_in_both_count(store: Store) -> None:
    n = 40
    old = [None if i < 5 else 0.5 for i in range(n)]
    new = [None if 3 <= i < 9 else 0.5 + i / 100 for i in range(n)]
    put(store, "old", {"f1": old, "never": [None] * n})
    put(store, "new", {"f1": new, "never": [0.5] * n})
    found = compared(store, "old", "new")
    f1, never = row(found, "own_f1"), row(found, "own_never")
    assert (f1["n"], f1["n_left_out"]) == (31, 9)
    assert f1["mean_b"] == pytest.approx(np.mean([v for v in new[9:] if v is not None]))
    assert (never["n"], never["n_left_out"], never["verdict"]) == (0, n, "not comparable")
    assert pd.isna(never["mean_a"])
    assert pd.isna(never["p_adjusted"])
    assert f1["p_adjusted"] == f1["p"]  # what cannot be tested is no part of the family
    assert "9 to 40 of 40 questions left out of 2 measures" in str(found)
    assert found.worse(["own_never"]) == ["own_never could not be compared in new: no question was scored in both"]


def test_questions_that_changed_or_are_in_one_run_only_are_listed_and_not_used(store: Store) -> None:
    first = questions(30)
    cases = [replace(c, answers=("other",)) if c.id == "q002" else c for c in first.cases[1:]]
    cases[5] = replace(cases[5], tags=("new tag",), metadata={"level": 1})  # the same question as before
    second = Dataset((*cases, Case("Extra?", "x1")), name="numbers")
    put(store, "old", {"f1": [0.5] * 29 + [0.7]}, on=first)
    put(store, "new", {"f1": [0.5] * 30}, on=second)
    found = compared(store, "old", "new")
    assert row(found, "own_f1")["n"] == 28
    assert found.unpaired[["case_id", "reason"]].values.tolist() == [
        ["q002", "changed: text or gold differs"],
        ["q000", "only in old"],
        ["x1", "only in new"],
    ]
    text = str(found)
    for note in ("1 question not used, because text or gold differs: q002.", "1 question only in old: q000."):
        assert note in text


def test_runs_without_a_common_question(store: Store) -> None:
    put(store, "old", {"f1": [0.5] * 3})
    other = Dataset(tuple(Case(f"Other {i}?", f"q{i:03}") for i in range(3)), name="others")
    put(store, "equal ids", {"f1": [0.5] * 3}, on=other)
    put(store, "no ids", {"f1": [0.5]}, on=Dataset((Case("A?", "a"),), name="others"))
    with pytest.raises(InputError, match=r"share 3 ids, such as 'q000', but text or gold differs in each"):
        compared(store, "old", "equal ids")
    with pytest.raises(InputError, match=r"no question in common: ids are such as q000, q001, q002 and a\."):
        compared(store, "old", "no ids")


@pytest.mark.parametrize(
    ("old", "new", "interval", "p", "verdict"),
    [
        ([0.25], [0.75], False, 1.0, "no difference shown"),  # one question: nothing can be said
        ([0.5] * 30, [0.5] * 30, False, 1.0, "no difference shown"),  # all ties, and a constant measure
        ([0.5] * 30, [0.75] * 30, False, 2 / 10001, "better"),  # constant difference: no spread to resample
        # yes/no has an interval in closed form, whatever the answers
        ([True] * 30, [True] * 30, True, 1.0, "no difference shown"),
        ([False] * 30, [True] * 30, True, 2 * 0.5**30, "better"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*Only 1 question scored in both")
def test_degenerate_measures(
    store: Store, old: list[Any], new: list[Any], interval: bool, p: float, verdict: str
) -> None:
    put(store, "old", {"m": old})
    put(store, "new", {"m": new})
    found = row(compared(store, "old", "new"), "own_m")
    assert pd.notna(found["low"]) == interval
    assert found["p"] == pytest.approx(p) or found["p"] < p < 0.01
    assert found["verdict"] == verdict
    assert found["mean_b"] == np.mean(new)


def test_measures_of_one_run_only(store: Store) -> None:
    n = 25
    put(store, "old", {"f1": [0.5] * n, "gone": [0.5] * n})
    put(store, "new", {"f1": [0.6] * n, "added": [0.5] * n})
    found = compared(store, "old", "new")
    assert found.frame["name"].tolist() == ["own_f1"]
    assert found.not_compared[["name", "reason"]].values.tolist() == [
        ["own_gone", "not measured in new"],
        ["own_added", "not measured in old"],
    ]
    assert found.worse(["own_gone"]) == ["own_gone could not be compared in new: not measured in new"]
    put(store, "other", {"x": [0.5] * n}, metric="Other", table="other")
    with pytest.raises(
        InputError, match=r"none of the chosen measures in common: own_f1 .not measured in other.; own_gone"
    ):
        compared(store, "old", "other")


def test_parameters_keep_scorings_apart(store: Store) -> None:
    n = 25
    put(store, "old", {"hit": [0.5] * n}, parameters="k=3")
    put(store, "new", {"hit": [0.6] * n}, parameters="k=5")
    with pytest.raises(InputError, match=r"own_hit Own\(k=3\) .new has it as Own\(k=5\) only."):
        compared(store, "old", "new")
    three, five = (
        examples.scoring(questions(n), {"hit": [v] * n}, metric="Own", table="own", parameters=p)
        for v, p in ((0.7, "k=3"), (0.9, "k=5"))
    )
    examples.saved(store, three, five, name="both", questions=questions(n))
    found = compared(store, "old", "both")
    assert found.frame[["name", "mean_b"]].values.tolist() == [["own_hit", pytest.approx(0.7)]]
    assert found.not_compared["reason"].tolist() == ["old has it as Own(k=3) only"]


def test_the_plain_name_is_what_the_runs_share(store: Store) -> None:
    """A second scoring of one run with other parameters renames nothing that was compared before."""
    n = 25
    on = questions(n)
    five, default = (
        examples.scoring(on, {"hit": [v] * n}, metric="Own", table="own", parameters=p)
        for v, p in ((0.5, "k=5"), (0.9, ""))
    )
    examples.saved(store, five, name="old", questions=on)
    examples.saved(store, five, default, name="new", questions=on)
    for chosen in (None, "own_hit", "Own", "Own(k=5)"):
        found = compared(store, "old", "new", measures=chosen)
        assert found.frame[["name", "metric"]].values.tolist() == [["own_hit", "Own(k=5)"]]
    assert compared(store, "old", "new").not_compared["name"].tolist() == ["own_hit Own"]
    examples.saved(store, five, default, name="newest", questions=on)
    names = compared(store, "new", "newest").frame["name"].tolist()
    assert sorted(names) == ["own_hit", "own_hit Own(k=5)"]


def test_a_measure_that_changed_its_direction_is_not_compared(store: Store) -> None:
    put(store, "old", {"v": [0.5] * 30, "w": [0.5] * 30}, better={"v": "higher"})
    put(store, "new", {"v": [0.9] * 30, "w": [0.5] * 30}, better={"v": "lower"})
    found = compared(store, "old", "new")
    assert found.not_compared[["name", "reason"]].values.tolist() == [
        ["own_v", "better is higher in old and lower in new: rescore the older run"]
    ]
    assert found.worse(["own_v"])


def test_a_run_that_shares_nothing_does_not_cost_the_others(store: Store) -> None:
    n = 25
    put(store, "old", {"f1": [0.5] * n})
    put(store, "new", {"f1": [0.6] * n})
    put(store, "apart", {"x": [0.5] * n}, metric="Other", table="other")
    found = compared(store, "old", "new", "apart")
    assert found.frame["run"].tolist() == ["new"]
    assert list(found.failed) == ["apart"]
    assert "apart was not compared: old and apart have none of the chosen measures in common" in str(found)
    assert found.worse(["own_f1"])[0].startswith("apart could not be compared: ")


def test_runs_of_one_name_are_told_apart(store: Store) -> None:
    n = 25
    first, second = (put(store, "same", {"hit": [i % 2 == k for i in range(n)]}) for k in (0, 1))
    put(store, "base", {"hit": [False] * n})
    found = compared(store, "base", first, second)
    labels = [f"same ({first})", f"same ({second})"]
    assert found.frame["run"].tolist() == labels
    assert found.frame["run_id"].tolist() == [first, second]
    assert found.flipped["run"].unique().tolist() == labels
    assert found.by({"all": "true"}).frame["run"].tolist() == labels
    assert found.questions("own_hit", second)["b"].sum() == n // 2
    with pytest.raises(InputError, match="was compared in 2 runs; name one by run="):
        found.questions("own_hit", "same")


def test_half_of_the_attempts_is_no_majority(store: Store) -> None:
    yes_no = [[True, True], [True, False], [False, False]] * 8
    put(store, "old", {"hit": [a for pair in yes_no for a in pair]}, repeat=2)
    put(store, "new", {"hit": [a for pair in yes_no[1:] + yes_no[:1] for a in pair]}, repeat=2)
    flipped = compared(store, "old", "new").flipped
    assert flipped[["case_id", "a", "b", "change"]].values.tolist() == [
        [f"q{i:03}", 0.0, 1.0, "won"] for i in range(2, 24, 3)
    ]


def test_other_code_or_defaults_are_said(store: Store) -> None:
    n = 25
    on = questions(n)
    base = examples.scoring(on, {"f1": [0.5] * n}, metric="Own", table="own")
    examples.saved(store, base, name="old", questions=on)
    examples.saved(store, replace(base, code_hash="1" * 16, signature="Own(k=9)"), name="new", questions=on)
    notes = compared(store, "old", "new").notes
    assert [n.split(";")[0] for n in notes] == [
        "Own: the two runs were scored with other defaults",
        "Own: the two runs were scored with another version of the metric's code",
    ]


def test_three_runs_are_corrected_together(store: Store) -> None:
    rng = np.random.default_rng(3)
    n = 50
    base = rng.random(n)
    for name, shift in (("a", 0.0), ("b", 0.05), ("c", 0.1)):
        put(store, name, {"f1": (base + shift + rng.normal(0, 0.15, n)).tolist(), "g": rng.random(n).tolist()})
    found = compared(store, "a", "b", "c", baseline="b")
    assert found.baseline.name == "b"
    assert found.frame["run"].tolist() == ["a", "a", "c", "c"]
    oracle = multipletests(found.frame["p"].tolist(), method="holm")[1]
    np.testing.assert_allclose(found.frame["p_adjusted"].tolist(), oracle)
    one = compared(store, "b", "c").frame
    assert one["p"].tolist() == found.frame["p"].tolist()[2:]  # another run changes no p value, only the correction
    assert "a, c against b" in str(found)
    assert found.scatter("own_f1", "c").axes[0].get_ylabel() == "c"
    for ambiguous in (found.questions, found.scatter):
        with pytest.raises(InputError, match="own_f1 was compared in 2 runs; name one by run=: 'a', 'c'"):
            ambiguous("own_f1")
    with pytest.raises(UnknownMetricError, match="No measure 'own_f1' of run 'd' was compared"):
        found.questions("own_f1", "d")


@pytest.mark.filterwarnings("ignore:.*Only 10 clusters of questions scored in both")
def test_clusters_by_document(store: Store) -> None:
    """Questions of one document that all move together are one piece of evidence, not ten."""
    n, size = 100, 10
    cases = tuple(Case(f"What is {i}?", f"q{i:03}", documents=(f"{i // size}.txt",)) for i in range(n))
    on = Dataset(cases, name="numbers")
    shifts = np.repeat(np.random.default_rng(2).normal(0.05, 0.2, n // size), size)
    put(store, "old", {"f1": [0.5] * n}, on=on)
    put(store, "new", {"f1": (0.5 + shifts + np.random.default_rng(4).normal(0, 0.01, n)).tolist()}, on=on)
    plain, clustered = (
        row(compared(store, "old", "new"), "own_f1"),
        row(compared(store, "old", "new", cluster="document"), "own_f1"),
    )
    assert clustered["n_groups"] == 10
    assert clustered["difference"] == plain["difference"]
    assert clustered["high"] - clustered["low"] > 2 * (plain["high"] - plain["low"])
    assert clustered["p"] > plain["p"]
    with pytest.raises(InputError, match=r"No question has 'chapter' to group by. There are: document"):
        compared(store, "old", "new", cluster="chapter")


def test_a_condition_in_sql_picks_questions(store: Store) -> None:
    n = 40
    put(store, "old", {"f1": [0.0] * n})
    put(store, "new", {"f1": [i / n for i in range(n)]})
    found = compared(store, "old", "new", where="case_id < 'q030' -- the first thirty")
    assert row(found, "own_f1")["mean_b"] == pytest.approx(np.mean([i / n for i in range(30)]))
    assert "30 of 40 common questions, where case_id < 'q030'" in str(found)
    with pytest.raises(QueryError, match=r"The condition 'lenght\(question\) > 3' on cases does not work"):
        compared(store, "old", "new", where="lenght(question) > 3")
    with pytest.raises(InputError, match="have in common is left where question = 'x'"):
        compared(store, "old", "new", where="question = 'x'")
    for attack in ("1 = 1); DROP TABLE runs; SELECT (1", " "):
        with pytest.raises(QueryError):
            compared(store, "old", "new", where=attack)
    assert len(store.runs()) == 2


def test_measures_can_be_chosen(store: Store) -> None:
    n = 25
    for name in ("old", "new"):
        put(store, name, {"f1": [0.5] * n, "g": [0.5] * n})
    assert compared(store, "old", "new", measures="own_g").frame["name"].tolist() == ["own_g"]
    for metric in ("Own", "own"):
        assert compared(store, "old", "new", measures=[metric]).frame["name"].tolist() == ["own_f1", "own_g"]
    for nothing in ([], 5):
        with pytest.raises(InputError, match="names are due, such as"):
            compared(store, "old", "new", measures=nothing)
    with pytest.raises(
        UnknownMetricError, match=r"No measure 'own_f' here. Did you mean 'own_f1'\? There are: own_f1, own_g"
    ):
        compared(store, "old", "new", measures=["own_f"])


def test_which_runs(store: Store) -> None:
    n = 25
    older, newer = (put(store, "same name", {"f1": [v] * n}) for v in (0.25, 0.75))
    put(store, "other", {"f1": [0.5] * n})
    assert row(compared(store, older, newer), "own_f1")["difference"] == 0.5
    with pytest.warns(UserWarning, match="2 runs are named 'same name'; the newest is taken"):
        assert row(compared(store, "other", "same name"), "own_f1")["difference"] == 0.25
    with (
        pytest.warns(UserWarning, match="the newest is taken"),
        pytest.raises(
            InputError, match=f"'same name' is given twice .run {newer}.; runs of one name are told apart by their ids"
        ),
    ):
        compared(store, "same name", "same name")
    with pytest.raises(RunNotFoundError, match=r"There is no run 'othr'. Did you mean 'other'\?"):
        compared(store, "other", "othr")
    for runs in ([older], []):
        with pytest.raises(InputError, match=f"takes two runs or more, and {len(runs)} was given"):
            compared(store, *runs)
    with pytest.raises(InputError, match="alone or in a list, not by a NoneType"):
        compare_runs(None)  # type: ignore[arg-type]
    assert compare_runs(older, newer).baseline.run_id == older
    run = store.find_run(newer)
    assert compare_runs(older, baseline=run).pairs[0].run.run_id == older


@pytest.mark.parametrize(
    "options",
    [{"confidence": 95}, {"confidence": 0.0}, {"resamples": 5}, {"resamples": True}, {"seed": -1}, {"interval": "BCa"}],
)
def test_wrong_options(store: Store, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="is due, such as"):
        compared(store, "a", "b", **options)


def test_numbers_of_the_whole_run_and_texts_are_not_compared(store: Store) -> None:
    n = 25
    on = questions(n)
    made = examples.scoring(
        on, {"f1": [0.5] * n, "language": ["en"] * n}, kinds={"language": str}, metric="Own", table="own"
    )
    of_run = Measure(float, "cost", name="cost", of_run=True)
    made = examples.with_summaries(replace(made, measures=(*made.measures, of_run), run_values={"cost": 3.0}))
    for name in ("old", "new"):
        examples.saved(store, made, name=name, questions=on)
    found = compared(store, "old", "new")
    assert found.frame["name"].tolist() == ["own_f1"]
    assert found.not_compared[["name", "reason"]].values.tolist() == [
        ["own_cost", "only a number of the whole run is known"]
    ]
    with pytest.raises(InputError, match=r"own_cost .only a number of the whole run is known."):
        compared(store, "old", "new", measures="own_cost")


def test_same_seed_same_numbers_and_order_of_questions_is_no_matter(store: Store) -> None:
    rng = np.random.default_rng(8)
    n = 40
    on = questions(n)
    shuffled = Dataset(tuple(on.cases[i] for i in rng.permutation(n)), name="numbers")
    value = {case.id: v for case, v in zip(on, rng.normal(0.1, 1, n), strict=True)}
    put(store, "old", {"f1": [0.0] * n}, on=on)
    put(store, "new", {"f1": [value[c.id] for c in on]}, on=on)
    put(store, "turned", {"f1": [value[c.id] for c in shuffled]}, on=shuffled)
    frames = [compared(store, "old", other).frame.drop(columns=["run", "run_id"]) for other in ("new", "new", "turned")]
    pd.testing.assert_frame_equal(frames[0], frames[1])
    pd.testing.assert_frame_equal(frames[0], frames[2])
    wider = row(compared(store, "old", "new", confidence=0.99), "own_f1")
    assert wider["low"] < frames[0]["low"][0] < frames[0]["high"][0] < wider["high"]


def test_the_bca_interval_of_scipy_on_request(store: Store) -> None:
    rng = np.random.default_rng(6)
    n = 80
    values = rng.exponential(size=n)
    put(store, "old", {"f1": [0.0] * n})
    put(store, "new", {"f1": values.tolist()})
    found = compared(store, "old", "new", interval="bca")
    oracle = bootstrap((values,), np.mean, n_resamples=10_000, method="BCa", rng=np.random.default_rng(0))
    f1 = row(found, "own_f1")
    assert (f1["low"], f1["high"]) == pytest.approx(tuple(oracle.confidence_interval))
    assert "bca intervals" in str(found)


def test_the_classes_of_the_metrics_need_not_be_defined(store: Store) -> None:
    """Direction and type come from the store, so that a colleague's metric can be compared."""
    put(
        store,
        "old",
        {"latency": [1.0 + i / 10 for i in range(30)]},
        better={"latency": "lower"},
        metric="TheirMetric",
        table="theirs",
    )
    put(
        store,
        "new",
        {"latency": [0.5 + i / 10 for i in range(30)]},
        better={"latency": "lower"},
        metric="TheirMetric",
        table="theirs",
    )
    assert row(compared(store, "old", "new"), "theirs_latency")["verdict"] == "better"


def test_shown_as_text_html_and_plots(store: Store) -> None:
    n = 30
    rng = np.random.default_rng(0)
    kinds: dict[str, Any] = {"f1": rng.random(n).tolist(), "hit": (rng.random(n) < 0.5).tolist()}
    put(store, "<b>$old$", kinds)
    put(store, "new", {**kinds, "f1": [v + 0.5 for v in kinds["f1"]]})
    found = compared(store, "<b>$old$", "new")
    assert "30 / 0 / 0" in repr(found)
    assert "&lt;b&gt;" in found._repr_html_()
    assert "<b>" not in found.to_html()
    for figure in (found.plot(), found.scatter("own_f1"), found.scatter("own_hit")):
        assert figure._repr_png_()[:4] == b"\x89PNG"
    labels = [text.get_text() for text in found.scatter("own_f1").axes[0].get_legend().get_texts()]
    assert labels == ["better: 30"]
    assert json.dumps(found.frame["verdict"].tolist()) == '["better", "no difference shown"]'
