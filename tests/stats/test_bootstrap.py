"""Bootstrap intervals against scipy.stats.bootstrap, cluster-robust errors against statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS

from chatbench.stats.bootstrap import bca_interval, bca_intervals, expanded
from chatbench.stats.clusters import Clusters, clustered_student_interval

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


@pytest.mark.parametrize("n", [8, 20, 1000])
def test_expanded_level_is_the_normal_one_of_a_student_interval(n: int) -> None:
    """A normal interval at that level, from the biased standard deviation, is as wide as Student's."""
    values = np.random.default_rng(7).normal(size=n)
    half = stats.norm.ppf(0.5 + expanded(0.95, n) / 2) * values.std() / math.sqrt(n)
    low, high = stats.t.interval(0.95, n - 1, loc=values.mean(), scale=stats.sem(values))
    assert half == pytest.approx((high - low) / 2, rel=1e-9)


def test_errors_equal_statsmodels_cluster_robust() -> None:
    rng = np.random.default_rng(8)
    groups = np.repeat(np.arange(12), rng.integers(1, 9, size=12))
    values = rng.normal(size=len(groups)) + rng.normal(size=12)[groups]
    fit = OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    clusters = Clusters.of(values[None], groups)
    assert clusters.means[0] == pytest.approx(fit.params[0], rel=1e-12)
    assert clusters.errors()[0] == pytest.approx(fit.bse[0], rel=1e-10)
    found = clustered_student_interval(float(clusters.means[0]), float(clusters.errors()[0]), len(clusters))
    assert found == pytest.approx(tuple(fit.conf_int()[0]), rel=1e-9)


@pytest.mark.parametrize("values", [[], [0.5], [0.5] * 30, [0.0] * 4])
def test_without_spread_there_is_no_interval(values: list[float]) -> None:
    assert bca_interval(values, resamples=100) is None


def test_resamples_need_little_memory_and_are_the_same_in_any_company() -> None:
    values = np.random.default_rng(9).normal(size=(5, 300))
    together = bca_intervals(Clusters.of(values), 0.95, 1000, 0)
    assert together == [bca_interval(row, resamples=1000) for row in values]
