"""Confidence intervals of a mean, in closed form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

Interval = tuple[float, float] | None


def wilson_interval(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Return the Wilson score interval of a proportion, within [0, 1]; None for n < 2.

    >>> [round(end, 3) for end in wilson_interval(10, 10)]
    [0.722, 1.0]

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    JASA 22 (1927) 209-212.
    """
    if n < 2:
        return None
    z = normal_quantile(0.5 + confidence / 2)
    share = successes / n
    centre = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At the ends the formula is exactly 0 or 1; rounding must not push it past.
    low = 0.0 if successes == 0 else (centre - half) / scale
    high = 1.0 if successes == n else (centre + half) / scale
    return low, high


def paired_shares_interval(higher: int, lower: int, n: int, confidence: float = 0.95) -> Interval:
    """Return the interval of the difference of two shares of "yes" on the same n questions, within [-1, 1]; None for n < 2.

    `higher`, `lower`: questions where only the second, only the first says yes. The normal interval after one question is added on
    either side, so that agreement everywhere does not look like certainty.

    Source: D. G. Bonett and R. M. Price, "Adjusted Wald confidence interval for a difference of binomial proportions based on
    paired data", J. Educ. Behav. Statist. 37 (2012) 479-488.
    """
    if n < 2:
        return None
    z = normal_quantile(0.5 + confidence / 2)
    centre, discordant = (higher - lower) / (n + 2), (higher + lower + 2) / (n + 2)
    half = z * math.sqrt((discordant - centre * centre) / (n + 2))
    return max(-1.0, centre - half), min(1.0, centre + half)


def mean(values: Sequence[float]) -> float:
    """Return the mean, summed exactly; also of numbers whose sum is beyond the range of floats."""
    try:
        return math.fsum(values) / len(values)
    except OverflowError:
        return math.fsum(value / len(values) for value in values)


def student_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Return Student's t interval of the mean of independent values; None for n < 2, and beyond the range of floats."""
    n = len(values)
    if n < 2:
        return None
    largest = max(map(abs, values))
    scale = largest if largest > 1e100 else 1.0  # squares of larger numbers would overflow
    scaled = [value / scale for value in values]
    centre = mean(scaled)
    variance = math.fsum((value - centre) ** 2 for value in scaled) / (n - 1)
    half = student_quantile(0.5 + confidence / 2, n - 1) * math.sqrt(variance / n)
    low, high = (centre - half) * scale, (centre + half) * scale
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


@lru_cache(maxsize=256)
def student_quantile(probability: float, freedom: int) -> float:
    """Return the quantile of Student's t distribution, 0 < probability < 1, for whole degrees of freedom from 1."""
    # Own code, to 1e-12 of scipy's: importing scipy.special takes longer than scoring a thousand questions.
    if freedom == 1:
        return math.tan(math.pi * (probability - 0.5))
    if freedom == 2:
        return (2 * probability - 1) * math.sqrt(2 / (4 * probability * (1 - probability)))
    t = _student_expansion(probability, freedom)
    if freedom > 1000:
        return t
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
    for _ in range(20):
        density = math.exp(log_scale - (freedom + 1) / 2 * math.log1p(t * t / freedom))
        step = (_student_probability(t, freedom) - probability) / density
        t -= step
        if abs(step) < 1e-14 * abs(t):
            break
    return t


def _student_expansion(probability: float, freedom: int) -> float:
    """Return the quantile by its expansion around the normal one: Abramowitz and Stegun, 26.7.5."""
    x = normal_quantile(probability)
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + math.fsum(term / freedom**power for power, term in enumerate(terms, 1))


def _student_probability(t: float, freedom: int) -> float:
    """Return P(T <= t) for whole degrees of freedom, by the finite series of Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = math.atan2(t, math.sqrt(freedom))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    terms = []
    for k in range(2 + odd, freedom + 1, 2):
        terms.append(term)
        term *= square * (k - 1) / k
    between = sine * math.fsum(terms)
    if odd:
        between = 2 / math.pi * (angle + between)
    return 0.5 + between / 2


@lru_cache(maxsize=16)
def normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal distribution, 0 < probability < 1."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(probability)
