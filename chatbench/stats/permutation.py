"""Exact tests of paired differences: McNemar's for yes/no, flips of the signs for everything else."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from chatbench.stats.clusters import CELLS, Floats, products_of

EXACT_BELOW = 20
"""With fewer differences that are not zero, all flips of their signs are tried: at most 2 ** 18 up to mirror images."""

ENOUGH = 10
"""Random flips that reach the total: with fewer, p may be smaller than the number of flips lets it show."""

MOST = 10_000_000
"""Flips that are drawn at most for one measure."""

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


def sign_flip(
    sums: Floats, resamples: int, seed: int, *, family: int = 1, level: float = 0.05
) -> list[tuple[float, str]]:
    """Return (two-sided p, name of the test) per measure for the sums of differences of independent units.

    `sums`: (measures, units). If the systems are alike, each unit's sign is as likely the other one: p is the share of flips
    whose total is at least as far from 0. Fewer than 20 units that are not zero: all flips; else `resamples` random ones, and
    p = (hits + 1) / (resamples + 1), which never calls more than it should.

    `family`: number of p values that will be corrected together at `level`. Where it is so large that 1 / (resamples + 1) comes
    near level / family, measures with fewer than 10 hits get a finer p: the bound of all flips where that is small enough, else more
    random flips until the tenth hit (p = 10 / flips), 20 * family / level flips, or 10 million.

    Source: R. A. Fisher, "The design of experiments" (1935), 21; B. Phipson and G. K. Smyth, Stat. Appl. Genet. Mol. Biol. 9
    (2010) 39 for the + 1; J. Besag and P. Clifford, Biometrika 78 (1991) 301-304 for the tenth hit; H. Chernoff, Ann. Math.
    Statist. 23 (1952) 493-507 for the bound.
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
    near_floor = 10 * family >= level * (resamples + 1)
    unclear: dict[int, int] = {}
    for j, count in zip(many, hits, strict=True):
        results[j] = ((count + 1) / (resamples + 1), f"sign-flip {resamples}")
        if near_floor and count < ENOUGH:
            bound = flips_bound(sums[j])
            if 10 * family * bound <= level:
                results[j] = (bound, "sign-flip bound")
            else:
                unclear[j] = count
    limit = min(MOST, math.ceil(20 * family / level))
    if unclear and limit > resamples:
        found = _more_flips(sums[list(unclear)], list(unclear.values()), resamples, limit, seed)
        results = [found.pop(0) if j in unclear else result for j, result in enumerate(results)]
    return results


def flips_bound(values: Floats) -> float:
    """Return a number that the two-sided p over all 2**n flips of the signs never exceeds: Chernoff's bound.

    `values`: (n,), not all 0. Equal to p where all have one sign (2 / 2**n), else a few times larger.
    """
    sizes = np.abs(values) / np.abs(values).max()
    # What the total lacks to the sum of all sizes; as in the other tests, totals that differ by rounding are equal.
    lack = 2 * min(sizes[values > 0].sum(), sizes[values < 0].sum()) + TOLERANCE * sizes.sum()

    def is_below(rate: float) -> bool:  # the best rate is where the expected lack is the lack
        return bool((2 * sizes / (1 + np.exp(np.minimum(2 * rate * sizes, 700.0)))).sum() > lack)

    low, high = 0.0, 1.0
    while is_below(high):
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    exponent = high * lack + float(np.log1p(np.exp(-2 * high * sizes)).sum()) - len(sizes) * math.log(2)
    return min(1.0, 2 * math.exp(max(exponent, -700.0)))


def _all_flips(values: Floats) -> float:
    totals = values[:1]  # the first keeps its sign: every flip has a mirror image with the same distance from 0
    for value in values[1:]:
        totals = np.concatenate((totals + value, totals - value))
    needed = abs(values.sum()) - TOLERANCE * np.abs(values).sum()
    return float(np.count_nonzero(np.abs(totals) >= needed) / len(totals))


def _random_flips(sums: Floats, resamples: int, seed: int) -> list[int]:
    """Return how many random flips reach each measure's total."""
    hits = [0] * len(sums)
    if len(sums):
        tests = [_Reached(row) for row in sums]
        for kept in _signs(sums.shape[1], resamples, [seed, 1]):  # not the stream of the bootstrap
            for j, reached in enumerate(tests):
                hits[j] += int(np.count_nonzero(reached(kept)))
    return hits


def _more_flips(sums: Floats, hits: list[int], drawn: int, limit: int, seed: int) -> list[tuple[float, str]]:
    """Draw on after `drawn` flips with these hits; each measure until its tenth hit, or `limit` flips in all."""
    results: dict[int, tuple[float, str]] = {}
    hits, tests = list(hits), [_Reached(row) for row in sums]
    for kept in _signs(sums.shape[1], limit - drawn, [seed, 2]):
        for j, reached in enumerate(tests):
            if j not in results:
                places = np.flatnonzero(reached(kept))
                missing = ENOUGH - hits[j]
                hits[j] += len(places)
                if hits[j] >= ENOUGH:
                    flips = drawn + int(places[missing - 1]) + 1
                    results[j] = (ENOUGH / flips, f"sign-flip {flips}")
        drawn += len(kept)
        if len(results) == len(sums):
            break
    return [results.get(j, ((count + 1) / (limit + 1), f"sign-flip {limit}")) for j, count in enumerate(hits)]


class _Reached:
    """Tells which flips give a total at least as far from 0 as the row's own."""

    def __init__(self, row: Floats) -> None:
        self._row = row[None]
        self._total = row.sum()
        self._needed = abs(self._total) - TOLERANCE * np.abs(row).sum()

    def __call__(self, kept: Floats) -> NDArray[np.bool_]:
        flipped = 2 * products_of(self._row, kept)[0] - self._total
        return np.asarray(np.abs(flipped) >= self._needed)


def _signs(n: int, resamples: int, seed: list[int]) -> Iterator[Floats]:
    """Yield chunks of random flips: (chunk, n), 1 where a sign is kept, else 0."""
    rng = np.random.default_rng(seed)
    rows = max(8, CELLS // n)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        packed = rng.integers(0, 256, (count, -(-n // 8)), dtype=np.uint8)
        yield np.unpackbits(packed, axis=1, count=n).astype(np.float64)
