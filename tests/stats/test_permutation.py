"""Paired tests against scipy.stats.permutation_test, statsmodels' mcnemar and scipy.stats.binomtest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from chatbench.stats.permutation import mcnemar, sign_flip


@pytest.mark.parametrize(
    ("higher", "lower"), [(0, 0), (1, 0), (8, 1), (5, 5), (6, 5), (0, 40), (300, 251), (20_100, 19_500)]
)
def test_mcnemar_equals_statsmodels_and_scipy(higher: int, lower: int) -> None:
    expected = statsmodels_mcnemar([[3, higher], [lower, 4]], exact=True).pvalue
    assert mcnemar(higher, lower) == pytest.approx(min(1.0, expected), rel=1e-9)
    if higher + lower:
        assert mcnemar(higher, lower) == pytest.approx(stats.binomtest(higher, higher + lower).pvalue, rel=1e-9)


def scipy_p(values: np.ndarray, resamples: float) -> float:
    return stats.permutation_test(
        (values, np.zeros_like(values)),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        rng=np.random.default_rng(1),
    ).pvalue


@pytest.mark.parametrize("n", [2, 3, 5, 12])
def test_all_flips_equal_scipy(n: int) -> None:
    values = np.random.default_rng(n).normal(0.4, 1, size=n)
    assert sign_flip(values[None], 100, 0) == [(pytest.approx(scipy_p(values, np.inf), rel=1e-12), "sign-flip exact")]


def test_rounded_ties_count_as_ties() -> None:
    """Steps of 0.1 add up to the same total in many ways, each rounded differently."""
    values = np.array([0.1, 0.2, 0.3, -0.1, 0.7, 0.1, -0.2, 0.3])
    assert sign_flip(values[None], 100, 0)[0][0] == pytest.approx(scipy_p(np.rint(values * 10), np.inf), rel=1e-12)


def test_random_flips_equal_scipy_within_their_error() -> None:
    values = np.random.default_rng(3).normal(0.25, 1, size=(3, 60))
    for row, (p, test) in zip(values, sign_flip(values, 20_000, 0), strict=True):
        expected = scipy_p(row, 20_000)
        assert test == "sign-flip 20000"
        assert p == pytest.approx(expected, abs=5 * np.sqrt(2 * expected * (1 - expected) / 20_000))


def test_a_large_difference_never_has_p_zero() -> None:
    assert sign_flip(np.full((1, 50), 0.5), 999, 0) == [(0.001, "sign-flip 999")]


def test_only_units_that_differ_decide_between_exact_and_random() -> None:
    row = np.zeros(500)
    row[:10] = 1.0
    assert sign_flip(row[None], 100, 0) == [(2 / 2**10, "sign-flip exact")]
    assert sign_flip(np.zeros((2, 5)), 100, 0) == [(1.0, "sign-flip exact")] * 2
