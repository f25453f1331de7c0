"""Confidence intervals of a mean, in closed form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

Interval = tuple[float, float] | None


def wilson_interval(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Return the Wilson score interval of a proportion, within [0, 1]; None for n < 2.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    JASA 22 (1927) 209-212.
    """
    if n < 2:
        return None
    z = _normal_quantile(0.5 + confidence / 2)
    share = successes / n
    centre = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At the ends the formula is exactly 0 or 1; rounding must not push it past.
    low = 0.0 if successes == 0 else (centre - half) / scale
    high = 1.0 if successes == n else (centre + half) / scale
    return low, high


def student_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Return Student's t interval of the mean of independent values; None for n < 2."""
    n = len(values)
    if n < 2:
        return None
    array = np.asarray(values, dtype=float)
    centre = float(array.mean())
    half = _student_quantile(0.5 + confidence / 2, n - 1) * float(array.std(ddof=1)) / math.sqrt(n)
    return centre - half, centre + half


@lru_cache(maxsize=256)
def _student_quantile(probability: float, freedom: int) -> float:
    # scipy.special, not scipy.stats: the same number for a tenth of the import time.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


@lru_cache(maxsize=16)
def _normal_quantile(probability: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(probability))
