"""One number per question: what comparisons, slices and power rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatbench.core.measure import Measure

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class QuestionMeans:
    """One measure of one scoring with its attempts averaged within each question.

    `means[i]` belongs to `case_ids[i]`, sorted by id; NaN where no attempt was scored. `attempts` is the largest number
    of attempts at one question. `key` is the metric as it is shown, `signature` has all its parameters.
    """

    table: str
    key: str
    label: str
    signature: str
    code_hash: str
    measure: Measure
    case_ids: Sequence[str]
    means: Floats
    n_scored: int
    attempts: int

    @property
    def name(self) -> str:
        """`<table>_<measure>`."""
        return f"{self.table}_{self.measure.name}"

    @property
    def is_binary(self) -> bool:
        """Whether each question has one yes or no."""
        return self.measure.type is bool and self.attempts == 1


def average_attempts(
    case_ids: Sequence[str], columns: Mapping[str, Floats]
) -> tuple[list[str], dict[str, Floats], int]:
    """Return the questions' ids, sorted; the mean of each column per question (NaN: not scored); the most attempts at one question."""
    ids, codes, counts = np.unique(np.asarray(case_ids, dtype=object), return_inverse=True, return_counts=True)
    means = {name: _mean_by(codes, column, len(ids)) for name, column in columns.items()}
    return ids.tolist(), means, int(counts.max(initial=0))


def _mean_by(codes: NDArray[Any], column: Floats, n: int) -> Floats:
    scored = ~np.isnan(column)
    sums = np.bincount(codes[scored], weights=column[scored], minlength=n)
    counts = np.bincount(codes[scored], minlength=n)
    with np.errstate(invalid="ignore"):
        means: Floats = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return means
