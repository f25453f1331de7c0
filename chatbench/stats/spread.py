"""How much two systems differ question by question: what the power of a comparison rests on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from chatbench.stats.clusters import Floats

ROUNDING = 1e-13
"""Differences below this share of the measure's largest value come from averaging repeats, and count as none."""


@dataclass(frozen=True)
class Spread:
    """`variance` of the questions' differences (infinite beyond the range of floats), and share of questions that differ (0..1)."""

    variance: float
    discordant: float


def spread_of_pairs(a: Floats, b: Floats) -> Spread | None:
    """Return the spread of b - a, two arrays (n,) of n >= 2 finite scores; None where the difference is the same everywhere."""
    largest = float(max(np.abs(a).max(), np.abs(b).max()))
    if not largest:
        return None
    differences = b / largest - a / largest
    differences[np.abs(differences) <= ROUNDING] = 0.0
    if float(np.ptp(differences)) <= ROUNDING:
        return None
    return Spread(_variance(differences, largest), float(np.mean(differences != 0)))


def spread_if_independent(values: Floats) -> Spread | None:
    """Return the spread of two independent systems that both score like this one, (n,) with n >= 2; None without variance.

    The share that differs is that of yes/no (1/0) scores.
    """
    largest = float(np.abs(values).max())
    if not largest or float(np.ptp(values / largest)) <= ROUNDING:
        return None
    share = float((values / largest).mean()) * largest
    return Spread(2 * _variance(values / largest, largest), 2 * share * (1 - share))


def differing_spreads(spreads: Iterable[Spread], largest: float) -> list[Spread]:
    """Return the spreads whose variance is more than rounding; `largest` is the largest score."""
    return [s for s in spreads if s.variance > (ROUNDING * largest) ** 2]


def median_spread(spreads: Sequence[Spread]) -> Spread:
    """Return the medians of variance and share over one pair or more, each on its own."""
    return Spread(median(s.variance for s in spreads), median(s.discordant for s in spreads))


def _variance(scaled: Floats, scale: float) -> float:
    return float(np.var(scaled, ddof=1)) * scale * scale
