"""Scoring answers that are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from chatbench.core.dataset import Dataset
from chatbench.core.pairing import pair
from chatbench.core.response import Response
from chatbench.errors import InputError, UnknownMetricError, did_you_mean
from chatbench.llm.embedder import embed as default_embed
from chatbench.results.scores import Scores
from chatbench.scoring import registry
from chatbench.scoring.context import Context, Embed
from chatbench.scoring.functions import FunctionMetric, function_metric
from chatbench.scoring.metric import Metric
from chatbench.scoring.progress import choose_progress
from chatbench.scoring.score import AnyMetric, score

MetricLike = str | Metric | type[Metric] | Callable[..., Any]
"""A name, a name with parameters ("Retrieval(k=3)"), a metric, its class, or a function."""


def resolve_metrics(given: Iterable[MetricLike], functions: Mapping[str, Any] | None = None) -> list[AnyMetric]:
    """Return the metrics that names, classes, instances and functions stand for, each once, in the given order.

    `functions` maps further names to functions. Raises `UnknownMetricError` for every miss at once, before anything runs.
    """
    found: dict[str, AnyMetric] = {}
    misses = []
    for item in given:
        try:
            metric = _resolve(item, functions or {})
        except UnknownMetricError as error:
            misses.append(str(error))
            continue
        known = found.setdefault(metric.signature, metric)
        if known != metric:
            raise InputError(
                f"Two functions are named {metric.name!r}, and scores are stored under the name; rename one."
            )
    if misses:
        raise UnknownMetricError("\n".join(misses))
    if not found:
        raise InputError(
            f'Name at least one metric: score_test_set("LexicalMetrics"). Registered are: {", ".join(registry.all_metrics())}.'
        )
    return list(found.values())


def _resolve(item: MetricLike, functions: Mapping[str, Any]) -> AnyMetric:
    if isinstance(item, Metric | FunctionMetric):
        return item
    if isinstance(item, type) and issubclass(item, Metric):
        if not item.measures:
            raise InputError(f"{item.__name__} has neither score_sample nor score_batch; it cannot score.")
        return registry.build_metric(item.__name__, {}) if item.__name__ in registry.registered() else item()
    if isinstance(item, str):
        own = functions.get(item)
        if own is None:
            try:
                return registry.parse_metric(item)
            except UnknownMetricError as error:
                near = did_you_mean(item, functions)
                raise (
                    UnknownMetricError(f"{error} In implemented_tests: {', '.join(functions)}.{near}")
                    if near
                    else error
                ) from None
        is_metric = isinstance(own, Metric | FunctionMetric) or (isinstance(own, type) and issubclass(own, Metric))
        return _resolve(own, {}) if is_metric else function_metric(own, item, default="data")
    if callable(item):
        return function_metric(item)
    raise InputError(f"{item!r} is no metric; give a name, a metric such as Retrieval(k=3), or a function f(sample).")


def score_responses(
    dataset: Dataset,
    responses: Sequence[Response],
    metrics: Iterable[AnyMetric],
    *,
    embed: Embed | None = None,
    progress: bool | None = None,
) -> Scores:
    """Return the scores of these responses to these questions.

    `embed(texts, model)` replaces the built-in embedder. `progress` shows bars; None: on a terminal or in a notebook.
    """
    if not len(dataset):
        raise InputError(f"The question set {dataset.name!r} has no questions; there is nothing to score.")
    samples = pair(dataset, responses)
    bar = choose_progress(progress)
    scorings = score(samples, metrics, Context(embed or default_embed, bar), bar)
    return Scores(scorings, dataset, responses)
