"""JSON values: the canonical text that hashes are made of, and text that a database can keep."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from chatbench.errors import InputTypeError

# U+0000 stops PostgreSQL, lone surrogates (from PDFs, or "\ud800" in JSON) stop both databases: one such
# character would lose a whole store call, so it is replaced where text enters.
_UNSTORABLE = {0: 0xFFFD, **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)}


def clean_text(text: str) -> str:
    """Return the text with characters that no database keeps (NUL, lone surrogates) replaced by U+FFFD.

    What is made from `str`, such as numpy's, comes back as a plain one.
    """
    if text.__class__ is not str:
        text = str.__str__(text)
    if text.isascii():
        return text.replace("\x00", "�") if "\x00" in text else text
    return text.translate(_UNSTORABLE)


def is_missing(value: Any) -> bool:
    """Return whether the value stands for "nothing": None, NaN, and what pandas puts into empty cells."""
    if value is None:
        return True
    if isinstance(value, str | list | bool | int):
        return False
    if isinstance(value, float):
        return math.isnan(value)
    return type(value).__name__ in ("NAType", "NaTType")  # by name: pandas is not imported


def to_json_value(value: Any, where: str = "value", other: Callable[[Any], Any] | None = None) -> Any:
    """Return the value as plain JSON (dict, list, str, int, float, bool, None), text cleaned.

    Tuples and sets become lists, numpy scalars Python numbers, dates ISO text, NaN, infinities and
    pandas' empty cells None. Of anything else `other` makes a JSON value (str, say); without it `InputTypeError` (a
    TypeError) names `where` it was found.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None  # a plain float, also from a subclass
    if isinstance(value, Mapping):
        return {clean_text(str(k)): _inner(v, where, k, other) for k, v in value.items()}
    if isinstance(value, set | frozenset):
        value = sorted(value, key=repr)
    if isinstance(value, list | tuple):
        return [_inner(v, where, i, other) for i, v in enumerate(value)]
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return to_json_value(value.tolist(), where, other)
    if is_missing(value):
        return None
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if other is not None:
        return to_json_value(other(value), where)
    raise InputTypeError(f"{where} is a {type(value).__name__}, which is no JSON value")


def _inner(value: Any, where: str, key: Any, other: Callable[[Any], Any] | None) -> Any:
    if value.__class__ is str:  # most are; the path is only made where it is needed
        return clean_text(value)
    return to_json_value(value, f"{where}[{key!r}]", other)


_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def canonical_json(value: Any) -> str:
    """Return one text for equal JSON values: sorted keys, no spaces, Unicode as it is."""
    return _CANONICAL.encode(value)


def digest(value: Any, length: int = 16) -> str:
    """Return the first hex digits of the SHA-256 of a JSON value's canonical text."""
    return hashlib.sha256(canonical_json(value).encode("utf-8")).hexdigest()[:length]
