"""Closed-form intervals against scipy.stats, an independent implementation, and recorded values of inspect_ai."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from chatbench.stats.intervals import paired_shares_interval, student_interval, wilson_interval


@pytest.mark.parametrize(("k", "n"), [(0, 2), (7, 10), (10, 10), (1, 3), (50, 64252), (64252, 64252)])
def test_wilson_equals_scipy(k: int, n: int) -> None:
    expected = stats.binomtest(k, n).proportion_ci(method="wilson")
    assert wilson_interval(k, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_equals_inspect_ai() -> None:
    """Figures that inspect_ai 0.3.285 gave for 7 of 10 and 10 of 10."""
    assert wilson_interval(7, 10) == pytest.approx((0.397, 0.892), abs=5e-4)
    assert wilson_interval(10, 10) == pytest.approx((0.722, 1.0), abs=5e-4)


@pytest.mark.parametrize("values", [[0.0, 1.0], [0.2, 0.2, 0.2], [0.1, 0.5, 0.25, 1.0, 0.7], [1e9, 1e9 + 1, 1e9 + 2]])
def test_student_equals_scipy(values: list[float]) -> None:
    mean, error = sum(values) / len(values), stats.sem(values)
    expected = (mean, mean) if error == 0 else stats.t.interval(0.95, len(values) - 1, loc=mean, scale=error)
    assert student_interval(values) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("freedom", [*range(1, 41), 99, 100, 500, 999, 1000, 1001, 5000, 64251])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_quantiles_equal_scipy(freedom: int, confidence: float) -> None:
    values = [0.0] * freedom + [1.0]
    wanted = stats.t.ppf(0.5 + confidence / 2, freedom) * stats.sem(values)
    interval = student_interval(values, confidence)
    assert interval is not None
    assert (interval[1] - interval[0]) / 2 == pytest.approx(wanted, rel=1e-11)


def test_one_value_has_no_interval() -> None:
    assert student_interval([0.5]) is None
    assert wilson_interval(1, 1) is None
    assert paired_shares_interval(1, 0, 1) is None


def test_paired_shares_equal_contingencytables() -> None:
    """What the R package contingencytables 3.0 expects of its Bonett-Price interval: complete response before and after a therapy."""
    assert paired_shares_interval(6, 16, 161) == pytest.approx((-0.1195, -0.0032), abs=5e-5)


@pytest.mark.parametrize(("higher", "lower", "n"), [(0, 0, 20), (3, 1, 20), (20, 0, 20), (7, 30, 500)])
def test_paired_shares_are_the_normal_interval_with_two_questions_more(higher: int, lower: int, n: int) -> None:
    values = np.repeat([1.0, -1.0, 0.0], [higher + 1, lower + 1, n - higher - lower])
    expected = stats.norm.interval(0.9, loc=values.mean(), scale=values.std() / np.sqrt(n + 2))
    found = paired_shares_interval(higher, lower, n, 0.9)
    assert found == pytest.approx(tuple(np.clip(expected, -1, 1)), rel=1e-12)
