"""`power`: where the spread comes from, and the numbers that follow from it.

Oracles: statsmodels' TTestPower for the paired t test, and a sum over scipy's binomial probabilities for McNemar's test.
"""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.power import TTestPower

from chatbench import load_run, power
from chatbench.core.measure import Measure
from chatbench.errors import InputError, RunNotFoundError, UnknownMetricError
from tests.store import examples

QUESTIONS = examples.dataset(40)
F1, OK = "quality_f1", "quality_ok"


@pytest.fixture
def db(store: examples.Place) -> examples.Place:
    return store


def columns(seed: int, n: int = 40) -> dict[str, list[Any]]:
    draw = random.Random(seed)
    return {"f1": [draw.random() for _ in range(n)], "ok": [draw.random() < 0.7 for _ in range(n)]}


def save(db: examples.Place, name: str, values: dict[str, list[Any]], code_hash: str = "0" * 16, **fields: Any) -> str:
    questions = fields.pop("questions", QUESTIONS)
    repeat = fields.get("repeat", 1)
    kinds = {"ok": bool, "words": str, "count": int}
    made = examples.scoring(questions, values, metric="Quality", table="quality", kinds=kinds, **fields)
    ranges = {"f1": {"at_least": 0, "at_most": 1}}
    measures = tuple(replace(m, **ranges.get(m.name, {})) for m in made.measures)
    made = replace(made, measures=measures, code_hash=code_hash)
    return examples.saved(db, made, name=name, questions=questions, repeat=repeat)


def test_one_run_is_taken_as_independent(db: examples.Place) -> None:
    values = columns(1)
    save(db, "a", values)
    found = power("a", F1, db_name=db.address)
    assert found.sd == pytest.approx(math.sqrt(2 * np.var(values["f1"], ddof=1)), rel=1e-12)
    assert "as if the runs were independent" in found.basis
    assert (found.n, found.test, found.discordant) == (40, "paired t test", None)
    share = np.mean(values["ok"])
    found = power("a", OK, db_name=db.address)
    assert found.discordant == pytest.approx(2 * share * (1 - share), rel=1e-12)
    assert found.test == "McNemar's exact test"


def test_against_a_run_the_pairs_count(db: examples.Place) -> None:
    a, b = columns(1), columns(2)
    a["f1"][3] = b["f1"][5] = a["ok"][7] = None
    save(db, "a", a)
    save(db, "b", b)
    found = power("a", F1, against="b", db_name=db.address)
    pairs = [y - x for x, y in zip(a["f1"], b["f1"], strict=True) if x is not None and y is not None]
    assert found.n == 38
    assert found.sd == pytest.approx(np.std(pairs, ddof=1), rel=1e-12)
    assert "from the 38 questions scored in both runs (against 'b')" in repr(found)
    found = power("a", OK, against="b", db_name=db.address)
    assert found.n == 39
    unequal = [x != y for x, y in zip(a["ok"], b["ok"], strict=True) if x is not None]
    assert found.discordant == pytest.approx(np.mean(unequal), rel=1e-12)


def test_other_runs_give_their_median(db: examples.Place) -> None:
    runs = [columns(seed) for seed in range(5)]
    for i, values in enumerate(runs):
        save(db, f"run {i}", values)
    save(db, "stored twice", runs[0])  # says nothing about how runs differ
    save(db, "other parameters", columns(8), parameters="k=3")
    save(db, "other questions", columns(9, 39), questions=examples.dataset(39))
    save(db, "repeated", columns(10, 80), repeat=2)
    differences = [np.subtract(other["f1"], runs[0]["f1"]) for other in runs[1:]]
    found = power("run 0", F1, db_name=db.address)
    assert found.sd**2 == pytest.approx(np.median([np.var(d, ddof=1) for d in differences]), rel=1e-9)
    assert "each of 4 other runs" in found.basis
    found = power("run 0", OK, db_name=db.address)
    unequal = [np.mean(np.not_equal(other["ok"], runs[0]["ok"])) for other in runs[1:]]
    assert found.discordant == pytest.approx(np.median(unequal), rel=1e-12)


def test_repeats_are_averaged_first(db: examples.Place) -> None:
    a, b = columns(1, 120), columns(2, 120)
    save(db, "a", a, repeat=3)
    save(db, "b", b, repeat=3)
    for found in (power("a", OK, db_name=db.address), power("a", OK, against="b", db_name=db.address)):
        means = [np.reshape(run["ok"], (40, 3)).mean(axis=1) for run in (a, b)]
        assert found.sd == pytest.approx(np.std(means[1] - means[0], ddof=1), rel=1e-9)
        assert (found.n, found.test) == (40, "paired t test")


def test_yes_and_no_in_a_column_of_numbers_is_another_measure(db: examples.Place) -> None:
    first, second = columns(1)["ok"], columns(2)["ok"]
    kinds = {"good": float}
    for name, values in (("numbers", [float(x) for x in first]), ("yes and no", second)):
        made = examples.scoring(QUESTIONS, {"good": values}, metric="Marked", table="marked", kinds=kinds)
        examples.saved(db, made, name=name, questions=QUESTIONS)
        kinds = {"good": bool}
    found = power("yes and no", "marked_good", db_name=db.address)
    assert found.discordant == pytest.approx(2 * np.mean(second) * (1 - np.mean(second)), rel=1e-12)
    assert "no other run on these questions was scored alike" in found.basis
    with pytest.raises(InputError, match="is yes/no in 'yes and no' and a number in 'numbers'"):
        power("yes and no", "marked_good", against="numbers", db_name=db.address)


def test_runs_scored_by_other_code_are_left_out_and_counted(db: examples.Place) -> None:
    runs = [columns(seed) for seed in range(4)]
    for i, values in enumerate(runs):
        save(db, f"run {i}", values, code_hash="01"[i > 1] * 16)
    found = power("run 0", F1, db_name=db.address)
    assert found.sd == pytest.approx(np.std(np.subtract(runs[1]["f1"], runs[0]["f1"]), ddof=1), rel=1e-9)
    assert "the one other run on these questions; 2 runs left out, scored by other code" in repr(found)
    save(db, "newest code", runs[0], code_hash="2" * 16)
    found = power("newest code", F1, db_name=db.address)
    assert found.sd == pytest.approx(math.sqrt(2 * np.var(runs[0]["f1"], ddof=1)), rel=1e-12)
    assert "4 runs left out" in found.basis


def test_loaded_runs_are_taken_as_compare_runs_takes_them(db: examples.Place) -> None:
    for name, seed in (("a", 1), ("b", 2)):
        save(db, name, columns(seed))
    a, b = (load_run(name, db_name=db.address) for name in "ab")
    assert repr(power(a, F1, against=b, db_name=db.address)) == repr(power("a", F1, against="b", db_name=db.address))


def test_the_numbers_of_the_t_test_are_those_of_statsmodels(db: examples.Place) -> None:
    save(db, "a", columns(1))
    found = power("a", F1, 0.1, db_name=db.address)
    oracle = TTestPower()
    for _, (difference, n, seen) in found.frame.iterrows():
        expected = oracle.power(difference / found.sd, int(n), 0.05)
        assert seen == pytest.approx(expected, abs=0.002)
    assert found.detectable is not None
    assert oracle.power(found.detectable / found.sd, 40, 0.05) == pytest.approx(0.8, abs=0.002)
    assert found.needed == pytest.approx(oracle.solve_power(0.1 / found.sd, power=0.8, alpha=0.05), abs=1.01)
    strict = power("a", F1, 0.1, power=0.95, level=0.01, db_name=db.address)
    assert strict.needed == pytest.approx(oracle.solve_power(0.1 / found.sd, power=0.95, alpha=0.01), abs=1.01)


def mcnemar(difference: float, discordant: float, n: int) -> float:
    """Sum over the number of discordant pairs and how many of them speak for one side."""
    total = 0.0
    for k in range(1, n + 1):
        one_side = np.arange(k + 1)
        p = np.minimum(1, 2 * binom.cdf(np.minimum(one_side, k - one_side), k, 0.5))
        chance = binom.pmf(one_side, k, (1 + difference / discordant) / 2)
        total += binom.pmf(k, n, discordant) * chance[p <= 0.05].sum()
    return total


def test_the_numbers_of_mcnemars_test_are_those_of_the_sum(db: examples.Place) -> None:
    save(db, "a", columns(1))
    save(db, "b", columns(2))
    found = power("a", OK, 0.2, against="b", db_name=db.address)
    assert found.discordant is not None
    for _, (difference, n, seen) in found.frame.iterrows():
        assert seen == pytest.approx(mcnemar(difference, max(found.discordant, difference), int(n)), abs=1e-9)
    assert found.detectable is not None
    assert mcnemar(found.detectable, max(found.discordant, found.detectable), 40) == pytest.approx(0.8, abs=0.01)
    assert found.needed is not None
    assert mcnemar(0.2, found.discordant, found.needed) >= 0.8


def test_impossible_differences(db: examples.Place) -> None:
    save(db, "a", columns(1))
    for measure in (F1, OK):
        for difference in (0, math.nan, math.inf, 1.5, -1.5, "0.1", True):
            with pytest.raises(InputError, match="difference"):
                power("a", measure, difference, db_name=db.address)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["power", "level"])
@pytest.mark.parametrize("value", [0, 1, -0.1, 1.1, math.nan, None, "half"])
def test_impossible_shares(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"{name} is between 0 and 1"):
        power("a", F1, **{name: value})


def test_what_has_no_power(db: examples.Place) -> None:
    save(db, "a", {**columns(1), "words": ["x"] * 40, "count": [3] * 40})
    with pytest.raises(RunNotFoundError, match="no run 'b'"):
        power("b", F1, db_name=db.address)
    for measure in ("quality_words", "quality_f2"):
        with pytest.raises(UnknownMetricError, match="There are: quality_f1, quality_ok, quality_count"):
            power("a", measure, db_name=db.address)
    with pytest.raises(InputError, match="is 3 on each of 40 questions"):
        power("a", "quality_count", db_name=db.address)
    save(db, "one", {"f1": [0.5] + [None] * 39})
    with pytest.raises(InputError, match="has 1 questions with a score"):
        power("one", F1, db_name=db.address)
    with pytest.raises(InputError, match="has 1 questions with a score"):
        power("a", F1, against="one", db_name=db.address)
    save(db, "none", {"f1": [None] * 40})
    with pytest.raises(InputError, match="has 0 questions with a score"):
        power("none", F1, db_name=db.address)


def test_a_number_of_the_run_has_no_power(db: examples.Place) -> None:
    made = examples.scoring(QUESTIONS, columns(1), metric="Quality", table="quality", kinds={"ok": bool})
    whole = Measure(float, "of the run", name="whole", of_run=True)
    made = replace(made, measures=(*made.measures, whole), run_values={"whole": 0.5})
    examples.saved(db, made, name="a", questions=QUESTIONS)
    with pytest.raises(UnknownMetricError, match=r"'quality_whole'.*There are: quality_f1, quality_ok"):
        power("a", "quality_whole", db_name=db.address)


def test_what_cannot_be_compared(db: examples.Place) -> None:
    run_id = save(db, "a", columns(1))
    save(db, "same scores", columns(1))
    save(db, "elsewhere", columns(1, 39), questions=examples.dataset(39))
    with pytest.raises(InputError, match="differs by 0 on each of 40 questions"):
        power("a", F1, against="same scores", db_name=db.address)
    with pytest.raises(InputError, match="is on other questions"):
        power("a", F1, against="elsewhere", db_name=db.address)
    with pytest.raises(InputError, match="is that run itself"):
        power("a", F1, against=run_id, db_name=db.address)
    save(db, "older code", columns(2), code_hash="1" * 16)
    with pytest.warns(UserWarning, match="rests on different code"):
        power("a", F1, against="older code", db_name=db.address)


def test_the_parameters_can_be_named(db: examples.Place) -> None:
    save(db, "a", columns(1))
    db.add_scorings(
        db.find_run("a").run_id,
        [
            examples.scoring(
                QUESTIONS, columns(2), metric="Quality", table="quality", kinds={"ok": bool}, parameters="k=3"
            )
        ],
    )
    plain, labelled = (power("a", name, db_name=db.address) for name in (F1, f"{F1} Quality(k=3)"))
    assert plain.sd == pytest.approx(math.sqrt(2 * np.var(columns(1)["f1"], ddof=1)))
    assert labelled.sd == pytest.approx(math.sqrt(2 * np.var(columns(2)["f1"], ddof=1)))


def test_how_it_is_shown(db: examples.Place) -> None:
    save(db, "<a>", columns(1))
    found = power("<a>", OK, -0.25, db_name=db.address)
    assert "40 questions show a difference of 0." in repr(found)
    assert "with 80 % power at the 5 % level (McNemar's exact test)" in repr(found)
    assert f"A difference of -0.25 needs {found.needed} questions" in repr(found)
    assert "&lt;a&gt;" in found.to_html()
    assert found.to_html() == found._repr_html_()
    assert "sign flips" not in repr(found)
    assert "compare_runs tests by sign flips" in repr(power("<a>", F1, db_name=db.address))
    assert found.differences() == [0.125, 0.25, 0.5]
    axes = found.plot().axes[0]
    assert len({line.get_linestyle() for line in axes.lines if len(line.get_xdata()) > 10}) == 3  # type: ignore[arg-type]
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert [list(dot.get_xdata()) for dot in dots] == [[40]] * 3  # type: ignore[arg-type]
    assert [dot.get_ydata()[0] for dot in dots] == [found.power_at(40, d) for d in found.differences()]  # type: ignore[index]


def test_no_number_of_questions_below_six_is_enough_at_five_per_cent(db: examples.Place) -> None:
    """2 / 2**5 is above 5 %: five questions that all speak for one run show nothing."""
    scores = [0.50, 0.51, 0.50, 0.51, 0.50]
    save(db, "a", {"f1": scores}, questions=examples.dataset(5))
    found = power("a", F1, 0.5, db_name=db.address)
    assert (found.detectable, found.needed, found.power_at(5, 0.5)) == (None, 6, 0.0)


def test_few_questions_show_nothing(db: examples.Place) -> None:
    save(db, "a", {"f1": [0.0, 1.0], "ok": [True, False]}, questions=examples.dataset(2))
    for measure in (F1, OK):
        found = power("a", measure, db_name=db.address)
        assert found.detectable is None
        assert "2 questions show no difference that is possible" in repr(found)
        found.plot().draw_without_rendering()
    assert json.dumps(found.frame.to_dict("list"))
