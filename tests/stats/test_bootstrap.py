"""Bootstrap intervals against scipy.stats.bootstrap, cluster-robust errors against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS

from chatbench.stats.bootstrap import bca_interval, symmetric_t_intervals
from chatbench.stats.clusters import Clusters

SAMPLES = {
    "normal": np.random.default_rng(1).normal(size=50),
    "skewed": np.random.default_rng(2).exponential(size=200),
    "yes/no": np.random.default_rng(3).integers(-1, 2, size=64).astype(float),
    "far from zero": 1e6 + np.random.default_rng(4).normal(size=30),
    "two": np.array([0.25, 1.0]),
}


def scipy_bca(values: np.ndarray, confidence: float, seed: int, resamples: int = 2000) -> tuple[float, float]:
    found = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=resamples,
        confidence_level=confidence,
        rng=np.random.default_rng(seed),
        method="BCa",
    )
    return found.confidence_interval


@pytest.mark.parametrize("values", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize(("confidence", "seed"), [(0.95, 0), (0.8, 42)])
def test_interval_equals_scipy(values: np.ndarray, confidence: float, seed: int) -> None:
    found = bca_interval(values, confidence=confidence, resamples=2000, seed=seed)
    assert found == pytest.approx(tuple(scipy_bca(values, confidence, seed)), rel=1e-12)


def test_clusters_of_one_are_no_clusters() -> None:
    values = SAMPLES["normal"]
    assert bca_interval(values, np.arange(50)) == bca_interval(values)


def test_equal_clusters_are_their_means() -> None:
    values = np.random.default_rng(5).normal(size=(20, 5))
    whole = bca_interval(values.ravel(), np.repeat(np.arange(20), 5), resamples=2000)
    assert whole == pytest.approx(tuple(scipy_bca(values.mean(axis=1), 0.95, 0)), rel=1e-10)


def test_unequal_clusters_equal_scipy_on_the_ratio_of_sums() -> None:
    rng = np.random.default_rng(6)
    groups = np.repeat(np.arange(25), rng.integers(1, 9, size=25))
    values = rng.normal(size=len(groups)) + rng.normal(size=25)[groups]
    clusters = Clusters.of(values[None], groups)
    expected = stats.bootstrap(
        (clusters.sums[0], clusters.sizes),
        lambda sums, sizes, axis: sums.sum(axis=axis) / sizes.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=2000,
        rng=np.random.default_rng(0),
        method="BCa",
    ).confidence_interval
    assert bca_interval(values, groups, resamples=2000) == pytest.approx(tuple(expected), rel=1e-10)


def scipy_t(sums: np.ndarray, sizes: np.ndarray, confidence: float) -> tuple[float, float]:
    """The symmetric bootstrap-t of a ratio of sums: scipy draws, its statistic is |t| written out."""
    n, centre = len(sums), sums.sum() / sizes.sum()

    def ratio_and_error(x: np.ndarray, y: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
        ratio = x.sum(axis=axis, keepdims=True) / y.sum(axis=axis, keepdims=True)
        squares = ((x - ratio * y) ** 2).sum(axis=axis)
        return ratio.squeeze(axis), np.sqrt(n / (n - 1) * squares) / y.sum(axis=axis)

    def statistic(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        ratio, error = ratio_and_error(x, y, axis)
        return np.abs(ratio - centre) / error

    drawn = stats.bootstrap(
        (sums, sizes),
        statistic,
        paired=True,
        vectorized=True,
        n_resamples=2000,
        rng=np.random.default_rng(0),
        method="percentile",
    ).bootstrap_distribution
    half = np.quantile(drawn, confidence, method="higher") * ratio_and_error(sums, sizes, -1)[1]
    return centre - half, centre + half


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_bootstrap_t_equals_scipys_draws(confidence: float) -> None:
    rng = np.random.default_rng(7)
    groups = np.repeat(np.arange(25), rng.integers(1, 9, size=25))
    for clusters in (
        Clusters.of(rng.normal(size=(3, 40))),
        Clusters.of(rng.exponential(size=(2, len(groups))) + rng.normal(size=25)[groups], groups),
    ):
        for row, found in zip(clusters.sums, symmetric_t_intervals(clusters, confidence, 2000, 0), strict=True):
            assert found == pytest.approx(scipy_t(row, clusters.sizes, confidence), rel=1e-10)


def test_few_units_that_differ_take_students_interval_of_scipy() -> None:
    values = np.zeros(30)
    values[:7] = np.random.default_rng(8).normal(size=7)
    expected = stats.t.interval(0.95, 29, loc=values.mean(), scale=stats.sem(values))
    assert symmetric_t_intervals(Clusters.of(values[None]), 0.95, 500, 0) == [pytest.approx(expected, rel=1e-10)]


def test_resamples_without_spread_leave_students_interval() -> None:
    """One value of a thousand is another one: a third of the resamples miss it."""
    values = np.full(1000, 0.5)
    values[0] = 1.0
    expected = stats.t.interval(0.95, 999, loc=values.mean(), scale=stats.sem(values))
    assert symmetric_t_intervals(Clusters.of(values[None]), 0.95, 500, 0) == [pytest.approx(expected, rel=1e-9)]


def test_errors_equal_statsmodels_cluster_robust() -> None:
    rng = np.random.default_rng(8)
    groups = np.repeat(np.arange(12), rng.integers(1, 9, size=12))
    values = rng.normal(size=len(groups)) + rng.normal(size=12)[groups]
    fit = OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    clusters = Clusters.of(values[None], groups)
    assert clusters.means[0] == pytest.approx(fit.params[0], rel=1e-12)
    assert clusters.errors()[0] == pytest.approx(fit.bse[0], rel=1e-10)


def test_jackknife_errors_equal_leaving_clusters_out() -> None:
    rng = np.random.default_rng(9)
    groups = np.repeat(np.arange(6), rng.integers(1, 9, size=6))
    values = rng.normal(size=len(groups))
    without = np.array([values[groups != g].mean() for g in range(6)])
    found = Clusters.of(values[None], groups)
    assert found.jackknife_errors()[0] == pytest.approx(
        np.sqrt(5 / 6 * ((without - values.mean()) ** 2).sum()), rel=1e-12
    )
    even = Clusters.of(values[None, :20], np.arange(20) // 4)
    assert even.jackknife_errors() == pytest.approx(even.errors(), rel=1e-12)


@pytest.mark.parametrize("values", [[], [0.5], [0.5] * 30, [0.0] * 4])
def test_without_spread_there_is_no_interval(values: list[float]) -> None:
    assert bca_interval(values, resamples=100) is None
