"""Exact tests of paired differences: McNemar's for yes/no, flips of the signs for everything else."""

from __future__ import annotations

import math

import numpy as np

from chatbench.stats.clusters import Floats, products_of

CELLS = 2**17
EXACT_BELOW = 20
"""With fewer differences that are not zero, all flips of their signs are tried: at most 2 ** 18 up to mirror images."""

TOLERANCE = 1e-10
"""Sums that differ by less, relative to the sum of all sizes, are equal: they differ by rounding only."""


def mcnemar(higher: int, lower: int) -> float:
    """Return the two-sided p of the exact McNemar test: the binomial test of the discordant pairs; 1.0 without any.

    >>> mcnemar(8, 1)
    0.0390625

    Source: Q. McNemar, Psychometrika 12 (1947) 153-157; exact as in R's `exact2x2` and statsmodels' `mcnemar(exact=True)`.
    """
    n, k = higher + lower, min(higher, lower)
    if higher == lower:
        return 1.0
    last: float = math.comb(n, k) / 2**n  # whole numbers: exact, however many pairs
    i = np.arange(k, 0, -1)
    below = float(np.cumprod(i / (n - i + 1)).sum())  # the smaller terms, relative to the last
    return min(1.0, 2 * last * (1 + below))


def sign_flip(sums: Floats, resamples: int, seed: int) -> list[tuple[float, str]]:
    """Return (two-sided p, name of the test) per measure for the sums of differences of independent units.

    `sums`: (measures, units). If the systems are alike, each unit's sign is as likely the other one: p is the share of flips
    whose total is at least as far from 0. Fewer than 20 units that are not zero: all flips; else `resamples` random ones, and
    p = (hits + 1) / (resamples + 1), which never calls more than it should.

    Source: R. A. Fisher, "The design of experiments" (1935), 21; B. Phipson and G. K. Smyth, Stat. Appl. Genet. Mol. Biol. 9
    (2010) 39 for the + 1.
    """
    results: list[tuple[float, str]] = [(1.0, "sign-flip exact")] * len(sums)
    many = []
    for j, row in enumerate(sums):
        nonzero = row[row != 0]
        if len(nonzero) >= EXACT_BELOW:
            many.append(j)
        elif len(nonzero):
            results[j] = (_all_flips(nonzero), "sign-flip exact")
    hits = _random_flips(sums[many], resamples, seed)
    for j, count in zip(many, hits, strict=True):
        results[j] = ((count + 1) / (resamples + 1), f"sign-flip {resamples}")
    return results


def _all_flips(values: Floats) -> float:
    totals = values[:1]  # the first keeps its sign: every flip has a mirror image with the same distance from 0
    for value in values[1:]:
        totals = np.concatenate((totals + value, totals - value))
    needed = abs(values.sum()) - TOLERANCE * np.abs(values).sum()
    return float(np.count_nonzero(np.abs(totals) >= needed) / len(totals))


def _random_flips(sums: Floats, resamples: int, seed: int) -> list[int]:
    """Return how many random flips reach each measure's total."""
    n_measures, n = sums.shape
    hits = [0] * n_measures
    if not n_measures:
        return hits
    totals = sums.sum(axis=1)
    needed = np.abs(totals) - TOLERANCE * np.abs(sums).sum(axis=1)
    rng = np.random.default_rng([seed, 1])  # not the stream of the bootstrap
    rows = max(8, CELLS // n)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        packed = rng.integers(0, 256, (count, -(-n // 8)), dtype=np.uint8)
        kept = np.unpackbits(packed, axis=1, count=n).astype(np.float64)
        for j, row in enumerate(sums):
            flipped = 2 * products_of(row[None], kept)[0] - totals[j]
            hits[j] += int(np.count_nonzero(np.abs(flipped) >= needed[j]))
    return hits
