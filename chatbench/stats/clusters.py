"""Means of values that come in clusters; without clusters each value is its own, and the usual formulas follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CELLS = 2**17
"""Numbers per chunk of resamples: few enough for the processor's cache, enough to make the loop free."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def products_of(rows: Floats, weights: Floats) -> Floats:
    """Return the sums of some rows (k, n) at some weights (m, n): (k, m).

    In numpy's own loop: for so few rows a matrix product is hardly faster, and its threads wait for each other where other work
    is running (ten times the processor time was seen). The digits depend on no other row either.
    """
    return np.asarray(np.einsum("kn,mn->km", rows, weights))


@dataclass(frozen=True)
class Clusters:
    """Values of several measures, added up by cluster: what the interval of a mean of all values needs.

    `sums`: (measures, clusters), `sizes`: (clusters,), the number of values in each cluster. Each measure is a row of its own in
    memory, so that its numbers are the same to the last digit whichever other measures stand beside it.
    """

    sums: Floats
    sizes: Floats

    @classmethod
    def of(cls, values: Floats, groups: Ints | None = None) -> Clusters:
        """Add up values (measures, n) by their cluster numbers (n,); without numbers each row is a cluster."""
        if groups is None:
            return cls(np.ascontiguousarray(values), np.ones(values.shape[1]))
        numbers = np.unique(groups, return_inverse=True)[1]
        sums = [np.bincount(numbers, weights=row) for row in values]
        return cls(np.stack(sums), np.bincount(numbers).astype(np.float64))

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def means(self) -> Floats:
        """The mean of all values, per measure."""
        return np.asarray(self.sums.sum(axis=1) / self.sizes.sum())

    @property
    def residuals(self) -> Floats:
        """What each cluster adds to the sum beyond its share: (measures, clusters)."""
        return np.asarray(self.sums - self.means[:, None] * self.sizes)

    def errors(self) -> Floats:
        """Return the standard error of each mean, robust to clusters; at least two clusters are needed.

        Source: K.-Y. Liang and S. L. Zeger, Biometrika 73 (1986) 13-22, with the factor G / (G - 1).
        """
        n = len(self)
        squares = (self.residuals**2).sum(axis=1)
        return np.asarray(np.sqrt(n / (n - 1) * squares) / self.sizes.sum())

    def leave_one_out(self) -> Floats:
        """Return the means without each cluster, less the mean of all: (measures, clusters); at least two clusters are needed."""
        return np.asarray(-self.residuals / (self.sizes.sum() - self.sizes))

    def jackknife_errors(self) -> Floats:
        """Return the jackknife's standard error of each mean: as `errors` for equal clusters, more careful for unequal ones.

        Source: B. Efron and C. Stein, Ann. Statist. 9 (1981) 586-596; the cluster-robust error known as CV3.
        """
        n = len(self)
        return np.asarray(np.sqrt((n - 1) / n * (self.leave_one_out() ** 2).sum(axis=1)))
