"""The columns that one metric gave for one run, and their summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from chatbench.core.measure import Measure
from chatbench.stats.intervals import mean, student_interval, wilson_interval


@dataclass(frozen=True)
class Summary:
    """Mean of one measure over the questions, its 95 % interval (None for n < 2), and what it rests on.

    `n_scored`, `n_errors` and `n_missing` count attempts and add up to the attempts of the run; they are None for a
    measure of the whole run, whose mean is its value.
    """

    measure: str
    mean: float | None
    low: float | None
    high: float | None
    n_scored: int | None
    n_errors: int | None
    n_missing: int | None


@dataclass(frozen=True)
class Scoring:
    """One metric with its parameters, applied to one run at one time: columns, one entry per attempt.

    `values[measure][i]` belongs to case `case_ids[i]`, attempt `attempts[i]`; None is NULL, and then either
    `errors[i]` (type and text of what was raised) or `missing[i][measure]` (a reason) says why.
    `run_values` holds the single numbers of the whole run that a function metric returned; `error` is what kept the
    whole metric from scoring.
    """

    metric: str
    table: str
    label: str
    signature: str
    code_hash: str
    measures: tuple[Measure, ...]
    case_ids: Sequence[str]
    attempts: Sequence[int]
    values: Mapping[str, Sequence[Any]]
    errors: Sequence[str | None]
    missing: Sequence[Mapping[str, str] | None]
    run_values: Mapping[str, float] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None
    prompt_hash: str | None = None
    seconds: float | None = None
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    summaries: tuple[Summary, ...] = ()
    error: str | None = None

    def __len__(self) -> int:
        return len(self.case_ids)

    @property
    def columns(self) -> tuple[Measure, ...]:
        """The measures that have an entry per attempt."""
        return tuple(m for m in self.measures if not m.of_run)

    @property
    def key(self) -> str:
        """Name under which a person finds it: `LexicalMetrics` or `Retrieval(k=3)`."""
        return self.label or self.metric


def summarise(scoring: Scoring) -> tuple[Summary, ...]:
    """Return one summary per numeric measure; of a metric without any, one per column, for its counts.

    Attempts are averaged within a question first, then the questions. The interval is Wilson's for a yes/no
    measure with one attempt per question, else Student's t over the question means.
    """
    return tuple(
        Summary(m.name, scoring.run_values.get(m.name), None, None, None, None, None)
        if m.of_run
        else _summary(scoring, m)
        for m in scoring.measures
        if m.is_number or not any(other.is_number for other in scoring.measures)
    )


def reason_of(scoring: Scoring, i: int, measure: str) -> tuple[str, str]:
    """Return why entry `i` of a measure is NULL: ("error" or "missing", the text)."""
    reasons = scoring.missing[i] or {}
    if measure in reasons:
        return "missing", reasons[measure]
    error = scoring.errors[i]
    return ("missing", "not measured by this version of the metric") if error is None else ("error", error)


def _summary(scoring: Scoring, measure: Measure) -> Summary:
    column = scoring.values[measure.name]
    counts = {"error": 0, "missing": 0}
    for i, value in enumerate(column):
        if value is None:
            counts[reason_of(scoring, i, measure.name)[0]] += 1
    n_scored = len(column) - sum(counts.values())
    means = _question_means(scoring.case_ids, column) if measure.is_number else []
    if not means:
        return Summary(measure.name, None, None, None, n_scored, counts["error"], counts["missing"])
    if measure.type is bool and n_scored == len(means):
        interval = wilson_interval(sum(map(bool, means)), len(means))
    else:
        interval = student_interval(means)
    low, high = interval or (None, None)
    return Summary(measure.name, mean(means), low, high, n_scored, counts["error"], counts["missing"])


def _question_means(case_ids: Sequence[str], column: Sequence[Any]) -> list[float]:
    """Return the mean of each question that has a score, its attempts averaged."""
    if len(set(case_ids)) == len(case_ids):
        return [value for value in column if value is not None]
    questions: dict[str, list[float]] = {}
    for case_id, value in zip(case_ids, column, strict=True):
        if value is not None:
            questions.setdefault(case_id, []).append(value)
    return [mean(values) for values in questions.values()]
