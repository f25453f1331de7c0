"""Rows of a PostgreSQL cursor as Arrow columns, of the types that DuckDB would give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

_TYPES: dict[str, pa.DataType] = {
    "bool": pa.bool_(),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "oid": pa.int64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "text": pa.string(),
    "varchar": pa.string(),
    "bpchar": pa.string(),
    "name": pa.string(),
    "json": pa.string(),
    "jsonb": pa.string(),
    "bytea": pa.binary(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", tz="UTC"),
}
"""By the server's name of a type; others are tried as they come, and become text where Arrow does not know them."""


def arrow_table(cursor: Any) -> pa.Table:
    """Return the rows of a cursor; of a statement without rows the number that it changed."""
    if cursor.description is None:
        return pa.table({"Count": [cursor.rowcount]}) if cursor.rowcount >= 0 else pa.table({})
    rows = cursor.fetchall()
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(cursor.description)
    types = cursor.connection.adapters.types
    arrays = []
    for described, column in zip(cursor.description, columns, strict=True):
        info = types.get(described.type_code)
        # The number of a type stands for its arrays too.
        name = info.name if info is not None and info.oid == described.type_code else ""
        arrays.append(_array(name, column))
    return pa.Table.from_arrays(arrays, names=[described.name for described in cursor.description])


def _array(name: str, column: Sequence[Any]) -> pa.Array:
    if name in _TYPES:
        return pa.array(column, _TYPES[name])
    if name == "numeric":
        return _numbers(column)
    if name == "uuid":
        return pa.array(_each(str, column), pa.string())
    try:
        return pa.array(column) if any(v is not None for v in column) else pa.array(column, pa.string())
    except (pa.ArrowException, TypeError, ValueError):
        return pa.array(_each(str, column), pa.string())


def _numbers(column: Sequence[Any]) -> pa.Array:
    """Sums of integers come as numbers without places; they are integers, where those are wide enough."""
    if any(v is not None for v in column) and all(v is None or v.as_tuple().exponent == 0 for v in column):
        try:
            return pa.array(_each(int, column), pa.int64())
        except (pa.ArrowInvalid, OverflowError):
            pass
    return pa.array(_each(float, column), pa.float64())


def _each(make: Callable[[Any], Any], column: Sequence[Any]) -> list[Any]:
    return [None if v is None else make(v) for v in column]
