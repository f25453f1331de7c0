"""The fields of cases and responses, checked: each reader names the field, what was given and what is due."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Mapping
from typing import Any

from chatbench.core.jsonable import clean_text, is_missing, to_json_value
from chatbench.errors import InputError


def shown(value: Any) -> str:
    """Return type and shortened content for an error text."""
    return f"{type(value).__name__} {reprlib.repr(value)}"


def plain(value: Any) -> Any:
    """Return a numpy scalar as the Python value that it holds; others as they are."""
    return value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value


def entries(value: Any, where: str, due: str) -> list[Any]:
    """Return the entries of anything that has an order: a list, a generator, an array, a pandas Series by position.

    Refused are a text, a mapping and a frame, which would be read as letters, keys and column names, and a set.
    """
    unfit = isinstance(value, str | bytes | Mapping | set | frozenset) or hasattr(value, "columns")
    flat = getattr(value, "ndim", None) == 0  # an array that holds a single value and cannot be walked through
    if isinstance(value, Iterable) and not unfit and not flat:
        return list(value)
    why = " (a set has no order)" if isinstance(value, set | frozenset) else ""
    raise InputError(f"{where} is a {shown(value)}{why}, but {due}")


def text_tuple(value: Any, where: str) -> tuple[str, ...]:
    """Return a text, or the entries of a list, as a tuple of clean texts; a missing value is an empty one."""
    if value.__class__ is not tuple:
        if isinstance(value, str):
            return (clean_text(value),)
        if is_missing(value):
            return ()
        value = entries(value, where, "a text or a list of texts is due")
    return tuple([clean_text(entry) if entry.__class__ is str else _text(entry, where) for entry in value])


def _text(value: Any, where: str) -> str:
    """Return a text, a number, or what has a text form of its own, such as a path; else its text would be a mere repr."""
    if isinstance(value, str):
        return clean_text(value)
    own_form = isinstance(value, int | float) or getattr(type(value), "__str__", None) is not object.__str__
    if is_missing(value) or not own_form or hasattr(value, "__len__"):
        raise InputError(f"{where} holds a {shown(value)}, but text is due")
    return clean_text(str(value))


def identity(value: Any, where: str) -> str:
    """Return an id as text; a missing one is empty."""
    if value.__class__ is str:
        return clean_text(value)
    return "" if is_missing(value) else _text(value, where)


def flag(value: Any, where: str) -> bool:
    """Return a truth value; 0 and 1 are read as such."""
    if value is True or value is False:
        return value
    value = plain(value)
    if not isinstance(value, int | float) or value not in (0, 1):
        raise InputError(f"{where} is a {shown(value)}; true or false is due")
    return bool(value)


def number(value: Any, where: str, at_least: float = -math.inf) -> float:
    """Return a finite number."""
    given = plain(value)
    try:
        if (
            isinstance(given, int | float)
            and not isinstance(given, bool)
            and math.isfinite(given)
            and given >= at_least
        ):
            return float(given)
    except OverflowError:  # a whole number beyond all floats
        pass
    bound = "" if at_least == -math.inf else f" of at least {at_least:g}"
    raise InputError(f"{where} is a {shown(value)}; a finite number{bound} is due")


def whole(value: Any, where: str, at_least: int) -> int:
    """Return a whole number, which may come as a float (12.0), as columns with empty cells hold it."""
    given = plain(value)
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not at_least <= given < math.inf or given != int(given):
        raise InputError(f"{where} is a {shown(value)}; a whole number of at least {at_least} is due")
    return int(given)


def json_object(value: Any, where: str) -> dict[str, Any]:
    """Return a mapping as a JSON object; a missing one is empty, and of what is no JSON the text is kept."""
    try:
        mapping: dict[str, Any] = to_json_value(_mapping(value, where, "an object (a dict)"), where, str)
    except RecursionError as error:
        raise InputError(f"{where} holds itself, or is nested too deeply; plain values are due") from error
    return mapping


def grades(value: Any, where: str) -> dict[str, float]:
    """Return a mapping of names to finite numbers; a missing one is empty."""
    given = _mapping(value, where, "an object of names to grades")
    return {_text(name, where): _grade(grade, name, where) for name, grade in given.items()}


def _grade(value: Any, name: Any, where: str) -> float:
    given = plain(value)
    if isinstance(given, bool):  # relevant or not
        return float(given)
    return number(given, f"the grade of {name!r} in {where}")


def counts(value: Any, where: str) -> dict[str, int]:
    """Return a mapping of names to whole numbers of at least 0."""
    if not isinstance(value, Mapping):
        raise InputError(f"{where} is a {shown(value)}; an object of names to whole numbers is due")
    return {_text(name, where): whole(count, f"{name!r} in {where}", 0) for name, count in value.items()}


def _mapping(value: Any, where: str, due: str) -> Mapping[Any, Any]:
    if value.__class__ is dict:
        given: Mapping[Any, Any] = value
        return given
    if is_missing(value):
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"{where} is a {shown(value)}; {due} is due")
    return value
