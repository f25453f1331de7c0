"""The entries of one scoring while it is filled."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from chatbench.core.jsonable import clean_text, is_missing, to_json_value
from chatbench.core.measure import Measure
from chatbench.core.redact import redact, redact_json
from chatbench.errors import MetricOutputError, Missing
from chatbench.scoring.metric import Evaluation


def error_text(error: BaseException) -> str:
    """Return type and text of an exception, without secrets and without characters that no database keeps."""
    try:
        text = str(error)
    except Exception as broken:
        text = f"(its text cannot be made: {type(broken).__name__})"
    return clean_text(redact(f"{type(error).__name__}: {text}"))[:2000]


def to_python(value: Any) -> Any:
    """Return numpy values, decimals and fractions as Python's own, the NA of pandas as None; anything else as it is."""
    if type(value) in (float, int, str, bool, dict, list):
        return value
    if isinstance(value, Decimal | Fraction):
        return float(value)
    if not isinstance(value, float) and is_missing(value):  # a NaN of floats keeps its own reason
        return None
    return value.tolist() if hasattr(value, "tolist") and hasattr(value, "dtype") else value


class Columns:
    """The entries of one scoring while it is filled: values by measure, errors, reasons."""

    def __init__(self, measures: Sequence[Measure], n: int) -> None:
        self.measures = measures
        self.columns = [m for m in measures if not m.of_run]
        self.names = [m.name for m in self.columns]
        self.values: dict[str, list[Any]] = {name: [None] * n for name in self.names}
        self.errors: list[str | None] = [None] * n
        self.missing: list[dict[str, str] | None] = [None] * n
        self._open = set(range(n))
        # What most cells are: a value of the declared type within its range, entered without further questions.
        self._plain = [(m, *_plain_range(m), self.values[m.name]) for m in self.columns]

    def put(self, i: int, given: Any) -> None:
        """Enter what a metric returned for sample `i`."""
        self._open.discard(i)
        if isinstance(given, Evaluation):
            given = given.row()
        given = to_python(given)
        if given is None or isinstance(given, Missing):
            reason = given.reason if isinstance(given, Missing) else "the metric returned None"
            self.missing[i] = dict.fromkeys(self.names, clean_text(redact(reason)))
        elif isinstance(given, Mapping):
            self._put_row(i, given)
        elif len(self.names) == 1:
            self._put_cell(i, self.columns[0], given)
        else:
            raise MetricOutputError(
                f"one value {given!r} was returned, but {len(self.names)} measures are declared: {', '.join(self.names)}. Return a dict."
            )

    def _put_row(self, i: int, row: Mapping[str, Any]) -> None:
        if not row.keys() <= self.values.keys():
            unknown = [str(k) for k in row if k not in self.values]
            raise MetricOutputError(
                f"undeclared {', '.join(map(repr, unknown))} returned; declared are {', '.join(self.names)}. Add a Measure."
            )
        kinds: Callable[[Any], type] = type  # a plain call: type checkers would narrow `type(value) is kind`
        for measure, kind, low, high, column in self._plain:
            value: Any = row.get(measure.name, _LEFT_OUT)
            if kinds(value) is kind and low <= value <= high:
                column[i] = value
            else:
                self._put_cell(i, measure, value)

    def _put_cell(self, i: int, measure: Measure, value: Any) -> None:
        value = to_python(value)
        if value is None:
            value = Missing("the metric returned None")
        if isinstance(value, Missing):
            self._miss(i, measure.name, value.reason)
            return
        if isinstance(value, float) and not math.isfinite(value):
            self._miss(i, measure.name, f"the metric returned {value}, which is no score")
            return
        if isinstance(value, BaseException):
            self.errors[i] = error_text(value)
            return
        checked = measure.check(value)
        if measure.type is str:
            checked = clean_text(checked)
        elif measure.type is dict:
            checked = redact_json(to_json_value(checked, measure.name, str), texts=False)
        self.values[measure.name][i] = checked

    def _miss(self, i: int, name: str, reason: str) -> None:
        reasons = self.missing[i]
        if reasons is None:
            reasons = self.missing[i] = {}
        reasons[name] = clean_text(redact(reason))

    def fail(self, i: int, error: BaseException) -> None:
        """Enter an exception for sample `i`: an error, or a reason where it is `Missing`."""
        self._open.discard(i)
        for name in self.names:
            self.values[name][i] = None
        if isinstance(error, Missing):
            self.missing[i] = dict.fromkeys(self.names, clean_text(redact(error.reason)))
        else:
            self.missing[i] = None
            self.errors[i] = error_text(error)

    def fail_rest(self, error: BaseException) -> None:
        """Enter an exception for every sample that has no entry yet."""
        for i in list(self._open):
            self.fail(i, error)

    def put_columns(self, places: Sequence[int], given: Any) -> None:
        """Enter the columns that `score_batch` returned for the samples at `places`."""
        if not isinstance(given, Mapping) and not hasattr(given, "columns"):  # a list, an array, a Series
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


def _plain_range(measure: Measure) -> tuple[type | None, float, float]:
    """Return the type of a number and the ends of its range, both allowed; NaN and infinities lie outside every range."""
    if not measure.is_number:
        return None, 0, 0
    lowest, highest = (-sys.float_info.max, sys.float_info.max) if measure.type is float else (-(2**63), 2**63 - 1)
    low = lowest if measure.at_least is None else max(lowest, measure.at_least)
    return measure.type, low, highest if measure.at_most is None else min(highest, measure.at_most)


_LEFT_OUT = Missing("the metric gave no value for this measure")


def _column(name: Any, column: Any) -> list[Any]:
    if isinstance(column, str | bytes | Mapping) or not isinstance(column, Iterable):
        raise MetricOutputError(
            f"column {name!r} is a {type(column).__name__}; a list with one entry per sample is due."
        )
    return column.tolist() if hasattr(column, "tolist") else list(column)
