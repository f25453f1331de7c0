"""Comparisons of two systems, each figure against scipy or statsmodels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import bootstrap
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar

from chatbench.errors import LengthError
from chatbench.stats.intervals import paired_shares_interval
from chatbench.stats.paired import PairedResult, compare_pairs

RNG = np.random.default_rng(11)
A = RNG.uniform(size=(60, 4))
B = np.clip(A + RNG.normal(0.05, 0.2, size=A.shape), 0, 1)
A[:, 0], B[:, 0] = A[:, 0] > 0.5, B[:, 0] > 0.5
A[::7, 2], B[3::9, 2] = np.nan, np.nan
YES_NO = [True, False, False, False]


def one(a: list[float], b: list[float], *, binary: bool = False, groups: list[int] | None = None) -> PairedResult:
    return compare_pairs(np.c_[a], np.c_[b], is_binary=[binary], groups=groups, resamples=500)[0]


def test_numbers_and_questions_scored_in_both() -> None:
    result = compare_pairs(A, B, is_binary=YES_NO)[2]
    both = ~np.isnan(A[:, 2]) & ~np.isnan(B[:, 2])
    a, b = A[both, 2], B[both, 2]
    assert (result.n, result.n_groups) == (both.sum(), both.sum())
    assert (result.mean_a, result.mean_b) == pytest.approx((a.mean(), b.mean()), rel=1e-12)
    assert result.difference == pytest.approx((b - a).mean(), rel=1e-12)
    assert result.effect == pytest.approx((b - a).mean() / (b - a).std(ddof=1), rel=1e-12)
    assert (result.higher, result.lower, result.ties) == ((b > a).sum(), (b < a).sum(), (b == a).sum())


def test_interval_is_the_bootstrap_t_of_scipys_draws() -> None:
    result = compare_pairs(A, B, is_binary=YES_NO, resamples=3000, seed=5)[1]
    d = B[:, 1] - A[:, 1]
    drawn = stats.bootstrap(
        (d,),
        lambda x, axis: np.abs(x.mean(axis=axis) - d.mean()) / stats.sem(x, axis=axis),
        vectorized=True,
        n_resamples=3000,
        rng=np.random.default_rng(5),
        method="percentile",
    ).bootstrap_distribution
    half = np.quantile(drawn, 0.95, method="higher") * stats.sem(d)
    assert (result.low, result.high) == pytest.approx((d.mean() - half, d.mean() + half), rel=1e-10)


def test_bca_on_request_equals_scipy() -> None:
    rng = np.random.default_rng(11)
    a, b = rng.uniform(size=(60, 3)), rng.uniform(size=(60, 3))
    a[:, 2], b[:, 2] = a[:, 2] < 0.5, b[:, 2] < 0.7
    a[:7, 1] = np.nan
    found = compare_pairs(a, b, is_binary=[False, False, True], seed=3, interval="bca")
    for j, result in enumerate(found):
        differences = (b - a)[~np.isnan(a[:, j]), j]
        oracle = bootstrap(
            (differences,), np.mean, n_resamples=10_000, method="BCa", rng=np.random.default_rng(3)
        ).confidence_interval
        assert (result.low, result.high) == pytest.approx((oracle.low, oracle.high), rel=1e-9)
    assert [r.p for r in found] == [r.p for r in compare_pairs(a, b, is_binary=[False, False, True], seed=3)]


def test_yes_no_takes_the_exact_mcnemar_test_of_statsmodels() -> None:
    result = compare_pairs(A, B, is_binary=YES_NO)[0]
    expected = mcnemar([[0, result.higher], [result.lower, 0]], exact=True).pvalue
    assert (result.test, result.p) == ("McNemar exact", pytest.approx(expected, rel=1e-9))
    assert (result.low, result.high) == paired_shares_interval(result.higher, result.lower, 60)


def test_clusters_turn_the_test_into_flips_of_their_sums() -> None:
    groups = np.arange(60) // 5
    result = compare_pairs(A, B, is_binary=YES_NO, groups=groups)[0]
    sums = np.bincount(groups, weights=B[:, 0] - A[:, 0])
    expected = stats.permutation_test(
        (sums, np.zeros(12)), lambda x, y, axis: (x - y).sum(axis=axis), permutation_type="samples", n_resamples=np.inf
    ).pvalue
    assert (result.test, result.n_groups, result.n) == ("sign-flip exact", 12, 60)
    assert result.p == pytest.approx(expected, rel=1e-12)


def test_clusters_that_cancel_but_for_rounding_do_not_differ() -> None:
    a, b = [0.2, 0.1] * 30, [0.3, 0.0] * 30
    assert (b[0] - a[0]) + (b[1] - a[1]) != 0
    b[:10:2] = [0.9] * 5
    result = one(a, b, groups=list(np.arange(60) // 2))
    assert (result.test, result.p) == ("sign-flip exact", 2 / 2**5)


def test_few_clusters_take_the_cluster_robust_interval_of_statsmodels() -> None:
    groups = np.repeat([4, 9, 2, 7], 15)
    result = compare_pairs(A, B, is_binary=YES_NO, groups=groups)[1]
    fit = OLS(B[:, 1] - A[:, 1], np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    assert (result.low, result.high) == pytest.approx(tuple(fit.conf_int()[0]), rel=1e-9)


def test_detectable_rests_on_the_error_of_leaving_clusters_out_and_on_the_level() -> None:
    """scipy's noncentral t: 80 % power at 10 %, for the effective number of clusters, 10 of the 12."""
    groups = np.repeat(np.arange(12), [10, 10, *[4] * 10])
    result = compare_pairs(A, B, is_binary=YES_NO, groups=groups, confidence=0.9)[1]
    d = B[:, 1] - A[:, 1]
    without = np.array([d[groups != g].mean() for g in range(12)])
    error = np.sqrt(11 / 12 * ((without - d.mean()) ** 2).sum())
    sizes = np.bincount(groups)
    units = int(60**2 / (sizes**2).sum())
    level = np.floor(0.1 * 2 ** (units - 1)) / 2 ** (units - 1)
    assert units == 10
    critical, shift = stats.t.ppf(1 - level / 2, units - 1), result.detectable / error
    power = stats.nct.sf(critical, units - 1, shift) + stats.nct.cdf(-critical, units - 1, shift)
    assert power == pytest.approx(0.8, abs=1e-3)


@pytest.mark.parametrize(
    "sizes", [[10] * 20, [50, *[5] * 20], [max(1, 100 // i) for i in range(1, 31)], [2, 4, 6, 8, 10, 12, 14, 16]]
)
def test_a_detectable_difference_is_shown_in_eight_of_ten_simulated_comparisons(sizes: list[int]) -> None:
    rng = np.random.default_rng(12)
    groups = np.repeat(np.arange(len(sizes)), sizes)

    def drawn(difference: float) -> list[PairedResult]:
        scores = rng.normal(0, 1, (len(groups), 400)) + rng.normal(0, 0.6, (len(sizes), 400))[groups] + difference
        return compare_pairs(0 * scores, scores, is_binary=[False] * 400, groups=groups, resamples=200)

    smallest = float(np.median([r.detectable for r in drawn(0.0)]))
    shown = np.mean([r.p < 0.05 for r in drawn(smallest)])
    assert shown >= 0.75


@pytest.mark.parametrize(
    "sizes", [[206, *[1] * 20], [20, *[1] * 20], [10] * 5, [1] * 5, [200, 100, 50, 20, 10, 5, 2, 1]]
)
def test_nothing_is_detectable_where_too_few_units_decide(sizes: list[int]) -> None:
    groups = np.repeat(np.arange(len(sizes)), sizes)
    scores = np.random.default_rng(13).normal(size=(len(groups), 1))
    assert compare_pairs(0 * scores, scores, is_binary=[False], groups=groups)[0].detectable is None


def test_six_questions_can_show_something_at_five_per_cent_and_nothing_at_one() -> None:
    a, b = np.zeros((6, 1)), np.random.default_rng(14).normal(size=(6, 1))
    for binary in (True, False):
        found = [
            compare_pairs(a, b > 0 if binary else b, is_binary=[binary], confidence=confidence)[0].detectable
            for confidence in (0.95, 0.99)
        ]
        assert found[0] is not None
        assert found[1] is None


def test_no_measure_changes_another() -> None:
    together = compare_pairs(A, B, is_binary=YES_NO, resamples=500)
    assert compare_pairs(A[:, ::-1], B[:, ::-1], is_binary=YES_NO[::-1], resamples=500) == together[::-1]
    for j in range(4):
        alone = compare_pairs(A[:, [j]], B[:, [j]], is_binary=[YES_NO[j]], resamples=500)
        assert alone == [together[j]]


def test_swapping_the_systems_turns_the_signs() -> None:
    for there, back in zip(compare_pairs(A, B, is_binary=YES_NO), compare_pairs(B, A, is_binary=YES_NO), strict=True):
        assert back.difference == pytest.approx(-there.difference)
        assert (back.p, back.higher, back.detectable) == (there.p, there.lower, there.detectable)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("clustered", [True, False])
def test_a_handful_of_questions_is_harmless(n: int, binary: bool, clustered: bool) -> None:
    result = one([0.0] * n, [1.0, 0.0, 1.0][:n], binary=binary, groups=[1] * n if clustered else None)
    assert (result.n, result.p is None, result.difference is None) == (n, n == 0, n == 0)
    assert (result.low is None, result.high is None) == (n < 2 or clustered,) * 2


def test_questions_without_any_score_are_left_out() -> None:
    result = one([math.nan, math.nan], [0.5, math.nan])
    assert result == PairedResult(0, None, None, None, None, None, None, None, 0, 0, 0, None, 0, "")
    assert compare_pairs(np.empty((0, 0)), np.empty((0, 0)), is_binary=[]) == []


def test_repeats_averaged_in_another_order_are_ties() -> None:
    a, b = [(0.1 + 0.2 + 0.3) / 3] * 20, [(0.3 + 0.2 + 0.1) / 3] * 20
    assert a != b
    result = one(a, b)
    assert (result.ties, result.difference, result.p, result.effect) == (20, 0.0, 1.0, None)
    assert (result.low, result.high, result.detectable) == (None, None, None)


def test_yes_no_without_any_disagreement_is_no_certainty() -> None:
    result = one([1.0] * 20, [1.0] * 20, binary=True)
    assert (result.p, result.ties, result.effect) == (1.0, 20, None)
    assert (result.low, result.high) == pytest.approx((-0.126, 0.126), abs=1e-3)  # +- 1.96 * sqrt(2) / 22
    assert one([0.0] * 20, [0.0] * 20, binary=True).high == result.high


def test_the_same_difference_everywhere_has_no_spread_but_is_no_chance() -> None:
    a = np.linspace(0, 0.7, 10)
    result = one(list(a), list(a + 0.1))
    assert (result.effect, result.low, result.high, result.detectable) == (None,) * 4
    assert (result.difference, result.p) == pytest.approx((0.1, 2 / 2**10))


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_huge_and_tiny_numbers(scale: float) -> None:
    plain, scaled = one(list(A[:, 3]), list(B[:, 3])), one(list(A[:, 3] * scale), list(B[:, 3] * scale))
    assert scaled.p == plain.p
    assert (scaled.low, scaled.high) == pytest.approx((plain.low * scale, plain.high * scale), rel=1e-9)


@st.composite
def scores(draw: st.DrawFn) -> dict[str, Any]:
    n, m = draw(st.integers(0, 14)), draw(st.integers(0, 3))
    values = st.sampled_from([math.nan, 0.0, 1.0, 0.5, 0.1 + 0.2, 0.3, -1.0, 5e-324, 1e-300, 1e300, -1e307])
    binary = [draw(st.booleans()) for _ in range(m)]
    columns = [st.lists(st.sampled_from([0.0, 1.0, math.nan]) if b else values, min_size=n, max_size=n) for b in binary]
    a, b = (np.array([draw(column) for column in columns]).reshape(m, n).T for _ in range(2))
    groups = draw(st.none() | st.lists(st.integers(-3, 6), min_size=n, max_size=n))
    return {"a": a, "b": b, "is_binary": binary, "groups": groups}


@settings(max_examples=100, deadline=None)
@given(scores())
def test_whatever_comes_is_harmless(drawn: dict[str, Any]) -> None:
    """No warning (they are errors here), no number that is none, and figures that fit together."""
    for result in compare_pairs(**drawn, resamples=50):
        numbers = [v for v in vars(result).values() if isinstance(v, float)]
        assert all(math.isfinite(v) for v in numbers)
        assert result.higher + result.lower + result.ties == result.n
        assert (result.p is None) == (result.n == 0)
        assert result.p is None or 0 < result.p <= 1
        if result.low is not None:
            assert result.low <= result.difference <= result.high


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(LengthError, match=r"\(60, 4\) and \(59, 4\)"):
        compare_pairs(A, B[1:], is_binary=YES_NO)
    with pytest.raises(LengthError, match="3 entries for 4 measures"):
        compare_pairs(A, B, is_binary=YES_NO[1:])
    with pytest.raises(LengthError, match="one number per question"):
        compare_pairs(A, B, is_binary=YES_NO, groups=[1, 2])
