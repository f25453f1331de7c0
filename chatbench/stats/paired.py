"""Two systems on the same questions: what differs, how surely, and what the number of questions can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from chatbench.errors import LengthError
from chatbench.stats.bootstrap import bca_interval, bca_intervals, symmetric_t_intervals
from chatbench.stats.clusters import Clusters, Floats, Ints
from chatbench.stats.intervals import Interval, mean, paired_shares_interval
from chatbench.stats.permutation import mcnemar, sign_flip
from chatbench.stats.power import flips_detectable, mcnemar_detectable
from chatbench.stats.spread import ROUNDING

IntervalKind = Literal["bootstrap-t", "bca"]


@dataclass(frozen=True)
class PairedResult:
    """One measure of two systems a and b, question by question; differences are b minus a.

    Means and difference are over the `n` questions scored in both, None for n = 0. `low`, `high`: interval of the difference, None where
    none can be given: fewer than 2 independent units, or differences that do not vary (except for yes/no). `p`: two-sided, None for n = 0.
    `effect`: Cohen's d_z, the mean difference in standard deviations of the differences, None where these do not vary.
    `higher`, `lower`, `ties`: questions where b is higher, lower, equal. `detectable`: the smallest true difference that as many
    questions show with 80 % power at the level 1 - confidence (before any correction); None where that is unknown, or no result could
    show it: at the 5 % level fewer than 6 independent units, or clusters so unequal that they count for fewer. `n_groups`: independent units, questions or
    clusters. `test`: the name of the test behind `p`, for people; empty without one.
    """

    n: int
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    effect: float | None
    higher: int
    lower: int
    ties: int
    detectable: float | None
    n_groups: int
    test: str


@dataclass(frozen=True)
class _Block:
    """The measures (rows) that were scored on the same questions (columns): they share resamples and flips."""

    a: Floats
    b: Floats
    scales: list[float]
    is_binary: list[bool]
    groups: Ints | None


@dataclass(frozen=True)
class _Method:
    """How intervals and tests are made."""

    confidence: float
    resamples: int
    seed: int
    interval: IntervalKind
    family: int

    @property
    def level(self) -> float:
        """The level of the tests."""
        return 1 - self.confidence


@dataclass(frozen=True)
class _Finding:
    """What a test and an interval say about one measure; lengths in the block's scale."""

    p: float
    test: str
    interval: Interval
    detectable: float | None


def compare_pairs(
    a: ArrayLike,
    b: ArrayLike,
    *,
    is_binary: Sequence[bool],
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    interval: IntervalKind = "bootstrap-t",
    family: int = 1,
) -> list[PairedResult]:
    """Compare two systems question by question; one result per measure, which depends on no other measure.

    `a`, `b`: (n questions, m measures), NaN where a question has no score, rows in a fixed order (sort by question id); a question
    counts for a measure when both have scored it. `is_binary`: m bools, True for yes/no (1/0) with one attempt per question.
    `groups`: (n,) numbers of the clusters that questions belong to, e.g. their source document; None: each on its own.

    Yes/no without clusters: McNemar's exact test and Bonett and Price's interval. Everything else: flips of the signs of the cluster
    sums, and the symmetric bootstrap-t interval of whole clusters (Student's where fewer than 8 differ). `interval="bca"` gives the BCa
    bootstrap for all measures, as other packages do; with few questions, ties or long tails it is too short (benchmarks/README.md).
    `family`: number of p values that will be corrected together at 1 - confidence; p of random flips is made fine enough for it.
    Raises LengthError where the shapes do not fit together.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    numbers = None if groups is None else np.asarray(groups, dtype=np.int64)
    _check(first, second, is_binary, numbers)
    how = _Method(confidence, resamples, seed, interval, family)
    results: dict[int, PairedResult] = {}
    for scored, columns in _same_questions(first, second):
        ours, theirs = (array[scored][:, columns].T.copy() for array in (first, second))
        own = None if numbers is None else numbers[scored]
        block = _block(ours, theirs, [is_binary[j] for j in columns], own)
        results |= zip(columns, _compare(block, how), strict=True)
    return [results[j] for j in range(first.shape[1])]


def _check(a: Floats, b: Floats, is_binary: Sequence[bool], groups: Ints | None) -> None:
    if a.ndim != 2 or a.shape != b.shape:
        raise LengthError(f"a and b must be (questions, measures) of one shape, got {a.shape} and {b.shape}")
    if len(is_binary) != a.shape[1]:
        raise LengthError(f"is_binary has {len(is_binary)} entries for {a.shape[1]} measures; give one per measure")
    if groups is not None and groups.shape != a.shape[:1]:
        raise LengthError(f"groups has shape {groups.shape} for {len(a)} questions; give one number per question")


def _same_questions(a: Floats, b: Floats) -> list[tuple[Ints, list[int]]]:
    """Return (rows, measures) for each set of questions that measures share."""
    scored = ~(np.isnan(a) | np.isnan(b))
    found: dict[bytes, tuple[Ints, list[int]]] = {}
    for j in range(scored.shape[1]):
        rows = np.flatnonzero(scored[:, j])
        found.setdefault(rows.tobytes(), (rows, []))[1].append(j)
    return list(found.values())


def _block(a: Floats, b: Floats, is_binary: list[bool], groups: Ints | None) -> _Block:
    """Scale each measure by a power of two, which changes no digit, so that squares of large or tiny numbers stay finite."""
    largest = np.maximum(np.abs(a), np.abs(b)).max(axis=1, initial=0.0)
    scales = [float(np.ldexp(1.0, int(power) - 1)) for power in np.frexp(np.where(largest > 0, largest, 1.0))[1]]
    by = np.array(scales)[:, None]
    return _Block(a / by, b / by, scales, is_binary, groups)


def _compare(block: _Block, how: _Method) -> list[PairedResult]:
    if not block.a.shape[1]:
        empty = PairedResult(0, None, None, None, None, None, None, None, 0, 0, 0, None, 0, "")
        return [empty] * len(block.scales)
    differences = block.b - block.a
    differences[np.abs(differences) <= ROUNDING] = 0.0
    clusters = Clusters.of(differences, block.groups)
    clusters.sums[np.abs(clusters.sums) <= ROUNDING * clusters.sizes] = 0.0
    others = [j for j, binary in enumerate(block.is_binary) if not binary or block.groups is not None]
    numbers = _numbers(Clusters(clusters.sums[others], clusters.sizes), how)
    found = dict(zip(others, numbers, strict=True))
    return [
        _result(block, j, row, found[j] if j in found else _yes_no(row, how), len(clusters))
        for j, row in enumerate(differences)
    ]


def _yes_no(differences: Floats, how: _Method) -> _Finding:
    n, higher, lower = len(differences), int((differences > 0).sum()), int((differences < 0).sum())
    if how.interval == "bca":
        interval = bca_interval(differences, confidence=how.confidence, resamples=how.resamples, seed=how.seed)
    else:
        interval = paired_shares_interval(higher, lower, n, how.confidence)
    return _Finding(
        mcnemar(higher, lower), "McNemar exact", interval, mcnemar_detectable((higher + lower) / n, n, level=how.level)
    )


def _numbers(clusters: Clusters, how: _Method) -> list[_Finding]:
    errors = _errors(clusters)
    varying = np.flatnonzero(errors)
    some = Clusters(clusters.sums[varying], clusters.sizes)
    intervals_of = bca_intervals if how.interval == "bca" else symmetric_t_intervals
    given = intervals_of(some, how.confidence, how.resamples, how.seed)
    intervals = dict(zip(varying.tolist(), given, strict=True))
    tests = sign_flip(clusters.sums, how.resamples, how.seed, family=how.family, level=how.level)
    smallest = flips_detectable(errors, clusters.sizes, level=how.level)
    return [
        _Finding(p, test, intervals.get(j), detectable)
        for j, ((p, test), detectable) in enumerate(zip(tests, smallest, strict=True))
    ]


def _errors(clusters: Clusters) -> Floats:
    """Return the standard error of each mean difference; 0 where there is no spread between clusters."""
    if len(clusters) < 2:
        return np.zeros(len(clusters.sums))
    varies = np.abs(clusters.residuals).max(axis=1) > ROUNDING * clusters.sizes.max()
    return np.where(varies, clusters.jackknife_errors(), 0.0)


def _result(block: _Block, j: int, differences: Floats, found: _Finding, n_groups: int) -> PairedResult:
    scale, n = block.scales[j], len(differences)
    difference = mean(differences.tolist())
    higher, lower = int((differences > 0).sum()), int((differences < 0).sum())
    varies = n > 1 and float(np.ptp(differences)) > ROUNDING
    low, high = found.interval or (None, None)
    return PairedResult(
        n=n,
        mean_a=mean(block.a[j].tolist()) * scale,
        mean_b=mean(block.b[j].tolist()) * scale,
        difference=difference * scale,
        low=None if low is None else low * scale,
        high=None if high is None else high * scale,
        p=found.p,
        effect=difference / float(differences.std(ddof=1)) if varies else None,
        higher=higher,
        lower=lower,
        ties=n - higher - lower,
        detectable=None if found.detectable is None else found.detectable * scale,
        n_groups=n_groups,
        test=found.test,
    )
