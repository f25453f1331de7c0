"""Plain functions as metrics: `f(sample)`, `f(evaluable, *, trace=None)`, or `f(data) -> DataFrame`.

Their columns are not declared, so they are read off what the function returned.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from chatbench.core.measure import Measure
from chatbench.core.response import Sample
from chatbench.core.warn import warn_user
from chatbench.errors import MetricDefinitionError, MetricOutputError
from chatbench.scoring import registry
from chatbench.scoring.code_hash import code_hash
from chatbench.scoring.columns import Columns, to_python
from chatbench.scoring.metric import Evaluation
from chatbench.scoring.names import check_table_name, safe_name

Form = Literal["sample", "evaluable", "data"]


@dataclass(frozen=True)
class Evaluable:
    """A sample under the names that functions of the evals form expect."""

    eval_input: Any
    eval_output: str
    expectation: str | None
    eval_metadata: Mapping[str, Any]


@dataclass(frozen=True)
class FunctionMetric:
    """A function under a name; its table is the name in lower case with underscores.

    `form` says what it takes: one `sample`, one `evaluable`, or `data`, the dict of lists of the original package.
    """

    function: Callable[..., Any]
    name: str
    form: Form = "sample"

    def __post_init__(self) -> None:
        check_table_name(self.table, self.name)
        for cls in registry.all_metrics().values():
            if cls.table == self.table or cls.__name__ == self.name:
                raise MetricDefinitionError(
                    f"The function metric {self.name!r} would share the table of the registered metric {cls.__name__}: give it another name."
                )

    @property
    def table(self) -> str:
        """Its table."""
        return safe_name(self.name, frozenset())

    @property
    def label(self) -> str:
        """Empty: a function has no parameters."""
        return ""

    @property
    def signature(self) -> str:
        """Name without parameters."""
        return f"{self.name}()"

    @property
    def packages(self) -> tuple[str, ...]:
        """None are known."""
        return ()

    def code_hash(self) -> str:
        """Hash of the function's code."""
        function = inspect.unwrap(self.function)
        return code_hash({"function": function if inspect.isfunction(function) else type(function).__call__})

    def __repr__(self) -> str:
        return self.name


def function_metric(
    function: Callable[..., Any], name: str | None = None, *, default: Form = "sample"
) -> FunctionMetric:
    """Return the metric of a function; what it takes is told by the name or annotation of its first parameter."""
    name = name or str(getattr(function, "__name__", type(function).__name__))
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    if name == "<lambda>":
        raise MetricDefinitionError(
            "A lambda has no name to store scores under: def it, or test.implemented_tests['MyName'] = lambda sample: ..."
        )
    if not parameters:
        raise MetricDefinitionError(
            f"The function of metric {name!r} takes no argument; write f(sample), or f(data) for all questions at once."
        )
    first = parameters[0]
    form: Form = default
    if first.name == "evaluable" or any(p.name == "trace" for p in parameters[1:]):
        form = "evaluable"
    elif first.name == "sample":
        form = "sample"
    elif first.name == "data" or "dict" in str(first.annotation).lower():
        form = "data"
    return FunctionMetric(function, name, form)


def call_argument(metric: FunctionMetric, sample: Sample) -> Any:
    """Return what a function of the form `sample` or `evaluable` is called with."""
    if metric.form == "sample":
        return sample
    expectation = sample.case.answers[0] if sample.case.answers else None
    return Evaluable(sample.case.input, sample.answer, expectation, dict(sample.case.metadata))


def columns_of_results(metric: FunctionMetric, results: Sequence[Any]) -> Columns:
    """Return the columns of what a function returned or raised for each sample."""
    rows = [_row(result) for result in results]
    cells: dict[str, list[Any]] = {}
    for row in rows:
        if isinstance(row, Mapping):
            for key, value in row.items():
                cells.setdefault(str(key), []).append(value)
    names = _column_names(metric, cells) or {"value": "value"}
    measures = [_measure(metric, name, cells.get(key, ())) for key, name in names.items()]
    columns = Columns(measures, len(results))
    for i, row in enumerate(rows):
        if isinstance(row, BaseException):
            columns.fail(i, row)
            continue
        try:
            columns.put(i, {names[str(k)]: v for k, v in row.items()} if isinstance(row, Mapping) else row)
        except Exception as error:
            columns.fail(i, error)
    return columns


def _row(result: Any) -> Any:
    if isinstance(result, Evaluation):
        return result.row()
    result = to_python(result)
    if result is None or isinstance(result, Mapping | BaseException):
        return result
    return {"value": result}


def data_argument(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return the dict of lists that the original package hands to a function metric.

    `test_answers` has None for a question without a reference (or an unanswerable one): an empty text would be scored as 0.
    """
    return {
        "questions": [s.question for s in samples],
        "answers": [s.response.answer for s in samples],
        "documents": [list(s.response.documents) for s in samples],
        "test_answers": [s.case.answers[0] if s.case.answers and s.case.is_answerable else None for s in samples],
        "test_documents": [list(s.case.documents) for s in samples],
    }


def columns_of_frame(
    metric: FunctionMetric, frame: Any, places: Sequence[int], n: int
) -> tuple[Columns, dict[str, float]]:
    """Return the columns of a frame with one row per sample at `places`, or of one row that holds lists of that length.

    Other numbers of a one-row frame are values of the run. `n` is the number of all samples.
    """
    if not hasattr(frame, "columns") or not hasattr(frame, "iloc"):
        raise MetricOutputError(
            f"{metric.name} returned a {type(frame).__name__}; a DataFrame is due: one row per question, or one row with lists."
        )
    if len(frame) not in (len(places), 1):
        raise MetricOutputError(
            f"{metric.name} returned {len(frame)} rows for {len(places)} questions; one row per question, or one row, is due."
            + (f" ({n - len(places)} questions without an answer are kept from it.)" if n > len(places) else "")
        )
    per_question, of_run = _split_columns(metric, frame, len(places))
    names = _column_names(metric, [*per_question, *of_run])
    measures = [_measure(metric, names[key], cells) for key, cells in per_question.items()]
    run_measures = [Measure(float, _sentence(metric, key), name=names[key], of_run=True) for key in of_run]
    columns = Columns([*measures, *run_measures], n)
    for k, i in enumerate(places):
        try:
            columns.put(i, {names[key]: cells[k] for key, cells in per_question.items()})
        except Exception as error:
            columns.fail(i, error)
    no_scores = {key: value for key, value in of_run.items() if not math.isfinite(value)}
    for key, value in no_scores.items():
        warn_user(f"{metric.name}: {key!r} is {value}, which is no score; it is NULL.")
    return columns, {names[key]: float(value) for key, value in of_run.items() if key not in no_scores}


def _split_columns(metric: FunctionMetric, frame: Any, n_questions: int) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Return the columns with an entry per question, and the single numbers of the run."""
    per_question: dict[str, list[Any]] = {}
    of_run: dict[str, Any] = {}
    cells_of = {str(key): frame.iloc[:, position].tolist() for position, key in enumerate(frame.columns)}
    if len(cells_of) < len(frame.columns):
        raise MetricOutputError(
            f"{metric.name} returned two columns of one name: {', '.join(map(str, frame.columns))}. Rename one."
        )
    lists = {key for key, cells in cells_of.items() if _holds_list(cells, n_questions)}
    # With one question only a list tells that the numbers beside it are of the run.
    a_row_each = len(frame) == n_questions and not lists
    for key, cells in cells_of.items():
        if a_row_each:
            per_question[key] = cells
        elif key in lists:
            per_question[key] = list(cells[0])
        elif isinstance(to_python(cells[0]), int | float):
            of_run[key] = to_python(cells[0])
        else:
            warn_user(
                f"{metric.name}: the column {key!r} holds neither a number nor one entry per question; it is left out.",
            )
    return per_question, of_run


def _holds_list(cells: list[Any], n: int) -> bool:
    return (
        len(cells) == 1
        and not isinstance(cells[0], str | bytes | Mapping)
        and hasattr(cells[0], "__len__")
        and len(cells[0]) == n
    )


def _column_names(metric: FunctionMetric, keys: Any) -> dict[str, str]:
    names = {str(key): safe_name(str(key)) for key in keys}
    if len(set(names.values())) != len(names):
        raise MetricOutputError(
            f"{metric.name} returned columns whose names fall together as SQL names: {', '.join(names)}. Rename one."
        )
    return names


def _measure(metric: FunctionMetric, name: str, cells: Sequence[Any]) -> Measure:
    kinds = {found for cell in cells if (found := _kind(cell)) is not None}
    kind: type
    numbers = kinds & {bool, int, float}
    if numbers:  # a stray text among numbers is that cell's error
        kind = next(iter(numbers)) if len(numbers) == 1 else float
    else:
        kind = float if not kinds else str if kinds == {str} else dict
    return Measure(kind, _sentence(metric, name), name=name)


def _kind(cell: Any) -> type | None:
    cell = to_python(cell)
    if cell is None or isinstance(cell, BaseException) or (isinstance(cell, float) and cell != cell):
        return None
    return next((k for k in (bool, int, float, str) if isinstance(cell, k)), dict)


def _sentence(metric: FunctionMetric, name: str) -> str:
    doc = inspect.getdoc(metric.function) if inspect.isfunction(metric.function) else None
    return (doc or "").strip().split("\n")[0] or f"{name} of {metric.name}"
