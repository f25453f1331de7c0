"""Paired tests against scipy.stats.permutation_test, statsmodels' mcnemar and scipy.stats.binomtest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from chatbench.stats.corrections import holm
from chatbench.stats.permutation import flips_bound, mcnemar, sign_flip


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


def test_a_large_family_with_large_differences_stays_below_the_level() -> None:
    values = np.random.default_rng(4).normal(1.5, 0.5, size=(520, 40))
    coarse = [p for p, _ in sign_flip(values, 10_000, 0)]
    assert min(p for p in holm(coarse) if p is not None) > 0.05
    fine = [p for p, _ in sign_flip(values, 10_000, 0, family=520)]
    assert max(p for p in holm(fine) if p is not None) < 0.05


@pytest.mark.parametrize("shift", [0.3, 0.8, 1.2, 2.0, 5.0])
@pytest.mark.parametrize("n", [2, 7, 14])
def test_the_bound_is_never_below_scipys_exact_p(shift: float, n: int) -> None:
    values = np.random.default_rng(n).normal(shift, 1, size=n)
    exact = scipy_p(values, np.inf)
    assert exact * (1 - 1e-9) <= flips_bound(values) <= 12 * exact
    if min(values) > 0:
        assert flips_bound(values) == pytest.approx(2 / 2**n, rel=1e-6)


def test_more_flips_come_to_the_exact_p() -> None:
    """21 units whose totals are whole numbers: the number of flips that reach each total is a sum over all of them."""
    values = np.array([3.0, 2.0, 1.0] * 7)
    values[[2, 5, 8, 14]] *= -1
    ways = np.array([1])
    for size in np.abs(values).astype(int):
        ways = np.convolve(ways, np.r_[1, np.zeros(2 * size - 1, dtype=int), 1])
    totals = np.arange(len(ways)) - (len(ways) - 1) // 2
    exact = ways[np.abs(totals) >= abs(values.sum())].sum() / 2**21
    assert 1e-4 < exact < 2e-3
    ps = []
    for seed in range(40):
        [(p, test)] = sign_flip(values[None], 1000, seed, family=500)
        ps.append(p)
        assert test != "sign-flip 1000"
    # The tenth hit comes after a negative binomial number of flips: 1 / p has a spread of a third.
    assert np.mean(1 / np.array(ps)) == pytest.approx(1 / exact, rel=5 / np.sqrt(10 * len(ps)))


def test_only_what_is_near_the_floor_draws_more() -> None:
    values = np.random.default_rng(5).normal(0, 1, size=(4, 60)) + np.array([[0.1], [0.5], [0.55], [3.0]])
    found = sign_flip(values, 2000, 0, family=300)
    assert found[0] == sign_flip(values, 2000, 0)[0]
    assert found[3][1] == "sign-flip bound"
    for row, result in zip(values, found, strict=True):
        assert sign_flip(row[None], 2000, 0, family=300) == [result]


def test_what_never_reaches_ten_hits_ends_at_a_bounded_number() -> None:
    values = np.random.default_rng(6).normal(0, 1, size=(1, 60))
    values += 0.62 - values.mean()
    assert sign_flip(values, 100, 0, family=100)[0][1] == "sign-flip 40000"
