"""How many questions a comparison needs, and what a number of questions can show."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from chatbench.stats.clusters import Floats, Ints
from chatbench.stats.intervals import normal_quantile, student_quantile

EXACT_UP_TO = 5_000
"""Pairs up to which McNemar's power is summed exactly; beyond, the normal approximation."""

LARGEST = 10**9
"""More pairs than anybody has: needing more means never."""


def power_of(difference: float, sd: float, n: int, level: float = 0.05) -> float | None:
    """Return the chance (0..1) that the two-sided paired t test shows a true difference of means.

    `sd`: standard deviation of the questions' differences; `n`: questions. None for n < 2 or sd <= 0.

    Source: the noncentral t distribution as a mean over the estimated standard deviation, by quadrature.
    """
    if n < 2 or not sd > 0:
        return None
    return _t_power(abs(difference) / sd * math.sqrt(n), n - 1, level)


def detectable_difference(sd: float, n: int, power: float = 0.8, level: float = 0.05) -> float | None:
    """Return the smallest true difference that n questions show with this power (two-sided paired t).

    In units of `sd`, the standard deviation of the questions' differences. None for n < 2 or sd <= 0.
    """
    if n < 2 or not sd > 0:
        return None
    return sd * _detectable_shift(n - 1, power, level) / math.sqrt(n)


def flips_detectable(errors: Floats, sizes: Floats, power: float = 0.8, level: float = 0.05) -> list[float | None]:
    """Return the smallest true difference of means that flips of cluster sums show with this power, per measure.

    `errors`: (measures,), jackknife standard errors of the means; `sizes`: (clusters,), questions in each. The paired t for the
    effective number of clusters, (sum of sizes)**2 / (sum of squared sizes), at the level that flips of so many reach. None for
    an error of 0, and where no result reaches the level: fewer than 6 clusters, or effective ones, at the 5 % level; so where one
    cluster holds half of the questions. In simulations of normal scores its power is 0.72 to 0.93, for 6 or 7 equal clusters 0.65 to
    0.73.

    Source: L. Kish, "Survey sampling" (1965), for the effective number.
    """
    units = int(sizes.sum() ** 2 / (sizes**2).sum() + 1e-9)
    reached = flips_level(units, level)
    if not reached:
        return [None] * len(errors)
    return [detectable_difference(error * math.sqrt(units), units, power, reached) for error in errors.tolist()]


def flips_power(difference: float, sd: float, n: int, level: float = 0.05) -> float:
    """Return the chance (0..1) that flips of the signs show a difference: `power_of` at the level that n questions reach.

    An approximation, rough below 30 questions.
    """
    reached = flips_level(n, level)
    return (power_of(difference, sd, n, reached) or 0.0) if reached else 0.0


def flips_needed(difference: float, sd: float, power: float = 0.8, level: float = 0.05) -> int | None:
    """Return the number of questions with which flips of the signs show this difference; None where no number does."""
    if difference == 0 or not sd > 0:
        return None
    return _smallest(lambda n: flips_power(difference, sd, n, level), power)


def flips_level(n: int, level: float = 0.05) -> float:
    """Return the largest p below the level that flips of n signs can give; 0.0 for none (fewer than 6 at the 5 % level).

    >>> flips_level(6)
    0.03125
    """
    if n > 50:
        return level
    flips: int = 2 ** (n - 1)  # up to mirror images; p is a multiple of 1 / flips
    return max(0, math.ceil(level * flips) - 1) / flips


def pairs_needed(difference: float, sd: float, power: float = 0.8, level: float = 0.05) -> int | None:
    """Return the number of questions that show this difference with this power (two-sided paired t).

    At least 2. None where no number does: a difference of 0, sd <= 0, or more than 10**9 questions.
    """
    if difference == 0 or not sd > 0:
        return None
    return _smallest(lambda n: power_of(difference, sd, n, level) or 0.0, power)


def mcnemar_power(difference: float, discordant: float, n: int, level: float = 0.05) -> float:
    """Return the chance (0..1) that the exact McNemar test shows a difference of two shares of n questions.

    `difference`: of the shares of "yes", -1..1; `discordant`: share of questions where the systems disagree, from
    |difference| to 1. Up to 5,000 questions the sum over the number of discordant pairs, beyond the normal approximation.

    Source: S. W. Duffy, "Asymptotic and exact power for the McNemar test", Biometrics 40 (1984) 1005-1015.
    """
    discordant = max(discordant, abs(difference))
    if n < 1 or discordant <= 0:
        return 0.0
    if n > EXACT_UP_TO:
        z = normal_quantile(1 - level / 2) * math.sqrt(discordant)
        sd = math.sqrt(max(discordant - difference**2, 1e-300))
        shift = difference * math.sqrt(n)
        return NormalDist().cdf((shift - z) / sd) + NormalDist().cdf((-shift - z) / sd)
    share = (1 + difference / discordant) / 2  # of the discordant pairs that speak for the second system
    rejected = _rejection(share, n, level) + _rejection(1 - share, n, level)
    return min(1.0, float(_binomial(np.arange(n + 1), np.full(n + 1, n), discordant) @ rejected))


@lru_cache(maxsize=1024)
def mcnemar_detectable(discordant: float, n: int, power: float = 0.8, level: float = 0.05) -> float | None:
    """Return the smallest difference of shares that n questions show with this power (exact McNemar).

    `discordant`: share of questions where the systems disagree; a larger difference than that raises it. None where not
    even a difference on every question would be shown (fewer than 6 questions at the 5 % level).
    """
    if mcnemar_power(1.0, 1.0, n, level) < power:
        return None
    low, high = 0.0, 1.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (low, middle) if mcnemar_power(middle, discordant, n, level) >= power else (middle, high)
    return high


def mcnemar_pairs_needed(difference: float, discordant: float, power: float = 0.8, level: float = 0.05) -> int | None:
    """Return the number of questions that show this difference of shares with this power (exact McNemar).

    Power goes up in small steps forth and back with the number: this is one where it is reached. None where no number does: a
    difference of 0, or more than 10**9 questions.
    """
    if difference == 0:
        return None
    return _smallest(lambda n: mcnemar_power(difference, discordant, n, level), power)


def _smallest(power_at: Callable[[int], float], power: float) -> int | None:
    low, high = 1, 2
    while power_at(high) < power:
        if high == LARGEST:
            return None
        low, high = high, min(2 * high, LARGEST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_at(middle) >= power else (middle, high)
    return high


def _t_power(shift: float, freedom: int, level: float) -> float:
    """Return P(|T| > critical) of the noncentral t: the normal probability, averaged over the estimated sd."""
    critical = student_quantile(1 - level / 2, freedom)
    width = 1 / math.sqrt(2 * freedom)  # of the logarithm of (estimated sd / true sd)
    logs = np.linspace(-10 * width - 40 / freedom, 10 * width, 401)
    density = np.exp(freedom * (logs - np.expm1(2 * logs) / 2))
    cdf = NormalDist().cdf
    beyond = [cdf(shift - critical * s) + cdf(-shift - critical * s) for s in np.exp(logs).tolist()]
    return min(1.0, float(density @ beyond / density.sum()))


@lru_cache(maxsize=256)
def _detectable_shift(freedom: int, power: float, level: float) -> float:
    low, high = 0.0, 8.0
    while _t_power(high, freedom, level) < power:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if _t_power(middle, freedom, level) >= power else (middle, high)
    return high


def _rejection(share: float, n: int, level: float) -> Floats:
    """Return, for 0..n discordant pairs, the chance that so few speak for one side that the test rejects.

    With F(k, c) = P(Binomial(k, share) <= c): one more trial takes share * f(k, c) away, and where the critical
    value c rises, f of the new one comes to it; so all are one running sum.
    """
    critical = _critical_values(n, level)
    trials = np.arange(n + 1)
    here = _binomial(critical, trials, share)
    steps = np.where(np.diff(critical, prepend=-1) > 0, here, 0.0)
    steps[1:] -= share * here[:-1]
    return np.asarray(np.cumsum(steps).clip(0.0, 1.0))


def _binomial(successes: Ints, trials: Ints, share: float) -> Floats:
    """Return P(Binomial(trials, share) = successes), element by element; 0 where successes is -1."""
    factorials = _log_factorials(int(trials.max()))
    k = np.maximum(successes, 0)
    logs = factorials[trials] - factorials[k] - factorials[trials - k]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = (
            logs + np.where(k > 0, k * np.log(share), 0.0) + np.where(trials > k, (trials - k) * np.log1p(-share), 0.0)
        )
    return np.where(successes < 0, 0.0, np.exp(logs))


@lru_cache(maxsize=8)
def _log_factorials(n: int) -> Floats:
    return np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, n + 1)))))


@lru_cache(maxsize=8)
def _critical_values(n: int, level: float) -> Ints:
    """Return, for 0..n discordant pairs, the largest number on one side at which McNemar's test rejects; -1 for none."""
    critical = np.full(n + 1, -1)
    c, below, at = -1, 0.0, 0.0  # P(<= c) and P(= c) of Binomial(k, 1/2)
    for k in range(1, n + 1):
        below -= at / 2
        at = at * k / (k - c) / 2 if c >= 0 else 0.0
        following = at * (k - c) / (c + 1) if c >= 0 else 0.5**k
        if 2 * (below + following) <= level * (1 + 1e-12):
            c, below, at = c + 1, below + following, following
        critical[k] = c
    return critical
