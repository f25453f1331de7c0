"""Single values of a record: text, lists of text, grades, flags. Each fault is a `DatasetError` about one value."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from typing import Any

from chatbench.core.jsonable import clean_text, to_json_value
from chatbench.errors import DatasetError


class WrittenFloat(float):
    """A number of a JSON file that remembers how it was written: 6.80 is not 6.8 to a reader."""

    __slots__ = ("written",)
    written: str

    def __new__(cls, text: str) -> WrittenFloat:
        number = super().__new__(cls, text)
        number.written = text
        return number


def is_missing(value: Any) -> bool:
    """Return whether the value stands for "nothing": None, NaN, and what pandas puts into empty cells."""
    if value is None:
        return True
    if isinstance(value, str | list | bool | int):
        return False
    if isinstance(value, float):
        return math.isnan(value)
    return type(value).__name__ in ("NAType", "NaTType")  # by name: pandas is not imported


def _plain(value: Any) -> Any:
    """Return a numpy scalar as the Python value that it holds; others as they are."""
    return value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value


def shown(value: Any) -> str:
    """Return type and shortened content for an error text."""
    return f"{type(value).__name__} {reprlib.repr(value)}"


def text_of(value: Any, key: str) -> str | None:
    """Return a text, number or truth value as text; None when it is missing or blank."""
    if isinstance(value, str):
        return clean_text(value) if value.strip() else None
    if is_missing(value):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, WrittenFloat):
        return value.written
    if isinstance(value, int | float):
        return str(value)
    if (plain := _plain(value)) is not value:
        return text_of(plain, key)
    raise DatasetError(f"{key!r} holds a {shown(value)}; text or a number is due")


def texts_of(value: Any, key: str) -> tuple[str, ...]:
    """Return a single value or a list of them as texts, missing and blank ones left out."""
    if value is None:
        return ()
    if not isinstance(value, str | list) and hasattr(value, "tolist"):  # an array, as frames from Parquet files have
        value = value.tolist()
    entries = value if isinstance(value, list | tuple) else (value,)
    return tuple([text for entry in entries if (text := text_of(entry, key)) is not None])


def grades_of(value: Any, key: str) -> dict[str, float]:
    """Return an object of names to grades, the highest first; grades of 0 and below mean "not relevant"."""
    if is_missing(value):
        return {}
    if not isinstance(value, Mapping):
        raise DatasetError(f"{key!r} is a {shown(value)}; an object of names to grades is due")
    grades = {}
    for name, given in value.items():
        grade = _plain(given)
        if is_missing(grade):
            continue
        if not isinstance(grade, int | float) or not math.isfinite(grade):
            raise DatasetError(f"{key!r} grades {name!r} with a {shown(grade)}; a finite number is due")
        if grade > 0 and (text := text_of(name, key)) is not None:
            grades[text] = float(grade)
    return dict(sorted(grades.items(), key=lambda item: (-item[1], item[0])))


def flag_of(value: Any, key: str) -> bool:
    """Return a truth value; missing is true."""
    if is_missing(value):
        return True
    value = _plain(value)
    if not isinstance(value, int | float) or value not in (0, 1):
        raise DatasetError(f"{key!r} is a {shown(value)}; true or false is due")
    return bool(value)


def json_of(value: Any, key: str) -> Any:
    """Return plain JSON."""
    try:
        return to_json_value(value, repr(key))
    except TypeError as error:
        raise DatasetError(str(error)) from error


def object_of(value: Any, key: str) -> dict[str, Any]:
    """Return an object as plain JSON; entries that are missing are left out, so that every format gives the same."""
    if is_missing(value):
        return {}
    if not isinstance(value, Mapping):
        raise DatasetError(f"{key!r} is a {shown(value)}; an object is due")
    return {clean_text(str(name)): json_of(entry, str(name)) for name, entry in value.items() if not is_missing(entry)}
