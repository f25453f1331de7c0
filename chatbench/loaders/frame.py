"""Records from a pandas DataFrame, which is recognised and read without importing pandas."""

from __future__ import annotations

from typing import Any

from chatbench.errors import DatasetError
from chatbench.loaders.subset import how_many

_EXACT = 2.0**53  # beyond it a float no longer holds every whole number


def is_frame(value: Any) -> bool:
    """Return whether the value is a pandas DataFrame or of a class made from it."""
    return any(c.__name__ == "DataFrame" and c.__module__.partition(".")[0] == "pandas" for c in type(value).__mro__)


def frame_records(frame: Any, num_q: int | float | None) -> list[dict[str, Any]]:
    """Return the first rows as records; the index plays no part, empty cells stay what pandas has put there."""
    if not frame.columns.is_unique:
        doubles = sorted({str(name) for name in frame.columns[frame.columns.duplicated()]})
        raise DatasetError(f"The DataFrame has several columns of one name: {', '.join(doubles)}. Rename or drop them.")
    count = how_many(num_q, len(frame))
    names = [str(name) for name in frame.columns]
    columns = [_whole_numbers(column).head(count).tolist() for _, column in frame.items()]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _whole_numbers(column: Any) -> Any:
    """Return a column of whole numbers as such when only its empty cells have made floats of them: 42, not 42.0."""
    if getattr(column.dtype, "kind", "") != "f" or not column.isna().any():
        return column
    numbers = column.dropna()
    whole = bool((numbers.abs() < _EXACT).all()) and bool((numbers == numbers.round()).all())
    return column.astype("Int64") if whole else column
