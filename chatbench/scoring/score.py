"""The one loop that scores: metrics and samples in, columns out. A failure is a row with a reason, never a lost run."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import platform
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from chatbench.core.jsonable import clean_text, to_json_value
from chatbench.core.measure import Measure
from chatbench.core.response import Sample
from chatbench.core.scores import Scoring, summarise
from chatbench.errors import MetricOutputError, Missing, MissingDependencyError
from chatbench.scoring.context import Context
from chatbench.scoring.loop_thread import run_async
from chatbench.scoring.metric import METHODS, Evaluation, Metric
from chatbench.scoring.progress import Progress, no_progress
from chatbench.scoring.redact import redact

CONCURRENCY = 16
"""Coroutines of one asynchronous metric that are under way at once. Synchronous metrics know no limit."""

Cells = dict[str, Any]


def score(
    samples: Sequence[Sample],
    metrics: Iterable[Metric],
    context: Context | None = None,
    progress: Progress = no_progress,
) -> list[Scoring]:
    """Return one `Scoring` per metric, each with one entry per sample in the given order.

    What a metric raises for a sample is that entry's error; what it raises for all of them costs no other metric.
    """
    return [score_one(samples, metric, context or Context(), progress) for metric in metrics]


def score_one(samples: Sequence[Sample], metric: Metric, context: Context, progress: Progress = no_progress) -> Scoring:
    """Return the scoring of one metric (see `score`)."""
    started = time.perf_counter()
    columns = _Columns(metric.measures, len(samples))
    method_name, call = _bound_method(metric, context)
    fatal = None
    try:
        if method_name == "score_batch":
            _score_in_batches(call, samples, columns)
        elif inspect.iscoroutinefunction(getattr(metric, method_name)):
            run_async(_score_concurrently(call, samples, columns, progress, repr(metric)))
        else:
            for i, sample in enumerate(progress(samples, repr(metric))):
                try:
                    columns.put(i, call(sample))
                except Exception as error:
                    columns.fail(i, error)
    except Exception as error:  # nothing can be scored: a missing model, columns of the wrong length
        fatal = error_text(error)
        columns.fail_rest(error)
    scoring = Scoring(
        metric=metric.name,
        table=metric.table,
        label=metric.label,
        signature=metric.signature,
        code_hash=metric.code_hash(),
        measures=metric.measures,
        case_ids=[s.case.id for s in samples],
        attempts=[s.response.attempt for s in samples],
        values=columns.values,
        errors=columns.errors,
        missing=columns.missing,
        versions=_versions(metric),
        model=getattr(metric, "model", None),
        seconds=time.perf_counter() - started,
        error=fatal,
    )
    return dataclasses.replace(scoring, summaries=summarise(scoring))


def error_text(error: BaseException) -> str:
    """Return type and text of an exception, without secrets and without characters that no database keeps."""
    return clean_text(redact(f"{type(error).__name__}: {error}"))[:2000]


def _bound_method(metric: Metric, context: Context) -> tuple[str, Callable[[Any], Any]]:
    name = next(m for m in METHODS if getattr(metric, m, None) is not None)
    method = getattr(metric, name)
    if len(inspect.signature(method).parameters) > 1:
        return name, lambda given: method(given, context)
    return name, method


async def _score_concurrently(
    call: Callable[[Sample], Awaitable[Any]],
    samples: Sequence[Sample],
    columns: _Columns,
    progress: Progress,
    title: str,
) -> None:
    ticks: Iterator[Any] = iter(progress(samples, title))
    waiting = iter(enumerate(samples))

    async def work() -> None:
        for i, sample in waiting:
            try:
                columns.put(i, await call(sample))
            except Exception as error:
                columns.fail(i, error)
            next(ticks, None)

    await asyncio.gather(*(work() for _ in range(min(CONCURRENCY, len(samples)))))
    next(ticks, None)


def _score_in_batches(call: Callable[[Sequence[Sample]], Any], samples: Sequence[Sample], columns: _Columns) -> None:
    """Score all samples at once; after an exception halve the batch, so that only the failing samples are lost."""
    batches = [range(len(samples))] if samples else []
    while batches:
        places = batches.pop()
        try:
            given = call([samples[i] for i in places])
            if inspect.isawaitable(given):
                given = run_async(_awaited(given))
        except (MissingDependencyError, MetricOutputError):
            raise
        except Exception as error:
            if len(places) == 1:
                columns.fail(places[0], error)
            else:
                middle = len(places) // 2
                batches += [places[middle:], places[:middle]]
            continue
        columns.put_columns(places, given)


async def _awaited(given: Awaitable[Any]) -> Any:
    return await given


class _Columns:
    """The entries of one scoring while it is filled: values by measure, errors, reasons."""

    def __init__(self, measures: Sequence[Measure], n: int) -> None:
        self.measures = measures
        self.names = [m.name for m in measures]
        self.values: dict[str, list[Any]] = {name: [None] * n for name in self.names}
        self.errors: list[str | None] = [None] * n
        self.missing: list[dict[str, str] | None] = [None] * n
        self._open = set(range(n))

    def put(self, i: int, given: Any) -> None:
        """Enter what a metric returned for sample `i`."""
        self._open.discard(i)
        if isinstance(given, Evaluation):
            given = {
                "score": given.score,
                "passed": given.passed,
                "reasoning": given.reasoning,
                "details": dict(given.details),
            }
        if given is None or isinstance(given, Missing):
            reason = given.reason if isinstance(given, Missing) else "the metric returned None"
            self.missing[i] = dict.fromkeys(self.names, reason)
        elif isinstance(given, Mapping):
            self._put_row(i, given)
        elif len(self.names) == 1:
            self._put_cell(i, self.measures[0], given)
        else:
            raise MetricOutputError(
                f"one value {given!r} was returned, but {len(self.names)} measures are declared: {', '.join(self.names)}. Return a dict."
            )

    def _put_row(self, i: int, row: Mapping[str, Any]) -> None:
        unknown = [str(k) for k in row if k not in self.values]
        if unknown:
            raise MetricOutputError(
                f"undeclared {', '.join(map(repr, unknown))} returned; declared are {', '.join(self.names)}. Add a Measure."
            )
        for measure in self.measures:
            self._put_cell(i, measure, row.get(measure.name, _LEFT_OUT))

    def _put_cell(self, i: int, measure: Measure, value: Any) -> None:
        if value is None:
            value = Missing("the metric returned None")
        if isinstance(value, Missing):
            self._miss(i, measure.name, value.reason)
            return
        if (isinstance(value, float) and value != value) or value in _INFINITE:
            self._miss(i, measure.name, f"the metric returned {value}, which is no score")
            return
        if isinstance(value, BaseException):
            self.errors[i] = error_text(value)
            return
        checked = measure.check(value)
        if measure.type is str:
            checked = clean_text(checked)
        elif measure.type is dict:
            checked = to_json_value(checked, measure.name)
        self.values[measure.name][i] = checked

    def _miss(self, i: int, name: str, reason: str) -> None:
        reasons = self.missing[i]
        if reasons is None:
            reasons = self.missing[i] = {}
        reasons[name] = clean_text(reason)

    def fail(self, i: int, error: BaseException) -> None:
        """Enter an exception for sample `i`: an error, or a reason where it is `Missing`."""
        self._open.discard(i)
        for name in self.names:
            self.values[name][i] = None
        if isinstance(error, Missing):
            self.missing[i] = dict.fromkeys(self.names, clean_text(error.reason))
        else:
            self.missing[i] = None
            self.errors[i] = error_text(error)

    def fail_rest(self, error: BaseException) -> None:
        """Enter an exception for every sample that has no entry yet."""
        for i in list(self._open):
            self.fail(i, error)

    def put_columns(self, places: Sequence[int], given: Any) -> None:
        """Enter the columns that `score_batch` returned for the samples at `places`."""
        if not hasattr(given, "items"):
            if len(self.names) != 1:
                raise MetricOutputError(
                    f"one column was returned, but {len(self.names)} measures are declared: {', '.join(self.names)}. Return a dict of columns."
                )
            given = {self.names[0]: given}
        columns = {str(name): _column(name, column) for name, column in given.items()}
        unknown = [name for name in columns if name not in self.values]
        if unknown:
            raise MetricOutputError(
                f"undeclared columns {', '.join(map(repr, unknown))} returned; declared are {', '.join(self.names)}. Add a Measure."
            )
        for name, column in columns.items():
            if len(column) != len(places):
                raise MetricOutputError(
                    f"column {name!r} has {len(column)} entries for {len(places)} samples; one per sample is due."
                )
        for k, i in enumerate(places):
            try:
                self.put(i, {name: column[k] for name, column in columns.items()})
            except Exception as error:
                self.fail(i, error)


_LEFT_OUT = Missing("the metric gave no value for this measure")
_INFINITE = (float("inf"), float("-inf"))


def _column(name: Any, column: Any) -> list[Any]:
    if isinstance(column, str | bytes | Mapping) or not isinstance(column, Iterable):
        raise MetricOutputError(
            f"column {name!r} is a {type(column).__name__}; a list with one entry per sample is due."
        )
    return column.tolist() if hasattr(column, "tolist") else list(column)


def _versions(metric: Metric) -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in ("chatbench", *metric.packages):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
