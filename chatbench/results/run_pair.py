"""Two runs side by side: what one measure says about them, and how that is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from chatbench.core.case import Case
from chatbench.core.common_questions import CommonQuestions
from chatbench.core.measure import Measure
from chatbench.core.question_means import Floats
from chatbench.core.run import Run
from chatbench.stats.corrections import holm
from chatbench.stats.paired import IntervalKind, PairedResult, compare_pairs

Clusters = NDArray[np.integer[Any]]
Verdict = Literal["better", "worse", "different", "no difference shown", "not comparable"]


@dataclass(frozen=True)
class Settings:
    """How a comparison was made: level of its intervals and tests, resamples, seed, what clusters, which questions, which interval."""

    confidence: float = 0.95
    resamples: int = 10_000
    seed: int = 0
    cluster: str | None = None
    where: str | None = None
    interval: IntervalKind = "bootstrap-t"


@dataclass(frozen=True)
class ComparedMeasure:
    """One measure of two runs: the numbers, and what they say after the correction for several comparisons."""

    name: str
    key: str
    measure: Measure
    is_binary: bool
    result: PairedResult
    p_adjusted: float | None
    verdict: Verdict
    n_left_out: int

    @property
    def wins_losses_ties(self) -> tuple[int, int, int]:
        """Questions on which the second run is better, worse, equal; higher is better where no direction is declared."""
        r = self.result
        return (r.lower, r.higher, r.ties) if self.measure.better == "lower" else (r.higher, r.lower, r.ties)


@dataclass(frozen=True, eq=False)
class RunPair:
    """The baseline and one other run over their common questions; `a` and `b` have a row per question, a column per measure.

    The labels are the names, with ids behind them where several runs of a comparison have one name.
    """

    baseline: Run
    run: Run
    baseline_label: str
    label: str
    questions: CommonQuestions
    cases: Sequence[Case]
    a: Floats
    b: Floats
    measures: Sequence[ComparedMeasure]
    groups: Clusters | None
    not_compared: Mapping[str, str]
    notes: Sequence[str] = ()


def compare_columns(
    named: Sequence[tuple[str, str, Measure, bool]],
    a: Floats,
    b: Floats,
    groups: Clusters | None,
    how: Settings,
    family: int,
) -> list[ComparedMeasure]:
    """Compare two matrices, a row per question and a column per measure; `named` has name, metric, measure, and whether each
    question has one yes or no; `family` is the number of p values that are corrected together. The verdicts are still open: `judged`
    gives them."""
    results = compare_pairs(
        a,
        b,
        is_binary=[is_binary for *_, is_binary in named],
        groups=groups,
        confidence=how.confidence,
        resamples=how.resamples,
        seed=how.seed,
        interval=how.interval,
        family=family,
    )
    return [
        ComparedMeasure(name, key, measure, is_binary, result, None, "not comparable", len(a) - result.n)
        for (name, key, measure, is_binary), result in zip(named, results, strict=True)
    ]


def judged(compared: Sequence[ComparedMeasure], how: Settings) -> list[ComparedMeasure]:
    """Correct the p values over all that is given here, and say what each measure shows."""
    corrected = holm([c.result.p for c in compared])
    return [
        replace(c, p_adjusted=p, verdict=_verdict(c, p, 1 - how.confidence))
        for c, p in zip(compared, corrected, strict=True)
    ]


def _verdict(compared: ComparedMeasure, p: float | None, level: float) -> Verdict:
    difference = compared.result.difference
    if p is None or difference is None:
        return "not comparable"
    if p >= level or difference == 0:
        return "no difference shown"
    if compared.measure.better is None:
        return "different"
    return "better" if (difference > 0) == (compared.measure.better == "higher") else "worse"
