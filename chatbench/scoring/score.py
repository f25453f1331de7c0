"""The one loop that scores: metrics and samples in, columns out. A failure is a row with a reason, never a lost run."""

from __future__ import annotations

import dataclasses
import inspect
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any

from chatbench.core.measure import Measure
from chatbench.core.response import Sample
from chatbench.core.scores import Scoring, summarise
from chatbench.core.versions import package_versions
from chatbench.errors import MetricOutputError, Missing, MissingDependencyError
from chatbench.scoring.columns import Columns, error_text
from chatbench.scoring.context import Context
from chatbench.scoring.functions import (
    FunctionMetric,
    call_argument,
    columns_of_frame,
    columns_of_results,
    data_argument,
)
from chatbench.scoring.loop_thread import run_async
from chatbench.scoring.metric import METHODS, Metric
from chatbench.scoring.progress import Progress, no_progress

CONCURRENCY = 16
"""Coroutines of one asynchronous metric that are under way at once. Synchronous metrics know no limit."""

AnyMetric = Metric | FunctionMetric


def score(
    samples: Sequence[Sample],
    metrics: Iterable[AnyMetric],
    context: Context | None = None,
    progress: Progress = no_progress,
) -> list[Scoring]:
    """Return one `Scoring` per metric, each with one entry per sample in the given order.

    What a metric raises for a sample is that entry's error; what it raises for all of them costs no other metric.
    """
    return [score_one(samples, metric, context or Context(), progress) for metric in metrics]


def score_one(
    samples: Sequence[Sample], metric: AnyMetric, context: Context, progress: Progress = no_progress
) -> Scoring:
    """Return the scoring of one metric (see `score`)."""
    started = time.perf_counter()
    run_values: dict[str, float] = {}
    fatal = None
    try:
        columns, run_values = _run(samples, metric, context, progress)
    except _NothingScoredError as error:  # a missing model, columns of the wrong length: what was scored before stays
        columns, fatal = error.columns, error_text(error.reason)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a function of all questions at once may end with SystemExit too
        columns = Columns(_measures_without_result(metric), len(samples))
        columns.fail_rest(error)
        fatal = error_text(error)
    model = metric.parameters.get("model") if isinstance(metric, Metric) else None
    scoring = Scoring(
        metric=metric.name,
        table=metric.table,
        label=metric.label,
        signature=metric.signature,
        code_hash=metric.code_hash(),
        measures=tuple(columns.measures),
        case_ids=[s.case.id for s in samples],
        attempts=[s.response.attempt for s in samples],
        values=columns.values,
        errors=columns.errors,
        missing=columns.missing,
        run_values=run_values,
        versions=package_versions(metric.packages),
        model=model if isinstance(model, str) else None,
        seconds=time.perf_counter() - started,
        error=fatal,
    )
    return dataclasses.replace(scoring, summaries=summarise(scoring))


class _NothingScoredError(Exception):
    """A metric could not go on; `columns` has what it scored before, the rest failed for `reason`."""

    def __init__(self, columns: Columns, reason: Exception) -> None:
        super().__init__(str(reason))
        self.columns, self.reason = columns, reason


def _measures_without_result(metric: AnyMetric) -> Sequence[Measure]:
    return metric.measures if isinstance(metric, Metric) else [Measure(float, f"value of {metric.name}", name="value")]


def _run(
    samples: Sequence[Sample], metric: AnyMetric, context: Context, progress: Progress
) -> tuple[Columns, dict[str, float]]:
    if isinstance(metric, Metric):
        return _run_metric(samples, metric, context, progress), {}
    if metric.form == "data":
        return _run_on_data(samples, metric)
    return _run_function(samples, metric, progress), {}


def _run_metric(samples: Sequence[Sample], metric: Metric, context: Context, progress: Progress) -> Columns:
    columns = Columns(metric.measures, len(samples))
    method_name, call = _bound_method(metric, context)
    title = metric.label or metric.name
    try:
        if method_name == "score_batch":
            _score_in_batches(call, samples, columns)
        elif inspect.iscoroutinefunction(getattr(metric, method_name)):
            run_async(_call_concurrently(call, samples, columns.put, columns.fail, progress, title))
        else:
            for i, sample in enumerate(progress(samples, title)):
                try:
                    columns.put(i, call(sample))
                except KeyboardInterrupt:
                    raise
                except BaseException as error:
                    columns.fail(i, error)
    except Exception as error:
        columns.fail_rest(error)
        raise _NothingScoredError(columns, error) from error
    return columns


def _run_function(samples: Sequence[Sample], metric: FunctionMetric, progress: Progress) -> Columns:
    results: list[Any] = [None] * len(samples)

    def call(sample: Sample) -> Any:
        return metric.function(call_argument(metric, sample))

    asynchronous = inspect.iscoroutinefunction(metric.function) or inspect.iscoroutinefunction(
        getattr(metric.function, "__call__", None)  # noqa: B004 - an object may have an async __call__
    )
    if asynchronous:
        run_async(_call_concurrently(call, samples, results.__setitem__, results.__setitem__, progress, metric.name))
    else:
        for i, sample in enumerate(progress(samples, metric.name)):
            try:
                results[i] = call(sample)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                results[i] = error
    return columns_of_results(metric, results)


def _run_on_data(samples: Sequence[Sample], metric: FunctionMetric) -> tuple[Columns, dict[str, float]]:
    """Call a function of the original package's form; questions without an answer are kept from it and are missing."""
    places = [i for i, s in enumerate(samples) if s.response.answer is not None]
    columns, run_values = Columns(_measures_without_result(metric), len(samples)), dict[str, float]()
    if places:
        frame = metric.function(data_argument([samples[i] for i in places]))
        columns, run_values = columns_of_frame(metric, frame, places, len(samples))
    for i, sample in enumerate(samples):
        if sample.response.answer is None:
            columns.fail(i, Missing(sample.response.error or "the system gave no answer"))
    return columns, run_values


def _bound_method(metric: Metric, context: Context) -> tuple[str, Callable[[Any], Any]]:
    name = next(m for m in METHODS if getattr(metric, m, None) is not None)
    method = getattr(metric, name)
    further = list(inspect.signature(method).parameters.values())[1:]
    wants_context = any(
        p.name == "ctx" or p.default is p.empty for p in further[:1] if p.kind is p.POSITIONAL_OR_KEYWORD
    )
    return name, (lambda given: method(given, context)) if wants_context else method


async def _call_concurrently(
    call: Callable[[Sample], Awaitable[Any]],
    samples: Sequence[Sample],
    put: Callable[[int, Any], None],
    fail: Callable[[int, BaseException], None],
    progress: Progress,
    title: str,
) -> None:
    import asyncio

    ticks: Iterator[Any] = iter(progress(samples, title))
    waiting = iter(enumerate(samples))

    async def work() -> None:
        for i, sample in waiting:
            try:
                put(i, await call(sample))
            except BaseException as error:  # SystemExit would end the loop, and every later call with it
                task = asyncio.current_task()
                if isinstance(error, asyncio.CancelledError) and (task is None or task.cancelling()):
                    raise  # we are being cancelled, by Ctrl+C
                fail(i, error)
            next(ticks, None)

    await asyncio.gather(*(work() for _ in range(min(CONCURRENCY, len(samples)))))
    next(ticks, None)


def _score_in_batches(call: Callable[[Sequence[Sample]], Any], samples: Sequence[Sample], columns: Columns) -> None:
    """Score all samples at once; after an exception halve the batch, so that only the failing samples are lost."""
    batches = [range(len(samples))] if samples else []
    while batches:
        places = batches.pop()
        try:
            given = call([samples[i] for i in places])
            if inspect.isawaitable(given):
                given = run_async(_awaited(given))
        except (MissingDependencyError, MetricOutputError, KeyboardInterrupt):
            raise
        except BaseException as error:
            if len(places) == 1:
                columns.fail(places[0], error)
            else:
                middle = len(places) // 2
                batches += [places[middle:], places[:middle]]
            continue
        columns.put_columns(places, given)


async def _awaited(given: Awaitable[Any]) -> Any:
    return await given
