"""Files of records with typed columns: one pair of writer and reader for each format."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.parquet as pq

from chatbench.core.fields import shown
from chatbench.errors import InputError
from chatbench.store.rows import to_json

Columns = dict[str, list[Any]]
Kinds = Mapping[str, str]
"""Type words of the columns by name: float, int, bool, str, json."""

_ARROW = {"float": pa.float64(), "int": pa.int64(), "bool": pa.bool_(), "str": pa.string(), "json": pa.string()}
_PYTHON: dict[str, tuple[type, ...]] = {"float": (float, int), "int": (int,), "bool": (bool,), "str": (str,)}


@dataclass(frozen=True)
class Format:
    """How columns are written to a file and read from it; all columns are flat, None is NULL."""

    write: Callable[[Path, Columns, Kinds], None]
    read: Callable[[Path, Kinds], Columns]


def parse_json(text: str) -> Any:
    """Return the value of JSON text; raise ValueError also for NaN, infinities and what is nested too deeply."""
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON value")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


def _write_parquet(path: Path, columns: Columns, kinds: Kinds) -> None:
    arrays = {}
    for name, kind in kinds.items():
        values = columns[name]
        if kind == "json":
            values = [None if value is None else to_json(value) for value in values]
        arrays[name] = pa.array(values, _ARROW[kind], from_pandas=False)
    pq.write_table(pa.table(arrays), path)


def _read_parquet(path: Path, kinds: Kinds) -> Columns:
    try:
        table = pq.ParquetFile(path, memory_map=False).read()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path} is no whole Parquet file: {str(error).splitlines()[0]}") from error
    _check_names(path, table.column_names, kinds)
    columns = {}
    for name in table.column_names:
        kind, found = kinds[name], table[name].type
        if found != _ARROW[kind] and not (kind in ("str", "json") and pa.types.is_large_string(found)):
            raise InputError(f"The column {name!r} of {path} is {found}; {_ARROW[kind]} is due.")
        values = table[name].to_pylist()
        columns[name] = [_parsed(v, path, name, i) for i, v in enumerate(values, 1)] if kind == "json" else values
    return columns


def _parsed(text: str | None, path: Path, name: str, row: int) -> Any:
    try:
        return None if text is None else parse_json(text)
    except ValueError as error:
        raise InputError(f"{path}, row {row}: {name!r} is not JSON: {error}.") from error


def _write_jsonl(path: Path, columns: Columns, kinds: Kinds) -> None:
    rows = zip(*(columns[name] for name in kinds), strict=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{to_json(dict(zip(kinds, row, strict=True)))}\n" for row in rows)


def _read_jsonl(path: Path, kinds: Kinds) -> Columns:
    try:
        lines = path.read_bytes().decode("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as UTF-8 text: {error}.") from error
    columns: Columns = {name: [] for name in kinds}
    if lines.pop():
        raise InputError(f"{path}, line {len(lines) + 1}: the file breaks off in the middle of a line.")
    for number, line in enumerate(lines, 1):
        where = f"{path}, line {number}"
        try:
            record = parse_json(line)
        except ValueError as error:
            raise InputError(f"{where} is not JSON: {error}.") from error
        if not isinstance(record, dict):
            raise InputError(f"{where} holds a {shown(record)}; an object is due.")
        _check_names(where, list(record), kinds)
        for name, kind in kinds.items():
            columns[name].append(_typed(record.get(name), kind, f"{where}: {name!r}"))
    return columns


def _typed(value: Any, kind: str, where: str) -> Any:
    if value is None or kind == "json":
        return value
    if type(value) not in _PYTHON[kind]:
        raise InputError(f"{where} is a {shown(value)}; {kind} is due.")
    try:
        return float(value) if kind == "float" else value
    except OverflowError as error:
        raise InputError(f"{where} is beyond the numbers of a float.") from error


def _check_names(where: object, names: Sequence[str], kinds: Kinds) -> None:
    if unknown := [name for name in names if name not in kinds]:
        raise InputError(
            f"{where} has {', '.join(map(repr, unknown))}, which this chatbench does not know; known are {', '.join(kinds)}."
        )


FORMATS = {"parquet": Format(_write_parquet, _read_parquet), "jsonl": Format(_write_jsonl, _read_jsonl)}
"""The formats by their name, which is also the ending of the files."""
