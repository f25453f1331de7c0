"""Do the intervals and tests of a comparison hold what they say? Simulated comparisons whose truth is known.

    python benchmarks/simulations.py [--quick]

Coverage: how often the 95 % interval holds the true difference, without one and with one. False alarms: how often p < 5 % without a
true difference. Power: predicted and simulated. The standard error of a coverage is 0.2 points for n = 20 (10,000), 0.3 for
n = 100 (4,000), 0.5 beyond (2,000); of a power 0.5, 0.7 and 1.3.
Simulated comparisons go through `compare_pairs` as measures, 50 to a call, each call with other resamples (2,000, a fifth of a
comparison's). About five minutes on one core; with --quick every tenth simulation.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from chatbench.stats.paired import PairedResult, compare_pairs
from chatbench.stats.permutation import mcnemar
from chatbench.stats.power import mcnemar_power, power_of

Arrays = tuple[np.ndarray, np.ndarray]
PER_CALL = 50
RESAMPLES = 2_000
CLUSTER = 10
SIZES = {20: 10_000, 100: 4_000, 1_000: 2_000}
"""Questions, and how many comparisons are simulated for each truth."""
POWER_SIZES = {20: 8_000, 100: 4_000, 1_000: 1_000}


def yes_no(share: float) -> Callable[..., Arrays]:
    """Two systems that disagree on this share of the questions."""

    def draw(rng: np.random.Generator, shape: tuple[int, int], difference: float, _: np.ndarray) -> Arrays:
        u = rng.uniform(size=shape)
        only_b = u < (share + difference) / 2
        only_a = ~only_b & (u < share)
        both = ~only_a & ~only_b & (rng.uniform(size=shape) < 0.6)
        return (only_a | both).astype(float), (only_b | both).astype(float)

    return draw


def normal(rng: np.random.Generator, shape: tuple[int, int], difference: float, _: np.ndarray) -> Arrays:
    """Normal scores, the two systems' correlated 0.5."""
    question = rng.normal(size=shape)
    return question + rng.normal(size=shape), question + rng.normal(size=shape) + difference


def exponential(rng: np.random.Generator, shape: tuple[int, int], difference: float, _: np.ndarray) -> Arrays:
    """Exponential scores, correlated 0.5 (half the sums of two squares of normal numbers); the second system's are multiplied."""
    z = rng.normal(size=(2, *shape))
    y = np.sqrt(0.5) * (z + rng.normal(size=z.shape))
    return (z**2).sum(axis=0) / 2, (1 + difference) * (y**2).sum(axis=0) / 2


def log_normal(rng: np.random.Generator, shape: tuple[int, int], difference: float, _: np.ndarray) -> Arrays:
    """Log-normal scores (sigma = 1, very long tail), correlated 0.5; the second system's are multiplied."""
    z = rng.normal(size=shape)
    y = 0.62 * z + np.sqrt(1 - 0.62**2) * rng.normal(size=shape)
    return np.exp(z - 0.5), (1 + difference) * np.exp(y - 0.5)


def ties(share: float) -> Callable[..., Arrays]:
    """Normal scores; on this share of the questions both systems do the same."""

    def draw(rng: np.random.Generator, shape: tuple[int, int], difference: float, _: np.ndarray) -> Arrays:
        a, b = normal(rng, shape, difference / (1 - share), _)
        return a, np.where(rng.uniform(size=shape) < share, a, b)

    return draw


def repeats(rng: np.random.Generator, shape: tuple[int, int], difference: float, _: np.ndarray) -> Arrays:
    """Five yes/no attempts per question, averaged; questions are of different difficulty."""
    share = rng.uniform(0.1, 0.8, size=shape)
    return rng.binomial(5, share) / 5, rng.binomial(5, share + difference) / 5


def skewed(rng: np.random.Generator, shape: tuple[int, int], difference: float, _: np.ndarray) -> Arrays:
    """Differences that are skewed themselves: most questions a little worse, a few much better (exponential)."""
    a = rng.normal(size=shape)
    return a, a + rng.exponential(size=shape) - 1 + difference


def clustered(rng: np.random.Generator, shape: tuple[int, int], difference: float, groups: np.ndarray) -> Arrays:
    """Normal scores; the difference varies between clusters (a third of its variance)."""
    a, b = normal(rng, shape, difference, groups)
    return a, b + rng.normal(size=(groups[-1] + 1, shape[1]))[groups]


def tens(_: np.random.Generator, n: int) -> np.ndarray:
    """Clusters of ten questions."""
    return np.arange(n) // CLUSTER


def uneven(rng: np.random.Generator, n: int) -> np.ndarray:
    """Clusters of one to many questions, ten in the mean (geometric)."""
    return np.cumsum(rng.uniform(size=n) < 1 / CLUSTER)


@dataclass(frozen=True)
class Scenario:
    """How scores are drawn, the true difference of the second column, and what the comparison is told."""

    name: str
    draw: Callable[..., Arrays]
    difference: float
    is_binary: bool = False
    group: Callable[[np.random.Generator, int], np.ndarray] | None = None
    knows_groups: bool = True
    sizes: tuple[int, ...] = tuple(SIZES)


SCENARIOS = (
    Scenario("yes/no, 30 % differ", yes_no(0.3), 0.1, is_binary=True),
    Scenario("yes/no, 10 % differ", yes_no(0.1), 0.05, is_binary=True),
    Scenario("normal", normal, 0.3),
    Scenario("exponential", exponential, 0.3),
    Scenario("log-normal", log_normal, 0.3),
    Scenario("half ties", ties(0.5), 0.3),
    Scenario("95 % ties", ties(0.95), 0.03, sizes=(100, 1_000)),
    Scenario("5 repeats averaged", repeats, 0.1),
    Scenario("skewed differences", skewed, 0.3),
    Scenario("clusters of 10", clustered, 0.3, group=tens, sizes=(20, 50, 100, 200, 1_000)),
    Scenario("clusters of 10 in the mean", clustered, 0.3, group=uneven, sizes=(50, 100, 200, 1_000)),
    Scenario("clusters of 10, ignored", clustered, 0.3, group=tens, knows_groups=False),
)


def simulate(scenario: Scenario, n: int, difference: float, count: int) -> Iterator[PairedResult]:
    """Yield the results of simulated comparisons of n questions."""
    rng = np.random.default_rng([n, round(difference * 1000), *map(ord, scenario.name)])
    for start in range(0, count, PER_CALL):
        groups = scenario.group(rng, n) if scenario.group else np.arange(n)
        a, b = scenario.draw(rng, (n, PER_CALL), difference, groups)
        known = groups if scenario.group and scenario.knows_groups else None
        yield from compare_pairs(
            a, b, is_binary=[scenario.is_binary] * PER_CALL, groups=known, resamples=RESAMPLES, seed=start
        )


def coverage(results: list[PairedResult], truth: float) -> tuple[float, float]:
    """Return (share of the intervals that hold the truth, share of comparisons without an interval)."""
    given = [r for r in results if r.low is not None]
    return sum(r.low <= truth <= r.high for r in given) / max(1, len(given)), 1 - len(given) / len(results)


def mid_p(result: PairedResult) -> float:
    """McNemar's p with only half of the chance of what was seen: not exact, but less careful."""
    k, m = result.higher + result.lower, min(result.higher, result.lower)
    return mcnemar(result.higher, result.lower) - comb(k, m) / 2**k if result.higher != result.lower else 1.0


def show_scenario(scenario: Scenario, n: int, count: int) -> None:
    """Print one line: coverage and false alarms."""
    without = list(simulate(scenario, n, 0.0, count))
    with_one = list(simulate(scenario, n, scenario.difference, count))
    (at_zero, none), (at_difference, none_too) = coverage(without, 0.0), coverage(with_one, scenario.difference)
    alarms = sum(r.p < 0.05 for r in without) / count
    notes = []
    if max(none, none_too):
        notes.append(f"no interval for {none:.1%} / {none_too:.1%}")
    if scenario.is_binary:
        notes.append(f"mid-p: {sum(mid_p(r) < 0.05 for r in without) / count:.1%} false alarms")
    print(f"{scenario.name:28}{n:6}{at_zero:10.1%}{at_difference:12.1%}{alarms:14.1%}  {'; '.join(notes)}", flush=True)


def show_power(scenario: Scenario, n: int, difference: float, count: int) -> None:
    """Print one line: predicted power beside the share of simulated comparisons with p < 5 %."""
    seen = sum(r.p < 0.05 for r in simulate(scenario, n, difference, count)) / count
    one = np.zeros(CLUSTER, dtype=int) if scenario.group else np.arange(CLUSTER)
    a, b = scenario.draw(np.random.default_rng(1), (CLUSTER, 100_000), difference, one)
    if scenario.is_binary:
        predicted = mcnemar_power(difference, float((a != b).mean()), n)
    elif scenario.group:
        predicted = power_of(difference, float((b - a).mean(axis=0).std()), n // CLUSTER) or 0.0
    else:
        predicted = power_of(difference, float((b - a).std()), n) or 0.0
    print(f"{scenario.name:28}{n:6}{difference:10.3f}{predicted:12.1%}{seen:14.1%}", flush=True)


POWER = {
    "yes/no, 30 % differ": {20: 0.3, 100: 0.15, 1_000: 0.05},
    "yes/no, 10 % differ": {100: 0.09, 1_000: 0.025},
    "normal": {20: 0.9, 100: 0.4, 1_000: 0.12},
    "exponential": {20: 0.9, 100: 0.3, 1_000: 0.09},
    "half ties": {20: 0.7, 100: 0.28, 1_000: 0.09},
    "5 repeats averaged": {20: 0.18, 100: 0.07, 1_000: 0.025},
    "clusters of 10": {100: 1.0, 200: 0.7, 1_000: 0.3},
}
"""True differences whose power is of interest."""


def main(fraction: int) -> None:
    """Print both tables."""
    print(f"{'scores':28}{'n':>6}{'coverage':>10}{'with diff.':>12}{'false alarms':>14}")
    for scenario in SCENARIOS:
        for n in scenario.sizes:
            show_scenario(scenario, n, SIZES.get(n, 2_000) // fraction)
    print(f"\n{'power':28}{'n':>6}{'diff.':>10}{'predicted':>12}{'simulated':>14}")
    for scenario in SCENARIOS:
        for n, difference in POWER.get(scenario.name, {}).items():
            show_power(scenario, n, difference, POWER_SIZES.get(n, 2_000) // fraction)


if __name__ == "__main__":
    main(10 if "--quick" in sys.argv else 1)
