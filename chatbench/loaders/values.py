"""Single values of a record: text, lists of text, grades, flags. Each fault is an `InputError` about one value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chatbench.core import fields
from chatbench.core.fields import plain, shown
from chatbench.core.jsonable import clean_text, is_missing, to_json_value
from chatbench.errors import DatasetError


class WrittenFloat(float):
    """A number of a JSON file that remembers how it was written: 6.80 is not 6.8 to a reader."""

    __slots__ = ("written",)
    written: str

    def __new__(cls, text: str) -> WrittenFloat:
        number = super().__new__(cls, text)
        number.written = text
        return number


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
    if (held := plain(value)) is not value:
        return text_of(held, key)
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
    """Return an object of names to grades, the highest first; names without a grade are left out."""
    if isinstance(value, Mapping):
        value = {text: grade for name, grade in value.items() if not is_missing(grade) and (text := text_of(name, key))}
    grades = fields.grades(value, repr(key))
    return dict(sorted(grades.items(), key=lambda item: (-item[1], item[0])))


def flag_of(value: Any, key: str) -> bool:
    """Return a truth value; missing is true."""
    return is_missing(value) or fields.flag(value, repr(key))


def json_of(value: Any, key: str) -> Any:
    """Return plain JSON."""
    return to_json_value(value, repr(key))


def object_of(value: Any, key: str) -> dict[str, Any]:
    """Return an object as plain JSON; entries that are missing are left out, so that every format gives the same."""
    if is_missing(value):
        return {}
    if not isinstance(value, Mapping):
        raise DatasetError(f"{key!r} is a {shown(value)}; an object is due")
    return {clean_text(str(name)): json_of(entry, str(name)) for name, entry in value.items() if not is_missing(entry)}
