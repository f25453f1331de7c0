"""Arrow tables as pandas frames, by one map of types whatever the database."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc


def to_frame(rows: pa.Table) -> pd.DataFrame:
    """Return a frame: text as objects with None; integers, floats and booleans as `int64`, `float64`, `bool`, or where there
    are NULLs as the nullable `Int64`, `Float64`, `boolean`; times in UTC; lists and structures as Python objects."""
    columns = [_series(column) for column in rows.columns]
    frame = pd.DataFrame(dict(enumerate(columns)))
    frame.columns = pd.Index(rows.column_names, dtype=object)  # names may repeat
    return frame


def _series(column: pa.ChunkedArray) -> pd.Series:
    kind = column.type
    if pa.types.is_decimal(kind):
        column = _number(column)
        kind = column.type
    if pa.types.is_uint64(kind) and column.null_count < len(column) and pc.max(column).as_py() >= 2**63:
        return _series_with_null(column, "uint64", "UInt64", 0)
    if pa.types.is_integer(kind):
        return _series_with_null(column.cast(pa.int64(), safe=False), "int64", "Int64", 0)
    if pa.types.is_boolean(kind):
        return _series_with_null(column, "bool", "boolean", False)
    if pa.types.is_floating(kind):
        return _series_with_null(column.cast(pa.float64()), "float64", "Float64", 0.0)
    if pa.types.is_timestamp(kind):
        series: pd.Series = column.cast(pa.timestamp("us", tz=kind.tz)).to_pandas()
        return series
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pd.Series(column.to_numpy(), dtype=object)
    values = np.empty(len(column), dtype=object)
    values[:] = column.to_pylist()
    return pd.Series(values, dtype=object)


def _series_with_null(column: pa.ChunkedArray, plain: str, nullable: str, filler: float) -> pd.Series:
    values = pd.Series(pc.fill_null(column, filler).to_numpy(), dtype=plain)
    if not column.null_count:
        return values
    widened: pd.Series = values.astype(nullable)  # type: ignore[call-overload]
    return widened.mask(pd.Series(pc.is_null(column).to_numpy()))


def _number(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Sums of integers come as decimals without places; they are integers, where those are wide enough."""
    if column.type.scale == 0:
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            pass
    return column.cast(pa.float64())
