"""The bootstrap of means: all measures of one set of questions share their resamples, and memory stays linear."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np

from chatbench.stats.clusters import CELLS, Clusters, Floats, Ints, products_of
from chatbench.stats.intervals import Interval, normal_quantile, student_quantile

FEW = 8
"""With fewer clusters that differ the bootstrap's intervals become erratic, up to thousands of times too wide."""

TOLERANCE = 1e-12
"""Means that differ by less, relative to their size and spread, are the same mean, differently rounded."""


def bca_interval(
    values: Sequence[float] | Floats,
    groups: Ints | None = None,
    *,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Return the bootstrap interval (BCa) of the mean; None where the values do not vary, or for fewer than 2 clusters.

    `values`: (n,), finite, in a fixed order (the interval depends on it a little: sort by question id);
    `groups`: (n,) numbers of the clusters that are drawn whole, or None. Equals `scipy.stats.bootstrap` with the same seed.

    Source: B. Efron, "Better bootstrap confidence intervals", JASA 82 (1987) 171-185.
    """
    clusters = Clusters.of(np.asarray(values, dtype=np.float64)[None], groups)
    return bca_intervals(clusters, confidence, resamples, seed)[0]


def bca_intervals(clusters: Clusters, confidence: float, resamples: int, seed: int) -> list[Interval]:
    """Return `bca_interval` for the mean of each measure; all of them share their resamples."""
    if len(clusters) < 2:
        return [None] * len(clusters.sums)
    drawn = np.empty((len(clusters.sums), resamples))
    for start, weights in _weights(len(clusters), resamples, seed):
        (total,) = products_of(clusters.sizes[None], weights)
        for row, out in zip(clusters.sums, drawn, strict=True):
            out[start : start + len(weights)] = products_of(row[None], weights)[0] / total
    tail = (1 - confidence) / 2
    return [
        _bca(means, float(mean), jackknife, tail)
        for means, mean, jackknife in zip(drawn, clusters.means, clusters.leave_one_out(), strict=True)
    ]


def symmetric_t_intervals(clusters: Clusters, confidence: float, resamples: int, seed: int) -> list[Interval]:
    """Return an interval for the mean of each measure, None for fewer than two clusters.

    The symmetric bootstrap-t: mean -+ (quantile of the resampled |t|) * standard error. Of the bootstrap's intervals it
    holds its level best in small samples, with ties and with long tails (benchmarks/simulations.py). Where fewer than 8 clusters have
    a sum that is not 0, resampling tells little: Student's t with the jackknife's standard error.

    Source: P. Hall, "On symmetric bootstrap confidence intervals", J. R. Statist. Soc. B 50 (1988) 35-45.
    """
    n = len(clusters)
    if n < 2:
        return [None] * len(clusters.sums)
    student = student_quantile(0.5 + confidence / 2, n - 1)
    halves = student * clusters.jackknife_errors()
    many = np.flatnonzero(np.count_nonzero(clusters.sums, axis=1) >= FEW)
    if len(many):
        some = Clusters(clusters.sums[many], clusters.sizes)
        limits = np.quantile(_resampled_t(some, resamples, seed), confidence, axis=1, method="higher")
        known = np.isfinite(limits)
        halves[many[known]] = limits[known] * some.errors()[known]
    return [
        (float(low), float(high)) for low, high in zip(clusters.means - halves, clusters.means + halves, strict=True)
    ]


def _resampled_t(clusters: Clusters, resamples: int, seed: int) -> Floats:
    """Return |t| of the mean of all measures in each resample of whole clusters: (measures, resamples); inf without spread."""
    n, sizes = len(clusters), clusters.sizes
    t = np.empty((len(clusters.sums), resamples))
    is_even = bool(np.ptp(sizes) == 0)  # then the third moment is the first one
    moments = [np.stack((row, row**2) if is_even else (row, row**2, row * sizes)) for row in clusters.residuals]
    for start, weights in _weights(n, resamples, seed):
        stop = start + len(weights)
        total, squared_sizes = products_of(np.stack((sizes, sizes**2)), weights)
        for moment, out in zip(moments, t, strict=True):
            sums, squares, *rest = products_of(moment, weights)
            products = sums * sizes[0] if is_even else rest[0]
            shift = sums / total
            squares = squares - 2 * shift * products + shift**2 * squared_sizes
            squares[squares <= TOLERANCE * moment[1].sum()] = 0.0
            with np.errstate(divide="ignore", invalid="ignore"):
                out[start:stop] = np.abs(shift) * total / np.sqrt(squares * (n / (n - 1)))
    return np.where(np.isnan(t), np.inf, t)


def _weights(n: int, resamples: int, seed: int) -> Iterator[tuple[int, Floats]]:
    """Yield chunks of resamples as (first resample, how often each cluster was drawn: (chunk, n))."""
    rng = np.random.default_rng(seed)
    rows = max(8, CELLS // n)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        cells = rng.integers(0, n, (count, n))
        cells += np.arange(count)[:, None] * n
        yield start, np.bincount(cells.ravel(), minlength=count * n).reshape(count, n).astype(np.float64)


def _bca(drawn: Floats, mean: float, jackknife: Floats, tail: float) -> Interval:
    spread = float(np.ptp(drawn))
    if spread <= TOLERANCE * abs(mean):
        return None
    rounding = TOLERANCE * (spread + abs(mean))
    below = np.count_nonzero(drawn < mean - rounding)
    above = np.count_nonzero(drawn > mean + rounding)
    share = (below + (len(drawn) - above)) / (2 * len(drawn))  # equal ones count half
    if not 0 < share < 1:
        return None
    bias = NormalDist().inv_cdf(share)
    apart = jackknife.mean() - jackknife
    apart = apart / np.abs(apart).max()
    acceleration = float((apart**3).sum() / (apart**2).sum() ** 1.5) / 6
    ends = [bias + z for z in (normal_quantile(tail), -normal_quantile(tail))]
    levels = [NormalDist().cdf(bias + end / (1 - acceleration * end)) for end in ends]
    low, high = np.quantile(drawn, levels)
    return float(low), float(high)
